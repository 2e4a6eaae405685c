//! TUN devices: packets that the kernel sends into one are read here; packets written here arrive there.

use crate::port::Port;
use anyhow::{Context, Result};
use nix::errno::Errno;
use nix::fcntl::{OFlag, open};
use nix::sys::stat::Mode;
use std::ffi::CStr;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};

/// Largest packet that enters or leaves a device, in bytes: Ethernet's.
pub const MTU: usize = 1500;

/// A TUN device in the namespace in which it was opened. It disappears when this is dropped.
///
/// Without `IFF_VNET_HDR` the device offers neither segmentation nor checksum offload, so every
/// read is one whole packet of at most [`MTU`] bytes with its checksums filled in.
#[derive(Debug)]
pub struct Tun {
    port: Port,
    name: String,
}

impl Tun {
    /// Opens a device in the calling thread's namespace, named by the kernel from `pattern`
    /// (`tg%d`).
    ///
    /// # Errors
    /// Without `/dev/net/tun` or `CAP_NET_ADMIN`.
    pub fn open(pattern: &str) -> Result<Self> {
        let flags = OFlag::O_RDWR | OFlag::O_NONBLOCK | OFlag::O_CLOEXEC;
        let fd = open("/dev/net/tun", flags, Mode::empty()).context("cannot open /dev/net/tun")?;
        let mut request = interface_request(pattern, libc::IFF_TUN | libc::IFF_NO_PI);
        // SAFETY: TUNSETIFF reads and writes one ifreq, which `request` is.
        let result = unsafe { libc::ioctl(fd.as_raw_fd(), libc::TUNSETIFF, &raw mut request) };
        Errno::result(result)
            .context("cannot make a TUN device, expected CAP_NET_ADMIN (run it as root)")?;
        // SAFETY: the kernel leaves the name zero-terminated.
        let name = unsafe { CStr::from_ptr(request.ifr_name.as_ptr()) };
        Ok(Self {
            port: Port::new(fd),
            name: name.to_string_lossy().into_owned(),
        })
    }

    /// The device's name in its namespace.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Packets that the kernel sends through the device are read here; packets written here arrive from it.
    pub fn port(&self) -> &Port {
        &self.port
    }
}

impl AsFd for Tun {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.port.as_fd()
    }
}

fn interface_request(name: &str, flags: i32) -> libc::ifreq {
    // SAFETY: all zeroes are a valid ifreq.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    let room = request.ifr_name.len() - 1;
    for (to, from) in request.ifr_name[..room].iter_mut().zip(name.bytes()) {
        *to = from as libc::c_char;
    }
    request.ifr_ifru.ifru_flags = flags as libc::c_short;
    request
}
