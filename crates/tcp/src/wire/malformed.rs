//! Why a packet is not taken for a segment.

/// Why a packet is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Malformed {
    /// The version field holds this.
    #[error("IP version {0}, neither 4 nor 6")]
    Version(u8),
    /// Fewer bytes than the headers need or promise.
    #[error("the packet is shorter than its headers say")]
    Truncated,
    /// An IPv4 header length under five words, an IPv6 payload length of zero in front of data
    /// (jumbograms, RFC 2675, are not for TCP over any link here), or IPv6 extension headers
    /// against RFC 8200 §4.1.
    #[error("the IP header is invalid")]
    IpHeader,
    /// The IPv4 header's checksum is wrong.
    #[error("the IPv4 header's checksum is wrong")]
    Ipv4Checksum,
    /// Part of a packet: we do not reassemble fragments.
    #[error("an IP fragment, expected a whole packet")]
    Fragment,
    /// An extension header with this number that cannot be skipped without understanding it:
    /// routing to further nodes, or authentication.
    #[error("unsupported IPv6 extension header {0}")]
    Extension(u8),
    /// Another protocol, with this number.
    #[error("IP protocol {0} is not TCP")]
    Protocol(u8),
    /// A header of under five words.
    #[error("a TCP header of {0} words, expected 5 or more")]
    DataOffset(u8),
    /// The TCP checksum is wrong.
    #[error("the TCP checksum is wrong")]
    TcpChecksum,
    /// An option's length is wrong for its kind, or reaches beyond the header.
    #[error("option {kind} with an illegal length of {len}")]
    Option {
        /// Its kind.
        kind: u8,
        /// Its length field; 0 where the header ends before it.
        len: u8,
    },
}
