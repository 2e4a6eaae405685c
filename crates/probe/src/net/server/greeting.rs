//! Opens sessions: a cookie for a client with the key, a session for one that returns the cookie.

use super::super::control::{COOKIE, FULL, OPENED, QUESTION};
use super::super::seal::{Key, TAG, VERSION};
use super::super::socket::now;
use std::collections::HashMap;
use std::net::SocketAddr;
use std::time::Duration;
use tidegate_basics::time::Instant;

/// A cookie is valid for this period and the next.
const COOKIE_PERIOD: Duration = Duration::from_secs(10);

/// The most requests that were answered with a session and are remembered; more within the life of a cookie are turned
/// away.
const MOST_OPENED: usize = 4096;

/// A request before a session, from a client with the key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Question {
    /// A random number of the client's: it differs for each of its sessions.
    nonce: [u8; 16],
    /// Zeros in a Hello.
    cookie: [u8; TAG],
    from: SocketAddr,
}

/// A session's number.
pub type Id = [u8; 8];

/// Cookies and opened sessions.
#[derive(Debug)]
pub struct Door {
    key: Key,
    /// The server's secret for cookies.
    secret: Key,
    /// Opened sessions, as long as their cookies may be valid, so that a recorded Open opens nothing.
    opened: HashMap<([u8; 16], SocketAddr), (Id, Instant)>,
}

/// The outcome of an Open.
#[derive(Debug)]
pub enum Opening {
    /// A new session, and the key of its packets.
    New(Id, Key),
    /// A session that the same request opened: its answer was lost.
    Known(Id),
    /// As many were opened as can be remembered.
    TooMany,
}

impl Door {
    /// For all clients that have `key`.
    pub fn new(key: Key) -> Self {
        Self {
            key,
            secret: Key::random(),
            opened: HashMap::new(),
        }
    }

    /// The request in a packet, if it has the right length and tag.
    pub fn question(&self, packet: &[u8], from: SocketAddr) -> Option<Question> {
        let (said, tag) = packet.split_at_checked(QUESTION - TAG)?;
        if packet.len() != QUESTION || !self.key.verifies(tag, &[b"question", said]) {
            return None;
        }
        Some(Question {
            nonce: said[2..18].try_into().ok()?,
            cookie: said[18..18 + TAG].try_into().ok()?,
            from,
        })
    }

    /// The answer to a Hello: a cookie. Nothing is remembered.
    pub fn invite(&self, question: &Question) -> Vec<u8> {
        let cookie = self.cookie(question, period(now()));
        self.answer(COOKIE, question, &[&cookie])
    }

    /// The session that an Open asks for, if it brings its cookie back.
    ///
    /// A session's number and key depend on a random number of the server's, so that packets recorded from one session
    /// are invalid in another.
    pub fn open(&mut self, question: &Question) -> Option<Opening> {
        let current = period(now());
        let mut good = [current, current.wrapping_sub(1)].into_iter();
        if !good.any(|period| self.cookie(question, period) == question.cookie) {
            return None;
        }
        self.forget();
        let known = self.opened.get(&(question.nonce, question.from));
        if let Some((id, _)) = known {
            return Some(Opening::Known(*id));
        }
        if self.opened.len() >= MOST_OPENED {
            return Some(Opening::TooMany);
        }
        let id: Id = rand::random();
        let key = self.key.derive(&[b"session", &question.nonce, &id]);
        Some(Opening::New(id, key))
    }

    /// The answer that a session is open, which may be sent `bytes` at `max_bps`.
    pub fn welcome(&mut self, question: &Question, id: Id, bytes: u64, max_bps: f64) -> Vec<u8> {
        let since = now();
        let key = (question.nonce, question.from);
        self.opened.entry(key).or_insert((id, since));
        let said: [&[u8]; 3] = [&id, &bytes.to_be_bytes(), &(max_bps as u64).to_be_bytes()];
        self.answer(OPENED, question, &said)
    }

    /// The answer that the server has as many sessions as it allows.
    pub fn turn_away(&self, question: &Question) -> Vec<u8> {
        self.answer(FULL, question, &[&[0; TAG]])
    }

    fn answer(&self, kind: u8, question: &Question, said: &[&[u8]]) -> Vec<u8> {
        let mut answer = vec![VERSION, kind];
        answer.extend(question.nonce);
        said.iter().for_each(|part| answer.extend(*part));
        answer.extend(self.key.tag(&[b"answer", &answer]));
        answer
    }

    fn cookie(&self, question: &Question, period: u64) -> [u8; TAG] {
        let address = question.from.to_string();
        let of: [&[u8]; 4] = [
            b"cookie",
            address.as_bytes(),
            &question.nonce,
            &period.to_be_bytes(),
        ];
        self.secret.tag(&of)
    }

    /// Forgets openings whose cookie has expired: they cannot be replayed.
    fn forget(&mut self) {
        let at = now();
        self.opened
            .retain(|_, (_, since)| at - *since < 2 * COOKIE_PERIOD);
    }
}

fn period(at: Instant) -> u64 {
    at.as_nanos() / COOKIE_PERIOD.as_nanos() as u64
}
