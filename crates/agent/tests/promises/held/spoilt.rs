//! Records of random content, as a faulty law might leave them.

use super::START_US;
use super::download::{HERE, THERE};
use super::programs::{APART, Fate, Programs};
use crate::gate::Way;
use crate::packet::Packet;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use tidegate_agent::Records;
use tidegate_agent::hold::types::tg_held;

/// Packets of a flow whose record is spoilt.
pub struct Trial {
    pub way: Way,
    pub packet: Packet,
    /// Size of the law's state in a record.
    pub bytes: usize,
    /// A record with these bytes in it; if true, of a flow that the law is eager to signal.
    pub spoil: fn(&tg_held, &[u8], bool) -> tg_held,
    /// What the gate may ask the law about.
    pub asks: fn(&Records, usize) -> Vec<u64>,
}

impl Trial {
    /// Checks that at most one packet in `APART` is signalled, in the way its codepoint asks for, and that none waits
    /// longer than two seconds. The flow has a record.
    pub fn run(&self, programs: &mut Programs) {
        let flow = programs.candidate(HERE.1, THERE.1).expect("a place");
        let clean = programs.read(flow.place);
        let noise = prop::collection::vec(any::<u8>(), 0..=self.bytes);
        let mut runner = TestRunner::deterministic();
        // Its last signal may be that many packets ago.
        let (mut now_us, mut since, mut signals) = (START_US + 9_000_000, APART, 0);
        for case in 0..200 {
            let noise = noise.new_tree(&mut runner).expect("any").current();
            let eager = case % 2 == 0;
            let mut record = (self.spoil)(&clean, &noise, eager);
            for _ in 0..100 {
                if eager {
                    record = (self.spoil)(&record, &[], true);
                }
                now_us += 1000;
                programs.at(now_us);
                (record.seen_us, record.since_us) = (now_us, flow.since_us);
                programs.write(flow.place, &record);
                let packet = Packet {
                    ecn: case % 3,
                    ..self.packet.clone()
                };
                since += 1;
                if programs.pass(self.way, &packet) != Fate::Passes {
                    assert!(since >= APART, "{since} packets after the last");
                    (signals, since) = (signals + 1, 0);
                }
                for what in (self.asks)(programs.records(), flow.place) {
                    assert!(programs.records().wait_us(flow.place, what) <= 2_000_000);
                }
                record = programs.read(flow.place);
            }
        }
        println!("{signals} signals");
        assert!(signals > 50, "{signals} signals: nothing to bound");
    }
}

/// Overwrites the beginning of a part of a record, whose fields are integers.
pub fn overwrite<T: Copy>(part: &mut T, noise: &[u8]) {
    let length = noise.len().min(size_of::<T>());
    // SAFETY: within the part, and any bytes are integers.
    unsafe {
        (&raw mut *part)
            .cast::<u8>()
            .copy_from_nonoverlapping(noise.as_ptr(), length);
    }
}
