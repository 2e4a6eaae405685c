//! Tagged frames: one tag, and one around another. The tags are put on and taken off by programs on the
//! hosts' own hooks, since not every kernel has VLAN devices.

use crate::attached::tcx;
use crate::downloads::{check_counts, flow_of};
use crate::lifecycle::steering;
use crate::testbed::{on_testbed, start};
use crate::transfer::{Connection, FILE};
use libbpf_rs::ProgramMut;
use libbpf_rs::skel::{OpenSkel, SkelBuilder};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use tidegate_agent::trunk::{TrunkSkel, TrunkSkelBuilder};
use tidegate_agent::{Direction, Hook};
use tidegate_lab::{IpVersion, Namespace, Offload};

fn load(twice: bool) -> TrunkSkel<'static> {
    let object = Box::leak(Box::new(MaybeUninit::uninit()));
    let mut open = TrunkSkelBuilder::default().open(object).unwrap();
    let constants = open.maps.rodata_data.as_deref_mut();
    constants.expect("has constants").twice = twice;
    open.load().unwrap()
}

/// Attaches to the link's end in that namespace: leaving packets meet it before all other programs, arriving ones after
/// them.
fn attach(host: &Namespace, program: &ProgramMut, hook: libbpf_sys::bpf_attach_type) -> OwnedFd {
    let leaves = hook == libbpf_sys::BPF_TCX_EGRESS;
    let order = if leaves {
        libbpf_sys::BPF_F_BEFORE
    } else {
        libbpf_sys::BPF_F_AFTER
    };
    let program = program.as_fd();
    host.run(|| Ok(tcx(program, hook, order))).unwrap()
}

#[test]
fn tagged() {
    files_arrive_intact(false);
}

#[test]
fn tagged_twice() {
    files_arrive_intact(true);
}

fn files_arrive_intact(twice: bool) {
    on_testbed(|hosts| {
        for (version, offload) in [(IpVersion::V4, Offload::On), (IpVersion::V6, Offload::Off)] {
            hosts.set_offload(offload).unwrap();
            let trunk = load(twice);
            let both = [&hosts.client, &hosts.server];
            let agent = start(steering(), Hook::Tcx);
            let leaves = libbpf_sys::BPF_TCX_EGRESS;
            let _tags = both.map(|host| attach(host, &trunk.progs.tag, leaves));
            let arrives = libbpf_sys::BPF_TCX_INGRESS;
            let _untags = both.map(|host| attach(host, &trunk.progs.untag, arrives));
            let connection = Connection::new(hosts, version);
            connection.exchange();
            let flow = flow_of(&agent, Direction::Down, &connection);
            let case = format!("{version:?}, offload {offload:?}, {flow:?}");
            assert!(flow.received_bytes >= FILE && flow.rewritten > 0, "{case}");
            check_counts(&agent, &case);
        }
    });
}
