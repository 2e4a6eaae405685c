//! Every window scale that there is, 0 to 14, in both directions at once.

use crate::downloads::{check_counts, flow_of};
use crate::lifecycle::steering;
use crate::sockets::{connect_with, set_tcp_option};
use crate::testbed::{on_testbed, start};
use crate::transfer::FILE;
use std::os::fd::AsRawFd;
use tidegate_agent::{Direction, Hook};
use tidegate_lab::Veth;
use tidegate_laws::Params;

/// A buffer large enough for its window to need the largest scale (RFC 7323 section 2.3).
const LARGEST_BUFFER: &str = "4096 131072 1073741824";

#[test]
fn files_arrive_intact_whatever_the_scale() {
    on_testbed(|hosts| {
        for host in [&hosts.client, &hosts.server] {
            let allow = || {
                Ok(std::fs::write(
                    "/proc/sys/net/ipv4/tcp_rmem",
                    LARGEST_BUFFER,
                )?)
            };
            host.run(allow).unwrap();
        }
        for scale in 0..=14 {
            // Downloads by a law that certainly steers, then both by one that knows uploads.
            exchange(hosts, scale, steering());
        }
        exchange(hosts, 14, Params::default());
        exchange(hosts, 0, Params::default());
    });
}

fn exchange(hosts: &Veth, scale: u8, params: Params) {
    let agent = start(params, Hook::Tcx);
    // The kernel takes the smallest scale that its largest window needs.
    let clamp = 40_000 << scale;
    let connection = connect_with(hosts, [libc::IPPROTO_TCP; 2], |socket, _| {
        assert!(set_tcp_option(socket, libc::TCP_WINDOW_CLAMP, &clamp));
    });
    let connection = connection.expect("the kernel has TCP");
    for end in [&connection.client, &connection.server] {
        assert_eq!(scales(end), [scale; 2]);
    }
    connection.exchange();
    let flow = flow_of(&agent, Direction::Down, &connection);
    assert!(flow.received_bytes >= FILE, "scale {scale}: {flow:?}");
    check_counts(&agent, &format!("scale {scale}"));
}

/// The scales of the peer's windows and of ours, asked of the kernel.
fn scales(socket: &impl AsRawFd) -> [u8; 2] {
    /// `tcpi_snd_wscale` and `tcpi_rcv_wscale` of linux/tcp.h's tcp_info share this byte.
    const SCALES: usize = 6;
    let mut info = [0u8; 8];
    let mut length = info.len() as libc::socklen_t;
    // SAFETY: the kernel writes at most `length` bytes.
    let status = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_INFO,
            info.as_mut_ptr().cast(),
            &raw mut length,
        )
    };
    assert_eq!(status, 0);
    [info[SCALES] & 15, info[SCALES] >> 4]
}
