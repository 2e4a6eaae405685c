//! The gate: delays leaving packets until their time has come, on a running kernel.
//!
//! A flow without a receive window can be steered by delaying packets to its sender: it sends later when
//! acknowledgements come later. A law decides when each packet may leave. Two mechanisms of the kernel can delay a
//! packet, and [`Mechanisms`] says which of them this kernel has:
//!
//! * The queueing discipline `fq` ([`Fq`]) sends a packet when its time stamp says so, which a BPF program at the
//!   interface has set. Packets stay in the kernel.
//! * A netfilter queue hands packets to a process, which accepts each at its time: [`Gate`] starts that process and
//!   says which flows pass through it; [`serve`] is what the process does.
//!
//! The queue's process is not the agent itself: when it ends, the kernel drops the packets in the queue, and an agent
//! may be killed. The gate's process notices the end of the agent by the socket between them, lets everything go in
//! order, and ends.
//!
//! [`Fallback`] needs no law: it rejects the first packets of QUIC connections, so that their clients take TCP.

mod control;
mod error;
mod fallback;
mod flow;
mod fq;
mod gate;
mod hold;
mod mechanisms;
mod rules;
mod serve;

pub use error::GateError;
pub use fallback::{Choice, Fallback};
pub use flow::{Flow, Leaving};
pub use fq::{Fq, Qdisc};
pub use gate::Gate;
pub use hold::{Counts, FlowCounts, Law, Limits};
pub use mechanisms::Mechanisms;
pub use rules::QueueBy;
pub use serve::serve;
