//! Other software's programs at the same hooks.

use crate::attached::tcx;
use crate::downloads::flow_of;
use crate::lifecycle::steering;
use crate::testbed::{on_testbed, start};
use crate::transfer::{Connection, FILE};
use std::os::fd::{AsFd, FromRawFd, OwnedFd};
use tidegate_agent::{Direction, Hook};
use tidegate_lab::IpVersion;

/// A program that lets each packet pass and hides it from those behind it, as firewalls and container networks do:
/// `return TC_ACT_OK`.
pub fn decides() -> OwnedFd {
    // r0 = 0; exit
    let program = [
        libbpf_sys::bpf_insn {
            code: 0xb7,
            ..Default::default()
        },
        libbpf_sys::bpf_insn {
            code: 0x95,
            ..Default::default()
        },
    ];
    // SAFETY: two valid instructions, strings that end, no options.
    let fd = unsafe {
        libbpf_sys::bpf_prog_load(
            libbpf_sys::BPF_PROG_TYPE_SCHED_CLS,
            c"decides".as_ptr(),
            c"GPL".as_ptr(),
            program.as_ptr(),
            program.len() as libbpf_sys::size_t,
            std::ptr::null_mut(),
        )
    };
    assert!(fd >= 0, "cannot load: {fd}");
    // SAFETY: a new descriptor that nobody else owns.
    unsafe { OwnedFd::from_raw_fd(fd) }
}

#[test]
fn who_was_there_before_and_decides_hides_nothing() {
    on_testbed(|hosts| {
        let program = decides();
        let hooks = [libbpf_sys::BPF_TCX_INGRESS, libbpf_sys::BPF_TCX_EGRESS];
        let _others = hooks.map(|hook| tcx(program.as_fd(), hook, libbpf_sys::BPF_F_AFTER));
        let agent = start(steering(), Hook::Tcx);
        let connection = Connection::new(hosts, IpVersion::V4);
        connection.download();
        let flow = flow_of(&agent, Direction::Down, &connection);
        assert!(
            flow.received_bytes >= FILE && flow.rewritten > 0,
            "{flow:?}"
        );
    });
}
