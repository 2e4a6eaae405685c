//! Attaching a loaded program to an interface's traffic: tcx where the kernel has it (6.6), clsact
//! before.
//!
//! A tcx link belongs to a descriptor of ours: when it is closed, or the process dies, the kernel
//! detaches the program. A clsact filter stays; it carries a handle of ours, so that the next
//! start replaces it, and is removed when the guard is dropped. The last filter takes clsact itself with it, unless
//! another program had put it there before.
//!
//! In both cases a packet meets the agent's own programs first and the hold's after them ([`Rank`]): tcx is told the
//! program to attach after; clsact's filters run in the order of their priorities.

use crate::AgentError;
use libbpf_rs::{TC_EGRESS, TC_INGRESS, TcAttachPoint, TcHook, TcHookBuilder};
use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use tidegate_linux::rtnetlink::clsact_filters;

/// Handle and priority of the first of our clsact filters, "tg".
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

/// Which of our programs, in the order in which they see a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rank {
    /// The agent's own.
    Agent,
    /// The hold's of downloads.
    HoldDownloads,
    /// The hold's of uploads.
    HoldUploads,
}

impl Rank {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Agent, Self::HoldDownloads, Self::HoldUploads];

    /// Handle and priority of such a filter. Filters of lower priority numbers run first.
    const fn handle(self) -> u32 {
        CLSACT_HANDLE + self as u32
    }
}

/// Where a program of ours is among those of its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Seat {
    pub place: Place,
    pub rank: Rank,
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
    seat: Seat,
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
                    // It may have been removed already.
                    let _ = std::fs::remove_file(path);
                }
            }
            Self::Clsact(filter) => {
                // In a separate thread: the thread that drops the agent may be in another namespace, where the same
                // index is another interface.
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
                remove_if_empty(self.seat.place);
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
        clsact_hook(self.program.as_fd(), self.seat)
    }
}

fn clsact_hook(program: BorrowedFd<'_>, Seat { place, rank }: Seat) -> TcHook {
    let point: TcAttachPoint = match place.way {
        Way::Arrives => TC_INGRESS,
        Way::Leaves => TC_EGRESS,
    };
    TcHookBuilder::new(program)
        .ifindex(place.index as i32)
        .replace(true)
        .handle(rank.handle())
        .priority(rank.handle())
        .hook(point)
}

/// Attaches the programs of one agent, its own and the hold's.
#[derive(Clone)]
pub(crate) struct Attacher {
    hook: Hook,
    /// By interface, whether clsact is there for us alone.
    owned: Arc<Mutex<HashMap<u32, bool>>>,
}

impl Attacher {
    pub(crate) fn new(hook: Hook) -> Self {
        Self {
            hook,
            owned: Arc::default(),
        }
    }

    /// Attaches `program` where it belongs: by tcx right behind another program of ours, or before all others, since a
    /// program that decides on a packet hides it from later ones.
    pub(crate) fn attach(
        &self,
        program: BorrowedFd<'_>,
        seat: Seat,
        behind: Option<BorrowedFd<'_>>,
    ) -> Result<Attachment, libbpf_rs::Error> {
        match self.hook {
            Hook::Tcx => tcx(program, seat.place, behind),
            Hook::Clsact => self.clsact(program, seat),
            // A kernel that does not know the attach type says EINVAL.
            Hook::Auto => tcx(program, seat.place, behind).or_else(|_| self.clsact(program, seat)),
        }
    }

    fn clsact(&self, program: BorrowedFd<'_>, seat: Seat) -> Result<Attachment, libbpf_rs::Error> {
        let filter = Filter {
            program: program.try_clone_to_owned()?,
            namespace: File::open(NAMESPACE)?,
            seat,
            is_ours: self.owns(seat.place.index),
        };
        let mut hook = filter.hook();
        hook.create()?;
        hook.attach()?;
        Ok(Attachment::Clsact(filter))
    }

    /// Whether an interface's clsact is there for us alone. This cannot be seen any more once it has filters of ours;
    /// then the earlier answer holds, or it is ours if a killed agent left the filters.
    fn owns(&self, index: u32) -> bool {
        let mut owned = self.owned.lock().unwrap_or_else(PoisonError::into_inner);
        let owns = match clsact_filters(index) {
            Ok(None) => true,
            Ok(Some(filters)) if !filters.is_empty() => {
                let before = owned.get(&index).copied();
                before.unwrap_or_else(|| filters.iter().all(|priority| is_ours(*priority)))
            }
            _ => false,
        };
        owned.insert(index, owns);
        owns
    }
}

/// Whether a filter of that priority is one of ours.
fn is_ours(priority: u16) -> bool {
    Rank::ALL
        .iter()
        .any(|rank| rank.handle() == u32::from(priority))
}

/// The kernel's number of the program of ours that is attached by clsact there.
pub(crate) fn filter_of(seat: Seat) -> Option<u32> {
    // The descriptor of a program is needed for attaching only.
    clsact_hook(io::stdin().as_fd(), seat).query().ok()
}

/// Detaches it. Returns whether it was there.
pub(crate) fn remove_filter(seat: Seat) -> bool {
    let is_there = clsact_hook(io::stdin().as_fd(), seat).detach().is_ok();
    // Without other filters, clsact is ours: an agent that removes its last filter removes it, too.
    remove_if_empty(seat.place);
    is_there
}

/// Removes an interface's clsact if it has no filters.
fn remove_if_empty(place: Place) {
    if clsact_filters(place.index).is_ok_and(|all| all.is_some_and(|all| all.is_empty())) {
        let rank = Rank::Agent;
        let mut whole = clsact_hook(io::stdin().as_fd(), Seat { place, rank });
        // It may have been removed already.
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
