//! A client without a session repeats its request until the server answers.

use super::super::control::{FULL, QUESTION};
use super::super::seal::{Key, TAG, VERSION};
use super::super::socket::{Socket, Way, now};
use super::{AGAIN, Failure, LONGEST_WAIT, TIMES};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};

/// A request of `kind`: its nonce, its contents `with`, and the key's tag over both.
pub(in crate::net) fn question(key: &Key, kind: u8, nonce: &[u8; 16], with: &[u8]) -> Vec<u8> {
    let mut packet = vec![VERSION, kind];
    packet.extend(nonce);
    packet.extend(with);
    packet.resize(QUESTION - TAG, 0);
    packet.extend(key.tag(&[b"question", &packet]));
    packet
}

/// The contents of the answer of `kind`, after the nonce.
pub(super) fn ask(
    socket: &mut Socket,
    server: SocketAddr,
    key: &Key,
    question: &[u8],
    kind: u8,
    nonce: &[u8; 16],
    stop: &AtomicBool,
) -> Result<Vec<u8>, Failure> {
    for _ in 0..TIMES {
        socket.send(question, Way::to(server))?;
        let until = now() + AGAIN;
        while now() < until {
            if stop.load(Ordering::Relaxed) {
                return Err(Failure::Interrupted);
            }
            while let Some(received) = socket.receive()? {
                let (said, tag) = received
                    .bytes
                    .split_at(received.bytes.len().saturating_sub(TAG));
                let answers = said.len() >= 34 && said[0] == VERSION && said[2..18] == nonce[..];
                if !answers || received.way.far != server || !key.verifies(tag, &[b"answer", said])
                {
                    continue;
                }
                match said[1] {
                    FULL => return Err(Failure::Full(server)),
                    known if known == kind => return Ok(said[18..].to_vec()),
                    _ => {}
                }
            }
            socket.wait(LONGEST_WAIT)?;
        }
    }
    Err(Failure::NoAnswer(server))
}
