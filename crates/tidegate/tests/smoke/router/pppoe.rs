//! An established PPPoE session between the kernel's own sockets, without a daemon at either end.
//!
//! Numbers are those of linux/if_pppox.h and linux/ppp-ioctl.h.

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use tidegate_lab::Namespace;

/// The session number at both ends.
const SESSION: u16 = 7;

/// What keeps it in the kernel: the session's socket, its channel, and the device.
pub type Session = [OwnedFd; 3];

nix::ioctl_read!(number_of_channel, b't', 55, libc::c_int);
nix::ioctl_write_ptr!(attach_to_channel, b't', 56, libc::c_int);
nix::ioctl_write_ptr!(connect_to_device, b't', 58, libc::c_int);
nix::ioctl_readwrite!(make_device, b't', 62, libc::c_int);
nix::ioctl_write_ptr!(set_mode, b't', 75, [libc::c_int; 2]);

/// Starts PPPoE on that port of `host` with the other end's address; the device `ppp0` is removed with the session.
pub fn begin(host: &Namespace, port: &str, remote: [u8; 6]) -> io::Result<Session> {
    host.run(|| Ok(session(port, remote))).unwrap()
}

fn session(port: &str, remote: [u8; 6]) -> io::Result<Session> {
    // SAFETY: plain numbers; PX_PROTO_OE is 0.
    let socket = unsafe { libc::socket(libc::AF_PPPOX, libc::SOCK_STREAM, 0) };
    if socket < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: a new descriptor that nobody else owns.
    let socket = unsafe { OwnedFd::from_raw_fd(socket) };
    let address = address(port, remote);
    // SAFETY: the address outlives the call.
    let connected = unsafe {
        let length = address.len() as libc::socklen_t;
        libc::connect(socket.as_raw_fd(), address.as_ptr().cast(), length)
    };
    if connected < 0 {
        return Err(io::Error::last_os_error());
    }
    let open = || File::options().read(true).write(true).open("/dev/ppp");
    let (channel, device) = (open()?, open()?);
    let (mut number, mut unit) = (0, 0);
    // PPP_IP packets pass (NPMODE_PASS).
    let mode = [0x21, 0];
    // SAFETY: open descriptors, and numbers that outlive the calls.
    unsafe {
        number_of_channel(socket.as_raw_fd(), &raw mut number)?;
        attach_to_channel(channel.as_raw_fd(), &raw const number)?;
        make_device(device.as_raw_fd(), &raw mut unit)?;
        connect_to_device(channel.as_raw_fd(), &raw const unit)?;
        set_mode(device.as_raw_fd(), &raw const mode)?;
    }
    Ok([socket, channel.into(), device.into()])
}

/// A packed `struct sockaddr_pppox`: family, protocol, session, the other end's address, the port.
fn address(port: &str, remote: [u8; 6]) -> [u8; 30] {
    let mut name = [0; libc::IFNAMSIZ];
    name[..port.len()].copy_from_slice(port.as_bytes());
    let family = (libc::AF_PPPOX as u16).to_ne_bytes();
    let parts = [&family[..], &[0; 4], &SESSION.to_be_bytes(), &remote, &name];
    parts.concat().try_into().expect("their lengths are known")
}
