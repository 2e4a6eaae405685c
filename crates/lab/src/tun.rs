//! TUN devices: what the kernel sends into one is read here, what is written here arrives there.

use anyhow::{Context, Result};
use nix::errno::Errno;
use nix::fcntl::{OFlag, open};
use nix::sys::stat::Mode;
use std::ffi::CStr;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

/// Largest packet that enters or leaves a device, in bytes: Ethernet's.
pub const MTU: usize = 1500;

/// A TUN device in the namespace in which it was opened. It disappears when this is dropped.
///
/// Without `IFF_VNET_HDR` the device offers neither segmentation nor checksum offload, so every
/// read is one whole packet of at most [`MTU`] bytes with its checksums filled in.
#[derive(Debug)]
pub struct Tun {
    fd: OwnedFd,
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
        Errno::result(result).context("cannot make a TUN device (is this root?)")?;
        // SAFETY: the kernel leaves the name zero-terminated.
        let name = unsafe { CStr::from_ptr(request.ifr_name.as_ptr()) };
        Ok(Self {
            fd,
            name: name.to_string_lossy().into_owned(),
        })
    }

    /// The device's name in its namespace.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Takes the next packet that the kernel sends through the device into `packet`, whose
    /// capacity is its limit; `false` if there is none.
    ///
    /// # Errors
    /// When the device is down or gone.
    pub fn read(&self, packet: &mut Vec<u8>) -> Result<bool, Errno> {
        packet.clear();
        let room = packet.spare_capacity_mut();
        // SAFETY: the kernel writes at most `room.len()` bytes to `room`.
        let result =
            unsafe { libc::read(self.fd.as_raw_fd(), room.as_mut_ptr().cast(), room.len()) };
        match Errno::result(result) {
            Ok(length) => {
                // SAFETY: the kernel has just initialised `length` bytes of the capacity.
                unsafe { packet.set_len(length as usize) };
                Ok(true)
            }
            Err(Errno::EAGAIN | Errno::EINTR) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Lets `packet` arrive from the device.
    ///
    /// # Errors
    /// When the kernel refuses the packet.
    pub fn write(&self, packet: &[u8]) -> Result<(), Errno> {
        nix::unistd::write(&self.fd, packet).map(drop)
    }
}

impl AsFd for Tun {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
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
