//! The algorithms that there are.

use super::{
    CongestionControl, abc, bbr, bbr3, bic, copa, cubic, dctcp, highspeed, htcp, ledbat, prague,
    reno, vegas, westwood,
};
use crate::Ecn;
use crate::ecn::EcnMode;
use std::fmt;
use strum::VariantArray;

/// The algorithms, by their names in Linux: those of the variants, in lower case.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    Hash,
    strum::EnumString,
    strum::IntoStaticStr,
    strum::VariantArray,
)]
#[strum(serialize_all = "lowercase", parse_err_ty = UnknownAlgorithm, parse_err_fn = UnknownAlgorithm::named)]
pub enum Algorithm {
    /// New Reno (RFC 6582).
    Reno,
    /// CUBIC (RFC 9438) with HyStart as Linux has it.
    #[default]
    Cubic,
    /// BIC (Xu, Harfoush, Rhee 2004).
    Bic,
    /// H-TCP (Shorten, Leith 2004).
    Htcp,
    /// HighSpeed TCP (RFC 3649).
    HighSpeed,
    /// Vegas (Brakmo, Peterson 1995).
    Vegas,
    /// Westwood+ (Grieco, Mascolo 2004).
    Westwood,
    /// LEDBAT (RFC 6817), which Linux does not have.
    Ledbat,
    /// BBR version 1 as Linux has it.
    Bbr,
    /// BBR version 3 (draft-ietf-ccwg-bbr), which Linux does not have.
    Bbr3,
    /// DCTCP (RFC 8257) as Linux has it; needs ECN.
    Dctcp,
    /// TCP Prague (draft-briscoe-iccrg-prague-congestion-control), which needs accurate ECN.
    Prague,
    /// Copa (Arun, Balakrishnan 2018), which Linux does not have.
    Copa,
    /// ABC (Goyal et al. 2020), which Linux does not have; needs ECN, and a bottleneck that is ABC's router.
    Abc,
}

impl Algorithm {
    /// All of them.
    pub const ALL: &'static [Self] = Self::VARIANTS;

    /// Its name in Linux (`net.ipv4.tcp_congestion_control`).
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// The ECN feedback that it asks for by itself, whatever the configuration (`TCP_CONG_NEEDS_ECN`).
    pub const fn needs_ecn(self) -> EcnMode {
        match self {
            Self::Dctcp | Self::Abc => EcnMode::Classic,
            Self::Prague => EcnMode::Accurate,
            _ => EcnMode::Off,
        }
    }

    /// The codepoint of its packets, where ECN is agreed on.
    pub const fn ect(self) -> Ecn {
        match self {
            Self::Prague => Ecn::Ect1,
            _ => Ecn::Ect0,
        }
    }

    /// A new instance for one connection; `seed` is for its random choices.
    pub fn build(self, seed: u64) -> Box<dyn CongestionControl> {
        match self {
            Self::Reno => Box::new(reno::Reno),
            Self::Cubic => Box::<cubic::Cubic>::default(),
            Self::Bic => Box::<bic::Bic>::default(),
            Self::Htcp => Box::<htcp::Htcp>::default(),
            Self::HighSpeed => Box::<highspeed::HighSpeed>::default(),
            Self::Vegas => Box::<vegas::Vegas>::default(),
            Self::Westwood => Box::<westwood::Westwood>::default(),
            Self::Ledbat => Box::<ledbat::Ledbat>::default(),
            Self::Bbr => Box::new(bbr::Bbr::new(seed)),
            Self::Bbr3 => Box::new(bbr3::Bbr3::new(seed)),
            Self::Dctcp => Box::<dctcp::Dctcp>::default(),
            Self::Prague => Box::<prague::Prague>::default(),
            Self::Copa => Box::<copa::Copa>::default(),
            Self::Abc => Box::<abc::Abc>::default(),
        }
    }
}

impl fmt::Display for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// No congestion control has this name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown congestion control {0:?}")]
pub struct UnknownAlgorithm(pub String);

impl UnknownAlgorithm {
    fn named(name: &str) -> Self {
        Self(name.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_found_by_its_name() {
        for &algorithm in Algorithm::ALL {
            assert_eq!(algorithm.name().parse(), Ok(algorithm));
        }
        assert_eq!(Algorithm::HighSpeed.to_string(), "highspeed");
        let unknown = "Cubic".parse::<Algorithm>().unwrap_err();
        assert_eq!(unknown.to_string(), "unknown congestion control \"Cubic\"");
    }
}
