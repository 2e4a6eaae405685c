//! What Linux is asked for without other programs: network namespaces, the state of the network, and packet filters.

pub mod netfilter;
pub mod netns;
pub mod rtnetlink;
