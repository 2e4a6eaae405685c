//! nf_tables and netfilter's packet queues, over netlink, without other programs.
//!
//! A [`Table`] belongs to the socket that made it (`NFT_TABLE_F_OWNER`, Linux 5.12): when the socket closes, also
//! because the process was killed, the kernel removes the table with all that is in it. A rule can send packets to a
//! [`Queue`], where each waits in the kernel until this process accepts it.

mod chains;
mod conntrack;
mod expression;
mod flowtable;
mod message;
mod queue;
mod table;
mod trace;

pub use chains::{BaseChain, base_chains};
pub use conntrack::{Begun, Tracked, Way, tracked};
pub use expression::{Base, Compare, Expression, Meta, State, Word};
pub use flowtable::{Flowtable, flowtables};
pub use queue::{Capacity, Packet, Queue, has_queues};
pub use table::{Chain, Change, Family, Hook, Policy, Set, Table};
pub use trace::{Dropped, Trace};
