//! Attaching a loaded program to an interface's traffic: tcx where the kernel has it (6.6), clsact
//! before.
//!
//! A tcx link belongs to a descriptor of ours: when it is closed, or the process dies, the kernel
//! detaches the program. A clsact filter stays; it carries a handle of ours, so that the next
//! start replaces it, and goes when the guard is dropped.

use libbpf_rs::{TC_EGRESS, TC_INGRESS, TcAttachPoint, TcHook, TcHookBuilder};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

/// Handle and priority of our clsact filters: "tg".
const CLSACT_HANDLE: u32 = 0x7467;

/// By which hook a program is attached.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Hook {
    /// tcx, or clsact where there is none.
    #[default]
    Auto,
    /// tcx only (kernel 6.6).
    Tcx,
    /// clsact, as before 6.6.
    Clsact,
}

/// Which way packets go, seen from this machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    Arrives,
    Leaves,
}

/// An attached program; detached when dropped.
pub(crate) enum Attachment {
    Tcx { _link: OwnedFd },
    Clsact(Filter),
}

/// A clsact filter of ours.
pub(crate) struct Filter {
    program: OwnedFd,
    /// The network namespace of the interface.
    namespace: File,
    index: u32,
    way: Way,
}

impl Drop for Attachment {
    fn drop(&mut self) {
        if let Self::Clsact(filter) = self {
            // A thread of its own: whoever drops the agent may be in another namespace, where the
            // same index is another interface.
            std::thread::scope(|scope| scope.spawn(|| filter.detach()).join().ok());
        }
    }
}

impl Filter {
    /// Moves the calling thread into the interface's namespace, for good, and detaches.
    fn detach(&self) {
        // SAFETY: a descriptor of a network namespace; only the calling thread moves.
        let entered = unsafe { libc::setns(self.namespace.as_raw_fd(), libc::CLONE_NEWNET) } == 0;
        if entered {
            // The interface may be gone, and the filter with it.
            let _ = self.hook().detach();
        }
    }

    fn hook(&self) -> TcHook {
        let point: TcAttachPoint = match self.way {
            Way::Arrives => TC_INGRESS,
            Way::Leaves => TC_EGRESS,
        };
        TcHookBuilder::new(self.program.as_fd())
            .ifindex(self.index as i32)
            .replace(true)
            .handle(CLSACT_HANDLE)
            .priority(CLSACT_HANDLE)
            .hook(point)
    }
}

/// Attaches `program` to the interface `index` of the calling thread's namespace.
pub(crate) fn attach(
    program: BorrowedFd<'_>,
    index: u32,
    way: Way,
    hook: Hook,
) -> Result<Attachment, libbpf_rs::Error> {
    match hook {
        Hook::Tcx => tcx(program, index, way),
        Hook::Clsact => clsact(program, index, way),
        // A kernel that does not know the attach type says EINVAL.
        Hook::Auto => tcx(program, index, way).or_else(|_| clsact(program, index, way)),
    }
}

/// libbpf-rs has no safe call for tcx.
fn tcx(program: BorrowedFd<'_>, index: u32, way: Way) -> Result<Attachment, libbpf_rs::Error> {
    let attach_type = match way {
        Way::Arrives => libbpf_sys::BPF_TCX_INGRESS,
        Way::Leaves => libbpf_sys::BPF_TCX_EGRESS,
    };
    // SAFETY: a valid program descriptor, an interface index, no options.
    let fd = unsafe {
        libbpf_sys::bpf_link_create(
            program.as_raw_fd(),
            index as i32,
            attach_type,
            std::ptr::null(),
        )
    };
    if fd < 0 {
        return Err(io::Error::from_raw_os_error(-fd).into());
    }
    // SAFETY: the call returned a new descriptor that nobody else owns.
    let link = unsafe { OwnedFd::from_raw_fd(fd) };
    Ok(Attachment::Tcx { _link: link })
}

fn clsact(program: BorrowedFd<'_>, index: u32, way: Way) -> Result<Attachment, libbpf_rs::Error> {
    let filter = Filter {
        program: program.try_clone_to_owned()?,
        namespace: File::open("/proc/thread-self/ns/net")?,
        index,
        way,
    };
    let mut hook = filter.hook();
    hook.create()?;
    hook.attach()?;
    Ok(Attachment::Clsact(filter))
}
