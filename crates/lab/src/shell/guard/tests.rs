use super::{Guard, Turn, Version};
use crate::netlink::Interface;
use crate::tun::Tun;
use anyhow::Result;
use nix::net::if_::if_nametoindex;
use tidegate_linux::netns::Namespace;
use tidegate_testing::has_tun;

/// The guard of IPv4.
fn guard() -> Result<Guard> {
    let mut guards = Guard::all()?;
    Ok(guards.remove(0))
}

fn device(pattern: &str) -> Result<(Tun, u32)> {
    let tun = Tun::open(pattern)?;
    Interface::named(tun.name())?.set_up_tun()?;
    let index = if_nametoindex(tun.name())?;
    Version::V4.set(tun.name(), false)?;
    Ok((tun, index))
}

/// Runs a test in a namespace with an uplink, whose forwarding is off.
fn with_uplink(test: impl FnOnce(&str, u32) -> Result<()> + Send) {
    if !has_tun() {
        return;
    }
    let namespace = Namespace::new().unwrap();
    let run = || {
        let (uplink, index) = device("up%d")?;
        test(uplink.name(), index)
    };
    namespace.run(run).unwrap();
}

#[test]
fn the_last_link_switches_forwarding_off() {
    with_uplink(|name, uplink| {
        let guard = guard()?;
        let (first, second) = (device("tg%d")?, device("tg%d")?);
        guard.join(first.1, &[uplink])?;
        guard.join(second.1, &[uplink])?;
        assert!(Version::V4.is_on(name));
        guard.leave(Some(first.1))?;
        assert!(Version::V4.is_on(name));
        assert_eq!(guard.members(super::LINKS)?, Some(vec![second.1]));
        guard.leave(Some(second.1))?;
        assert!(!Version::V4.is_on(name));
        assert_eq!(guard.members(super::LINKS)?, None);
        Ok(())
    });
}

#[test]
fn what_was_on_before_stays_on() {
    with_uplink(|name, uplink| {
        let guard = guard()?;
        Version::V4.set(name, true)?;
        let (_tun, link) = device("tg%d")?;
        guard.join(link, &[uplink])?;
        guard.leave(Some(link))?;
        assert!(Version::V4.is_on(name));
        Ok(())
    });
}

#[test]
fn only_the_uplink_is_opened() {
    with_uplink(|name, uplink| {
        let guard = guard()?;
        let ((other, _), (_tun, link)) = (device("other%d")?, device("tg%d")?);
        guard.join(link, &[uplink])?;
        assert!(Version::V4.is_on(name) && !Version::V4.is_on(other.name()));
        assert!(!Version::V4.is_router());
        Ok(())
    });
}

#[test]
fn what_is_switched_on_for_all_meanwhile_stays_on() {
    with_uplink(|name, uplink| {
        let guard = guard()?;
        let (_tun, link) = device("tg%d")?;
        guard.join(link, &[uplink])?;
        Version::V4.set("all", true)?;
        guard.follow(true)?;
        guard.leave(Some(link))?;
        assert!(Version::V4.is_on(name) && Version::V4.is_router());
        Ok(())
    });
}

#[test]
fn an_uplink_that_is_no_router_by_the_administrators_will_is_none_afterwards() {
    with_uplink(|name, uplink| {
        let guard = guard()?;
        Version::V4.set("all", true)?;
        Version::V4.set(name, false)?;
        let (_tun, link) = device("tg%d")?;
        guard.join(link, &[uplink])?;
        assert!(Version::V4.is_on(name));
        guard.leave(Some(link))?;
        assert!(!Version::V4.is_on(name) && Version::V4.is_router());
        Ok(())
    });
}

#[test]
fn what_nobody_was_left_to_clear_up_the_next_link_does() {
    with_uplink(|name, uplink| {
        let guard = guard()?;
        let (killed, link) = device("tg%d")?;
        guard.join(link, &[uplink])?;
        drop(killed);
        assert!(Version::V4.is_on(name));
        let (_tun, next) = device("tg%d")?;
        // Without the uplink: the switch that the first link had opened is closed.
        guard.join(next, &[])?;
        assert!(!Version::V4.is_on(name));
        guard.leave(Some(next))
    });
}

#[test]
fn one_at_a_time_changes_the_tables() {
    with_uplink(|_, _| {
        let turn = Turn::take()?;
        let here = Namespace::current()?;
        std::thread::scope(|scope| {
            let other = scope.spawn(|| here.run(|| Turn::take().map(|_| ())));
            std::thread::sleep(std::time::Duration::from_millis(200));
            assert!(!other.is_finished());
            drop(turn);
            other.join().unwrap()
        })
    });
}
