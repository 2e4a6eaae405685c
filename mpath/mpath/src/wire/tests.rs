use super::*;
use crate::{Gap, PathGap, PathId, PathReport};
use proptest::collection::vec;
use proptest::prelude::*;
use std::net::SocketAddr;
use std::time::Duration;

fn gaps() -> impl Strategy<Value = Gap> {
    (any::<u64>(), any::<u32>()).prop_map(|(first, count)| Gap { first, count })
}

fn feedbacks() -> impl Strategy<Value = Feedback> {
    let reports = (any::<u32>(), any::<u64>(), any::<u64>(), any::<u32>()).prop_map(
        |(path, largest, lost, delay)| PathReport {
            path: PathId(path),
            largest,
            lost,
            delay: Duration::from_micros(delay.into()),
        },
    );
    let lost = (any::<u32>(), gaps()).prop_map(|(path, gap)| PathGap {
        path: PathId(path),
        gap,
    });
    (
        any::<[u64; 2]>(),
        vec(reports, 0..=Feedback::REPORTS),
        vec(lost, 0..=Feedback::GAPS),
        vec(gaps(), 0..=Feedback::GAPS),
    )
        .prop_map(|([next, limit], reports, lost, missing)| Feedback {
            next,
            limit,
            reports,
            lost,
            missing,
        })
}

fn datas() -> impl Strategy<Value = Data> {
    (any::<u32>(), any::<[u64; 2]>(), any::<u32>(), any::<bool>()).prop_map(
        |(path, [path_seq, stream], patience, fin)| Data {
            path: PathId(path),
            path_seq,
            stream,
            patience: Duration::from_millis(patience.into()),
            fin,
        },
    )
}

fn addresses() -> impl Strategy<Value = SocketAddr> {
    prop_oneof![
        any::<([u8; 4], u16)>().prop_map(SocketAddr::from),
        any::<([u8; 16], u16)>().prop_map(SocketAddr::from),
    ]
}

proptest! {
    #[test]
    fn data_come_back(data in datas(), connection: u64, payload: Vec<u8>) {
        let mut bytes = Vec::new();
        write_data(&mut bytes, connection, &data);
        prop_assert_eq!(bytes.len(), DATA_HEADER);
        bytes.extend(&payload);
        let read = Packet::Data { connection, data, payload: &payload };
        prop_assert_eq!(parse(&bytes), Ok(read));
    }

    #[test]
    fn feedback_comes_back(feedback in feedbacks(), connection: u64) {
        let mut bytes = Vec::new();
        write_feedback(&mut bytes, connection, &feedback);
        prop_assert_eq!(bytes.len(), feedback_bytes(&feedback));
        // With IPv6 and UDP around it.
        prop_assert!(bytes.len() + 48 <= 1280);
        prop_assert_eq!(parse(&bytes), Ok(Packet::Feedback { connection, feedback }));
    }

    #[test]
    fn envelopes_come_back(
        destination in addresses(),
        capability in vec(any::<u8>(), 0..=CAPABILITY_MAX),
        packet: Vec<u8>,
    ) {
        let mut bytes = Vec::new();
        write_relay(&mut bytes, destination, &capability);
        prop_assert_eq!(bytes.len(), relay_header(capability.len()));
        bytes.extend(&packet);
        let relay = Relay { destination, capability: &capability, packet: &packet };
        prop_assert_eq!(parse(&bytes), Ok(Packet::Relay(relay)));
    }

    #[test]
    fn sealed_packets_come_back_at_their_length_alone(
        connection: u64,
        nonce: u64,
        ciphertext in vec(any::<u8>(), TAG..2000),
        cut in 1..100_usize,
    ) {
        let mut bytes = Vec::new();
        write_sealed(&mut bytes, connection, nonce, ciphertext.len() as u16);
        prop_assert_eq!(bytes.len(), SEALED_HEADER);
        bytes.extend(&ciphertext);
        let sealed = Sealed { connection, nonce, ciphertext: &ciphertext };
        prop_assert_eq!(parse(&bytes), Ok(Packet::Sealed(sealed)));
        let cut = cut.min(bytes.len());
        prop_assert_eq!(parse(&bytes[..bytes.len() - cut]), Err(Malformed::Truncated));
        bytes.push(0);
        prop_assert_eq!(parse(&bytes), Err(Malformed::Oversized));
    }

    #[test]
    fn handshakes_come_back_whatever_follows(
        connection: u64,
        proof: [u8; PROOF],
        message in vec(any::<u8>(), 0..300),
        padding in 0..1000_usize,
    ) {
        let hello = Hello { connection, proof, message: &message };
        let answer = Answer { connection, message: &message };
        let mut bytes = Vec::new();
        write_hello(&mut bytes, &hello);
        let length = bytes.len();
        bytes.resize(length + padding, 0);
        prop_assert_eq!(parse(&bytes), Ok(Packet::Hello(hello)));
        prop_assert_eq!(parse(&bytes[..length - 1]), Err(Malformed::Truncated));
        bytes.clear();
        write_answer(&mut bytes, &answer);
        let length = bytes.len();
        bytes.resize(length + padding, 0);
        prop_assert_eq!(parse(&bytes), Ok(Packet::Answer(answer)));
        prop_assert_eq!(parse(&bytes[..length - 1]), Err(Malformed::Truncated));
    }

    #[test]
    fn words_come_back(connection: u64, number: u64, which in 0..4_usize) {
        let all = [
            Control::Ping(number),
            Control::Pong(number),
            Control::Close(number),
            Control::Closed,
        ];
        let mut bytes = Vec::new();
        write_control(&mut bytes, connection, all[which]);
        prop_assert_eq!(bytes.len(), CONTROL_HEADER);
        let read = Packet::Control { connection, control: all[which] };
        prop_assert_eq!(parse(&bytes), Ok(read));
    }

    /// A later version's fields stand behind ours.
    #[test]
    fn what_is_added_to_a_header_is_skipped(data in datas(), more in 1..50_usize, payload: Vec<u8>) {
        let mut bytes = Vec::new();
        write_data(&mut bytes, 7, &data);
        bytes[1] += more as u8;
        bytes.resize(DATA_HEADER + more * 4, 0xa5);
        bytes.extend(&payload);
        let read = Packet::Data { connection: 7, data, payload: &payload };
        prop_assert_eq!(parse(&bytes), Ok(read));
    }

    #[test]
    fn any_bytes_are_read_or_refused(mut bytes: Vec<u8>, kind in 0..5_u8, words: u8) {
        let _ = parse(&bytes);
        // Most of them begin so that the rest is looked at.
        if let [first, second, ..] = &mut bytes[..] {
            (*first, *second) = (VERSION << 4 | kind, words % 20);
        }
        let _ = parse(&bytes);
    }

    #[test]
    fn what_is_cut_short_is_refused(feedback in feedbacks(), cut: prop::sample::Index) {
        let mut bytes = Vec::new();
        write_feedback(&mut bytes, 1, &feedback);
        bytes.truncate(cut.index(bytes.len()));
        prop_assert!(parse(&bytes).is_err());
    }
}

#[test]
fn every_refusal_has_its_reason() {
    let mut data = Vec::new();
    let some = Data {
        path: PathId::DIRECT,
        path_seq: 0,
        stream: 0,
        patience: Duration::ZERO,
        fin: false,
    };
    write_data(&mut data, 1, &some);
    let with = |place: usize, value: u8| {
        let mut bytes = data.clone();
        bytes[place] = value;
        bytes
    };
    assert_eq!(parse(&[]), Err(Malformed::Truncated));
    assert_eq!(parse(&with(0, 0x21)), Err(Malformed::Version(2)));
    assert_eq!(parse(&with(0, 0x1f)), Err(Malformed::Kind(15)));
    assert_eq!(parse(&with(1, 0)), Err(Malformed::Header(0)));
    assert_eq!(parse(&with(1, 8)), Err(Malformed::Header(32)));
    assert_eq!(parse(&with(1, 255)), Err(Malformed::Truncated));
    let mut feedback = Vec::new();
    write_feedback(&mut feedback, 1, &Feedback::default());
    feedback[28] = 17;
    assert_eq!(parse(&feedback), Err(Malformed::Entries(17)));
    let mut relay = Vec::new();
    write_relay(&mut relay, ([127, 0, 0, 1], 9).into(), b"");
    relay[6] = 5;
    assert_eq!(parse(&relay), Err(Malformed::Family(5)));
    let mut control = Vec::new();
    write_control(&mut control, 1, Control::Closed);
    control[15] = 9;
    assert_eq!(parse(&control), Err(Malformed::Control(9)));
}
