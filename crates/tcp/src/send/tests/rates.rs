use super::*;
use crate::cc::RateSample;
use std::sync::{Arc, Mutex};

/// Remembers what it is told; paces at a fixed rate.
#[derive(Debug)]
struct Listener {
    rate: Option<u64>,
    samples: Arc<Mutex<Vec<RateSample>>>,
}

impl CongestionControl for Listener {
    fn init(&mut self, w: &mut Window, _f: &Flight) {
        w.pacing_rate = self.rate;
    }

    fn ssthresh(&mut self, w: &Window, _f: &Flight) -> u32 {
        w.ssthresh
    }

    fn cong_avoid(&mut self, _w: &mut Window, _f: &Flight, _acked: u32) {
        panic!("it controls the rate");
    }

    fn controls_rate(&self) -> bool {
        true
    }

    fn control(&mut self, w: &mut Window, _f: &Flight, sample: &RateSample) {
        w.cwnd = 60;
        self.samples.lock().expect("no panic").push(*sample);
    }
}

fn listening(rate: Option<u64>) -> (Script, Arc<Mutex<Vec<RateSample>>>) {
    let samples = Arc::default();
    let mut s = Script::new(Setup::default());
    s.sender.congestion.replace(Box::new(Listener {
        rate,
        samples: Arc::clone(&samples),
    }));
    s.sender.congestion.window_mut().pacing_rate = rate;
    (s, samples)
}

#[test]
fn the_delivery_rate_is_that_of_the_bottleneck() {
    let (mut s, samples) = listening(None);
    s.write(1000 * MSS);
    // One segment every 2 ms comes through, as soon as the window of 60 is under way.
    for segment in 0..300 {
        s.at(100 + 2 * segment).ack(segment + 1, &[]);
    }
    let samples = samples.lock().expect("no panic");
    for sample in &samples[150..] {
        let (delivered, interval) = sample.delivered.expect("valid");
        let ms = interval.as_secs_f64() * 1000.0 / delivered as f64;
        assert!((1.99..2.01).contains(&ms), "{ms} ms a segment");
        assert_eq!(sample.acked_sacked, 1);
        assert!(!sample.app_limited);
    }
    assert_eq!(samples[0].rtt, Some(Duration::from_millis(100)));
    assert_eq!(samples[0].tx_in_flight, 1);
    assert_eq!(samples[9].tx_in_flight, 10);
}

#[test]
fn compressed_acks_do_not_pretend_to_a_higher_rate() {
    // 2 ms a segment, as above; but the ACKs of 50 come at once.
    let (mut s, samples) = listening(Some(500_000));
    s.write(1000 * MSS);
    for bunch in 1..=5 {
        s.at(100 * bunch + 100);
        let from = s.sender.una() / MSS;
        let to = (50 * bunch).min(s.sender.next() / MSS);
        s.ack_each(from, to);
    }
    let samples = samples.lock().expect("no panic");
    for sample in samples.iter().skip(60) {
        if let Some((delivered, interval)) = sample.delivered {
            let rate = delivered as f64 / interval.as_secs_f64();
            // The shortest round trip here is 2 ms, so trains are of 488 + 2¹⁶ / 2³ bytes; the one in
            // hand counts in full before its time is over.
            let most = 500.0 * (49.0 + 8.0) / 49.0;
            assert!(rate < most, "{rate} segments a second");
        }
    }
}

#[test]
fn an_application_that_writes_little_is_named() {
    let (mut s, samples) = listening(None);
    for segment in 0..10 {
        s.write(MSS);
        s.at(100 * (segment + 1)).ack(segment + 1, &[]);
    }
    let samples = samples.lock().expect("no panic");
    assert!(samples[1..].iter().all(|sample| sample.app_limited));
}

#[test]
fn losses_are_reported_when_they_are_found() {
    let (mut s, samples) = listening(None);
    s.write(10 * MSS);
    s.at(100).ack(0, &[(2, 4)]).ack(0, &[(2, 5)]);
    s.at(200).ack(10, &[]);
    let samples = samples.lock().expect("no panic");
    let losses: Vec<u32> = samples.iter().map(|sample| sample.losses).collect();
    assert_eq!(losses, [0, 2, 0]);
    let acked: Vec<u32> = samples.iter().map(|sample| sample.acked_sacked).collect();
    assert_eq!(acked, [2, 1, 7]);
    assert_eq!(samples[1].lost, 2);
    assert_eq!(samples[1].prior_in_flight, 8);
}

#[test]
fn pacing_spreads_all_but_the_first_ten_segments() {
    // 1000 bytes every 2 ms, two at a time; 1000 bytes every 10 ms, one at a time.
    for (rate, ms, train) in [(500_000, 2, 2), (100_000, 10, 1)] {
        let (mut s, _) = listening(Some(rate));
        s.sender.congestion.window_mut().cwnd = 100;
        s.write(30 * MSS);
        s.at(21 * ms);
        let times: Vec<u64> = s.sent_at().iter().map(|&(ms, _)| ms).collect();
        let mut expected = vec![0; 10];
        expected.extend((0..20).map(|n| (n / train + 1) * train * ms));
        assert_eq!(times, expected);
    }
}

#[test]
fn pacing_makes_up_for_a_late_start_by_half_a_gap() {
    let (mut s, _) = listening(Some(500_000));
    s.sender.congestion.window_mut().cwnd = 100;
    s.write(12 * MSS);
    s.at(50);
    s.sent();
    s.write(5 * MSS);
    s.at(58);
    let times: Vec<u64> = s.sent_at().iter().map(|&(ms, _)| ms).collect();
    assert_eq!(times, [50, 50, 52, 52, 56]);
}

#[test]
fn a_window_that_is_paced_leaves_within_four_fifths_of_a_round_trip() {
    for (paced, last_ms) in [(false, 100), (true, 100 + 76)] {
        let mut s = Script::new(Setup::default());
        s.sender.pacing.set_by_window(paced);
        s.write(1000 * MSS);
        s.sent();
        s.at(100).ack(10, &[]);
        s.at(199);
        let times: Vec<u64> = s.sent_at().iter().map(|&(ms, _)| ms).collect();
        assert_eq!(times.len(), 20);
        let last = *times.last().expect("some");
        assert!(
            last.abs_diff(last_ms) <= 8,
            "the last leaves after {last} ms"
        );
    }
}
