//! Chooses the interfaces by which a command behind a link reaches the outside.

use anyhow::{Context, Result};
use std::collections::BTreeSet;
use tidegate_linux::rtnetlink::{Link, addressed, default_routes, links};

/// Interfaces of the calling thread's namespace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Uplinks {
    /// The chosen ones.
    pub chosen: Vec<Link>,
    /// Those that have addresses and lead out of the machine, but were not chosen.
    pub left: Vec<Link>,
    /// Whether they were chosen by the default routes, and are chosen anew when these change.
    pub follow_routes: bool,
}

impl Uplinks {
    /// The named interfaces; if no name is given, those of the default routes; without default routes, all that have an
    /// address.
    ///
    /// # Errors
    /// When no interface has a given name; if the kernel cannot be asked.
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
        let link = link.with_context(|| {
            format!("{name}: there is no such interface; `ip link` lists those that exist")
        })?;
        Ok(link.index)
    };
    named.iter().map(index).collect()
}
