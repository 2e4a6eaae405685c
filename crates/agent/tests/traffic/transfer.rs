//! A connection between the hosts, and files on it.

use crate::tally;
use nix::errno::Errno;
use nix::sys::socket::{setsockopt, sockopt};
use std::io::{Read, Write};
use std::net::{IpAddr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;
use tidegate_lab::{IpVersion, Namespace, Pattern, Veth, use_congestion_control};

/// Bytes of a file; a multiple of [`CHUNK`].
pub const FILE: u64 = 20_000_000;

/// Bytes of one write.
const CHUNK: usize = 50_000;

/// A rate that leaves time for something to happen in mid-transfer, in bytes a second.
const PACE: u64 = 50_000_000;

/// A receive buffer that lets the kernel's window grow far beyond what any law wants here, in bytes.
const RECEIVE_BUFFER: usize = 16 << 20;

/// No call may block for longer: a connection that stalls for this long is broken.
const TIMEOUT: Duration = Duration::from_secs(10);

const DOWN: Pattern = Pattern::new(1);
const UP: Pattern = Pattern::new(2);

/// Both ends of a connection.
pub struct Connection {
    /// Behind the agent.
    pub client: TcpStream,
    /// The far end.
    pub server: TcpStream,
}

impl Connection {
    /// Connects the hosts.
    pub fn new(hosts: &Veth, version: IpVersion) -> Self {
        let address = Veth::server_address(version);
        Self::between(&hosts.client, &hosts.server, address)
    }

    /// Connects one host to another, which has that address.
    pub fn between(client: &Namespace, server: &Namespace, address: IpAddr) -> Self {
        let address = SocketAddr::new(address, 0);
        let listener = server.run(|| Ok(TcpListener::bind(address)?));
        let listener = listener.unwrap();
        use_congestion_control(&listener, "cubic").unwrap();
        let to = listener.local_addr().unwrap();
        let client = client.run(|| Ok(TcpStream::connect(to)?)).unwrap();
        let (server, _) = listener.accept().unwrap();
        for stream in [&client, &server] {
            use_congestion_control(stream, "cubic").unwrap();
            setsockopt(stream, sockopt::RcvBufForce, &RECEIVE_BUFFER).unwrap();
        }
        Self::of(client, server)
    }

    /// From two sockets that are connected.
    pub fn of(client: TcpStream, server: TcpStream) -> Self {
        for stream in [&client, &server] {
            stream.set_read_timeout(Some(TIMEOUT)).unwrap();
            stream.set_write_timeout(Some(TIMEOUT)).unwrap();
        }
        Self { client, server }
    }

    /// Downloads a file.
    pub fn download(&self) {
        self.download_during(|_| {});
    }

    /// Downloads a file, and more until `act` is done, which gets the number of bytes that have arrived.
    pub fn download_during(&self, act: impl FnOnce(&AtomicU64)) {
        transfer_during(&self.server, &self.client, DOWN, act);
    }

    /// Downloads a file, but reads nothing before `act` is done.
    pub fn download_after(&self, act: impl FnOnce()) {
        transfer_after(&self.server, &self.client, DOWN, act);
    }

    /// Uploads a file in the same way.
    pub fn upload_after(&self, act: impl FnOnce()) {
        transfer_after(&self.client, &self.server, UP, act);
    }

    /// Uploads a file.
    pub fn upload(&self) {
        self.upload_during(|_| {});
    }

    /// Uploads a file in the same way.
    pub fn upload_during(&self, act: impl FnOnce(&AtomicU64)) {
        transfer_during(&self.client, &self.server, UP, act);
    }

    /// Downloads a file and uploads another at the same time.
    pub fn exchange(&self) {
        let (idle, arrived) = (AtomicBool::new(false), AtomicU64::new(0));
        thread::scope(|scope| {
            scope.spawn(|| send(&self.client, UP, &idle));
            let receiver = scope.spawn(|| receive(&self.server, UP, &arrived));
            self.download();
            assert_eq!(receiver.join().unwrap(), FILE);
        });
    }

    /// Makes that end send no faster than [`PACE`].
    pub fn pace(&self, sender: &TcpStream) {
        // SAFETY: the option is a u64 that lives through the call.
        let status = unsafe {
            libc::setsockopt(
                sender.as_raw_fd(),
                libc::SOL_SOCKET,
                libc::SO_MAX_PACING_RATE,
                (&PACE as *const u64).cast(),
                size_of_val(&PACE) as libc::socklen_t,
            )
        };
        Errno::result(status).unwrap();
    }
}

/// Sends a file from `from` to `to`, and more until `act` is done, which gets the number of bytes that have arrived.
fn transfer_during(
    from: &TcpStream,
    to: &TcpStream,
    pattern: Pattern,
    act: impl FnOnce(&AtomicU64),
) {
    let busy = AtomicBool::new(true);
    let arrived = AtomicU64::new(0);
    thread::scope(|scope| {
        let sender = scope.spawn(|| send(from, pattern, &busy));
        let receiver = scope.spawn(|| receive(to, pattern, &arrived));
        // Also if `act` panics: otherwise the sender would never end.
        let until_done = Finish(&busy);
        act(&arrived);
        drop(until_done);
        assert_eq!(receiver.join().unwrap(), sender.join().unwrap());
    });
}

fn transfer_after(from: &TcpStream, to: &TcpStream, pattern: Pattern, act: impl FnOnce()) {
    thread::scope(|scope| {
        let sender = scope.spawn(|| send(from, pattern, &AtomicBool::new(false)));
        act();
        assert_eq!(receive(to, pattern, &AtomicU64::new(0)), FILE);
        assert_eq!(sender.join().unwrap(), FILE);
    });
}

struct Finish<'a>(&'a AtomicBool);

impl Drop for Finish<'_> {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Relaxed);
    }
}

/// Sends a file, and more as long as `busy` is set. Returns the bytes sent.
fn send(mut stream: &TcpStream, pattern: Pattern, busy: &AtomicBool) -> u64 {
    let mut chunk = vec![0; CHUNK];
    let mut sent = 0;
    while sent < FILE || busy.load(Ordering::Relaxed) {
        pattern.fill(&mut chunk, sent);
        stream.write_all(&chunk).unwrap();
        sent += CHUNK as u64;
    }
    stream.shutdown(Shutdown::Write).unwrap();
    sent
}

/// Checks what arrives until its end. Returns the bytes received.
fn receive(mut stream: &TcpStream, pattern: Pattern, arrived: &AtomicU64) -> u64 {
    let mut buffer = vec![0; 1 << 20];
    let mut received = 0;
    loop {
        let n = stream.read(&mut buffer).unwrap();
        if n == 0 {
            tally::file();
            return received;
        }
        pattern.check(&buffer[..n], received).unwrap();
        received += n as u64;
        arrived.store(received, Ordering::Relaxed);
    }
}
