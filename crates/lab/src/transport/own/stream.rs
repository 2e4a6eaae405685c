//! Connections of a host with our own TCP, with the same interface as the kernel's.

use super::UserHost;
use crate::clock::Clock;
use crate::tcp_info::TcpInfo;
use crate::term::Term;
use crate::transport::Arrival;
use anyhow::{Result, bail};
use std::sync::Arc;
use tidegate_tcp::wire::Addresses;
use tidegate_tcp::{Ending, Instant, Socket, Stack};

/// A listening socket.
#[derive(Debug)]
pub struct OwnListener {
    host: Arc<UserHost>,
    port: u16,
}

impl OwnListener {
    pub(super) fn new(host: Arc<UserHost>, port: u16) -> Self {
        Self { host, port }
    }

    /// Its port.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Accepts one connection within `term`; none if it ended first.
    pub fn accept(&self, term: &Term) -> Option<OwnStream> {
        let addresses = self
            .host
            .act_until(term, |stack, _| stack.accept(self.port))?;
        Some(OwnStream::new(self.host.clone(), addresses, term.clock))
    }
}

/// A connection. When dropped, it closes once everything has been sent, as the kernel's does.
#[derive(Debug)]
pub struct OwnStream {
    host: Arc<UserHost>,
    addresses: Addresses,
    clock: Clock,
}

impl OwnStream {
    pub(super) fn new(host: Arc<UserHost>, addresses: Addresses, clock: Clock) -> Self {
        Self {
            host,
            addresses,
            clock,
        }
    }

    fn of<'a>(&self, stack: &'a mut Stack) -> &'a mut Socket {
        stack
            .socket(&self.addresses)
            .expect("held until this is dropped")
    }

    /// Waits for the handshake.
    pub(super) fn established(self, term: &Term) -> Result<Option<Self>> {
        let outcome = self.host.act_until(term, |stack, _| {
            let connection = self.of(stack).connection();
            match connection.ending() {
                Some(ending) => Some(Err(ending)),
                None => connection.is_established().then_some(Ok(())),
            }
        });
        match outcome {
            Some(Ok(())) => Ok(Some(self)),
            Some(Err(_)) if term.is_over() => Ok(None),
            Some(Err(ending)) => bail!(
                "cannot connect to {}: {}",
                self.addresses.destination(),
                describe(ending)
            ),
            None => Ok(None),
        }
    }

    /// Reads what has arrived.
    pub fn receive(&self, buffer: &mut [u8], term: &Term) -> Result<Arrival> {
        let arrival = self
            .host
            .act_until(term, |stack, now| self.read(stack, now, buffer));
        arrived(arrival.unwrap_or(Ok(Arrival::Over)), term)
    }

    /// Reads what has arrived, if anything, without waiting for more.
    pub fn receive_at_once(&self, buffer: &mut [u8], term: &Term) -> Result<Arrival> {
        let arrival = self
            .host
            .act(term, |stack, now| self.read(stack, now, buffer));
        arrived(arrival.unwrap_or(Ok(Arrival::Bytes(0))), term)
    }

    /// What has arrived; or the end, if nothing more will.
    fn read(
        &self,
        stack: &mut Stack,
        now: Instant,
        buffer: &mut [u8],
    ) -> Option<Result<Arrival, Ending>> {
        let socket = self.of(stack);
        match socket.read(now, buffer) {
            0 if socket.connection().at_end() => Some(Ok(Arrival::End)),
            0 => broken(socket.connection().ending()).map(Err),
            n => Some(Ok(Arrival::Bytes(n))),
        }
    }

    /// Hands over all of `data`; `false` if the term ended first.
    pub fn send_whole(&self, mut data: &[u8], term: &Term) -> Result<bool> {
        while !data.is_empty() {
            let sent = self.host.act_until(term, |stack, _| {
                let socket = self.of(stack);
                match socket.write(data) {
                    0 => broken(socket.connection().ending()).map(Err),
                    n => Some(Ok(n)),
                }
            });
            match sent {
                Some(Ok(n)) => data = &data[n..],
                Some(Err(ending)) if !term.is_over() => {
                    bail!("the connection broke while sending: {}", describe(ending))
                }
                _ => return Ok(false),
            }
        }
        Ok(true)
    }

    /// Ends the data of this direction: nothing more will be sent.
    pub fn finish(&self, term: &Term) {
        self.host.act(term, |stack, _| self.of(stack).close());
    }

    /// Drops the connection at once.
    pub fn abort(&self, term: &Term) {
        self.host.act(term, |stack, _| self.of(stack).abort());
    }

    /// Port of this end.
    pub fn local_port(&self) -> u16 {
        self.addresses.source().port()
    }

    /// What `TCP_INFO` would say.
    pub fn info(&self) -> TcpInfo {
        let mut stack = self.host.lock();
        let connection = self.of(&mut stack).connection();
        let (sender, receiver) = (connection.info(), connection.receiver().info());
        TcpInfo {
            srtt_us: sender.srtt.map_or(0, |srtt| srtt.as_micros() as u32),
            cwnd_packets: sender.cwnd,
            peer_window_bytes: u32::try_from(sender.peer_window).unwrap_or(u32::MAX),
            retransmits: sender.retransmits,
            receiver_rtt_us: receiver.rtt.map_or(0, |rtt| rtt.as_micros() as u32),
            receiver_space_bytes: receiver.space as u32,
            own_window_bytes: receiver.window as u32,
        }
    }
}

impl Drop for OwnStream {
    fn drop(&mut self) {
        self.host.release(self.clock.now(), &self.addresses);
    }
}

/// An arrival, or an error if the connection broke before the term was over.
fn arrived(arrival: Result<Arrival, Ending>, term: &Term) -> Result<Arrival> {
    match arrival {
        Ok(arrival) => Ok(arrival),
        Err(_) if term.is_over() => Ok(Arrival::Over),
        Err(ending) => bail!("the connection broke while receiving: {}", describe(ending)),
    }
}

/// The ending, if the connection broke.
fn broken(ending: Option<Ending>) -> Option<Ending> {
    ending.filter(|&ending| ending != Ending::Closed)
}

fn describe(ending: Ending) -> &'static str {
    match ending {
        Ending::Closed => "closed",
        Ending::Reset => "reset by the peer",
        Ending::TimedOut => "the peer does not answer",
        Ending::Aborted => "aborted",
    }
}
