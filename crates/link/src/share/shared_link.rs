//! A cell with several users.

use super::scheduler::{Air, Scheduler};
use crate::{Config, Delivery, Instant, Link, Packet};
use std::time::Duration;

/// A cell: its users' links, and the scheduler that decides between them.
#[derive(Clone, Debug)]
pub struct CellConfig {
    /// The scheduler.
    pub scheduler: Scheduler,
    /// Transmission time interval (LTE: 1 ms).
    pub tti: Duration,
    /// Each user's link, as if he were alone in the cell: his queue with its limits and policy, his rate, and every
    /// later stage. At least one; their `sharing` is ignored.
    pub users: Vec<Config>,
}

/// One direction of a cell: a queue and a rate for each user, and one of them served at a time.
///
/// In every TTI the scheduler chooses among the users who have something to receive. What the chosen
/// one's rate gives during the TTI leaves at its end; what his queue cannot fill is lost. As with
/// [`Link`], time never goes backwards, and what happens at an instant happens before the packets
/// pushed at it.
#[derive(Debug)]
pub struct SharedLink<P> {
    clock: Instant,
    air: Air,
    users: Vec<Link<P>>,
}

impl<P: Packet> SharedLink<P> {
    /// An idle cell at [`Instant::ZERO`]; each user's link has a seed of its own that follows from
    /// `seed`.
    ///
    /// # Panics
    /// If there is no user.
    pub fn new(config: CellConfig, seed: u64) -> Self {
        let rates = config
            .users
            .iter()
            .map(|user| (user.rate.clone(), Duration::ZERO));
        Self {
            clock: Instant::ZERO,
            air: Air::new(config.scheduler, config.tti, rates),
            users: (0..)
                .zip(config.users)
                .map(|(n, user)| Link::granted(user, seed.wrapping_add(n << 32)))
                .collect(),
        }
    }

    /// A packet for that user arrives.
    ///
    /// # Panics
    /// If there is no such user.
    pub fn push(&mut self, now: Instant, user: usize, packet: P) {
        let now = self.advance(now);
        self.users[user].push(now, packet);
    }

    /// The next packet that has reached its user by `now`, and which user that is: in order of `due`,
    /// of those due at once the first user's first. Call it until it is none.
    pub fn poll(&mut self, now: Instant) -> Option<(usize, Delivery<P>)> {
        let now = self.advance(now);
        loop {
            let events = self.users.iter().map(Link::next_ungranted);
            let (at, user) = events
                .enumerate()
                .filter_map(|(user, at)| Some((at?, user)))
                .min()
                .filter(|&(at, _)| at <= now)?;
            // A middlebox may have an event without a packet to release.
            if let Some(delivery) = self.users[user].collect(at) {
                return Some((user, delivery));
            }
        }
    }

    /// No [`Self::poll`] before this instant yields anything, unless something is pushed; see
    /// [`Link::next_event`].
    pub fn next_event(&self) -> Option<Instant> {
        let busy = self.users.iter().any(Link::has_work);
        let tti = busy.then(|| self.air.end(self.air.after(self.clock)));
        self.users
            .iter()
            .filter_map(Link::next_ungranted)
            .chain(tti)
            .min()
    }

    /// Each user's link, for its [`Link::stats`] and lengths. Its [`Link::next_event`] knows nothing of
    /// the cell.
    pub fn users(&self) -> &[Link<P>] {
        &self.users
    }

    /// Receives everything until `now`. Returns `now`, or the latest time of an earlier call.
    fn advance(&mut self, now: Instant) -> Instant {
        let now = self.clock.max(now);
        while let Some(from) = self.next_demand().filter(|&from| from <= now) {
            self.clock = from;
            let tti = self.air.after(from);
            let end = self.air.end(tti);
            if end > now {
                break;
            }
            self.serve(tti, end);
        }
        self.clock = now;
        for user in &mut self.users {
            user.advance(now);
        }
        now
    }

    /// When somebody wants something: now, or when a shaper releases the next packet.
    fn next_demand(&self) -> Option<Instant> {
        if self.users.iter().any(Link::has_work) {
            return Some(self.clock);
        }
        self.users.iter().filter_map(Link::next_arrival).min()
    }

    /// Gives away the TTI that ends at `end`.
    fn serve(&mut self, tti: u64, end: Instant) {
        // A packet that arrives at the very end of the TTI has missed it.
        for user in &mut self.users {
            user.advance(end - Duration::from_nanos(1));
        }
        let users = &self.users;
        if let Some((user, bytes)) = self.air.schedule(tti, |user| users[user].has_work()) {
            self.users[user].grant(end, bytes);
        }
        self.clock = end;
    }
}

#[cfg(test)]
mod tests;
