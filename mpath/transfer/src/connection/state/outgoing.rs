//! Packets that leave, and when.

use super::{KEEP_ALIVE, State, wake};
use crate::connection::ConnectionError;
use crate::connection::liveness::Idle;
use crate::connection::shutdown::Shutdown;
use crate::endpoint::Batch;
use crate::mtu::PathCheck;
use tidegate_mpath::wire::{
    CONTROL_HEADER, Control, SEAL, write_control, write_data, write_feedback,
};
use tidegate_mpath::{Instant, Transmission};

impl State {
    /// Puts packets into the batch until it is full or nothing more may leave at `now`.
    pub fn transmit(&mut self, now: Instant, batch: &mut Batch) {
        self.cut_when_idle();
        while !batch.is_full() && self.transmit_one(now, batch) {}
        if self.has_room() {
            wake(&mut self.writer);
        }
    }

    fn transmit_one(&mut self, now: Instant, batch: &mut Batch) -> bool {
        self.plain.clear();
        let connection = self.session.connection();
        if let Some((control, size)) = self.controls.pop_front() {
            write_control(&mut self.plain, connection, control);
            self.plain
                .resize(size.saturating_sub(SEAL).max(CONTROL_HEADER), 0);
            let (session, plain) = (&mut self.session, &self.plain);
            batch.push_alone(self.peer, |out| session.seal(plain, out));
            return true;
        }
        if self.shutdown.is_some() {
            return false;
        }
        if let Some(feedback) = self.receiver.transmit(now) {
            write_feedback(&mut self.plain, connection, &feedback);
            self.seal(batch, None);
            return true;
        }
        let Some(Transmission { proxy, data }) = self.sender.transmit(now) else {
            return false;
        };
        write_data(&mut self.plain, connection, &data);
        self.plain.extend_from_slice(self.outgoing.get(data.stream));
        self.sent = self.sent.max(data.stream + 1);
        self.seal(batch, proxy);
        true
    }

    fn seal(&mut self, batch: &mut Batch, proxy: Option<tidegate_mpath::ProxyId>) {
        let relay = proxy.and_then(|id| self.relays.get(id));
        let (session, plain) = (&mut self.session, &self.plain);
        batch.push(self.peer, relay, |out| session.seal(plain, out));
    }

    /// When to call [`Self::expire`].
    pub fn timeout(&self) -> Instant {
        if let Some(shutdown) = &self.shutdown {
            return shutdown.timeout();
        }
        [
            self.sender.timeout(),
            self.receiver.timeout(),
            self.mtu.timeout(),
        ]
        .into_iter()
        .flatten()
        .fold(self.liveness.timeout(), Instant::min)
    }

    /// Time has passed.
    pub fn expire(&mut self, now: Instant) {
        if let Some(shutdown) = &mut self.shutdown {
            if shutdown.sends_close(now) {
                let read = self.receiver.next();
                self.send_control(Control::Close(read));
            }
            return;
        }
        match self.liveness.check(now) {
            Idle::TimedOut => {
                let error = ConnectionError::IdleTimeout(self.liveness.idle_timeout());
                return self.abort(error);
            }
            Idle::KeepAlive => self.send_control(Control::Ping(KEEP_ALIVE)),
            Idle::Shortly => {}
        }
        if self.session.is_exhausted() {
            return self.abort(ConnectionError::KeyExhausted);
        }
        for size in self.mtu.probes(now) {
            self.controls.push_back((Control::Ping(size as u64), size));
        }
        self.sender.expire(now);
        self.detect_black_hole(now);
    }

    fn detect_black_hole(&mut self, now: Instant) {
        match self.black_hole.check(self.sender.info().timeouts) {
            PathCheck::BlackHole if self.mtu.reset() => {
                self.fail(ConnectionError::BlackHole);
                self.shutdown = Some(Shutdown::closing(now));
            }
            PathCheck::Probe => self.send_control(Control::Ping(KEEP_ALIVE)),
            _ => {}
        }
    }
}
