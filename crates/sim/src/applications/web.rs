//! Objects fetched one after another, each on a connection of its own.

use super::exchange::Exchange;
use super::{Application, Context, Fetches};
use crate::hosts::Hosts;
use crate::packet::ConnectionId;
use std::time::Duration;
use tidegate_basics::time::Instant;
use tidegate_measure::Window;
use tidegate_scenario::{RunResult, Side};
use tidegate_tcp::Connection;

/// A client that fetches, and the server that answers.
pub struct Web {
    sizes: Vec<u64>,
    pause: Duration,
    log: Fetches,
    fetch: Option<Fetch>,
    /// Fetches begun: the next one's tag.
    begun: u32,
    /// When the next one begins.
    next: Instant,
}

/// The fetch in hand.
struct Fetch {
    tag: u32,
    bytes: u64,
    began: Instant,
    connection: ConnectionId,
    exchange: Exchange,
}

impl Web {
    /// A client that fetches objects of `sizes` in turn.
    pub fn new(name: &str, sizes: &[u64], pause_s: f64, window: Window) -> Self {
        Self {
            sizes: sizes.to_vec(),
            pause: Duration::from_secs_f64(pause_s),
            log: Fetches::new(name.to_owned(), window),
            fetch: None,
            begun: 0,
            next: Instant::ZERO,
        }
    }

    /// The fetch in hand is over; when the next one begins.
    fn end(&mut self, now: Instant) -> Option<Instant> {
        self.fetch = None;
        self.next = now + self.pause;
        Some(self.next)
    }
}

impl Application for Web {
    fn wake(&mut self, context: &mut Context) -> Option<Instant> {
        if self.fetch.is_some() || context.now() < self.next {
            return self.fetch.is_none().then_some(self.next);
        }
        let tag = self.begun;
        self.begun += 1;
        let bytes = self.sizes[tag as usize % self.sizes.len()];
        let mut exchange = Exchange::default();
        exchange.ask(bytes);
        self.fetch = Some(Fetch {
            tag,
            bytes,
            began: context.now(),
            connection: context.open(tag),
            exchange,
        });
        None
    }

    fn progress(
        &mut self,
        now: Instant,
        tag: u32,
        side: Side,
        end: &mut Connection,
    ) -> Option<Instant> {
        // Connections of earlier fetches close by themselves.
        let fetch = self.fetch.as_mut().filter(|fetch| fetch.tag == tag)?;
        if side == Side::Server {
            if fetch.exchange.server(now, end) {
                end.close();
            }
            return None;
        }
        fetch.exchange.client(now, end);
        if !end.at_end() {
            return None;
        }
        end.close();
        self.log.push(fetch.bytes, fetch.began, now);
        self.end(now)
    }

    fn closed(&mut self, now: Instant, tag: u32, _hosts: &Hosts) -> Option<Instant> {
        let current = self.fetch.as_ref().is_some_and(|fetch| fetch.tag == tag);
        current.then(|| self.end(now)).flatten()
    }

    fn stop(&mut self, context: &mut Context) {
        if let Some(fetch) = self.fetch.take() {
            context.abort(fetch.connection);
        }
    }

    fn report(&mut self, _hosts: &Hosts, _end: Instant, result: &mut RunResult) {
        result.fetches.extend(self.log.results());
    }
}
