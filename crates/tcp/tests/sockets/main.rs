//! Sockets and stacks that talk to each other in packets, over bad networks.

mod network;
mod stack;
mod transfer;
