use super::{by_size, flow_result, received_before};
use crate::sample::FlowSample;
use crate::tcp_info::TcpInfo;
use crate::transport::Info;
use crate::workload::{Fetch, FetchLog, Flow};
use std::time::Duration;
use tidegate_link::Instant;
use tidegate_measure::Window;
use tidegate_scenario::{Direction, FlowDirection};

const WINDOW: Window = Window {
    warmup: Instant::from_millis(1000),
    end: Instant::from_millis(5000),
};

/// A sample every 500 ms of a flow that receives 100 bytes in each of them.
fn samples(until_ms: u64) -> Vec<FlowSample> {
    (0..=until_ms / 500)
        .map(|n| FlowSample {
            at: Instant::from_millis(n * 500),
            received: n * 100,
            sender: Some(Info::Tcp(TcpInfo {
                srtt_us: n as u32 * 1000,
                ..TcpInfo::default()
            })),
            receiver: None,
        })
        .collect()
}

fn flow(received: u64) -> Flow {
    let flow = Flow::new("f".into(), Direction::Down);
    flow.began.set(Instant::ZERO).unwrap();
    flow.add_received(received);
    flow
}

#[test]
fn the_warmup_counts_neither_for_goodput_nor_for_rtt() {
    let result = flow_result(&flow(1000), &samples(5000), WINDOW);
    assert_eq!(result.goodput_bps, 800.0 * 8.0 / 4.0);
    // Samples 2 to 10 ms; the first two are the warm-up's.
    assert_eq!((result.rtt_ms.p50, result.rtt_ms.max), (6.0, 10.0));
    assert_eq!(result.completion_s, None);
}

#[test]
fn a_flow_that_ends_is_measured_until_its_last_byte() {
    let flow = flow(500);
    flow.completed.set(Instant::from_millis(2500)).unwrap();
    let result = flow_result(&flow, &samples(2500), WINDOW);
    assert_eq!(result.goodput_bps, 300.0 * 8.0 / 1.5);
    assert_eq!(result.completion_s, Some(2.5));
}

#[test]
fn a_flow_that_never_began_has_no_goodput() {
    let flow = Flow::new("f".into(), Direction::Up);
    let result = flow_result(&flow, &[], WINDOW);
    assert_eq!(result.goodput_bps, 0.0);
    assert_eq!(result.direction, FlowDirection::Up);
}

#[test]
fn bytes_between_two_samples_are_interpolated() {
    let samples = samples(1000);
    for (ms, bytes) in [
        (0, 0.0),
        (250, 50.0),
        (500, 100.0),
        (900, 180.0),
        (3000, 200.0),
    ] {
        assert_eq!(
            received_before(&samples, Instant::from_millis(ms)),
            bytes,
            "{ms} ms"
        );
    }
}

#[test]
fn fetches_are_grouped_by_size_and_those_of_the_warmup_left_out() {
    let log = FetchLog::new("web".into());
    for (began, bytes, took) in [
        (900, 10, 1),
        (1000, 10, 20),
        (2000, 500, 70),
        (3000, 10, 30),
    ] {
        log.push(Fetch {
            bytes,
            began: Instant::from_millis(began),
            took: Duration::from_millis(took),
        });
    }
    let results = by_size(&log, WINDOW);
    let brief: Vec<_> = results
        .iter()
        .map(|r| (r.bytes, r.count, r.time_ms.mean))
        .collect();
    assert_eq!(brief, [(10, 2, 25.0), (500, 1, 70.0)]);
}
