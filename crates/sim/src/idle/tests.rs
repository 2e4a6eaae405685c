use super::*;
use std::path::Path;
use tidegate_scenario::Scenario;

/// 20 ms down, 10 ms up, and 5 ms more down at 8 Mbit/s, which is the slowest.
fn way(direction: Direction, timestamps: bool) -> IdleWay {
    let text = format!(
        "name = 'x'
         duration_s = 10
         down = {{ rate = {{ constant_mbps = 20 }}, delay_ms = 20 }}
         up = {{ rate = {{ constant_mbps = 5 }}, delay_ms = 10 }}
         hop = [{{ name = 'core', link = {{ rate = {{ constant_mbps = 8 }}, delay_ms = 5 }} }}]
         hosts = {{ timestamps = {timestamps} }}
         workload = [{{ name = 'w', does = {{ bulk = {{}} }} }}]
         run = [{{ name = 'r' }}]"
    );
    let path = Path::new("x.toml");
    let scenario = Scenario::parse(&text, path).unwrap();
    let inputs = scenario.link_inputs(path).unwrap();
    let term = [Instant::ZERO, Instant::from_secs_f64(10.0)];
    IdleWay::new(&scenario, &inputs, &scenario.workloads[0], direction, term)
}

#[test]
fn a_download_waits_for_two_round_trips_and_its_packets() {
    // Two packets, of 1448 and 552 bytes of payload, with 52 bytes each, at 8 Mbit/s.
    let took = way(Direction::Down, true).completion(2000);
    assert_eq!(took, Duration::from_micros(70_000 + 2104));
}

#[test]
fn an_upload_waits_for_one_and_the_way_there() {
    let took = way(Direction::Up, false).completion(1460);
    // The uplink's 5 Mbit/s; without timestamps a packet has 40 bytes of headers.
    assert_eq!(took, Duration::from_micros(45_000 + 2400));
}
