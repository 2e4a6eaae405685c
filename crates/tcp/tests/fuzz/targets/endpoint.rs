//! Target: two sockets, a network that does anything, and forged segments.
//!
//! Whatever happens: no panic; the bytes read are the bytes written, in order, unless the handshake was forged; the
//! right edge of the window never retreats; no timer stays due. And if nothing was forged and no end gave up, all bytes
//! arrive once the network behaves.

mod forge;
mod side;

use crate::targets::input::Input;
use forge::forge;
use side::Side;
use std::time::Duration;
use tidegate_tcp::cc::Algorithm;
use tidegate_tcp::wire::{self, Addresses};
use tidegate_tcp::{Config, Ending, Instant, ReceiveBuffer, Seq};

/// Settings, then operations.
pub fn run(data: &[u8]) {
    let mut input = Input(data);
    let Some(mut world) = World::new(&mut input) else {
        return;
    };
    world.settle();
    while world.operate(&mut input).is_some() {
        world.settle();
    }
    world.finish();
}

struct World {
    now: Instant,
    sides: [Side; 2],
    /// No segment was forged, and no end gave up.
    honest: bool,
}

impl World {
    fn new(input: &mut Input) -> Option<Self> {
        let addresses = if input.u8()? % 2 == 0 {
            ["10.9.0.2:40000", "10.9.0.1:80"]
        } else {
            ["[fd09::2]:40000", "[fd09::1]:80"]
        };
        let [source, destination] = addresses.map(|address| address.parse().unwrap());
        let addresses = Addresses::new(source, destination)?;
        let [client, server] = [config(input)?, config(input)?];
        let now = Instant::from_millis(1000);
        Some(Self {
            now,
            sides: [
                Side::connect(client, addresses, now),
                Side::listen(server, addresses.reversed()),
            ],
            honest: true,
        })
    }

    /// One operation; None at the end of the input.
    fn operate(&mut self, input: &mut Input) -> Option<()> {
        let operation = input.u8()?;
        let which = usize::from(operation & 1);
        let value = input.u16()?;
        let now = self.now;
        match operation >> 1 & 15 {
            0..=2 => self.deliver(which, 0),
            3 => self.deliver(which, value.into()),
            4 => drop(self.sides[which].take(value.into())),
            5 => self.sides[which].repeat(value.into()),
            6 | 7 => self.sides[which].write(value.into()),
            8 | 9 => self.read(which, value.into()),
            10 => self.now += Duration::from_micros(u64::from(value) * 16),
            11 => self.now = self.next_timeout().map_or(now, |next| next.max(now)),
            12 if value > 0x8000 => self.sides[which].close(),
            13 if value > 0xf000 => {
                self.honest = false;
                self.sides[which].abort();
            }
            14 => {
                self.honest = false;
                let packet = forge(&self.sides[which], &self.sides[1 - which], input)?;
                let to = &mut self.sides[which];
                to.misled |= !to.is_open();
                to.receive(now, &packet);
            }
            _ => {
                while !self.sides[which].inbox.is_empty() {
                    self.deliver(which, 0);
                }
            }
        }
        Some(())
    }

    fn deliver(&mut self, to: usize, index: usize) {
        if let Some(packet) = self.sides[to].take(index) {
            self.sides[to].receive(self.now, &packet);
        }
    }

    fn read(&mut self, which: usize, most: usize) {
        self.sides[which].read(self.now, most);
        if self.honest {
            assert!(
                self.sides[which].read <= self.sides[1 - which].written,
                "out of thin air"
            );
        }
    }

    /// Does everything that is due at this time.
    fn settle(&mut self) {
        for _ in 0..10 {
            for from in [0, 1] {
                for packet in self.sides[from].transmit(self.now) {
                    self.sides[1 - from].inbox.push_back(packet);
                }
            }
            if self.next_timeout().is_none_or(|next| next > self.now) {
                return;
            }
            for side in &mut self.sides {
                side.expire(self.now);
            }
        }
        panic!("a timer stays due");
    }

    fn next_timeout(&self) -> Option<Instant> {
        self.sides.iter().filter_map(Side::timeout).min()
    }

    /// The network behaves from now on.
    fn finish(&mut self) {
        if !self.honest || self.sides.iter().any(|side| side.ending().is_some()) {
            return;
        }
        for _ in 0..20_000 {
            self.now += Duration::from_millis(5);
            // The handshake needs no help from the applications.
            let open = self.sides.iter().all(Side::is_open);
            for which in [0, 1] {
                while !self.sides[which].inbox.is_empty() {
                    self.deliver(which, 0);
                }
                self.read(which, 1 << 20);
                if open {
                    self.sides[which].close();
                }
            }
            self.settle();
            if self.sides.iter().all(|side| side.inbox.is_empty()) {
                match self.next_timeout() {
                    Some(next) => self.now = self.now.max(next),
                    None if open => break,
                    None => {}
                }
                self.settle();
            }
        }
        let written = [0, 1].map(|which| self.sides[which].written);
        let read = [1, 0].map(|which| self.sides[which].read);
        let endings = [0, 1].map(|which| self.sides[which].ending());
        assert_eq!((written, endings), (read, [Some(Ending::Closed); 2]));
    }
}

fn config(input: &mut Input) -> Option<Config> {
    let options = input.u8()?;
    let sizes = input.u8()?;
    let algorithm = usize::from(input.u8()?) % Algorithm::ALL.len();
    Some(Config {
        congestion_control: Algorithm::ALL[algorithm].into(),
        mss: [100, 536, 1400, 9000][usize::from(sizes & 3)],
        timestamps: options & 1 == 0,
        sack: options & 2 == 0,
        window_scaling: options & 4 == 0,
        send_buffer: [1000, 20_000, 16 << 20, 1][usize::from(sizes >> 2 & 3)],
        receive_buffer: match sizes >> 4 & 3 {
            0 => ReceiveBuffer::default(),
            1 => ReceiveBuffer::Fixed(2000),
            2 => ReceiveBuffer::Fixed(100_000),
            // Good for a few segments: with less than one Linux's own window may never open.
            _ => ReceiveBuffer::Autotuned {
                initial: 65_536,
                max: 200_000,
            },
        },
        initial_seq: Seq(input.u32()?),
        timestamp_offset: u32::from(options) << 24,
        ..Config::default()
    })
}

/// A packet's segment; all of ours are sound.
fn parsed(packet: &[u8]) -> wire::Parsed<'_> {
    wire::parse(packet).expect("sound packets")
}
