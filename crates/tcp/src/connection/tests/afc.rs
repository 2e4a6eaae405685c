//! Adaptive flow control: which ends use it, and what becomes of the bytes.

use super::*;
use crate::{FlowControl, ReadReport, ReceiveBuffer};

const BUFFER: u64 = 65_536;

fn with(flow_control: FlowControl, buffer: ReceiveBuffer) -> Config {
    Config {
        flow_control,
        receive_buffer: buffer,
        ..config(7)
    }
}

fn adaptive() -> Config {
    with(FlowControl::Adaptive, ReceiveBuffer::Fixed(BUFFER))
}

fn established(client: Config, server: Config) -> Pair {
    let mut pair = Pair::new(client, server);
    pair.run_for(Duration::from_millis(100));
    assert_eq!(pair.states(), [State::Established; 2]);
    pair
}

/// Lets the client read up to `each` bytes every millisecond, for `ms`; returns how many bytes that was.
fn read_slowly(pair: &mut Pair, each: u64, ms: u64) -> u64 {
    let mut read = 0;
    for _ in 0..ms {
        pair.run_for(Duration::from_millis(1));
        let now = pair.now;
        read += pair.end(CLIENT).read(now, each);
        pair.pump();
    }
    read
}

#[test]
fn both_ends_must_permit_it() {
    let classic = with(FlowControl::Classic, ReceiveBuffer::Fixed(BUFFER));
    let autotuned = with(FlowControl::Adaptive, ReceiveBuffer::default());
    for (client, server, agreed) in [
        (adaptive(), adaptive(), true),
        (adaptive(), classic.clone(), false),
        (classic, adaptive(), false),
        // An autotuned buffer cannot say how much it takes beyond its window.
        (autotuned, adaptive(), false),
        (adaptive(), config(3), false),
    ] {
        let mut pair = established(client, server);
        assert_eq!([0, 1].map(|end| pair.end(end).uses_afc()), [agreed; 2]);
        // A peer that did not agree never receives the option, and its own is ignored.
        pair.end(SERVER).write(20_000);
        pair.lose = match agreed {
            true => |_, _, _| false,
            false => |_, _, segment| {
                assert_eq!(segment.read_rate, None);
                false
            },
        };
        assert_eq!(read_slowly(&mut pair, u64::MAX, 300), 20_000);
        let liar = Segment {
            read_rate: Some(ReadReport::from_word(u32::MAX)),
            ..pair.forged(CLIENT, Flags::ACK)
        };
        pair.inject(SERVER, &liar);
        let window = pair.end(SERVER).sender().flow_window();
        assert_eq!(window > 1 << 20, agreed, "{window}");
    }
}

#[test]
fn a_syn_without_the_option_is_answered_without() {
    let mut pair = Pair::new(adaptive(), adaptive());
    let now = pair.now;
    let mut syn = pair.end(CLIENT).transmit(now).unwrap();
    assert!(syn.syn.afc_permitted);
    syn.syn.afc_permitted = false;
    let mut server = Connection::accept(adaptive(), now, &syn).unwrap();
    assert!(!server.transmit(now).unwrap().syn.afc_permitted);
}

/// Only an end that has received data reports how they are read, so that a sender's segments stay full.
#[test]
fn acks_carry_the_rate_and_data_do_not() {
    let mut pair = established(adaptive(), adaptive());
    pair.end(SERVER).write(1 << 20);
    pair.lose = |from, _, segment| {
        let acknowledges_data = from == CLIENT && !segment.flags.has(Flags::SYN);
        assert_eq!(segment.read_rate.is_some(), acknowledges_data);
        assert!(segment.header_bytes() <= 60);
        false
    };
    read_slowly(&mut pair, 3_000, 200);
}

/// A reader that stops and starts, on a path that loses and a buffer that overflows: every byte once.
#[test]
fn nothing_is_lost_to_the_application() {
    for every in [0, 37, 211] {
        let mut pair = established(adaptive(), adaptive());
        pair.lose = match every {
            37 => |from, n, _| from == SERVER && n % 37 == 36,
            211 => |_, n, _| n % 211 == 210,
            _ => |_, _, _| false,
        };
        const BYTES: u64 = 3 << 20;
        assert_eq!(pair.end(SERVER).write(BYTES), BYTES);
        pair.end(SERVER).close();
        let (mut read, mut dropped) = (0, 0);
        for round in 0..4000 {
            let each = if round / 3 % 3 == 0 { 0 } else { 6_000 };
            read += read_slowly(&mut pair, each, 10);
            let held =
                pair.end(CLIENT).readable() + pair.end(CLIENT).receiver().info().out_of_order;
            assert!(held <= BUFFER + 8, "{held} bytes held");
            dropped = pair.end(CLIENT).receiver().info().dropped;
            if pair.end(CLIENT).at_end() {
                break;
            }
        }
        assert_eq!(read, BYTES, "losing one of {every}");
        // With losses the congestion window is too small for that.
        assert!(dropped > 0 || every > 0, "the buffer never overflowed");
    }
}

/// Whatever read rate a peer claims, no more than the send buffer is in flight, and only that peer gets the segments
/// again that it drops.
#[test]
fn a_lying_peer_cannot_have_more_than_the_send_buffer() {
    const MEMORY: u64 = 200_000;
    let server = Config {
        send_buffer: MEMORY,
        ..adaptive()
    };
    for lie in [
        |_| 0,
        |_| u32::MAX,
        |n: u32| if n.is_multiple_of(2) { u32::MAX } else { 0 },
    ] {
        let mut pair = established(adaptive(), server.clone());
        for n in 0..300 {
            pair.end(SERVER).write(MEMORY);
            pair.run_for(Duration::from_millis(5));
            let ack = Segment {
                read_rate: Some(ReadReport::from_word(lie(n))),
                ..pair.forged(CLIENT, Flags::ACK)
            };
            pair.inject(SERVER, &ack);
            let sender = pair.end(SERVER).sender();
            assert!(sender.flow_window() <= MEMORY);
            assert!(sender.next() - sender.una() <= MEMORY);
        }
        // It has not read a byte, so it has a buffer full at most.
        assert!(pair.end(CLIENT).readable() <= BUFFER + 8);
    }
}
