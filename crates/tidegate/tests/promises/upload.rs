//! An upload over UDP that is clocked by the arriving acknowledgements; each datagram has a number and the time when it
//! was made.

use crate::download::{Came, DATAGRAM, EVERY, bind, number, receive};
use crate::tally;
use nix::sys::socket::{setsockopt, sockopt::Ipv4Tos};
use std::net::{Ipv4Addr, UdpSocket};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tidegate_lab::{EmulatedHosts, IpVersion};

/// The most datagrams in flight or waiting: fewer than the link's queue holds.
pub const WINDOW: u64 = 400;

/// Its ends use ECN, so congestion is signalled by marks, and no packet is dropped as a signal.
const ECT_0: i32 = 2;

/// After this time an end expects no more packets.
const QUIET: Duration = Duration::from_secs(3);

#[derive(Default)]
struct Told {
    ends: AtomicBool,
    sent: AtomicU64,
    came: Mutex<Vec<Came>>,
}

/// A running upload, until it is ended.
pub struct Upload {
    told: Arc<Told>,
    ends: Vec<JoinHandle<()>>,
}

impl Upload {
    /// Starts an upload from the client to the server's port.
    pub fn start(hosts: &EmulatedHosts, port: u16) -> Self {
        let server = (EmulatedHosts::server_address(IpVersion::V4), port);
        let far = bind(hosts.server(), server);
        let near = bind(hosts.client(), (Ipv4Addr::UNSPECIFIED.into(), 0));
        setsockopt(&near, Ipv4Tos, &ECT_0).unwrap();
        near.connect(server).unwrap();
        let (began, told) = (Instant::now(), Arc::<Told>::default());
        let (sends, takes) = (told.clone(), told.clone());
        let ends = vec![
            std::thread::spawn(move || send(&near, &sends, began)),
            std::thread::spawn(move || take(&far, &takes, began)),
        ];
        Self { told, ends }
    }

    /// How many datagrams have arrived.
    pub fn came(&self) -> usize {
        self.told.came.lock().unwrap().len()
    }

    /// Ends it, and returns the datagrams that came and how many were sent.
    pub fn end(mut self) -> (Vec<Came>, u64) {
        self.told.ends.store(true, Ordering::Relaxed);
        self.ends.drain(..).for_each(|end| end.join().unwrap());
        let came = self.told.came.lock().unwrap().clone();
        let sent = self.told.sent.load(Ordering::Relaxed);
        tally::note(sent + came.len() as u64 / EVERY);
        (came, sent)
    }
}

/// The client: its window doubles each round trip up to its limit.
fn send(socket: &UdpSocket, told: &Told, began: Instant) {
    let mut buffer = [0; 2 * DATAGRAM];
    let (mut sent, mut known, mut window) = (0, 0, 10);
    let mut last = Instant::now();
    loop {
        let ends = told.ends.load(Ordering::Relaxed);
        if ends && last.elapsed() > QUIET {
            return;
        }
        while !ends && sent - known < window {
            let mut data = [0; DATAGRAM];
            let at = began.elapsed().as_micros() as u64;
            data[..8].copy_from_slice(&u64::to_le_bytes(sent));
            data[8..16].copy_from_slice(&at.to_le_bytes());
            if socket.send(&data).is_err() {
                break;
            }
            sent += 1;
            told.sent.store(sent, Ordering::Relaxed);
        }
        if receive(socket, &mut buffer).is_some() {
            last = Instant::now();
            let up_to = number(&buffer, 0).max(known);
            window = (window + up_to - known).min(WINDOW);
            known = up_to;
        } else if !ends && last.elapsed() > QUIET {
            // All packets in flight count as lost.
            (known, window, last) = (sent, 10, Instant::now());
        }
    }
}

/// The server, which acknowledges the highest number.
fn take(socket: &UdpSocket, told: &Told, began: Instant) {
    let mut buffer = [0; 2 * DATAGRAM];
    let (mut count, mut highest, mut last) = (0, 0, Instant::now());
    let mut known = false;
    loop {
        let ends = told.ends.load(Ordering::Relaxed);
        if ends && last.elapsed() > QUIET {
            return;
        }
        if !known {
            let Ok((_, client)) = socket.peek_from(&mut [0]) else {
                continue;
            };
            socket.connect(client).unwrap();
            known = true;
        }
        if receive(socket, &mut buffer).is_none() {
            continue;
        }
        last = Instant::now();
        let at = Duration::from_micros(number(&buffer, 1));
        told.came.lock().unwrap().push(Came {
            number: number(&buffer, 0),
            after: began.elapsed().saturating_sub(at),
        });
        count += 1;
        highest = highest.max(number(&buffer, 0) + 1);
        if count % EVERY == 0 {
            let _ = socket.send(&u64::to_le_bytes(highest));
        }
    }
}
