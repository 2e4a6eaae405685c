//! Target: messages of a peer that holds the keys to the protocol's two ends.
//!
//! Whatever they are: no panic; nothing is acknowledged that was not written, or waits that was not allowed; no timer
//! stays due; and answers can be read.

use std::time::Duration;
use tidegate_mpath::wire::{Packet, parse, write_feedback};
use tidegate_mpath::{Arrival, Config, Instant, ProxyId, Receiver, ReceiverConfig, Sender};

/// The packets that the sender has to send, and the most that wait at the receiver.
const WRITTEN: u64 = 300;
const BUFFER: u64 = 64;

/// Records: the length of a packet and the packet; or, if it is larger than this, time and reading.
const LONGEST: u8 = 200;

pub fn run(data: &[u8]) {
    let mut ends = Ends::new();
    let mut rest = data;
    while let Some((&what, after)) = rest.split_first() {
        rest = if what <= LONGEST {
            let (packet, after) = after.split_at(after.len().min(what.into()));
            ends.deliver(packet);
            after
        } else {
            ends.wait(what - LONGEST);
            after
        };
        ends.settle();
    }
}

struct Ends {
    now: Instant,
    sender: Sender,
    receiver: Receiver,
}

impl Ends {
    fn new() -> Self {
        let mut sender = Sender::new(Config::default());
        sender.add_proxies([ProxyId(0), ProxyId(1), ProxyId(2)]);
        sender.write(WRITTEN);
        sender.finish();
        let receiver = Receiver::new(ReceiverConfig {
            buffer: BUFFER,
            ..ReceiverConfig::default()
        });
        Self {
            now: Instant::from_millis(1),
            sender,
            receiver,
        }
    }

    fn deliver(&mut self, packet: &[u8]) {
        match parse(packet) {
            Ok(Packet::Data { data, .. }) => {
                let allowed = data.stream < self.receiver.limit();
                let arrival = self.receiver.receive(self.now, &data);
                assert!(allowed || arrival == Arrival::Refused);
            }
            Ok(Packet::Feedback { feedback, .. }) => self.sender.receive(self.now, &feedback),
            _ => {}
        }
    }

    fn wait(&mut self, units: u8) {
        self.now += Duration::from_millis(u64::from(units).pow(2));
        self.receiver.read(units.into());
    }

    /// Does everything that is due at this time.
    fn settle(&mut self) {
        self.sender.expire(self.now);
        let mut sent = 0;
        while let Some(transmission) = self.sender.transmit(self.now) {
            assert!(transmission.data.stream <= WRITTEN);
            sent += 1;
            assert!(sent < 10_000, "it does not stop sending");
        }
        let mut said = 0;
        while let Some(feedback) = self.receiver.transmit(self.now) {
            let mut out = Vec::new();
            write_feedback(&mut out, 1, &feedback);
            assert!(parse(&out).is_ok());
            said += 1;
            assert!(said < 10_000, "it does not stop talking");
        }
        assert!(self.receiver.waiting() <= BUFFER);
        assert!(self.sender.acknowledged() <= WRITTEN + 1);
        assert!(self.sender.timeout().is_none_or(|at| at > self.now));
        assert!(self.receiver.timeout().is_none_or(|at| at > self.now));
    }
}
