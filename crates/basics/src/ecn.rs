//! The ECN field of an IP header (RFC 3168 §5, RFC 9331 §2): link, TCP, simulator and laboratory share this one type.

/// The values of the two bits, in the order of their values on the wire.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Ecn {
    /// 00: the sender does not react to marks; a queue that would mark the packet drops it.
    #[default]
    NotEct,
    /// 01, ECT(1): ECN-capable, and answers each mark a little, as L4S asks (RFC 9331 §4).
    Ect1,
    /// 10, ECT(0): ECN-capable, and answers a mark as it would a loss.
    Ect0,
    /// 11: a queue on the path has signalled congestion.
    Ce,
}

impl Ecn {
    /// From the low two bits of IPv4's type of service or IPv6's traffic class.
    pub const fn from_bits(bits: u8) -> Self {
        match bits & 0b11 {
            0b00 => Self::NotEct,
            0b01 => Self::Ect1,
            0b10 => Self::Ect0,
            _ => Self::Ce,
        }
    }

    /// As the low two bits.
    pub const fn bits(self) -> u8 {
        self as u8
    }

    /// Whether the packet may be marked, or has been.
    pub const fn is_capable(self) -> bool {
        !matches!(self, Self::NotEct)
    }

    /// Whether an L4S queue treats it as L4S traffic (RFC 9331 §5.1): ECT(1), or CE, which may have been ECT(1) before.
    pub const fn is_l4s(self) -> bool {
        matches!(self, Self::Ect1 | Self::Ce)
    }
}

#[cfg(test)]
mod tests {
    use super::Ecn;

    #[test]
    fn every_codepoint_has_its_bits() {
        let all = [Ecn::NotEct, Ecn::Ect1, Ecn::Ect0, Ecn::Ce];
        for (bits, ecn) in (0..4).zip(all) {
            assert_eq!(Ecn::from_bits(bits), ecn);
            // The rest of the byte is DSCP.
            assert_eq!(Ecn::from_bits(0b1011_1000 | bits), ecn);
            assert_eq!(ecn.bits(), bits);
        }
    }

    #[test]
    fn what_is_marked_and_what_goes_to_the_l4s_queue() {
        let capable = [Ecn::NotEct, Ecn::Ect1, Ecn::Ect0, Ecn::Ce].map(Ecn::is_capable);
        assert_eq!(capable, [false, true, true, true]);
        let l4s = [Ecn::NotEct, Ecn::Ect1, Ecn::Ect0, Ecn::Ce].map(Ecn::is_l4s);
        assert_eq!(l4s, [false, true, false, true]);
    }
}
