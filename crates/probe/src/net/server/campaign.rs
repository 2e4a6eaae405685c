//! Millions of spoiled packets at a server in this process: from strangers, and from clients that have the key and a
//! session.
//!
//! Whatever arrives: no panic, and the server remembers and sends no more than allowed.

use super::super::client::question;
use super::super::control::write;
use super::super::socket::wall;
use super::*;
use crate::{Data, HEADERS, Message, Pace, Ping, Report, Stage, TrainConfig};
use std::net::UdpSocket;
use tidegate_basics::time::Instant;
use tidegate_testing::Spoiler;

#[test]
fn spoiled_packets_disturb_no_prober() {
    campaign(100_000);
}

#[test]
#[ignore = "takes minutes: for ./dev soak"]
fn a_hundred_million_spoiled_packets_disturb_no_prober() {
    campaign(100_000_000);
}

fn campaign(packets: u64) {
    let began = std::time::Instant::now();
    let mut stranger = Stranger::new();
    for n in 0..packets {
        stranger.packet();
        // As the server does after as many packets as it takes at once.
        if n % AT_ONCE as u64 == 0 {
            stranger.server.forget();
            stranger.server.send();
            stranger.check();
        }
    }
    let Counters {
        sessions,
        sent_bytes,
        refused,
        ..
    } = stranger.server.counters();
    println!(
        "prober: {packets} packets in {:.0} s, {refused} refused; {sessions} sessions, {sent_bytes} bytes sent",
        began.elapsed().as_secs_f64(),
    );
    // They get as far as they are meant to, and no further.
    assert!(
        refused > packets / 10 && refused < packets * 9 / 10,
        "{refused}"
    );
    assert!(sessions > 1, "{sessions}");
}

/// The sender of all these packets, and the server that receives them.
struct Stranger {
    spoiler: Spoiler,
    server: Server,
    key: Key,
    /// Where answers go: a socket that is never read.
    way: Way,
    _sink: UdpSocket,
    session: Option<Session>,
    /// The latest Open: sent again it opens nothing new.
    open: Vec<u8>,
}

impl Stranger {
    fn new() -> Self {
        let key = Key::random();
        let limits = Limits {
            max_bps: 10e6,
            session_bytes: 1 << 40,
            total_bytes: 1 << 50,
            ..Limits::default()
        };
        let sink = UdpSocket::bind("127.0.0.1:0").unwrap();
        Self {
            spoiler: Spoiler::new(1),
            server: Server::bind("127.0.0.1:0".parse().unwrap(), key, limits).unwrap(),
            key,
            way: Way::to(sink.local_addr().unwrap()),
            _sink: sink,
            session: None,
            open: Vec::new(),
        }
    }

    fn packet(&mut self) {
        let known = |session: &Session| self.server.guests.contains_key(&session.id);
        if !self.session.as_ref().is_some_and(known) || self.spoiler.once_in(20_000) {
            self.begin();
        }
        let packet = match self.spoiler.below(16) {
            0 => {
                let length = self.spoiler.below(200);
                self.spoiler.noise(length)
            }
            1 => self.question(),
            2..5 => {
                let mut packet = self.said();
                self.spoiler.spoil(&mut packet);
                packet
            }
            _ => self.said(),
        };
        self.take(packet);
    }

    fn take(&mut self, bytes: Vec<u8>) {
        let mut way = self.way;
        match self.spoiler.below(1000) {
            0 => way.far.set_port(0),
            1 => way.far.set_ip([255; 4].into()),
            2 => way.far.set_ip([0; 4].into()),
            _ => {}
        }
        self.server.take(&Received {
            bytes,
            way,
            clock: wall(),
        });
    }

    /// Another session of this client, behind its earlier one.
    fn begin(&mut self) {
        if let Some(mut session) = self.session.take() {
            self.take(session.seal(&write(&Control::Close)));
        }
        let nonce = self.spoiler.noise(16).try_into().unwrap();
        let hello = question(&self.key, HELLO, &nonce, &[]);
        let asked = self.server.door.question(&hello, self.way.far).unwrap();
        let invitation = self.server.door.invite(&asked);
        self.open = question(&self.key, OPEN, &nonce, &invitation[18..34]);
        let known: Vec<_> = self.server.guests.keys().copied().collect();
        let open = self.open.clone();
        self.take(open);
        let new = self
            .server
            .guests
            .iter()
            .find(|(id, _)| !known.contains(id));
        if let Some((id, guest)) = new {
            self.session = Some(Session::new(*id, guest.session.key, false));
        }
    }

    /// A Hello or an Open, with a right tag or spoiled.
    fn question(&mut self) -> Vec<u8> {
        let nonce = self.spoiler.noise(16).try_into().unwrap();
        let with = self.spoiler.noise(16);
        let mut packet = match self.spoiler.below(4) {
            0 => self.open.clone(),
            1 => question(&self.key, HELLO, &nonce, &[]),
            _ => question(&self.key, OPEN, &nonce, &with),
        };
        if self.spoiler.once_in(2) {
            self.spoiler.spoil(&mut packet);
        }
        packet
    }

    /// A packet of the session; its contents may be spoiled before it is sealed.
    fn said(&mut self) -> Vec<u8> {
        let mut inner = write(&self.control());
        if self.spoiler.once_in(4) {
            self.spoiler.spoil(&mut inner);
        }
        match &mut self.session {
            Some(session) => session.seal(&inner),
            None => inner,
        }
    }

    fn time(&mut self) -> Instant {
        match self.spoiler.once_in(2) {
            true => wall(),
            false => Instant::from_nanos(self.spoiler.number()),
        }
    }

    fn control(&mut self) -> Control {
        let flow = self.spoiler.below(3) as u8;
        let number = self.spoiler.number();
        match self.spoiler.below(100) {
            0..40 => Control::Measure(Message::Data(Data {
                flow,
                stage: *self
                    .spoiler
                    .one_of(&[Stage::Quiet, Stage::Fill, Stage::Drain]),
                sequence: number as u32,
                sent: self.time(),
                bytes: (HEADERS + 30 + self.spoiler.below(60)) as u16,
            })),
            40..70 => Control::Measure(Message::Report(Report {
                flow,
                next: number as u32,
                packets: self.spoiler.number() as u32,
                bytes: self.spoiler.number(),
                at: self.time(),
                queued_us: self.spoiler.number() as u32,
            })),
            70..75 => Control::Measure(Message::Ping(Ping {
                sequence: number as u32,
                sent: self.time(),
            })),
            75..80 => Control::Start {
                to_client: self.spoiler.once_in(2),
                train: self.train(flow),
            },
            80..85 => Control::Stop { flow },
            85..90 => Control::Fetch {
                flow,
                from: number as u32 % 1024,
            },
            90 if self.spoiler.once_in(200) => Control::Close,
            _ => Control::Alive,
        }
    }

    fn train(&mut self, flow: u8) -> TrainConfig {
        let number = self.spoiler.number();
        TrainConfig {
            flow,
            bytes: self.spoiler.number() as u16,
            pace: *self.spoiler.one_of(&[
                Pace::Overflow,
                Pace::Busy,
                Pace::Window(number),
                Pace::Constant(number as f64),
            ]),
            start_bps: self.spoiler.number() as f64,
            max_bps: self.spoiler.number() as f64,
            max_bytes: self.spoiler.number(),
            max_time: Duration::from_millis(self.spoiler.number()),
        }
    }

    fn check(&self) {
        let limits = &self.server.limits;
        assert!(self.server.guests.len() <= limits.sessions);
        assert!(self.server.passes().len() <= limits.sessions);
        for guest in self.server.guests.values() {
            assert!(guest.remembered() <= 2_000_100);
        }
    }
}
