//! A video player: chunks that arrive in time are played, late ones make it stall.

use std::time::Duration;
use tidegate_basics::time::Instant;
use tidegate_scenario::VideoResult;

/// A player with a buffer.
///
/// ```text
///            `startup` buffered
///  Waiting ─────────────────────▶ Playing
///     ▲                              │
///     └──────────────────────────────┘
///                 run dry
/// ```
#[derive(Clone, Debug)]
pub struct Player {
    began: Instant,
    startup: Duration,
    state: State,
    started: Option<Instant>,
    stalls: u64,
    stalled: Duration,
    played: Duration,
}

#[derive(Clone, Copy, Debug)]
enum State {
    /// Fills its buffer since an instant.
    Waiting { since: Instant, buffered: Duration },
    /// Plays since an instant, with video until another.
    Playing { since: Instant, until: Instant },
}

impl Player {
    /// A player that is switched on at `began`; it starts, and continues after a stall, when it has `startup` of video.
    pub fn new(began: Instant, startup: Duration) -> Self {
        Self {
            began,
            startup,
            state: State::Waiting {
                since: began,
                buffered: Duration::ZERO,
            },
            started: None,
            stalls: 0,
            stalled: Duration::ZERO,
            played: Duration::ZERO,
        }
    }

    /// A chunk of `length` has arrived.
    pub fn arrived(&mut self, now: Instant, length: Duration) {
        self.advance(now);
        match &mut self.state {
            State::Playing { until, .. } => *until += length,
            State::Waiting { since, buffered } => {
                *buffered += length;
                if *buffered >= self.startup {
                    if self.started.is_some() {
                        self.stalled += now - *since;
                    }
                    self.started.get_or_insert(now);
                    self.state = State::Playing {
                        since: now,
                        until: now + *buffered,
                    };
                }
            }
        }
    }

    /// Video that is buffered at `now`.
    pub fn buffered(&self, now: Instant) -> Duration {
        match self.state {
            State::Waiting { buffered, .. } => buffered,
            State::Playing { until, .. } => until - now,
        }
    }

    /// When the buffer has room for `length` more, if it holds at most `most`.
    pub fn room_at(&self, now: Instant, length: Duration, most: Duration) -> Instant {
        // A full buffer plays: `startup` is at most `most`.
        now + (self.buffered(now) + length).saturating_sub(most)
    }

    /// The results until `now`.
    pub fn result(&self, name: &str, now: Instant) -> VideoResult {
        let mut end = self.clone();
        end.advance(now);
        if let (State::Waiting { since, .. }, Some(_)) = (end.state, end.started) {
            end.stalled += now - since;
        }
        if let State::Playing { since, .. } = end.state {
            end.played += now - since;
        }
        VideoResult {
            name: name.into(),
            startup_s: end.started.map(|at| (at - end.began).as_secs_f64()),
            stalls: end.stalls,
            stalled_s: end.stalled.as_secs_f64(),
            played_s: end.played.as_secs_f64(),
            adaptive: None,
        }
    }

    /// Stops if it ran out of video before `now`.
    fn advance(&mut self, now: Instant) {
        if let State::Playing { since, until } = self.state
            && until < now
        {
            self.stalls += 1;
            self.played += until - since;
            self.state = State::Waiting {
                since: until,
                buffered: Duration::ZERO,
            };
        }
    }
}

#[cfg(test)]
mod tests;
