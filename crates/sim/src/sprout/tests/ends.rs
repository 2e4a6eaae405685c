//! The receiver's counts and ticks, and the sender's window.

use crate::sprout::receiver::{Estimate, Receiver};
use crate::sprout::sender::Sender;
use crate::sprout::{Data, Forecast, HEADERS, PACKET_BYTES};
use std::time::Duration;
use tidegate_basics::time::Instant;

fn at(ms: u64) -> Instant {
    Instant::from_millis(ms)
}

fn packet(sequence: u64, settled: u64, time_to_next_ms: u64) -> Data {
    Data {
        sequence: sequence * PACKET_BYTES,
        bytes: PACKET_BYTES,
        settled: settled * PACKET_BYTES,
        time_to_next: Duration::from_millis(time_to_next_ms),
        sent: at(0),
    }
}

/// A forecast of `each` packets a tick, after `packets` packets have arrived.
fn forecast(each: u32, packets: u64) -> Forecast {
    Forecast {
        cumulative: std::array::from_fn(|tick| each * (tick as u32 + 1)),
        received_or_lost: packets * PACKET_BYTES,
        newest: None,
    }
}

/// A receiver's mean after ticks with those packets.
fn mean_after(ticks: &[Option<(u64, u64)>]) -> u32 {
    let mut receiver = Receiver::new(Estimate::Mean(8.0), at(0));
    let mut sequence = 0;
    for (nth, tick) in (0..).zip(ticks) {
        if let &Some((packets, time_to_next_ms)) = tick {
            for _ in 0..packets {
                let data = packet(sequence, 0, time_to_next_ms);
                receiver.receive(at(20 * nth + 1), &data);
                sequence += 1;
            }
        }
    }
    receiver.advance(at(20 * ticks.len() as u64));
    receiver.forecast().cumulative[7]
}

#[test]
fn a_tick_without_packets_says_nothing_while_the_sender_is_silent() {
    // 8 · 8 packets in eight ticks, if nothing is learnt.
    assert_eq!(mean_after(&[Some((8, 0))]), 64);
    // The flight ended, and its sender is silent for 50 ms: two ticks teach nothing, the third that nothing came.
    assert_eq!(mean_after(&[Some((8, 50)), None, None]), 64);
    assert_eq!(mean_after(&[Some((8, 50)), None, None, None]), 56);
    assert_eq!(mean_after(&[Some((8, 0)), None]), 56);
}

#[test]
fn what_does_not_come_in_time_is_lost() {
    let mut receiver = Receiver::new(Estimate::steady(), at(0));
    let known = |receiver: &Receiver| receiver.forecast().received_or_lost / PACKET_BYTES;
    receiver.receive(at(1), &packet(0, 0, 0));
    receiver.receive(at(1), &packet(2, 0, 0));
    assert_eq!(known(&receiver), 2);
    // The second packet arrives late.
    receiver.receive(at(2), &packet(1, 0, 0));
    assert_eq!(known(&receiver), 3);
    // The fourth packet is missing, and is then given up.
    receiver.receive(at(3), &packet(4, 0, 0));
    assert_eq!(known(&receiver), 4);
    receiver.receive(at(20), &packet(5, 5, 0));
    assert_eq!(known(&receiver), 6);
}

#[test]
fn a_sender_fills_a_hundred_milliseconds() {
    let mut sender = Sender::new([0; 8], at(0));
    sender.receive(at(100), &forecast(3, 0));
    let flight = sender.transmit(at(100));
    assert_eq!(flight.len(), 15);
    assert!(flight[..14].iter().all(|data| data.time_to_next.is_zero()));
    assert_eq!(flight[14].time_to_next, Duration::from_millis(50));
    assert_eq!(sender.window(at(100)), 0);
    // A tick later three of them have left the queue, by the forecast.
    assert_eq!(sender.next(), at(120));
    assert_eq!(sender.transmit(at(120)).len(), 3);
    assert_eq!(sender.transmit(at(140)).len(), 3);
    // Nothing is forecast beyond 160 ms: from the third tick on the window shrinks.
    assert_eq!(sender.transmit(at(160)).len(), 0);
}

#[test]
fn what_is_on_its_way_counts_as_queued() {
    let mut sender = Sender::new([0; 8], at(0));
    sender.receive(at(100), &forecast(3, 0));
    assert_eq!(sender.transmit(at(100)).len(), 15);
    // Of the 15 ten have arrived.
    sender.receive(at(110), &forecast(3, 10));
    assert_eq!(sender.transmit(at(110)).len(), 10);
    // A forecast that acknowledges less is old.
    sender.receive(at(111), &forecast(30, 5));
    assert_eq!(sender.transmit(at(111)).len(), 0);
}

#[test]
fn without_a_window_a_heartbeat_leaves_every_50_ms() {
    let mut sender = Sender::new([0; 8], at(0));
    let beat = sender.transmit(at(0));
    assert_eq!((beat.len(), beat[0].bytes), (1, HEADERS));
    assert!(sender.transmit(at(49)).is_empty());
    assert_eq!(sender.next(), at(50));
    assert_eq!(sender.transmit(at(50)).len(), 1);
}

#[test]
fn bytes_of_more_than_10_ms_ago_are_settled() {
    let mut sender = Sender::new([10; 8], at(0));
    sender.receive(at(0), &forecast(1, 0));
    assert_eq!(sender.transmit(at(0)).len(), 5);
    sender.receive(at(5), &forecast(1, 5));
    assert_eq!(sender.transmit(at(5))[0].settled, 0);
    sender.receive(at(11), &forecast(1, 10));
    // Packets sent at 5 ms can still be under way.
    assert_eq!(sender.transmit(at(11))[0].settled, 5 * PACKET_BYTES);
}
