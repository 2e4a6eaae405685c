//! A UDP echo, which measures the round trip that other traffic sees.

use super::flow::EchoLog;
use super::{Applications, TaskContext, bind_udp};
use crate::clock::make_punctual;
use crate::term::Term;
use anyhow::{Context, Result};
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::time::TimeSpec;
use std::io::ErrorKind;
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::AsFd;
use std::sync::Arc;
use std::time::Duration;
use tidegate_link::Instant;
use tidegate_scenario::{Side, Workload};

/// IP and UDP headers before an echo's payload.
const HEADERS: u64 = 28;

/// Longest wait before a look at the time.
const SLICE: Duration = Duration::from_millis(20);

/// Adds the two ends of a ping.
pub fn add(
    applications: &mut Applications,
    workload: &Workload,
    context: &TaskContext,
    interval_ms: f64,
    packet_bytes: u64,
) -> Result<()> {
    let (server, at) = bind_udp(context)?;
    let payload = (packet_bytes - HEADERS) as usize;
    applications.add_task(workload, context, Side::Server, move |_, term| {
        reflect(&server, vec![0; payload], term)
    });
    let log = Arc::new(EchoLog::new(workload.name.clone()));
    applications.echoes.push(log.clone());
    let interval = Duration::from_secs_f64(interval_ms / 1e3);
    applications.add_task(workload, context, Side::Client, move |context, term| {
        let client = UdpSocket::bind((context.client_address, 0))?;
        measure(&client, at, interval, vec![0; payload], &log, term)
    });
    Ok(())
}

/// Sends every packet back until the term is over.
fn reflect(socket: &UdpSocket, mut buffer: Vec<u8>, term: &Term) -> Result<()> {
    make_punctual();
    socket.set_nonblocking(true)?;
    while !term.is_over() {
        if let Some((length, from)) = receive(socket, &mut buffer)? {
            send(socket, &buffer[..length], from)?;
        } else {
            wait(socket, SLICE)?;
        }
    }
    Ok(())
}

/// Sends an echo every `interval`, and logs the answers until the term is over.
fn measure(
    socket: &UdpSocket,
    server: SocketAddr,
    interval: Duration,
    mut buffer: Vec<u8>,
    log: &EchoLog,
    term: &Term,
) -> Result<()> {
    make_punctual();
    socket.set_nonblocking(true)?;
    let mut next = term.clock.now();
    while !term.is_over() {
        let now = term.clock.now();
        if now >= next {
            buffer[..8].copy_from_slice(&now.as_nanos().to_be_bytes());
            send(socket, &buffer, server)?;
            next += interval;
        } else if receive(socket, &mut buffer)?.is_some() {
            let sent = buffer.first_chunk().map(|b| u64::from_be_bytes(*b));
            let sent = Instant::from_nanos(sent.unwrap_or_default());
            log.push(sent, term.clock.now() - sent);
        } else {
            wait(socket, (next - now).min(SLICE))?;
        }
    }
    Ok(())
}

fn receive(socket: &UdpSocket, buffer: &mut [u8]) -> Result<Option<(usize, SocketAddr)>> {
    match socket.recv_from(buffer) {
        Ok(received) => Ok(Some(received)),
        // Refused: the other end's term is over, its socket closed.
        Err(e)
            if matches!(
                e.kind(),
                ErrorKind::WouldBlock | ErrorKind::ConnectionRefused
            ) =>
        {
            Ok(None)
        }
        Err(e) => Err(e).context("cannot receive an echo"),
    }
}

fn send(socket: &UdpSocket, payload: &[u8], to: SocketAddr) -> Result<()> {
    match socket.send_to(payload, to) {
        Ok(_) => Ok(()),
        Err(e)
            if matches!(
                e.kind(),
                ErrorKind::WouldBlock | ErrorKind::ConnectionRefused
            ) =>
        {
            Ok(())
        }
        Err(e) => Err(e).context("cannot send an echo"),
    }
}

fn wait(socket: &UdpSocket, timeout: Duration) -> Result<()> {
    let mut fds = [PollFd::new(socket.as_fd(), PollFlags::POLLIN)];
    match ppoll(&mut fds, Some(TimeSpec::from_duration(timeout)), None) {
        Ok(_) | Err(Errno::EINTR) => Ok(()),
        Err(error) => Err(error).context("cannot wait for an echo"),
    }
}
