//! What blocks a link's packets on this machine, and what lets them pass, in words.

use tidegate_lab::{Cause, Obstacle, Way};
use tidegate_linux::netfilter::{BaseChain, Family};

/// The obstacle, and below it the commands that remove it.
pub fn words(obstacle: &Obstacle) -> String {
    let remedy: Vec<_> = remedy(obstacle)
        .iter()
        .map(|line| format!("\n    {line}"))
        .collect();
    let open = match remedy.is_empty() {
        true => "",
        false => "; to let links pass until the firewall is loaded anew:",
    };
    format!("{}{open}{}", what(obstacle), remedy.concat())
}

fn what(obstacle: &Obstacle) -> String {
    let version = version(obstacle);
    let packets = match obstacle.way {
        Way::Out => format!("{version} packets of the command are dropped on this machine"),
        Way::Back => {
            format!("{version} answers to the command came, and were dropped on this machine")
        }
    };
    let by = match &obstacle.cause {
        Cause::Chain { dropped, .. } => {
            let chain = chain(dropped.family, &dropped.table, &dropped.chain);
            match dropped.by_policy {
                true => format!("by {chain}, whose policy is drop"),
                false => format!("by a rule of {chain}"),
            }
        }
        Cause::OneOf(chains) => {
            let chains: Vec<_> = chains
                .iter()
                .map(|c| chain(c.family, &c.table, &c.name))
                .collect();
            format!("by {}, whose policy is drop", chains.join(" or "))
        }
        Cause::Legacy => format!("by {} (chain FORWARD of table filter)", legacy(obstacle)),
        Cause::NotForwarded => {
            "before they came to the chains at the hook forward: look for rules at the hook prerouting, rp_filter, and \
             rules of routing (ip rule)"
                .into()
        }
        Cause::Unknown => {
            "at the hook forward, by no chain of nf_tables and no rule of iptables-legacy".into()
        }
    };
    format!("{packets} {by}")
}

fn version(obstacle: &Obstacle) -> &'static str {
    match obstacle.ipv6 {
        false => "IPv4",
        true => "IPv6",
    }
}

fn legacy(obstacle: &Obstacle) -> &'static str {
    match obstacle.ipv6 {
        false => "iptables-legacy",
        true => "ip6tables-legacy",
    }
}

fn chain(family: Family, table: &str, chain: &str) -> String {
    format!(
        "chain {} of table {} {}",
        word(chain),
        family.name(),
        word(table)
    )
}

/// The name as it is, or quoted if a terminal or a shell could misread it.
fn word(name: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    match name.chars().all(is_plain) && !name.is_empty() {
        true => name.into(),
        false => format!("{name:?}"),
    }
}

/// Rules for the head of the chains: after a drop they would never be reached, and in another table they overrule
/// nothing.
fn remedy(obstacle: &Obstacle) -> Vec<String> {
    match &obstacle.cause {
        Cause::Chain { base, .. } => base.iter().flat_map(rules).collect(),
        Cause::OneOf(chains) => chains.iter().flat_map(rules).collect(),
        Cause::Legacy => by_iptables(legacy(obstacle)).into(),
        Cause::NotForwarded | Cause::Unknown => Vec::new(),
    }
}

fn rules(base: &BaseChain) -> Vec<String> {
    // iptables' own tables: it fails to list them if they contain rules that it would not have written.
    match (base.family, &*base.table, &*base.name) {
        (Family::V4, "filter", "FORWARD") => return by_iptables("iptables").into(),
        (Family::V6, "filter", "FORWARD") => return by_iptables("ip6tables").into(),
        _ => {}
    }
    let at = format!(
        "nft insert rule {} {} {}",
        base.family.name(),
        word(&base.table),
        word(&base.name)
    );
    vec![
        format!("{at} 'iifname \"tg*\" accept'"),
        format!("{at} 'oifname \"tg*\" ct state established,related accept'"),
    ]
}

fn by_iptables(program: &str) -> [String; 2] {
    [
        format!("{program} -I FORWARD -i tg+ -j ACCEPT"),
        format!("{program} -I FORWARD -o tg+ -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT"),
    ]
}
