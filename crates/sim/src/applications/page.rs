//! Web pages: many objects over several connections at once.
//!
//! The first object says what else there is, so it comes alone. Then every connection fetches one
//! object after another (HTTP/1.1 without pipelining, as browsers did it), and all of them are closed
//! when the page is there.

use super::exchange::Exchange;
use super::{Application, Context, Fetches};
use crate::hosts::Hosts;
use crate::packet::ConnectionId;
use std::time::Duration;
use tidegate_basics::time::Instant;
use tidegate_measure::Window;
use tidegate_scenario::{RunResult, Side};
use tidegate_tcp::Connection;

/// The objects of a page.
pub struct Content {
    /// Sizes of the objects, in bytes.
    pub sizes: Vec<u64>,
    /// Bytes of a request for one.
    pub request_bytes: u64,
}

/// A browser and its server.
pub struct Page {
    content: Content,
    /// Largest number of connections.
    most: usize,
    pause: Duration,
    log: Fetches,
    lanes: Vec<Lane>,
    /// Tag of the page's first connection; the others follow.
    first_tag: u32,
    began: Instant,
    /// Objects asked for and objects that have come.
    asked: usize,
    come: usize,
    /// When the next page begins; set between two pages.
    next: Option<Instant>,
}

/// One of the page's connections.
struct Lane {
    connection: ConnectionId,
    exchange: Exchange,
}

impl Page {
    /// A browser that reads the same page over and over.
    pub fn new(
        name: &str,
        content: Content,
        connections: u64,
        pause_s: f64,
        window: Window,
    ) -> Self {
        Self {
            content,
            most: connections as usize,
            pause: Duration::from_secs_f64(pause_s),
            log: Fetches::new(name.to_owned(), window),
            lanes: Vec::new(),
            first_tag: 0,
            began: Instant::ZERO,
            asked: 0,
            come: 0,
            next: Some(Instant::ZERO),
        }
    }

    fn begin(&mut self, context: &mut Context) {
        self.next = None;
        self.first_tag += self.lanes.len() as u32;
        self.lanes.clear();
        self.began = context.now();
        (self.asked, self.come) = (0, 0);
        self.open(context);
    }

    /// Opens a connection with a request for the next object.
    fn open(&mut self, context: &mut Context) {
        let mut exchange = Exchange::new(self.content.request_bytes);
        exchange.ask(self.content.sizes[self.asked]);
        self.asked += 1;
        let connection = context.open(self.first_tag + self.lanes.len() as u32);
        self.lanes.push(Lane {
            connection,
            exchange,
        });
    }

    /// An object has arrived completely on a lane: requests another one on it.
    fn object_came(&mut self, now: Instant, lane: usize, end: &mut Connection) -> Option<Instant> {
        self.come += 1;
        let sizes = &self.content.sizes;
        if self.come == sizes.len() {
            self.log.push(sizes.iter().sum(), self.began, now);
            return self.pause_from(now);
        }
        if let Some(&bytes) = sizes.get(self.asked) {
            self.asked += 1;
            let exchange = &mut self.lanes[lane].exchange;
            exchange.ask(bytes);
            exchange.client(now, end);
        }
        // After the first object the other lanes open their connections.
        (self.come == 1).then_some(now)
    }

    /// The page is over.
    fn pause_from(&mut self, now: Instant) -> Option<Instant> {
        self.next = Some(now + self.pause);
        // At once, to close the connections.
        Some(now)
    }

    fn close(&mut self, context: &mut Context) {
        for lane in &self.lanes {
            context.with(lane.connection, Side::Client, Connection::close);
        }
    }
}

impl Application for Page {
    fn wake(&mut self, context: &mut Context) -> Option<Instant> {
        match self.next {
            Some(next) if context.now() < next => {
                self.close(context);
                return Some(next);
            }
            Some(_) => {
                self.close(context);
                self.begin(context);
            }
            None => {
                while self.come > 0
                    && self.lanes.len() < self.most
                    && self.asked < self.content.sizes.len()
                {
                    self.open(context);
                }
            }
        }
        None
    }

    fn progress(
        &mut self,
        now: Instant,
        tag: u32,
        side: Side,
        end: &mut Connection,
    ) -> Option<Instant> {
        let place = tag.checked_sub(self.first_tag)? as usize;
        let Some(lane) = self.lanes.get_mut(place).filter(|_| self.next.is_none()) else {
            return close_too(side, end);
        };
        match side {
            Side::Client if lane.exchange.client(now, end) => self.object_came(now, place, end),
            Side::Client => None,
            Side::Server => {
                lane.exchange.server(now, end);
                close_too(side, end)
            }
        }
    }

    fn closed(&mut self, now: Instant, tag: u32, _hosts: &Hosts) -> Option<Instant> {
        let place = tag.checked_sub(self.first_tag)? as usize;
        // A broken connection ends its page.
        let broke = self.next.is_none() && place < self.lanes.len();
        broke.then(|| self.pause_from(now)).flatten()
    }

    fn stop(&mut self, context: &mut Context) {
        for lane in &self.lanes {
            context.abort(lane.connection);
        }
    }

    fn report(&mut self, _hosts: &Hosts, _end: Instant, result: &mut RunResult) {
        result.fetches.extend(self.log.results());
    }
}

/// The server closes once the client has closed.
fn close_too(side: Side, end: &mut Connection) -> Option<Instant> {
    if side == Side::Server && end.at_end() {
        end.close();
    }
    None
}
