//! Readers that pause: the kernel advertises a zero window, the sender probes, and the file goes on when the reader
//! does. Idle connections are kept alive by keepalive probes.

use crate::lifecycle::steering;
use crate::testbed::{count, on_testbed, start, wait_for};
use crate::transfer::Connection;
use nix::sys::socket::{setsockopt, sockopt};
use std::mem::{size_of, zeroed};
use std::net::TcpStream;
use std::os::fd::AsRawFd;
use tidegate_agent::{Direction, Hook, Reason};
use tidegate_lab::IpVersion;
use tidegate_laws::Params;

/// Far less than the file, in bytes.
const BUFFER: usize = 1 << 20;

/// Probes of a window that is zero, or of a peer that is silent, not answered yet.
fn probes_and_window(sender: &TcpStream) -> (u8, u32) {
    // SAFETY: all zeroes are a valid tcp_info.
    let mut info: libc::tcp_info = unsafe { zeroed() };
    let mut length = size_of::<libc::tcp_info>() as libc::socklen_t;
    // SAFETY: the kernel writes at most `length` bytes to `info`.
    let status = unsafe {
        libc::getsockopt(
            sender.as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_INFO,
            (&raw mut info).cast(),
            &raw mut length,
        )
    };
    assert_eq!(status, 0);
    (info.tcpi_backoff, info.tcpi_snd_wnd)
}

#[test]
fn a_download_goes_on_when_its_reader_does() {
    on_testbed(|hosts| {
        let agent = start(steering(), Hook::Tcx);
        let connection = Connection::new(hosts, IpVersion::V4);
        setsockopt(&connection.client, sockopt::RcvBuf, &BUFFER).unwrap();
        connection.download_after(|| wait_for_probes(&connection.server));
        assert!(count(&agent, Direction::Down, Reason::Rewritten) > 0);
    });
}

#[test]
fn an_upload_goes_on_when_its_reader_does() {
    on_testbed(|hosts| {
        let _agent = start(Params::default(), Hook::Clsact);
        let connection = Connection::new(hosts, IpVersion::V6);
        setsockopt(&connection.server, sockopt::RcvBuf, &BUFFER).unwrap();
        connection.upload_after(|| wait_for_probes(&connection.client));
    });
}

/// Waits until the receiver's buffer is full, it has advertised a zero window, and the sender has probed twice.
fn wait_for_probes(sender: &TcpStream) {
    wait_for("a probe of a zero window", || {
        let (backoff, window) = probes_and_window(sender);
        window == 0 && backoff >= 2
    });
}

/// Keep-alives are segments before the window (RFC 9293 section 3.8.4), answered by duplicates.
#[test]
fn an_idle_connection_is_kept_alive() {
    on_testbed(|hosts| {
        let agent = start(steering(), Hook::Tcx);
        let connection = Connection::new(hosts, IpVersion::V4);
        connection.download();
        let connection = Connection::new(hosts, IpVersion::V4);
        for end in [&connection.client, &connection.server] {
            setsockopt(end, sockopt::KeepAlive, &true).unwrap();
            setsockopt(end, sockopt::TcpKeepIdle, &1).unwrap();
            setsockopt(end, sockopt::TcpKeepInterval, &1).unwrap();
        }
        let left = || {
            let fates = [Reason::Rewritten, Reason::Unchanged];
            fates
                .map(|fate| count(&agent, Direction::Down, fate))
                .iter()
                .sum::<u64>()
        };
        let before = left();
        wait_for("keep-alives of both ends", || left() >= before + 4);
        connection.exchange();
    });
}
