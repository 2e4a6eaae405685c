//! The kernel's MPTCP (RFC 8684): which addresses it may use besides the first.

use super::Site;
use crate::address::proxy_address;
use crate::hosts::Host;
use anyhow::{Context, Result, ensure};
use std::process::Command;

/// Gives the client so many further addresses, from each of which its connections open one subflow more.
/// The path manager is told by iproute2.
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
            .context("the client's TCP is the kernel's")?;
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
