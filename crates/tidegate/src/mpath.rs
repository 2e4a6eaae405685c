//! `tidegate mpath`: the overlay's servers.

mod proxy;
mod registry;
mod secret;

use anyhow::Result;
use clap::Subcommand;

/// The commands.
#[derive(Debug, Subcommand)]
pub enum MpathCommand {
    /// Tell senders where receivers are and which proxies forward to them
    Registry(registry::RegistryArgs),
    /// Forward packets of senders that the registry has allowed to
    Proxy(proxy::ProxyArgs),
}

/// Does what was asked.
pub fn run(command: &MpathCommand) -> Result<()> {
    match command {
        MpathCommand::Registry(args) => registry::run(args),
        MpathCommand::Proxy(args) => proxy::run(args),
    }
}
