//! Names of the far ends, from the system's resolver. We look them up on other threads, so that the display never
//! waits. The owner of an address chooses its name, so a name proves nothing and may contain anything.

use crate::top::filter::Filter;
use crate::top::model::{Model, Selection};
use anyhow::{Context, Result};
use nix::sys::socket::{SockaddrLike, SockaddrStorage};
use std::collections::{HashMap, VecDeque};
use std::ffi::CStr;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

/// How many lookups run at once: a lookup takes seconds if a name server does not answer.
const AT_A_TIME: usize = 4;
/// How many addresses may wait for a lookup, and how many names are remembered.
const WAITING: usize = 256;
const MOST: usize = 4096;
/// How many rows get names: nobody reads more.
const ROWS: usize = 200;

/// Names that are known.
#[derive(Default)]
struct Known {
    /// None: the lookup is under way, or the address has no name.
    names: HashMap<IpAddr, Option<Arc<str>>>,
    waiting: VecDeque<IpAddr>,
}

#[derive(Default)]
struct Asked {
    known: Mutex<Known>,
    more: Condvar,
}

/// Names of far ends; none unless the user asked for them.
#[derive(Default)]
pub struct Names(Option<Arc<Asked>>);

impl Names {
    /// Starts the lookups if names are wanted. Threads that wait for a name server end with the process.
    ///
    /// # Errors
    /// If no thread can be started.
    pub fn start(wanted: bool) -> Result<Self> {
        if !wanted {
            return Ok(Self::default());
        }
        let asked = Arc::<Asked>::default();
        for _ in 0..AT_A_TIME {
            let asked = Arc::clone(&asked);
            thread::Builder::new()
                .name("names".into())
                .spawn(move || asked.answer())
                .context("start a thread")?;
        }
        Ok(Self(Some(asked)))
    }

    /// Gives the model's rows their names if they are known; looks up the others.
    pub fn give(&self, model: &mut Model, selection: &Selection) {
        let Some(asked) = &self.0 else { return };
        // Rows that the filter hides need names, too: it may match a name.
        let all = Selection {
            filter: Filter::default(),
            ..selection.clone()
        };
        let rows = model.rows(&all);
        let addresses = rows.iter().take(ROWS).map(|row| row.key.remote.address);
        let names: HashMap<_, _> = addresses.map(|a| (a, asked.name_of(a))).collect();
        for row in model.rows_mut() {
            let name = names.get(&row.key.remote.address);
            row.remote_name = name.cloned().flatten();
        }
    }
}

impl Asked {
    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn name_of(&self, address: IpAddr) -> Option<Arc<str>> {
        let mut known = self.known();
        if let Some(name) = known.names.get(&address) {
            return name.clone();
        }
        if known.names.len() >= MOST {
            *known = Known::default();
        }
        if known.waiting.len() < WAITING {
            known.names.insert(address, None);
            known.waiting.push_back(address);
            self.more.notify_one();
        }
        None
    }

    /// Looks up one address after the other.
    fn answer(&self) {
        loop {
            let address = self.next();
            let name = ask(address);
            self.known().names.insert(address, name);
        }
    }

    fn next(&self) -> IpAddr {
        let mut known = self.known();
        loop {
            if let Some(address) = known.waiting.pop_front() {
                return address;
            }
            let waited = self.more.wait(known);
            known = waited.unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// Asks the system's resolver, which uses /etc/hosts and name servers as nsswitch.conf(5) says.
fn ask(address: IpAddr) -> Option<Arc<str>> {
    let of = SockaddrStorage::from(SocketAddr::new(address, 0));
    let mut room = [0_u8; libc::NI_MAXHOST as usize];
    // SAFETY: an address with its length, and room with its size, which live through the call.
    let status = unsafe {
        libc::getnameinfo(
            of.as_ptr(),
            of.len(),
            room.as_mut_ptr().cast(),
            room.len() as libc::socklen_t,
            std::ptr::null_mut(),
            0,
            libc::NI_NAMEREQD,
        )
    };
    let name = CStr::from_bytes_until_nul(&room).ok()?.to_string_lossy();
    (status == 0 && !name.is_empty()).then(|| name.into())
}
