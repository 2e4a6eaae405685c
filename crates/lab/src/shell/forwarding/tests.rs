use super::Forwarding;
use crate::netlink::Interface;
use crate::sysctl;
use crate::tun::Tun;
use anyhow::Result;
use tidegate_netns::Namespace;
use tidegate_testing::has_tun;

/// Runs a test in a namespace with one device, whose forwarding is off.
fn with_device(test: impl FnOnce(&str) -> Result<()> + Send) {
    if !has_tun() {
        return;
    }
    let namespace = Namespace::new().unwrap();
    let run = || {
        let tun = Tun::open("tg%d")?;
        Interface::named(tun.name())?.set_up_tun()?;
        let switch = format!("ipv4/conf/{}/forwarding", tun.name());
        sysctl::write(&switch, "0")?;
        test(&switch)
    };
    namespace.run(run).unwrap();
}

#[test]
fn the_last_one_switches_it_off() {
    with_device(|switch| {
        let first = Forwarding::switch_on()?;
        assert_eq!(sysctl::read(switch)?, "1");
        let second = Forwarding::switch_on()?;
        drop(first);
        assert_eq!(sysctl::read(switch)?, "1");
        let list = second.list.clone();
        assert!(list.exists());
        drop(second);
        assert_eq!(sysctl::read(switch)?, "0");
        assert!(!list.exists());
        Ok(())
    });
}

#[test]
fn what_was_on_before_stays_on() {
    with_device(|switch| {
        sysctl::write(switch, "1")?;
        drop(Forwarding::switch_on()?);
        assert_eq!(sysctl::read(switch)?, "1");
        Ok(())
    });
}

#[test]
fn what_a_killed_one_left_is_cleared_up_by_the_next() {
    with_device(|switch| {
        let killed = Forwarding::switch_on()?;
        // As the kernel does it at a kill: the lock is gone, and nothing else happens.
        killed.users.unlock()?;
        std::mem::forget(killed);
        assert_eq!(sysctl::read(switch)?, "1");
        drop(Forwarding::switch_on()?);
        assert_eq!(sysctl::read(switch)?, "0");
        Ok(())
    });
}
