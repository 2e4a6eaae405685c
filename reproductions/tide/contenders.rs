//! The contenders.

use super::paths::Path;
use tidegate_scenario::{Law, QueuePolicy, Run, Udp};
use tidegate_study::Case;

/// The λ of DRWA's frontier.
pub const LAMBDAS: [f64; 7] = [1.1, 1.25, 1.5, 2.0, 2.5, 3.0, 4.0];

/// Untouched Linux, with a CUBIC sender.
pub const LINUX: Contender = Contender::linux("cubic");
/// rLEDBAT at the receiver.
pub const RLEDBAT: Contender = Contender::law("cubic", Law::Rledbat);
/// DRWA as it was published.
pub const DRWA: Contender = Contender::drwa("cubic", 3.0);
/// Ours.
pub const TIDE: Contender = Contender::tide("cubic");

/// In pictures: a contender's name, and the number of its pen.
pub type Shown = (&'static str, Contender, usize);

/// The contenders, from back to front.
pub const TRIO: [Shown; 3] = [
    ("Linux", LINUX, 2),
    ("DRWA λ = 3", DRWA, 0),
    ("tide", TIDE, 1),
];
/// The same, and rLEDBAT.
pub const QUARTET: [Shown; 4] = [TRIO[0], ("rLEDBAT", RLEDBAT, 5), TRIO[1], TRIO[2]];

/// A sender, a receiver and a queue.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contender {
    /// Congestion control of the sender.
    sender: &'static str,
    /// The law at the receiver.
    law: Law,
    /// DRWA's λ.
    lambda: f64,
    /// The bottleneck's queue discipline.
    policy: QueuePolicy,
    /// Whether the receiver's own uploads are steered, too, where the law can.
    uploads: bool,
    /// The treatment of traffic without a window.
    udp: Udp,
}

impl Contender {
    /// Untouched Linux, with that congestion control.
    pub const fn linux(sender: &'static str) -> Self {
        Self {
            sender,
            law: Law::None,
            lambda: 3.0,
            policy: QueuePolicy::DropTail,
            uploads: true,
            udp: Udp::Leave,
        }
    }

    /// The law at the receiver.
    pub const fn law(sender: &'static str, law: Law) -> Self {
        Self {
            law,
            ..Self::linux(sender)
        }
    }

    /// tide at the receiver.
    pub const fn tide(sender: &'static str) -> Self {
        Self::law(sender, Law::Tide)
    }

    /// The same, with that treatment of traffic without a window.
    pub const fn windowless(self, udp: Udp) -> Self {
        Self { udp, ..self }
    }

    /// The same sender and queue, with an untouched receiver.
    pub const fn untouched(self) -> Self {
        Self {
            policy: self.policy,
            ..Self::linux(self.sender)
        }
    }

    /// The same, but uploads belong to another machine, where nothing steers them.
    pub const fn downloads_only(self) -> Self {
        Self {
            uploads: false,
            ..self
        }
    }

    /// DRWA at the receiver.
    pub const fn drwa(sender: &'static str, lambda: f64) -> Self {
        Self {
            lambda,
            ..Self::law(sender, Law::Drwa)
        }
    }

    /// CUBIC and an untouched receiver, with that discipline in the bottleneck.
    pub const fn network(policy: QueuePolicy) -> Self {
        Self {
            policy,
            ..Self::linux("cubic")
        }
    }

    /// The case of this contender on that path.
    pub fn case(&self, path: &Path) -> Case {
        Case {
            name: self.on(path),
            ..Case::new(path.scenario(self.policy, self.run()))
        }
    }

    /// The settings of the two hosts.
    pub fn run(&self) -> Run {
        Run {
            lambda: self.lambda,
            uploads: (!self.uploads).then_some(false),
            udp: self.udp,
            stampless: self.law == Law::Tide,
            congestion_control: Some(self.sender.into()),
            ..Run::new(self.receiver(), self.law)
        }
    }

    /// The name of its case on that path.
    pub fn on(&self, path: &Path) -> String {
        format!("{}, {}", path.name, self.title())
    }

    /// Its name.
    pub fn title(&self) -> String {
        let queue = match self.policy {
            QueuePolicy::Codel => ", codel",
            QueuePolicy::FqCodel => ", fq-codel",
            _ => "",
        };
        format!("{}, {}{queue}", self.sender, self.receiver())
    }

    fn receiver(&self) -> String {
        let law = match self.law {
            Law::None => "linux".into(),
            Law::Drwa => format!("drwa {}", self.lambda),
            law if self.uploads => law.name().into(),
            law => format!("{}, downloads only", law.name()),
        };
        match self.udp {
            Udp::Leave => law,
            Udp::Hold => format!("{law}, hold"),
            Udp::Fallback => format!("{law}, fallback"),
        }
    }
}
