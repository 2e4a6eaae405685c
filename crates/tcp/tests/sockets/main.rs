//! Sockets and stacks that talk to each other in packets, over networks that are not kind.

mod network;
mod stack;
mod transfer;
