//! Handshakes that have been answered, before a packet shows that the answer has arrived. Little is kept of each, since
//! a hello may be a recording from before this process began; later recordings are recognised.

mod known;

use crate::Identity;
use crate::session::{Session, respond};
use known::Known;
use std::collections::HashMap;
use std::time::Duration;
use tidegate_mpath::Instant;
use tidegate_mpath::wire::{Answer, Hello, write_answer};

/// The most half-open sessions; further hellos are not answered.
const MOST: usize = 64;

/// How long a session stays half open.
const LIFETIME: Duration = Duration::from_secs(10);

struct Half {
    session: Session,
    /// The hello's message: it may arrive again.
    hello: Vec<u8>,
    answer: Vec<u8>,
    since: Instant,
}

/// All half-open sessions, by connection.
#[derive(Default)]
pub struct HalfOpen {
    sessions: HashMap<u64, Half>,
    known: Known,
}

/// Why a hello is not answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unanswered {
    /// Its sender does not hold the token.
    Unauthenticated,
    /// It has been answered before, and its session is no longer half open.
    Replayed,
    /// There is no room.
    Full,
}

impl HalfOpen {
    /// A hello arrives: returns the packet that answers it.
    pub fn answer(
        &mut self,
        now: Instant,
        identity: &Identity,
        hello: &Hello,
    ) -> Result<&[u8], Unanswered> {
        if let Some(half) = self.sessions.get(&hello.connection) {
            if half.hello != hello.message {
                return Err(Unanswered::Unauthenticated);
            }
        } else {
            let half = self.begin(now, identity, hello)?;
            self.sessions.insert(hello.connection, half);
        }
        Ok(&self.sessions[&hello.connection].answer)
    }

    fn begin(
        &mut self,
        now: Instant,
        identity: &Identity,
        hello: &Hello,
    ) -> Result<Half, Unanswered> {
        self.sessions.retain(|_, half| now < half.since + LIFETIME);
        // Only the sender of the first hello can make one with this proof.
        if self.known.contains(&hello.proof) {
            return Err(Unanswered::Replayed);
        }
        if self.sessions.len() >= MOST {
            return Err(Unanswered::Full);
        }
        let (session, message) = respond(identity, hello).ok_or(Unanswered::Unauthenticated)?;
        self.known.insert(&hello.proof);
        let mut answer = Vec::new();
        write_answer(
            &mut answer,
            &Answer {
                connection: hello.connection,
                message: &message,
            },
        );
        Ok(Half {
            session,
            hello: hello.message.to_vec(),
            answer,
            since: now,
        })
    }

    /// The session of this connection, if it is half open.
    pub fn get_mut(&mut self, connection: u64) -> Option<&mut Session> {
        self.sessions
            .get_mut(&connection)
            .map(|half| &mut half.session)
    }

    /// Removes the session, which is open now.
    pub fn take(&mut self, connection: u64) -> Option<Session> {
        self.sessions.remove(&connection).map(|half| half.session)
    }
}

#[cfg(test)]
mod tests;
