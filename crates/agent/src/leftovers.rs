//! What agents have left in the network namespace of the calling thread: pinned programs, and the
//! clsact filters of one that was killed.

use crate::AgentError;
use crate::attach::{Place, Rank, Seat, Way, filter_of};
use crate::pin::{clear, found_folder};
use std::ffi::CStr;
use std::fmt;
use std::path::PathBuf;

/// Something that an agent left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Leftover {
    /// A folder of pins.
    Pins {
        /// Which one.
        folder: PathBuf,
        /// What is in it.
        names: Vec<String>,
    },
    /// A clsact filter.
    Filter {
        /// The interface's name.
        interface: String,
        /// Where it is.
        place: Place,
        /// Which of our programs it has.
        rank: Rank,
        /// The kernel's number of its program.
        program: u32,
    },
}

impl fmt::Display for Leftover {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pins { folder, names } => {
                let links = names.iter().filter(|n| n.starts_with("link-"));
                let links: Vec<_> = links.map(String::as_str).collect();
                write!(to, "{}: ", folder.display())?;
                if !links.is_empty() {
                    write!(to, "{} and ", links.join(", "))?;
                }
                write!(to, "{} programs and maps", names.len() - links.len())
            }
            Self::Filter {
                interface,
                place,
                rank,
                ..
            } => {
                let whose = match rank {
                    Rank::Agent => "",
                    Rank::HoldDownloads => " of the hold of downloads",
                    Rank::HoldUploads => " of the hold of uploads",
                };
                let way = place.way.name();
                write!(to, "clsact filter{whose} on {interface} ({way})")
            }
        }
    }
}

/// All that is there. What a running agent holds by its own descriptors is not among it, but its pins
/// and filters are.
pub fn leftovers() -> Result<Vec<Leftover>, AgentError> {
    // Most interfaces have no such filter, and libbpf would print a complaint for each.
    libbpf_rs::set_print(None);
    let mut all = Vec::new();
    if let Some(folder) = found_folder()?
        && let Ok(pins) = folder.read_dir()
    {
        let name = |pin: std::fs::DirEntry| pin.file_name().to_string_lossy().into_owned();
        let mut names: Vec<_> = pins.flatten().map(name).collect();
        names.sort();
        all.push(Leftover::Pins { folder, names });
    }
    for (index, interface) in interfaces() {
        all.extend(filters(index, &interface));
    }
    Ok(all)
}

/// Filters of ours on an interface.
fn filters(index: u32, interface: &str) -> Vec<Leftover> {
    let mut all = Vec::new();
    for rank in Rank::ALL {
        for way in [Way::Arrives, Way::Leaves] {
            let place = Place { index, way };
            if let Some(program) = filter_of(Seat { place, rank }) {
                let interface = interface.to_owned();
                all.push(Leftover::Filter {
                    interface,
                    place,
                    rank,
                    program,
                });
            }
        }
    }
    all
}

impl Leftover {
    /// Removes it. Returns whether it was still there: a program that has taken a filter's place stays.
    pub fn remove(&self) -> Result<bool, AgentError> {
        match self {
            Self::Pins { folder, .. } => match clear(folder) {
                Ok(()) => Ok(true),
                Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(false),
                Err(source) => Err(AgentError::System {
                    what: "remove what is pinned below /sys/fs/bpf",
                    source,
                }),
            },
            Self::Filter {
                place,
                rank,
                program,
                ..
            } => {
                let (place, rank) = (*place, *rank);
                let seat = Seat { place, rank };
                let there = filter_of(seat) == Some(*program);
                Ok(there && crate::attach::remove_filter(seat))
            }
        }
    }
}

/// Index and name of every interface.
fn interfaces() -> Vec<(u32, String)> {
    let mut all = Vec::new();
    // SAFETY: no arguments; the list is given back below.
    let list = unsafe { libc::if_nameindex() };
    if list.is_null() {
        return all;
    }
    let mut at = list;
    // SAFETY: the list ends with an entry of index 0, and each before it has a NUL-terminated name.
    while let (index @ 1.., name) = unsafe { ((*at).if_index, (*at).if_name) } {
        // SAFETY: as above.
        let name = unsafe { CStr::from_ptr(name) };
        all.push((index, name.to_string_lossy().into_owned()));
        // SAFETY: not beyond the last entry, which ends the loop.
        at = unsafe { at.add(1) };
    }
    // SAFETY: what if_nameindex returned, once.
    unsafe { libc::if_freenameindex(list) };
    all
}
