//! Whether an interface merges packets as lists (`rx-gro-list`), asked by ethtool's ioctl.

use nix::errno::Errno;
use std::ffi::CStr;
use std::mem::zeroed;
use std::net::UdpSocket;
use std::os::fd::AsRawFd;

// linux/sockios.h and linux/ethtool.h.
const SIOCETHTOOL: libc::Ioctl = 0x8946;
const ETHTOOL_GSTRINGS: u32 = 0x1b;
const ETHTOOL_GSSET_INFO: u32 = 0x37;
const ETHTOOL_GFEATURES: u32 = 0x3a;
const ETH_SS_FEATURES: u32 = 4;
/// Bytes of a string in a set.
const ETH_GSTRING_LEN: usize = 32;

/// None if the interface does not say.
pub fn merges_as_lists(interface: &str) -> Option<bool> {
    let count = feature_count(interface)?;
    let number = feature_number(interface, "rx-gro-list", count)?;
    // Command and size; then for each 32 features the masks available, wanted, active and unchangeable.
    let blocks = count.div_ceil(32);
    let mut features = vec![0; 2 + 4 * blocks];
    features[..2].copy_from_slice(&[ETHTOOL_GFEATURES, blocks as u32]);
    ask(interface, &mut features)?;
    let active = features.get(2 + 4 * (number / 32) + 2)?;
    Some(active >> (number % 32) & 1 == 1)
}

fn feature_count(interface: &str) -> Option<usize> {
    // Command, nothing, a mask of sets in 64 bits, and a number for each.
    let mut sets = [ETHTOOL_GSSET_INFO, 0, 1 << ETH_SS_FEATURES, 0, 0];
    ask(interface, &mut sets)?;
    Some(sets[4] as usize)
}

fn feature_number(interface: &str, name: &str, count: usize) -> Option<usize> {
    // Command, set, length, and the strings.
    let mut strings = vec![0; 3 + count * ETH_GSTRING_LEN / 4];
    strings[..3].copy_from_slice(&[ETHTOOL_GSTRINGS, ETH_SS_FEATURES, count as u32]);
    ask(interface, &mut strings)?;
    let bytes: Vec<u8> = strings[3..].iter().flat_map(|w| w.to_ne_bytes()).collect();
    let mut names = bytes.chunks_exact(ETH_GSTRING_LEN);
    names.position(|n| CStr::from_bytes_until_nul(n).is_ok_and(|n| n.to_bytes() == name.as_bytes()))
}

/// Asks the kernel, which answers in `request`.
fn ask(interface: &str, request: &mut [u32]) -> Option<()> {
    if interface.len() >= libc::IFNAMSIZ {
        return None;
    }
    // SAFETY: all zeroes are a valid ifreq.
    let mut ifreq: libc::ifreq = unsafe { zeroed() };
    for (to, from) in ifreq.ifr_name.iter_mut().zip(interface.bytes()) {
        *to = from as libc::c_char;
    }
    ifreq.ifr_ifru.ifru_data = request.as_mut_ptr().cast();
    let socket = UdpSocket::bind("0.0.0.0:0").ok()?;
    // SAFETY: the name ends in NUL, and the request behind it is as long as it says.
    let status = unsafe { libc::ioctl(socket.as_raw_fd(), SIOCETHTOOL, &raw mut ifreq) };
    Errno::result(status).ok().map(drop)
}
