//! The gate: lets packets that leave wait until their time has come, on a running kernel.
//!
//! What has no receive window can be steered by what leaves for its sender: acknowledgements that come
//! later let it send later. A law says of each packet when it may leave. Two mechanisms of the kernel's
//! can make it wait, and [`Mechanisms`] says which of them are there:
//!
//! * The queueing discipline `fq` sends a packet when its time stamp says so, which a program at the
//!   interface has set ([`Fq`]). Nothing leaves the kernel.
//! * A netfilter queue hands packets to a process, which accepts each in time: [`Gate`] starts that process
//!   and says which flows pass through it, [`serve`] is what it does.
//!
//! The queue's process is not the agent itself. The kernel drops what waits in a queue whose process ends,
//! so an agent that is killed must not take the queue along. The gate's process notices the end of the agent
//! by the socket between them, lets everything go in order, and ends.
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
