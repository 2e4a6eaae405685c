//! Tagged frames: one tag, and one around another. The tags are put on and taken off by programs on the
//! hosts' own hooks, since not every kernel has VLAN devices.

use crate::downloads::{check_counts, flow_of};
use crate::lifecycle::steering;
use crate::stage::{interface, on_stage, start};
use crate::transfer::{Connection, FILE};
use libbpf_rs::ProgramMut;
use libbpf_rs::skel::{OpenSkel, SkelBuilder};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};
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

/// Attaches behind what is attached already, to the link's end in that namespace.
fn attach(host: &Namespace, program: &ProgramMut, hook: libbpf_sys::bpf_attach_type) -> OwnedFd {
    let program = program.as_fd().as_raw_fd();
    let link = |index: u32| {
        // SAFETY: a valid program descriptor, an interface index, no options.
        unsafe { libbpf_sys::bpf_link_create(program, index as i32, hook, std::ptr::null()) }
    };
    let fd = host.run(|| Ok(link(interface().index))).unwrap();
    assert!(fd >= 0, "cannot attach: {fd}");
    // SAFETY: a new descriptor that nobody else owns.
    unsafe { OwnedFd::from_raw_fd(fd) }
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
    on_stage(|hosts| {
        for (version, offload) in [(IpVersion::V4, Offload::On), (IpVersion::V6, Offload::Off)] {
            hosts.set_offload(offload).unwrap();
            let trunk = load(twice);
            let both = [&hosts.client, &hosts.server];
            let leaves = libbpf_sys::BPF_TCX_EGRESS;
            let _tags = both.map(|host| attach(host, &trunk.progs.tag, leaves));
            let agent = start(steering(), Hook::Tcx);
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
