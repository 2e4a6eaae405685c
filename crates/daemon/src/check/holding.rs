//! Whether this kernel has what the hold needs, and how packets that leave can be made to wait.

use super::{Finding, Status};
use crate::udp::{Terms, Windowless, is_port};
use anyhow::Error;
use std::path::Path;
use tidegate_agent::{Agent, Config, Interface};
use tidegate_gate::{Fq, Mechanisms, Qdisc};
use tidegate_linux::netns::Namespace;
use tidegate_scenario::Udp;

/// How many packets of one flow must fit into the queue: two seconds of two thousand acknowledgements each.
const HELD: u32 = 4096;

/// Whether the kernel can queue packets to a process, and reject them.
pub fn queue() -> Finding {
    const NAME: &str = "packet queue";
    let found = match Mechanisms::here() {
        Ok(found) => found,
        Err(error) => return unknown(NAME, error),
    };
    let rejects = if found.reject {
        "packets can be rejected"
    } else {
        "no packet can be rejected (nft_reject_inet)"
    };
    match found.queue {
        Some(by) => Finding::new(NAME, Status::Ok, format!("{}; {rejects}", by.name())),
        None => Finding::new(NAME, Status::Note, format!("none; {rejects}")).advise(
            how_to_get_queues(Path::new("/etc/openwrt_release").exists()),
        ),
    }
}

/// On OpenWrt these modules are packages of their own.
const fn how_to_get_queues(on_openwrt: bool) -> &'static str {
    match on_openwrt {
        true => "install the package kmod-nft-queue",
        false => "modprobe nfnetlink_queue, and nft_queue or xt_NFQUEUE",
    }
}

/// Whether the kernel has fq, tried in a temporary network namespace.
pub fn fq() -> Finding {
    const NAME: &str = "fq";
    let known = || Ok(Fq::is_known(Interface::find("lo")?.index)?);
    match Namespace::new().and_then(|namespace| namespace.run(known)) {
        Ok(true) => Finding::new(NAME, Status::Ok, "this kernel has it"),
        Ok(false) => Finding::new(NAME, Status::Note, "this kernel lacks it (sch_fq)"),
        Err(error) => unknown(NAME, error),
    }
}

/// How packets that leave by the interface would wait.
pub fn of(interface: &Interface) -> Finding {
    const NAME: &str = "holding";
    let name = &interface.name;
    let finding = |status, found| Finding::new(NAME, status, format!("{name}: {found}"));
    if is_port(interface) {
        let found = "nothing can be held on a bridge's port, as what passes a bridge passes no hook of netfilter";
        return finding(Status::Note, found.into());
    }
    match Qdisc::of(interface.index) {
        Ok(Qdisc::Fq(fq)) => {
            let found = format!("by fq, which keeps {} packets of a flow", fq.flow_limit);
            if fq.flow_limit >= HELD {
                return finding(Status::Ok, found);
            }
            finding(Status::Note, found).advise(format!(
                "tc qdisc change dev {name} … fq flow_limit {HELD}: packets beyond it are dropped"
            ))
        }
        Ok(Qdisc::Other(kind)) => {
            let found = format!("by packet queue, as {kind} minds no time stamps");
            finding(Status::Ok, found)
        }
        Err(error) => unknown(NAME, error),
    }
}

/// Whether the hold works, tried as `run` starts it, in a temporary network namespace. If it is `wanted` and does not
/// work, `run` does not work either.
pub fn trial(wanted: bool) -> Finding {
    const NAME: &str = "hold";
    let hold = || {
        let interfaces = vec![Interface::find("lo")?];
        let agent = Agent::start(&Config {
            interfaces: interfaces.clone(),
            ..Config::default()
        })?;
        Windowless::start(&Terms::all(Udp::Hold), false, &agent, &interfaces, || {})?;
        Ok(())
    };
    match Namespace::new().and_then(|namespace| namespace.run(hold)) {
        Ok(()) => Finding::new(
            NAME,
            Status::Ok,
            "UDP can be held: programs, echoes and gate start",
        ),
        Err(error) => {
            let status = if wanted { Status::Fails } else { Status::Note };
            let found = format!("UDP cannot be held: {error:#}").replace('\n', " ");
            Finding::new(NAME, status, found).advise(
                "to hold HTTP/3 and other UDP takes CAP_NET_RAW, nfnetlink_queue, and nft_queue or xt_NFQUEUE; without them it is left alone",
            )
        }
    }
}

fn unknown(name: &'static str, error: impl Into<Error>) -> Finding {
    Finding::new(name, Status::Note, format!("{:#}", error.into()))
}
