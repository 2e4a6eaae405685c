//! The fuzz target, replayed over spoiled messages. `fuzz/` builds it for libFuzzer.

mod target;

use proptest::collection::vec;
use proptest::prelude::*;
use tidegate_basics::time::Instant;
use tidegate_probe::{Data, HEADERS, Message, Ping, Pong, Report, Stage, encode};

fn messages() -> [Message; 4] {
    let at = Instant::from_millis(1234);
    [
        Message::Data(Data {
            flow: 1,
            stage: Stage::Fill,
            sequence: 7,
            sent: at,
            bytes: HEADERS as u16 + 60,
        }),
        Message::Report(Report {
            flow: 1,
            next: 8,
            packets: 7,
            bytes: 700,
            at,
            queued_us: 90,
        }),
        Message::Ping(Ping {
            sequence: 3,
            sent: at,
        }),
        Message::Pong(Pong {
            sequence: 3,
            asked: at,
            answered: at,
        }),
    ]
}

proptest! {
    #[test]
    fn changed_messages(which in 0..4_usize, changes in vec(any::<(prop::sample::Index, u8)>(), 0..6), cut in 0..8_usize) {
        let mut bytes = encode(&messages()[which]);
        for (at, value) in changes {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        bytes.truncate(bytes.len() - cut);
        target::run(&bytes);
    }
}
