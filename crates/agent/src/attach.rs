//! Attaching a loaded program to an interface's traffic: tcx where the kernel has it (6.6), clsact
//! before.
//!
//! A tcx link belongs to a descriptor of ours: when it is closed, or the process dies, the kernel
//! detaches the program. A clsact filter stays; it carries a handle of ours, so that the next
//! start replaces it, and goes when the guard is dropped. With the last filter goes clsact itself, unless
//! somebody else had it there before.

use crate::AgentError;
use libbpf_rs::{TC_EGRESS, TC_INGRESS, TcAttachPoint, TcHook, TcHookBuilder};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use tidegate_rtnetlink::clsact_filters;

/// Handle and priority of our clsact filters, "tg".
const CLSACT_HANDLE: u32 = 0x7467;

/// The calling thread's network namespace.
const NAMESPACE: &str = "/proc/thread-self/ns/net";

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
pub enum Way {
    /// In.
    Arrives,
    /// Out.
    Leaves,
}

impl Way {
    /// As reports spell it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Arrives => "arrives",
            Self::Leaves => "leaves",
        }
    }
}

/// Where a program of ours belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The interface, of the calling thread's namespace.
    pub index: u32,
    /// Which packets it sees.
    pub way: Way,
}

/// An attached program; detached when dropped.
pub(crate) enum Attachment {
    Tcx {
        link: OwnedFd,
        /// Its name in the BPF file system, if it has one.
        pin: Option<PathBuf>,
    },
    Clsact(Filter),
}

impl Attachment {
    /// Gives a link a name below `folder`, so that it stays when the process ends; a filter stays as
    /// it is.
    pub(crate) fn pin(&mut self, place: Place, folder: &Path) -> Result<(), AgentError> {
        let Self::Tcx { link, pin } = self else {
            return Ok(());
        };
        if pin.is_none() {
            let path = folder.join(format!("link-{}-{}", place.index, place.way.name()));
            crate::pin::pin(link.as_fd(), &path)?;
            *pin = Some(path);
        }
        Ok(())
    }

    /// Leaves a filter, and a link that has a name, as they are.
    pub(crate) fn leave(mut self) {
        match &mut self {
            Self::Tcx { pin, .. } => *pin = None,
            Self::Clsact(_) => std::mem::forget(self),
        }
    }
}

/// A clsact filter of ours.
pub(crate) struct Filter {
    program: OwnedFd,
    /// The network namespace of the interface.
    namespace: File,
    place: Place,
    /// Whether clsact is there for us alone.
    is_ours: bool,
}

impl Attachment {
    /// By which hook.
    pub(crate) fn hook(&self) -> Hook {
        match self {
            Self::Tcx { .. } => Hook::Tcx,
            Self::Clsact(_) => Hook::Clsact,
        }
    }
}

impl Drop for Attachment {
    fn drop(&mut self) {
        match self {
            Self::Tcx { pin, .. } => {
                if let Some(path) = pin {
                    // Somebody may have removed it.
                    let _ = std::fs::remove_file(path);
                }
            }
            Self::Clsact(filter) => {
                // A thread of its own: whoever drops the agent may be in another namespace, where
                // the same index is another interface.
                std::thread::scope(|scope| scope.spawn(|| filter.detach()).join().ok());
            }
        }
    }
}

impl Hook {
    /// As the kernel's documents spell it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Tcx => "tcx",
            Self::Clsact => "clsact",
        }
    }
}

impl Filter {
    /// Moves the calling thread into the interface's namespace, for good, and detaches.
    fn detach(&self) {
        // To move takes CAP_SYS_ADMIN, which an agent that never left its namespace has given up.
        // SAFETY: a descriptor of a network namespace; only the calling thread moves.
        let enter = || unsafe { libc::setns(self.namespace.as_raw_fd(), libc::CLONE_NEWNET) } == 0;
        if self.is_here() || enter() {
            // The interface may be gone, and the filter with it.
            let _ = self.hook().detach();
            if self.is_ours {
                remove_if_empty(self.place);
            }
        }
    }

    /// Whether the calling thread is in the interface's namespace.
    fn is_here(&self) -> bool {
        let here = std::fs::metadata(NAMESPACE).map(|m| (m.dev(), m.ino()));
        let there = self.namespace.metadata().map(|m| (m.dev(), m.ino()));
        matches!((here, there), (Ok(here), Ok(there)) if here == there)
    }

    fn hook(&self) -> TcHook {
        clsact_hook(self.program.as_fd(), self.place)
    }
}

fn clsact_hook(program: BorrowedFd<'_>, place: Place) -> TcHook {
    let point: TcAttachPoint = match place.way {
        Way::Arrives => TC_INGRESS,
        Way::Leaves => TC_EGRESS,
    };
    TcHookBuilder::new(program)
        .ifindex(place.index as i32)
        .replace(true)
        .handle(CLSACT_HANDLE)
        .priority(CLSACT_HANDLE)
        .hook(point)
}

/// Attaches `program` where it belongs: by tcx before all others, since a program that decides on a packet hides it
/// from later programs. `earlier` is attached to the same interface.
pub(crate) fn attach(
    program: BorrowedFd<'_>,
    place: Place,
    hook: Hook,
    earlier: Option<&Attachment>,
) -> Result<Attachment, libbpf_rs::Error> {
    match hook {
        Hook::Tcx => tcx(program, place, None),
        Hook::Clsact => clsact(program, place, earlier),
        // A kernel that does not know the attach type says EINVAL.
        Hook::Auto => tcx(program, place, None).or_else(|_| clsact(program, place, earlier)),
    }
}

/// Attaches `program` right behind another that is attached there, by tcx.
pub(crate) fn attach_behind(
    other: BorrowedFd<'_>,
    program: BorrowedFd<'_>,
    place: Place,
) -> Result<Attachment, libbpf_rs::Error> {
    tcx(program, place, Some(other))
}

/// Whether the kernel has tcx, without which no program can be attached behind another. Asks for the programs on the
/// loopback device, which each namespace has, and not for the version, since some kernels with older numbers have tcx.
pub(crate) fn has_tcx() -> bool {
    const LOOPBACK: i32 = 1;
    // SAFETY: all zeroes are valid options: only whether there is an answer counts.
    let mut options: libbpf_sys::bpf_prog_query_opts = unsafe { std::mem::zeroed() };
    options.sz = size_of_val(&options) as libbpf_sys::size_t;
    // SAFETY: plain numbers, options that outlive the call.
    let status = unsafe {
        libbpf_sys::bpf_prog_query_opts(LOOPBACK, libbpf_sys::BPF_TCX_INGRESS, &raw mut options)
    };
    status != -libc::EINVAL
}

/// The kernel's number of the program of ours that is attached by clsact in that place.
pub(crate) fn filter_of(place: Place) -> Option<u32> {
    // The descriptor of a program is needed for attaching only.
    clsact_hook(io::stdin().as_fd(), place).query().ok()
}

/// Detaches it. Whether it was there.
pub(crate) fn remove_filter(place: Place) -> bool {
    let is_there = clsact_hook(io::stdin().as_fd(), place).detach().is_ok();
    // Without other filters, clsact is ours: an agent that removes its last filter removes it, too.
    remove_if_empty(place);
    is_there
}

/// Whether an interface has no clsact, or one with filters of ours alone.
fn is_ours(place: Place) -> bool {
    let ours = u16::try_from(CLSACT_HANDLE).ok();
    clsact_filters(place.index).is_ok_and(|filters| {
        filters.is_none_or(|all| !all.is_empty() && all.iter().all(|p| Some(*p) == ours))
    })
}

/// Removes an interface's clsact if it has no filters.
fn remove_if_empty(place: Place) {
    if clsact_filters(place.index).is_ok_and(|all| all.is_some_and(|all| all.is_empty())) {
        let mut whole = clsact_hook(io::stdin().as_fd(), place);
        // Somebody may have removed it meanwhile.
        let _ = whole.attach_point(TC_INGRESS | TC_EGRESS).destroy();
    }
}

/// libbpf-rs has no safe call for tcx.
fn tcx(
    program: BorrowedFd<'_>,
    place: Place,
    behind: Option<BorrowedFd<'_>>,
) -> Result<Attachment, libbpf_rs::Error> {
    let attach_type = match place.way {
        Way::Arrives => libbpf_sys::BPF_TCX_INGRESS,
        Way::Leaves => libbpf_sys::BPF_TCX_EGRESS,
    };
    // SAFETY: all zeroes are valid options: none.
    let mut options: libbpf_sys::bpf_link_create_opts = unsafe { std::mem::zeroed() };
    options.sz = size_of_val(&options) as libbpf_sys::size_t;
    options.flags = libbpf_sys::BPF_F_BEFORE;
    if let Some(other) = behind {
        options.flags = libbpf_sys::BPF_F_AFTER;
        options.__bindgen_anon_1.tcx.relative_fd = other.as_raw_fd() as u32;
    }
    // SAFETY: valid program descriptors, an interface index, options that outlive the call.
    let fd = unsafe {
        libbpf_sys::bpf_link_create(
            program.as_raw_fd(),
            place.index as i32,
            attach_type,
            &raw const options,
        )
    };
    if fd < 0 {
        return Err(io::Error::from_raw_os_error(-fd).into());
    }
    // SAFETY: the call returned a new descriptor that nobody else owns.
    let link = unsafe { OwnedFd::from_raw_fd(fd) };
    Ok(Attachment::Tcx { link, pin: None })
}

fn clsact(
    program: BorrowedFd<'_>,
    place: Place,
    earlier: Option<&Attachment>,
) -> Result<Attachment, libbpf_rs::Error> {
    let filter = Filter {
        program: program.try_clone_to_owned()?,
        namespace: File::open(NAMESPACE)?,
        place,
        is_ours: match earlier {
            Some(Attachment::Clsact(earlier)) => earlier.is_ours,
            _ => is_ours(place),
        },
    };
    let mut hook = filter.hook();
    hook.create()?;
    hook.attach()?;
    Ok(Attachment::Clsact(filter))
}
