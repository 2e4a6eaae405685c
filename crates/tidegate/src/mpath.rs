//! `tidegate mpath`: files over many paths, and the overlay's servers.

mod bar;
mod files;
mod identity;
mod proxy;
mod recv;
mod registry;
mod relays;
mod secret;
mod send;
mod token;

use anyhow::Result;
use clap::Subcommand;

/// The commands.
#[derive(Debug, Subcommand)]
pub enum MpathCommand {
    /// Print a token, and receive files from those who have it
    Recv(recv::RecvArgs),
    /// Send files to the receiver that printed the token
    Send(send::SendArgs),
    /// Tell senders where receivers are and which proxies forward to them
    Registry(registry::RegistryArgs),
    /// Forward packets of senders that the registry has permitted
    Proxy(proxy::ProxyArgs),
}

/// Runs the command.
pub fn run(command: &MpathCommand) -> Result<()> {
    match command {
        MpathCommand::Recv(args) => files::run(recv::run(args)),
        MpathCommand::Send(args) => files::run(send::run(args)),
        MpathCommand::Registry(args) => registry::run(args),
        MpathCommand::Proxy(args) => proxy::run(args),
    }
}
