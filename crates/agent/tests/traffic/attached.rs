//! Which programs the kernel runs on the link, asked of the kernel.

use crate::testbed::interface;
use libbpf_rs::{TC_EGRESS, TC_INGRESS, TcAttachPoint, TcHookBuilder};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use tidegate_agent::Hook;

/// Handle and priority of the agent's clsact filters; the hold's have the next two.
const CLSACT_HANDLE: u32 = 0x7467;

/// Programs of an agent on an interface: what arrives, what leaves.
pub const PROGRAMS: usize = 2;

/// What [`attached`] returns for a free hook.
pub const NO_PROGRAM: [u32; 0] = [];

/// Ids of the agent's programs on the link's end in the calling thread's namespace, by `hook`.
pub fn attached(hook: Hook) -> Vec<u32> {
    let index = interface().index as i32;
    match hook {
        Hook::Clsact => [TC_INGRESS, TC_EGRESS]
            .into_iter()
            .filter_map(|point| filter(index, point, CLSACT_HANDLE))
            .collect(),
        _ => [libbpf_sys::BPF_TCX_INGRESS, libbpf_sys::BPF_TCX_EGRESS]
            .into_iter()
            .flat_map(|point| at_tcx(index, point))
            .collect(),
    }
}

/// The program of a clsact filter with that handle and priority.
fn filter(index: i32, point: TcAttachPoint, handle: u32) -> Option<u32> {
    // The descriptor of a program is needed for attaching only.
    TcHookBuilder::new(std::io::stdin().as_fd())
        .ifindex(index)
        .handle(handle)
        .priority(handle)
        .hook(point)
        .query()
        .ok()
}

/// The agent's and the hold's programs at one end of the interface's clsact, which runs them in this order.
pub fn at_clsact(index: i32, point: TcAttachPoint) -> Vec<u32> {
    let handles = CLSACT_HANDLE..CLSACT_HANDLE + 3;
    handles
        .filter_map(|handle| filter(index, point, handle))
        .collect()
}

/// All programs at one of the interface's tcx hooks.
pub fn at_tcx(index: i32, point: libbpf_sys::bpf_attach_type) -> Vec<u32> {
    let mut ids = [0; 16];
    let mut query = libbpf_sys::bpf_prog_query_opts {
        sz: size_of::<libbpf_sys::bpf_prog_query_opts>() as libbpf_sys::size_t,
        prog_ids: ids.as_mut_ptr(),
        ..Default::default()
    };
    query.__bindgen_anon_1.count = ids.len() as u32;
    // SAFETY: the kernel writes at most `count` ids to the array, which outlives the call.
    let status = unsafe { libbpf_sys::bpf_prog_query_opts(index, point, &raw mut query) };
    assert_eq!(status, 0, "cannot ask for the programs at a tcx hook");
    // SAFETY: both members of the union are the same integer.
    let count = unsafe { query.__bindgen_anon_1.count };
    ids[..count as usize].to_vec()
}

/// Attaches a program to the link's end in the calling thread's namespace, before or after all others.
pub fn tcx(program: BorrowedFd, hook: libbpf_sys::bpf_attach_type, order: u32) -> OwnedFd {
    let index = interface().index as i32;
    let options = libbpf_sys::bpf_link_create_opts {
        sz: size_of::<libbpf_sys::bpf_link_create_opts>() as libbpf_sys::size_t,
        flags: order,
        ..Default::default()
    };
    // SAFETY: a valid program descriptor, an interface index, options that outlive the call.
    let fd = unsafe {
        libbpf_sys::bpf_link_create(program.as_raw_fd(), index, hook, &raw const options)
    };
    assert!(fd >= 0, "cannot attach: {fd}");
    // SAFETY: a new descriptor that nobody else owns.
    unsafe { OwnedFd::from_raw_fd(fd) }
}
