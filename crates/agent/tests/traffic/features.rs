//! Features of a network device by name, as `ethtool -K` sets them.

use nix::errno::Errno;
use std::mem::zeroed;
use std::net::UdpSocket;
use std::os::fd::AsRawFd;

/// linux/sockios.h and linux/ethtool.h.
const SIOCETHTOOL: libc::Ioctl = 0x8946;
const ETHTOOL_GSTRINGS: u32 = 0x1b;
const ETHTOOL_SFEATURES: u32 = 0x3b;
const ETH_SS_FEATURES: u32 = 4;
const NAME: usize = 32;
/// More than any kernel has.
const MOST: usize = 128;

#[repr(C)]
struct Names {
    command: u32,
    set: u32,
    count: u32,
    names: [[u8; NAME]; MOST],
}

#[repr(C)]
struct Features {
    command: u32,
    blocks: u32,
    /// Which are to be changed, and to what.
    valid_and_wanted: [[u32; 2]; MOST / 32],
}

/// Switches a feature of a device in the calling thread's namespace on or off; false if the kernel
/// has not got it.
pub fn switch(device: &str, feature: &str, on: bool) -> bool {
    let mut names = Names {
        command: ETHTOOL_GSTRINGS,
        set: ETH_SS_FEATURES,
        count: 0,
        names: [[0; NAME]; MOST],
    };
    ask(device, &mut names);
    let known = &names.names[..names.count as usize];
    let is_it = |name: &[u8; NAME]| name.split(|b| *b == 0).next() == Some(feature.as_bytes());
    let Some(index) = known.iter().position(is_it) else {
        return false;
    };
    let mut features = Features {
        command: ETHTOOL_SFEATURES,
        blocks: names.count.div_ceil(32),
        valid_and_wanted: [[0; 2]; MOST / 32],
    };
    let bit = 1 << (index % 32);
    features.valid_and_wanted[index / 32] = [bit, if on { bit } else { 0 }];
    ask(device, &mut features);
    true
}

fn ask<T>(device: &str, what: &mut T) {
    // SAFETY: all zeroes are a valid ifreq.
    let mut request: libc::ifreq = unsafe { zeroed() };
    for (to, from) in request.ifr_name.iter_mut().zip(device.bytes()) {
        *to = from as libc::c_char;
    }
    request.ifr_ifru.ifru_data = (&raw mut *what).cast();
    let socket = UdpSocket::bind("0.0.0.0:0").unwrap();
    // SAFETY: the request and the structure behind it, which has room for all that the kernel writes,
    // outlive the call; the name is shorter than its field, and so ends in NUL.
    let status = unsafe { libc::ioctl(socket.as_raw_fd(), SIOCETHTOOL, &raw mut request) };
    Errno::result(status).unwrap();
}
