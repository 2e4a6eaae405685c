use super::*;
use proptest::prelude::*;

fn messages() -> impl Strategy<Value = Message> {
    let time = (0..1u64 << 50).prop_map(|us| Instant::from_nanos(us * 1000));
    let stage = prop_oneof![Just(Stage::Quiet), Just(Stage::Fill), Just(Stage::Drain)];
    let data = (any::<u8>(), stage, any::<u32>(), time.clone(), 80..1500u16).prop_map(
        |(flow, stage, sequence, sent, bytes)| {
            Message::Data(Data {
                flow,
                stage,
                sequence,
                sent,
                bytes,
            })
        },
    );
    let report = (any::<(u8, u32, u32, u64, u32)>(), time.clone()).prop_map(
        |((flow, next, packets, bytes, queued_us), at)| {
            Message::Report(Report {
                flow,
                next,
                packets,
                bytes,
                at,
                queued_us,
            })
        },
    );
    let ping = (any::<u32>(), time.clone())
        .prop_map(|(sequence, sent)| Message::Ping(Ping { sequence, sent }));
    let pong = (any::<u32>(), time.clone(), time).prop_map(|(sequence, asked, answered)| {
        Message::Pong(Pong {
            sequence,
            asked,
            answered,
        })
    });
    prop_oneof![data, report, ping, pong]
}

proptest! {
    #[test]
    fn what_is_written_is_read(message in messages()) {
        let bytes = encode(&message);
        prop_assert_eq!(bytes.len() + HEADERS, message.bytes());
        prop_assert_eq!(decode(&bytes), Ok(message));
    }

    #[test]
    fn nothing_makes_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..100)) {
        let _ = decode(&bytes);
    }

    #[test]
    fn no_piece_of_a_packet_is_one(message in messages(), share in 0.0..1.0f64) {
        let bytes = encode(&message);
        let cut = (share * 28.0) as usize;
        prop_assume!(cut < bytes.len().min(26));
        prop_assert!(decode(&bytes[..cut]).is_err() || !matches!(message, Message::Data(_) | Message::Report(_)));
    }
}
