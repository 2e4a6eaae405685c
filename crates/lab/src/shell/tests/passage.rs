//! The machine's own firewall drops a link's packets: how that is reported.

use super::super::{Cause, Guest, Obstacle, Uplinks, Way, check_passage, link_shell};
use super::{Neighbour, World, bash, greet_script, guest, slow};
use crate::address::{IpVersion, address};
use crate::sysctl;
use anyhow::Result;
use std::ffi::OsString;
use std::sync::Mutex;
use tidegate_linux::netfilter::{
    Chain, Compare, Dropped, Expression, Family, Hook, Meta, Policy, Table, Word,
};
use tidegate_scenario::Side;
use tidegate_testing::skipped;

/// A firewall: a table with a chain for forwarded packets, which drops those that no rule accepts.
fn firewall(family: Family, table: &str, rules: &[&[Expression]]) -> Result<Table> {
    let table = Table::new(family, table)?;
    let rules = rules.iter().map(|rule| table.rule(FORWARD.name, rule));
    let changes = [
        table.create(),
        table.chain_with(&FORWARD, Policy::Drop),
        table.idle_chain("called"),
    ];
    let rules: Vec<_> = rules.collect();
    table.commit(&[&changes[..], &rules].concat())?;
    Ok(table)
}

const FORWARD: Chain = Chain {
    name: "FORWARD",
    kind: "filter",
    hook: Hook::Forward,
    priority: 0,
};

/// Accepts packets whose device's name begins with `name`, as `nft insert rule … iifname "tg1"` does.
fn accept(way: Meta, name: &str) -> Vec<Expression> {
    vec![
        Expression::meta(way, Word(0)),
        Expression::compare(Word(0), Compare::Equal, name.as_bytes()),
        Expression::accept(),
    ]
}

/// Name of a link's device in the caller's namespace, whose own device is tg0.
const LINKS: &str = "tg1";

fn passage() -> Result<Vec<Obstacle>> {
    check_passage(&Uplinks::find(&[])?)
}

fn has_ipv6_links() -> bool {
    let has = sysctl::path("ipv6/conf/all/force_forwarding").exists();
    if !has {
        skipped("IPv6 needs Linux 6.17");
    }
    has
}

#[test]
fn where_nothing_is_dropped_nothing_is_in_the_way() {
    let Some(world) = World::new() else { return };
    world.run(|| {
        assert_eq!(passage()?, []);
        Ok(())
    });
}

#[test]
fn the_chain_that_drops_is_named() {
    let Some(world) = World::new() else { return };
    world.run(|| {
        let (v4, v6) = (false, true);
        for (family, versions) in [
            (Family::V4, vec![v4]),
            (Family::V6, vec![v6]),
            (Family::Inet, vec![v4, v6]),
        ] {
            let _firewall = firewall(family, "wall", &[])?;
            let expected = Dropped {
                family,
                table: "wall".into(),
                chain: "FORWARD".into(),
                by_policy: true,
            };
            let versions = versions.into_iter().filter(|v6| !v6 || has_ipv6_links());
            let found = passage()?;
            assert_eq!(
                found.iter().map(|o| o.ipv6).collect::<Vec<_>>(),
                versions.collect::<Vec<_>>()
            );
            for obstacle in found {
                let Cause::Chain { dropped, base } = obstacle.cause else {
                    panic!("{obstacle:?}");
                };
                assert_eq!((obstacle.way, dropped), (Way::Out, expected.clone()));
                assert!(base.is_some_and(|base| base.name == "FORWARD" && base.drops));
            }
        }
        assert_eq!(passage()?, []);
        Ok(())
    });
}

#[test]
fn a_rule_that_drops_is_named_by_its_chain_and_an_accept_elsewhere_does_not_overrule_it() {
    let Some(world) = World::new() else { return };
    world.run(|| {
        let wall = Table::new(Family::Inet, "wall")?;
        let reject = [Expression::reject()];
        wall.commit(&[
            wall.create(),
            wall.chain(&Chain {
                priority: 10,
                ..FORWARD
            }),
            wall.idle_chain("called"),
            wall.rule("called", &reject),
            wall.rule(FORWARD.name, &[Expression::call("called")]),
        ])?;
        let generous = firewall(Family::V4, "generous", &[&accept(Meta::ComesByName, LINKS)])?;
        let Some(Obstacle {
            cause: Cause::Chain { dropped, base },
            ..
        }) = passage()?.into_iter().next()
        else {
            panic!("nothing is in the way");
        };
        let expected = Dropped {
            family: Family::Inet,
            table: "wall".into(),
            chain: "called".into(),
            by_policy: false,
        };
        assert_eq!(dropped, expected);
        assert_eq!(base.unwrap().name, "FORWARD");
        drop((wall, generous));
        Ok(())
    });
}

#[test]
fn rules_at_the_head_of_the_chain_that_drops_open_the_way() {
    let Some(world) = World::new() else { return };
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("greeting");
    let (port, greeter) = world.greeter(IpVersion::V4);
    let script = greet_script(address(Side::Server, IpVersion::V4), port, &file);
    let code = world.run(|| {
        let [out, back] = [Meta::ComesByName, Meta::LeavesByName].map(|way| accept(way, LINKS));
        let _wall = firewall(Family::V4, "wall", &[&out, &back])?;
        // The guest's warn panics.
        Ok(bash(&script)?.code())
    });
    assert_eq!(code, Some(7));
    greeter.join().unwrap();
}

static TOLD: Mutex<Vec<Obstacle>> = Mutex::new(Vec::new());

#[test]
fn where_answers_are_dropped_that_is_told_when_the_command_has_ended() {
    let Some(world) = World::new() else { return };
    let (port, _greeter) = world.greeter(IpVersion::V4);
    world.run(|| {
        let _wall = firewall(Family::V4, "wall", &[&accept(Meta::ComesByName, LINKS)])?;
        let server = address(Side::Server, IpVersion::V4);
        let script = format!("timeout 1 bash -c 'exec 3<>/dev/tcp/{server}/{port}'");
        let command = ["bash", "-c", &script].map(OsString::from);
        let guest = Guest {
            warn: |obstacle| TOLD.lock().unwrap().push(obstacle.clone()),
            ..guest(&command)?
        };
        let (status, _) = link_shell(slow(), slow(), &guest, false)?;
        assert_eq!(status.code(), Some(124));
        Ok(())
    });
    let told = TOLD.lock().unwrap();
    let [
        Obstacle {
            ipv6: false,
            way: Way::Back,
            cause: Cause::OneOf(chains),
        },
    ] = &told[..]
    else {
        panic!("{told:?}");
    };
    let names: Vec<_> = chains.iter().map(|c| (&*c.table, &*c.name)).collect();
    assert_eq!(names, [("wall", "FORWARD")]);
}

#[test]
fn a_probe_leaves_the_machine_by_no_device() {
    let Some(world) = World::new() else { return };
    world.run(|| {
        let uplink = Neighbour::new()?;
        let words = "route replace default dev other0".split(' ');
        assert!(
            std::process::Command::new("ip")
                .args(words)
                .status()?
                .success()
        );
        assert_eq!(passage()?, []);
        let mut packet = [0; 2048];
        while let Ok(length) = nix::unistd::read(&uplink.0, &mut packet) {
            let is_tcp =
                packet[0] >> 4 == 4 && packet[9] == 6 || packet[0] >> 4 == 6 && packet[6] == 6;
            assert!(!is_tcp, "{:?}", &packet[..length]);
        }
        Ok(())
    });
}
