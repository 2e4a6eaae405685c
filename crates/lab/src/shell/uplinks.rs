//! By which of the machine's interfaces a command behind a link reaches the world.

use anyhow::{Context, Result};
use std::collections::BTreeSet;
use tidegate_rtnetlink::{Link, addressed, default_routes, links};

/// Interfaces of the calling thread's namespace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Uplinks {
    /// Those by which it does.
    pub chosen: Vec<Link>,
    /// Those that have addresses and lead out of the machine, by which it does not.
    pub left: Vec<Link>,
    /// Whether the default routes chose them, and choose anew when they move.
    pub follow_routes: bool,
}

impl Uplinks {
    /// Those that are named; if none is, those of the default routes; if there is none, all that have an address.
    ///
    /// # Errors
    /// When there is no interface of a name; if the kernel cannot be asked.
    pub fn find(named: &[String]) -> Result<Self> {
        let mut links = links().context("cannot list the interfaces")?;
        links.retain(|link| link.name != "lo");
        let there = addressed().context("cannot list the addresses")?;
        let routes = default_routes().context("cannot list the routes")?;
        let chosen = match named {
            [] if routes.is_empty() => there.clone(),
            [] => routes,
            named => indices(named, &links)?,
        };
        let (chosen, mut left): (Vec<_>, Vec<_>) = links
            .into_iter()
            .partition(|link| chosen.contains(&link.index));
        left.retain(|link| there.contains(&link.index) && !link.is_inner);
        Ok(Self {
            chosen,
            left,
            follow_routes: named.is_empty(),
        })
    }
}

fn indices(named: &[String], links: &[Link]) -> Result<BTreeSet<u32>> {
    let index = |name: &String| {
        let link = links.iter().find(|link| link.name == *name);
        let link = link.with_context(|| format!("{name}: there is no such interface"))?;
        Ok(link.index)
    };
    named.iter().map(index).collect()
}
