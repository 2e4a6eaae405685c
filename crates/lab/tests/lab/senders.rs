//! Congestion controls and laws of workloads, where a host's TCP is our own.

use crate::common::{flow, laboratory, lte, run, try_run};
use tidegate_lab::Options;
use tidegate_tcp::cc::{CongestionControl, Factory, Flight, Window};
use tidegate_tcp::steer::{Arrival, LawFactory, OwnLaw};

/// A window of this many segments, whatever is lost.
#[derive(Debug)]
struct Fixed(u32);

impl CongestionControl for Fixed {
    fn init(&mut self, w: &mut Window, _f: &Flight) {
        w.cwnd = self.0;
    }

    fn ssthresh(&mut self, _w: &Window, _f: &Flight) -> u32 {
        self.0
    }

    fn cong_avoid(&mut self, w: &mut Window, _f: &Flight, _acked: u32) {
        w.cwnd = self.0;
    }
}

/// Vegas keeps a few segments in the queue, CUBIC, which the other connections of the host have, fills it.
#[test]
fn a_workload_of_a_host_with_own_tcp_has_its_own_congestion_control() {
    let Some(_turn) = laboratory() else { return };
    let text = lte("duration_s = 8
         warmup_s = 3
         hosts = { own_tcp = ['server'] }
         workload = [{ name = 'vegas', congestion_control = 'vegas', does = { bulk = {} } }]
         run = [{ name = 'run' }]");
    let result = run(&text, &Options::default()).runs.remove(0);
    let queue = result.link.queue_delay_ms;
    assert!(queue.p50 < 50.0, "{queue:?}");
    assert!(flow(&result, "vegas").goodput_bps > 10e6, "{result:?}");
}

/// Ten segments a round trip of 40 ms are 2.9 Mbit/s; beside them Vegas, which takes the rest without a long queue.
#[test]
fn a_sender_of_the_callers_own_crosses_the_real_link() {
    let Some(_turn) = laboratory() else { return };
    let text = lte("duration_s = 8
         warmup_s = 3
         hosts = { own_tcp = ['server'], congestion_control = 'vegas' }
         workload = [
             { name = 'mine', does = { bulk = {} } },
             { name = 'theirs', start_s = 1, does = { bulk = {} } },
         ]
         run = [{ name = 'run' }]");
    let options = Options {
        senders: Some(&|workload| {
            (workload.name == "mine").then(|| Factory::new(|_seed| Box::new(Fixed(10))))
        }),
        ..Options::default()
    };
    let result = run(&text, &options).runs.remove(0);
    let of = |name| flow(&result, name).goodput_bps / 1e6;
    let (mine, theirs) = (of("mine"), of("theirs"));
    assert!((1.0..3.0).contains(&mine), "{mine} Mbit/s");
    assert!(theirs > 10.0, "{theirs} Mbit/s");
}

#[test]
fn a_sender_of_the_callers_own_needs_tcp_of_our_own() {
    let Some(_turn) = laboratory() else { return };
    let text = lte("duration_s = 1
         hosts = { own_tcp = ['client'] }
         workload = [{ name = 'mine', does = { bulk = {} } }]
         run = [{ name = 'run' }]");
    let options = Options {
        senders: Some(&|_| Some(Factory::new(|_seed| Box::new(Fixed(10))))),
        ..Options::default()
    };
    let error = format!("{:#}", try_run(&text, &options).unwrap_err());
    assert!(error.contains("expected own_tcp = [\"server\"]"), "{error}");
}

/// A window of this many bytes.
#[derive(Debug)]
struct Constant(u32);

impl OwnLaw for Constant {
    fn arrives(&mut self, arrival: &Arrival) -> Option<u32> {
        assert!(arrival.read_bytes <= arrival.in_order_bytes);
        assert!(arrival.rtt_min.is_none_or(|rtt| rtt.as_millis() >= 40));
        Some(self.0)
    }
}

fn constant(bytes: u32) -> LawFactory {
    LawFactory::new("constant", move || Box::new(Constant(bytes)))
}

/// 50 kB a round trip of 40 ms are 10 Mbit/s, from the kernel's CUBIC; the flow beside it has no law, and takes the
/// rest.
#[test]
fn a_law_of_the_callers_own_steers_the_kernels_sender() {
    let Some(_turn) = laboratory() else { return };
    let text = |beside| {
        lte(&format!(
            "duration_s = 8
             warmup_s = 3
             hosts = {{ own_tcp = ['client'] }}
             workload = [{{ name = 'mine', does = {{ bulk = {{}} }} }} {beside}]
             run = [{{ name = 'run' }}]"
        ))
    };
    let options = Options {
        laws: Some(&|workload| (workload.name == "mine").then(|| constant(50_000))),
        ..Options::default()
    };
    let alone = run(&text(""), &options).runs.remove(0);
    assert_eq!(alone.own_law.as_deref(), Some("constant"));
    assert_eq!(alone.own_server_law, None);
    let mine = flow(&alone, "mine").goodput_bps / 1e6;
    assert!((7.0..10.1).contains(&mine), "{mine} Mbit/s");
    let queue = alone.link.queue_delay_ms;
    assert!(queue.p50 < 10.0, "{queue:?}");

    let theirs = ", { name = 'theirs', does = { bulk = {} } }, \
                  { name = 'free', steered = false, does = { bulk = {} } }";
    let beside = run(&text(theirs), &options).runs.remove(0);
    let of = |name| flow(&beside, name).goodput_bps / 1e6;
    let (mine, theirs) = (of("mine"), of("theirs"));
    assert!(mine < 3.0, "{mine} Mbit/s");
    assert!(theirs > 4.0, "{theirs} Mbit/s");
}

#[test]
fn a_law_of_the_callers_own_steers_an_upload_at_the_server() {
    let Some(_turn) = laboratory() else { return };
    let text = lte("duration_s = 8
         warmup_s = 3
         hosts = { own_tcp = ['server'] }
         workload = [{ name = 'mine', does = { bulk = { direction = 'up' } } }]
         run = [{ name = 'run' }]");
    let options = Options {
        laws: Some(&|_| Some(constant(15_000))),
        ..Options::default()
    };
    let result = run(&text, &options).runs.remove(0);
    assert_eq!(result.own_server_law.as_deref(), Some("constant"));
    let mine = flow(&result, "mine").goodput_bps / 1e6;
    assert!((1.8..3.1).contains(&mine), "{mine} Mbit/s");
    let queue = result.uplink.queue_delay_ms;
    assert!(queue.p50 < 10.0, "{queue:?}");
}

#[test]
fn a_law_of_the_callers_own_needs_tcp_of_our_own() {
    let Some(_turn) = laboratory() else { return };
    let text = lte("duration_s = 1
         hosts = { own_tcp = ['server'] }
         workload = [{ name = 'mine', does = { bulk = {} } }]
         run = [{ name = 'run' }]");
    let options = Options {
        laws: Some(&|_| Some(constant(50_000))),
        ..Options::default()
    };
    let error = format!("{:#}", try_run(&text, &options).unwrap_err());
    assert!(error.contains("expected own_tcp = [\"client\"]"), "{error}");
}
