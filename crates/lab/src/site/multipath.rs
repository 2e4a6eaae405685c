//! Configures the kernel's MPTCP (RFC 8684): the addresses that it may use beside the first.

use super::Site;
use crate::address::proxy_address;
use crate::hosts::Host;
use anyhow::{Context, Result, ensure};
use std::process::Command;

/// Gives the client `addresses` further addresses; its connections open one more subflow from each. Configures the path
/// manager with iproute2.
///
/// # Errors
/// Without iproute2, or when the kernel has no MPTCP.
pub fn configure(site: &Site, addresses: usize) -> Result<()> {
    for host in site.ends() {
        let most = addresses.to_string();
        ip(host, &["mptcp", "limits", "set", "subflows", &most])?;
    }
    for n in 0..addresses {
        let address = proxy_address(n).to_string();
        let device = site
            .client
            .interface()
            .context("MPTCP needs the kernel's TCP at the client")?;
        ip(&site.client, &["address", "add", &address, "dev", device])?;
        let endpoint = [
            "mptcp", "endpoint", "add", &address, "dev", device, "subflow",
        ];
        ip(&site.client, &endpoint)?;
    }
    Ok(())
}

fn ip(host: &Host, arguments: &[&str]) -> Result<()> {
    let said = host.namespace.run(|| {
        let output = Command::new("ip").args(arguments).output();
        output.context("cannot run ip (Debian package iproute2)")
    })?;
    let why = String::from_utf8_lossy(&said.stderr);
    ensure!(
        said.status.success(),
        "ip {}: {}",
        arguments.join(" "),
        why.trim()
    );
    Ok(())
}
