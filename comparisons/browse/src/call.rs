//! A call: voice and pictures as datagrams, which the other end sends back. It does not have WebRTC's congestion
//! control: the pictures stay at half a Mbit/s.

use anyhow::{Context, Result};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use serde::{Deserialize, Serialize};
use std::io::ErrorKind;
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Port of the other end: that of STUN.
pub const PORT: u16 = 3478;

/// Time between two datagrams of voice, and their length: Opus at 64 kbit/s.
const VOICE: Duration = Duration::from_millis(20);
const VOICE_BYTES: usize = 160;

/// A picture with every second datagram of voice; the most datagrams of a picture, and their length.
const PICTURE_EVERY: u32 = 2;
const PICTURE_DATAGRAMS: u32 = 3;
const PICTURE_BYTES: usize = 1200;

/// Number of a datagram, at its start.
const NUMBER: usize = size_of::<u32>();

/// What became of a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Echo {
    /// When it was sent, in seconds.
    pub at_s: f64,
    /// Its round trip; none if it did not come back.
    pub ms: Option<f64>,
}

/// Sends back every datagram that comes to that address, without end.
pub fn echo(at: Ipv4Addr) -> Result<()> {
    let socket = UdpSocket::bind((at, PORT)).context("the call's address")?;
    let mut datagram = [0; 1500];
    loop {
        let (length, from) = socket.recv_from(&mut datagram)?;
        // The other end may have closed its socket.
        let _ = socket.send_to(&datagram[..length], from);
    }
}

/// Calls until it is over, and listens for one more second for datagrams in flight.
pub fn call(to: SocketAddr, seed: u64, start: Instant, over: &AtomicBool) -> Result<Vec<Echo>> {
    let socket = UdpSocket::bind(("0.0.0.0", 0))?;
    socket.connect(to)?;
    let ended = AtomicBool::new(false);
    let (sent, came) = std::thread::scope(|scope| {
        let listener = scope.spawn(|| hear(&socket, start, &ended));
        let sent = speak(&socket, seed, start, over);
        std::thread::sleep(Duration::from_secs(1));
        ended.store(true, Ordering::Relaxed);
        (sent, listener.join().expect("it does not panic"))
    });
    let mut echoes: Vec<Echo> = sent?
        .into_iter()
        .map(|at_s| Echo { at_s, ms: None })
        .collect();
    for (number, at_s) in came? {
        if let Some(echo) = echoes.get_mut(number as usize) {
            echo.ms = Some((at_s - echo.at_s) * 1e3);
        }
    }
    Ok(echoes)
}

/// Sends the datagrams. Returns when each was sent.
fn speak(socket: &UdpSocket, seed: u64, start: Instant, over: &AtomicBool) -> Result<Vec<f64>> {
    let mut rng = Pcg64Mcg::seed_from_u64(seed);
    let mut sent = Vec::new();
    let mut send = |bytes: usize| {
        let mut datagram = vec![0; bytes];
        datagram[..NUMBER].copy_from_slice(&(sent.len() as u32).to_be_bytes());
        sent.push(start.elapsed().as_secs_f64());
        match socket.send(&datagram) {
            // The device's queue is full, or the other end is not there yet: lost.
            Err(error) if refused(&error) => Ok(()),
            other => other.map(drop),
        }
    };
    let began = Instant::now();
    for turn in 0.. {
        let due = began + VOICE * turn;
        std::thread::sleep(due.saturating_duration_since(Instant::now()));
        if over.load(Ordering::Relaxed) {
            break;
        }
        send(VOICE_BYTES)?;
        if turn % PICTURE_EVERY == 0 {
            for _ in 0..rng.random_range(1..=PICTURE_DATAGRAMS) {
                send(PICTURE_BYTES)?;
            }
        }
    }
    Ok(sent)
}

/// Receives the datagrams. Returns which came back, and when.
fn hear(socket: &UdpSocket, start: Instant, ended: &AtomicBool) -> Result<Vec<(u32, f64)>> {
    socket.set_read_timeout(Some(Duration::from_millis(100)))?;
    let mut came = Vec::new();
    let mut datagram = [0; 1500];
    while !ended.load(Ordering::Relaxed) {
        match socket.recv(&mut datagram) {
            Ok(length) if length >= NUMBER => {
                let number = datagram[..NUMBER].try_into().expect("as long");
                came.push((u32::from_be_bytes(number), start.elapsed().as_secs_f64()));
            }
            Ok(_) => {}
            Err(error) if refused(&error) || waited(&error) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(came)
}

fn refused(error: &std::io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::ConnectionRefused | ErrorKind::WouldBlock
    ) || error.raw_os_error() == Some(nix::libc::ENOBUFS)
}

fn waited(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::TimedOut | ErrorKind::Interrupted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_sent_back_has_a_round_trip() {
        let other = UdpSocket::bind("127.0.0.1:0").unwrap();
        let to = other.local_addr().unwrap();
        let over = AtomicBool::new(false);
        let echoes = std::thread::scope(|scope| {
            let calling = scope.spawn(|| call(to, 1, Instant::now(), &over));
            let mut datagram = [0; 1500];
            // The first two are voice and a part of a picture; the third is lost.
            for sent_back in [true, true, false] {
                let (length, from) = other.recv_from(&mut datagram).unwrap();
                if sent_back {
                    other.send_to(&datagram[..length], from).unwrap();
                }
            }
            over.store(true, Ordering::Relaxed);
            calling.join().unwrap().unwrap()
        });
        assert!(echoes.len() >= 3);
        assert!(
            echoes[..2]
                .iter()
                .all(|echo| echo.ms.is_some_and(|ms| ms < 1e3))
        );
        assert_eq!(echoes[2].ms, None);
    }
}
