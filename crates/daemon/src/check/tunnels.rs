//! Tunnels to a few networks only, such as a company's VPN: no default route leads through them.

use super::{Finding, Status};
use crate::devices::Forwarding;
use crate::interfaces::{Found, Wanted};
use std::io;
use tidegate_linux::rtnetlink::{Link, addressed, default_routes};

/// A note for each tunnel in use that the agent does not attach to. Not on a router: there a tunnel may lead to
/// devices, as on a VPN server, where downloads and uploads are swapped.
pub fn findings(wanted: &Wanted, found: &Found) -> Vec<Finding> {
    if *wanted != Wanted::DefaultRoutes || Forwarding::find() == Forwarding::Others {
        return Vec::new();
    }
    // If the kernel does not answer, we report no tunnels.
    let tunnels = split(&found.all).unwrap_or_default();
    tunnels.iter().map(|link| note(&link.name, found)).collect()
}

fn split(links: &[Link]) -> io::Result<Vec<&Link>> {
    let (out, addressed) = (default_routes()?, addressed()?);
    let is_split = |link: &&Link| {
        let is_used = addressed.contains(&link.index) && !out.contains(&link.index);
        link.is_tunnel && !link.is_inner && is_used
    };
    Ok(links.iter().filter(is_split).collect())
}

fn note(tunnel: &str, found: &Found) -> Finding {
    let message = format!(
        "no default route leads to the tunnel {tunnel}: what goes through it is not steered there"
    );
    let there = found.interfaces.iter().map(|i| i.name.as_str());
    let names: Vec<_> = [tunnel].into_iter().chain(there).collect();
    let advice = format!(
        "--iface {} (or interfaces in the file) steers it, too; then `run` follows default routes no more, and stays with these names",
        names.join(" --iface ")
    );
    Finding::new("tunnel", Status::Note, message).advise(advice)
}
