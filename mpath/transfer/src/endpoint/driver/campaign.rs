//! Millions of spoiled packets for the task of an endpoint, in this process: from strangers, and from a peer that holds
//! the token and has a connection.
//!
//! Whatever arrives: no panic, and no more connections, half-open sessions and control messages than allowed.

use super::*;
use std::task::{Context, Waker};
use std::time::Duration;
use tidegate_mpath::wire::{
    Control, parse, write_control, write_data, write_feedback, write_hello,
};
use tidegate_mpath::{Data, Feedback, Gap, PathGap, PathId, PathReport};
use tidegate_testing::Spoiler;
use tokio::io::ReadBuf;

#[test]
fn spoiled_packets_disturb_no_endpoint() {
    campaign(50_000);
}

#[test]
#[ignore = "takes minutes: for ./dev soak"]
fn a_hundred_million_spoiled_packets_disturb_no_endpoint() {
    campaign(100_000_000);
}

/// Packets between two turns of the task.
const AT_ONCE: u64 = 64;

fn campaign(packets: u64) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let _inside = runtime.enter();
    let began = std::time::Instant::now();
    let mut testbed = Testbed::new();
    for n in 0..packets {
        testbed.packet();
        if n % AT_ONCE == 0 {
            testbed.turn();
        }
    }
    let (took, refused) = (began.elapsed().as_secs_f64(), testbed.rejected.so_far());
    let connections = testbed.connections;
    println!("mPath: {packets} packets in {took:.0} s, {connections} connections, {refused:?}");
    assert!(connections > 1);
    // Each reason occurs, so the code behind it was reached.
    for count in [
        refused.truncated,
        refused.malformed,
        refused.strangers,
        refused.unknown,
        refused.forged,
        refused.replayed,
        refused.unwanted,
    ] {
        assert!(count > 0, "{refused:?}");
    }
}

struct Testbed {
    spoiler: Spoiler,
    driver: Driver,
    rejected: Rejections,
    accepted: mpsc::Receiver<Connection>,
    /// The application's end of the latest connection.
    connection: Option<Connection>,
    connections: u64,
    _live: watch::Receiver<usize>,
    token: Token,
    session: Option<Session>,
    from: SocketAddr,
    packet: Vec<u8>,
    plain: Vec<u8>,
}

impl Testbed {
    fn new() -> Self {
        let identity = Identity::generate();
        let token = Token::new(&identity, Vec::new(), None);
        let config = Config {
            // Small, so that its limits are reached soon.
            buffer_bytes: 1 << 20,
            ..Config::default()
        };
        let (accepting, accepted) = mpsc::channel(16);
        let (counting, live) = watch::channel(0);
        let rejected = Rejections::default();
        let socket = Socket::bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let counted = rejected.clone();
        let driver = Driver::new(socket, Some(identity), config, counted, accepting, counting);
        Self {
            spoiler: Spoiler::new(1),
            driver,
            rejected,
            accepted,
            connection: None,
            connections: 0,
            _live: live,
            token,
            session: None,
            from: "192.0.2.1:9".parse().unwrap(),
            packet: Vec::new(),
            plain: Vec::new(),
        }
    }

    fn packet(&mut self) {
        if !self.is_connected() || self.spoiler.once_in(200_000) {
            self.connect();
        }
        let what = self.spoiler.below(64);
        self.packet.clear();
        match what {
            0 => {
                let length = self.spoiler.below(1500);
                self.packet = self.spoiler.noise(length);
            }
            1 => self.hello(),
            _ => {
                self.plain();
                if let Some(session) = &mut self.session {
                    session.seal(&self.plain, &mut self.packet);
                }
            }
        }
        let again = self.spoiler.once_in(32);
        if self.spoiler.once_in(8) {
            self.spoiler.spoil(&mut self.packet);
        }
        let core = &mut self.driver.core;
        for _ in 0..1 + usize::from(again) {
            core.receive(core.clock.now(), self.from, &self.packet);
        }
    }

    /// Whether the task has the session or may yet have it.
    fn is_connected(&mut self) -> bool {
        let core = &mut self.driver.core;
        self.session.as_ref().is_some_and(|session| {
            let connection = session.connection();
            core.links.contains_key(&connection) || core.half_open.get_mut(connection).is_some()
        })
    }

    /// A connection of a peer that holds the token.
    fn connect(&mut self) {
        let initiator = Initiator::new(&self.token, self.spoiler.number()).unwrap();
        let core = &mut self.driver.core;
        let (now, identity) = (core.clock.now(), core.identity.as_ref().expect("one"));
        let Ok(packet) = core.half_open.answer(now, identity, &initiator.hello()) else {
            // Others have taken all places, for ten seconds.
            core.half_open = HalfOpen::default();
            return;
        };
        let Ok(Packet::Answer(answer)) = parse(packet) else {
            panic!("what answers is none: {packet:?}");
        };
        self.session = initiator.finish(answer.message).ok();
    }

    /// A hello, with a proof that may be right.
    fn hello(&mut self) {
        let connection = self.spoiler.number();
        // Making one takes a hundred times as long as everything else, so it is done only now and then.
        if self.spoiler.once_in(50) {
            let initiator = Initiator::new(&self.token, connection).unwrap();
            write_hello(&mut self.packet, &initiator.hello());
        } else {
            let (proof, message) = (self.spoiler.noise(32), self.spoiler.noise(96));
            let hello = Hello {
                connection,
                proof: proof.try_into().expect("32 bytes"),
                message: &message,
            };
            write_hello(&mut self.packet, &hello);
        }
        if !self.spoiler.once_in(4) {
            self.packet.resize(mtu::BASE, 0);
        }
    }

    /// A plaintext of a peer with a session, spoiled or not.
    fn plain(&mut self) {
        self.plain.clear();
        match self.spoiler.below(16) {
            0..8 => self.data(),
            8..14 => self.feedback(),
            14 => self.control(),
            _ => {
                let length = self.spoiler.below(300);
                self.plain = self.spoiler.noise(length);
            }
        }
        if self.spoiler.once_in(8) {
            self.spoiler.spoil(&mut self.plain);
        }
    }

    fn near(&mut self) -> u64 {
        match self.spoiler.once_in(8) {
            true => self.spoiler.number(),
            false => self.spoiler.below(4096) as u64,
        }
    }

    fn data(&mut self) {
        let data = Data {
            path: PathId(self.near() as u32),
            path_seq: self.near(),
            stream: self.near(),
            patience: Duration::from_micros(self.near()),
            // Rarely: after it no more data are accepted.
            fin: self.spoiler.once_in(5000),
        };
        write_data(&mut self.plain, 1, &data);
        let length = self.spoiler.below(100);
        let payload = self.spoiler.noise(length);
        self.plain.extend(payload);
    }

    fn feedback(&mut self) {
        let count = self.spoiler.below(5);
        let reports = (0..count).map(|_| PathReport {
            path: PathId(self.near() as u32),
            largest: self.near(),
            lost: self.near(),
            delay: Duration::from_micros(self.near()),
        });
        let reports = reports.collect();
        let mut gap = || Gap {
            first: self.near(),
            count: self.near() as u32,
        };
        let missing = (0..count).map(|_| gap()).collect();
        let lost = (0..count).map(|n| PathGap {
            path: PathId(n as u32),
            gap: gap(),
        });
        let feedback = Feedback {
            lost: lost.collect(),
            missing,
            reports,
            next: self.near(),
            limit: self.near(),
        };
        write_feedback(&mut self.plain, 1, &feedback);
    }

    fn control(&mut self) {
        let number = self.spoiler.number();
        let control = match self.spoiler.below(10_000) {
            0 => Control::Close(number),
            1 => Control::Closed,
            what if what % 2 == 0 => Control::Ping(number),
            _ => Control::Pong(number),
        };
        write_control(&mut self.plain, 1, control);
    }

    /// The turn of the task, and of the application.
    fn turn(&mut self) {
        if let Ok(connection) = self.accepted.try_recv() {
            self.connections += 1;
            self.connection = Some(connection);
        }
        let core = &mut self.driver.core;
        let (mut context, mut buffer) = (Context::from_waker(Waker::noop()), [0; 4096]);
        for link in core.links.values() {
            // Whether there is something to read or room to write depends on the other end.
            let mut state = link.lock();
            let _ = state.poll_read(&mut context, &mut ReadBuf::new(&mut buffer));
            let _ = state.poll_write(&mut context, &buffer[..64]);
            state.cut();
        }
        core.work();
        while core.batch.first().is_some() {
            core.batch.pop();
        }
        assert!(core.links.len() <= core.config.connections);
    }
}
