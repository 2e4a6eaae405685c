//! Interfaces as the agent needs them: an index, and whether frames begin with Ethernet or IP.

use crate::AgentError;
use std::ffi::CString;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

/// ARPHRD numbers (`linux/if_arp.h`) of interfaces whose packets begin with the IP header.
const PLAIN_IP: [u16; 5] = [
    libc::ARPHRD_NONE,
    libc::ARPHRD_PPP,
    libc::ARPHRD_RAWHDLC, // 518
    libc::ARPHRD_TUNNEL,
    519, // ARPHRD_RAWIP: LTE and 5G modems in raw-IP mode
];

/// The header before the IP header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkLayer {
    /// Fourteen bytes of Ethernet.
    Ethernet,
    /// Nothing.
    PlainIp,
}

impl LinkLayer {
    /// In words.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ethernet => "Ethernet",
            Self::PlainIp => "plain IP",
        }
    }
}

/// One network interface of the calling thread's namespace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interface {
    /// Its name.
    pub name: String,
    /// Its index.
    pub index: u32,
    /// What its frames begin with.
    pub link_layer: LinkLayer,
}

impl Interface {
    /// Looks up an interface by name.
    pub fn find(name: &str) -> Result<Self, AgentError> {
        let missing = || AgentError::NoInterface(name.to_owned());
        let c_name = CString::new(name).map_err(|_| missing())?;
        if name.len() >= libc::IFNAMSIZ {
            return Err(missing());
        }
        // SAFETY: a NUL-terminated string that lives through the call.
        let index = unsafe { libc::if_nametoindex(c_name.as_ptr()) };
        if index == 0 {
            return Err(missing());
        }
        let link_layer = match hardware_type(&c_name)? {
            libc::ARPHRD_ETHER | libc::ARPHRD_LOOPBACK => LinkLayer::Ethernet,
            kind if PLAIN_IP.contains(&kind) => LinkLayer::PlainIp,
            kind => {
                return Err(AgentError::LinkLayer {
                    name: name.to_owned(),
                    kind,
                });
            }
        };
        Ok(Self {
            name: name.to_owned(),
            index,
            link_layer,
        })
    }
}

/// The interface's ARPHRD number. Asked by ioctl: /sys shows the namespace that mounted it.
fn hardware_type(name: &CString) -> Result<u16, AgentError> {
    let failed = |what| {
        move || AgentError::System {
            what,
            source: io::Error::last_os_error(),
        }
    };
    // SAFETY: plain socket call; the descriptor is owned right away.
    let socket = unsafe { libc::socket(libc::AF_INET, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0) };
    if socket < 0 {
        return Err(failed("open a socket to ask about interfaces")());
    }
    // SAFETY: `socket` is a descriptor that nobody else owns.
    let socket = unsafe { OwnedFd::from_raw_fd(socket) };
    // SAFETY: all zeroes is a valid ifreq.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (to, from) in request.ifr_name.iter_mut().zip(name.as_bytes()) {
        *to = *from as libc::c_char;
    }
    // SAFETY: the request outlives the call, its name is NUL-terminated (shorter than IFNAMSIZ).
    if unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCGIFHWADDR as _, &mut request) } < 0 {
        return Err(failed("ask for an interface's link-layer type")());
    }
    // SAFETY: SIOCGIFHWADDR fills this member of the union.
    Ok(unsafe { request.ifr_ifru.ifru_hwaddr.sa_family })
}

#[cfg(test)]
mod tests;
