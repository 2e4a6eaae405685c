//! Every key reaches the link model, in its units.

use crate::{LinkSpec, LoadError};
use std::path::Path;
use std::time::Duration;
use tidegate_link::{
    AbcFeedback, AbcPolicy, Arq, BlockError, Capacity, Config, CrossTraffic, Disorder,
    DualPi2Policy, FqCodelPolicy, Instant, Marking, Middlebox, Policy, Rate, RedPolicy, Scheduler,
    Sharing, TokenBucket,
};

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// A link at 12 Mbit/s and 20 ms, with `more`.
fn resolve(more: &str) -> Result<Config, LoadError> {
    resolve_at("{ constant_mbps = 12 }", more)
}

fn resolve_at(rate: &str, more: &str) -> Result<Config, LoadError> {
    let text = format!("rate = {rate}\ndelay_ms = 20\n{more}");
    let spec: LinkSpec = toml::from_str(&text).unwrap_or_else(|e| panic!("{more}: {e}"));
    assert_eq!(spec.complaint(), None, "{more}");
    spec.resolve(Path::new(""), 7)
}

#[test]
fn without_keys_there_are_no_stages() {
    let config = resolve("").unwrap();
    assert_eq!(config.shaper, None);
    assert_eq!(config.sharing, None);
    assert_eq!(config.arq, None);
    assert_eq!(config.disorder, None);
    assert_eq!(config.middlebox, None);
    assert_eq!(config.queue, Default::default());
}

#[test]
fn queue_policies() {
    let policy = |more: &str| {
        resolve(&format!("queue = {{ {more} }}"))
            .unwrap()
            .queue
            .policy
    };
    assert_eq!(
        policy("packets = 600, policy = 'red'"),
        Policy::Red(RedPolicy {
            min_packets: 50.0,
            max_packets: 150.0,
            max_probability: 0.02,
            weight: 0.002,
            packet_time: ms(1),
        })
    );
    assert_eq!(
        policy(
            "policy = 'red', red_min_packets = 5, red_max_packets = 15, red_max_probability = 0.1, \
             red_weight = 0.01"
        ),
        Policy::Red(RedPolicy {
            min_packets: 5.0,
            max_packets: 15.0,
            max_probability: 0.1,
            weight: 0.01,
            packet_time: ms(1),
        })
    );
    assert_eq!(policy("policy = 'pie'"), Policy::Pie { target: ms(15) });
    assert_eq!(
        policy("policy = 'fq-codel', codel_target_ms = 20, fq_flows = 16, fq_quantum_bytes = 300"),
        Policy::FqCodel(FqCodelPolicy {
            target: ms(20),
            interval: ms(100),
            quantum: 300,
            flows: 16,
        })
    );
}

#[test]
fn abc_has_its_authors_numbers() {
    let policy = |queue: &str| {
        let config = resolve(&format!("queue = {{ policy = 'abc'{queue} }}"));
        config.unwrap().queue.policy
    };
    assert_eq!(policy(""), Policy::Abc(AbcPolicy::default()));
    assert_eq!(
        policy(
            ", abc_utilisation = 0.9, abc_threshold_ms = 0, abc_drain_ms = 200, abc_feedback = 'enqueue'"
        ),
        Policy::Abc(AbcPolicy {
            utilisation: 0.9,
            threshold: ms(0),
            drain: ms(200),
            feedback: AbcFeedback::Enqueue,
        })
    );
}

#[test]
fn dualpi2_has_linux_defaults() {
    let policy = |queue: &str| {
        let config = resolve(&format!("queue = {{ policy = 'dualpi2'{queue} }}"));
        config.unwrap().queue.policy
    };
    assert_eq!(policy(""), Policy::DualPi2(DualPi2Policy::default()));
    assert_eq!(
        policy(", dualpi2_target_ms = 20, dualpi2_step_ms = 2, dualpi2_coupling = 1"),
        Policy::DualPi2(DualPi2Policy {
            target: ms(20),
            step: ms(2),
            coupling: 1,
            ..DualPi2Policy::default()
        })
    );
}

#[test]
fn marks_are_off_unless_asked_for() {
    let marking = |queue: &str| {
        let config = resolve(&format!("queue = {{ {queue} }}"));
        config.unwrap().queue.marking
    };
    assert_eq!(marking("policy = 'fq-codel'"), Marking::default());
    assert_eq!(
        marking("policy = 'fq-codel', ecn = true, ce_threshold_ms = 1"),
        Marking {
            ecn: true,
            ce_threshold: Some(ms(1)),
        }
    );
}

#[test]
fn stages() {
    let config = resolve(
        "shaper = { mbps = 8 }\n\
         arq = { error = 0.1 }\n\
         disorder = { reorder = 0.01, duplicate = 0.02 }\n\
         middlebox = { patience_ms = 500 }\n\
         cell = { users = 3, load_mbps = 4 }",
    )
    .unwrap();
    assert_eq!(
        config.shaper,
        Some(TokenBucket {
            rate_bps: 8e6,
            burst_bytes: 15_000,
            queue_packets: 1000,
        })
    );
    assert_eq!(
        config.arq,
        Some(Arq {
            error: BlockError::Constant(0.1),
            retry: ms(8),
            tries: 8,
        })
    );
    assert_eq!(
        config.disorder,
        Some(Disorder {
            reorder: 0.01,
            late_by: ms(5),
            duplicate: 0.02,
        })
    );
    assert_eq!(config.middlebox, Some(Middlebox { patience: ms(500) }));
    let sharing = config.sharing.unwrap();
    assert_eq!(
        sharing,
        Sharing {
            scheduler: Scheduler::ProportionalFair {
                time_constant: ms(1670),
            },
            users: 3,
            tti: ms(1),
            traffic: CrossTraffic {
                mean_bps: 4e6,
                on: ms(2000),
                off: ms(2000),
            },
            seed: sharing.seed,
        }
    );
}

/// A ramp from 0 to 8 Mbit/s and back: bursts of what 4 ms give, of the ramp's mean or of the step's.
#[test]
fn a_scheduled_series_is_read_and_interpolated() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("ride.csv"), "0,0\n1,8e6\n").expect("written");
    let resolve = |more: &str| {
        let rate = format!("{{ scheduled = {{ series = 'ride.csv', burst_ms = 4{more} }} }}");
        let spec: LinkSpec =
            toml::from_str(&format!("rate = {rate}\ndelay_ms = 20")).expect("valid");
        spec.resolve(folder.path(), 7).map(|config| config.rate)
    };
    let between = |rate: &Rate, from, to| {
        let [from, to] = [from, to].map(|ms: u64| Instant::from_nanos(ms * 1_000_000 + 1));
        Capacity::new(rate).bytes(from, to)
    };
    let ramp = resolve(", interpolate = true").expect("valid");
    let steps = resolve("").expect("valid");
    assert_eq!(between(&ramp, 0, 2000), between(&steps, 0, 2000));
    assert_eq!(
        (between(&ramp, 0, 1000), between(&steps, 0, 1000)),
        (500_000, 0)
    );
    // From 4 to 4.032 Mbit/s.
    assert_eq!(between(&ramp, 500, 503), 0);
    assert_eq!(between(&ramp, 500, 504), 2008);

    std::fs::write(folder.path().join("ride.csv"), "0,1e6\n1,fast\n").expect("written");
    let refusal = resolve("").expect_err("not a series").to_string();
    assert!(
        refusal.ends_with(
            "ride.csv:2: expected seconds,bits_per_second: two numbers, from 0 to 1e9 and from 0 to 1e11, found a word of 4 characters"
        ),
        "{refusal}"
    );
}

/// Rate and delay begin at the same place, and those of both directions.
#[test]
fn recordings_begin_where_the_scenario_says() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("scenario.toml");
    // In each second one opportunity more than in the one before; a delay that rises by 1 ms.
    let trace: String = (1..=20u64)
        .flat_map(|s| (0..s).map(move |_| format!("{}\n", s * 1000)))
        .collect();
    let delay: String = (0..20)
        .flat_map(|s| (0..100).map(move |_| format!("{s}\n")))
        .collect();
    std::fs::write(folder.path().join("ride.down"), trace).expect("written");
    std::fs::write(folder.path().join("ride.delay"), delay).expect("written");
    let inputs = |seed: u64, begin: &str| {
        let link = format!(
            "rate = {{ trace = 'ride.down' }}\ndelay_ms = 20\ndelay_trace = 'ride.delay'\n{begin}"
        );
        let text = format!(
            "name = 'ride'\nduration_s = 1\nseed = {seed}\nworkload = [{{ name = 'load', does = {{ bulk = {{}} }} }}]\n[down]\n{link}\n[up]\n{link}\n[[run]]\nname = 'linux'\n"
        );
        let scenario = crate::Scenario::parse(&text, &path).expect("valid");
        scenario.link_inputs(&path).expect("it resolves")
    };
    let seen = |link: &Config| {
        let bytes = Capacity::new(&link.rate).bytes(Instant::ZERO, Instant::from_millis(1000));
        (bytes / 1500, link.delay.at(Instant::ZERO))
    };
    assert_eq!(seen(&inputs(1, "").down), (0, ms(20)));
    assert_eq!(seen(&inputs(1, "begin_s = 7.5").down), (8, ms(27)));
    // Behind its end it begins anew.
    assert_eq!(seen(&inputs(1, "begin_s = 27.5").up), (8, ms(27)));
    let places: Vec<_> = (0..40)
        .map(|seed| {
            let inputs = inputs(seed, "begin_by_seed = true");
            let (count, delay) = seen(&inputs.down);
            assert_eq!((count, delay), seen(&inputs.up));
            assert_eq!(delay, ms(19 + count.max(1)), "seed {seed}");
            count
        })
        .collect();
    assert!(
        (1..=20).filter(|count| places.contains(count)).count() > 10,
        "{places:?}"
    );
    let text = "rate = { constant_mbps = 12 }\ndelay_ms = 20\nbegin_by_seed = true";
    let spec: LinkSpec = toml::from_str(text).expect("it parses");
    let complaint = spec.complaint().expect("nothing is recorded");
    assert!(
        complaint.starts_with("begin_by_seed is given, but nothing is recorded"),
        "{complaint}"
    );
}

#[test]
fn a_recorded_delay_is_read_and_lies_on_the_given_one() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("ride.delay");
    let resolve = || {
        let text = "rate = { constant_mbps = 12 }\ndelay_ms = 20\ndelay_trace = 'ride.delay'";
        let spec: LinkSpec = toml::from_str(text).expect("valid");
        spec.resolve(folder.path(), 7).map(|config| config.delay)
    };
    std::fs::write(&file, "12\n9.5\n").expect("written");
    let delay = resolve().expect("valid");
    assert_eq!(delay.at(Instant::ZERO), Duration::from_micros(22_500));
    assert_eq!(delay.at(Instant::from_millis(10)), ms(20));

    std::fs::write(&file, "12\nlong\n").expect("written");
    let refusal = resolve().expect_err("not a delay").to_string();
    assert!(
        refusal.ends_with("ride.delay:2: expected a delay in milliseconds, 0 to 60000, found a word of 4 characters"),
        "{refusal}"
    );
    std::fs::remove_file(&file).expect("removed");
    let refusal = resolve().expect_err("no file").to_string();
    assert!(
        refusal.starts_with("cannot read ") && refusal.ends_with("ride.delay"),
        "{refusal}"
    );
}

/// 4.7 dB carries 1.4766 of 5.5547 bits a symbol; half the time is spent there.
#[test]
fn a_walk_gives_rate_and_errors() {
    let config = resolve_at(
        "{ walk = { peak_mbps = 55.547, points = [[0, 20], [1, 20], [1.0001, 4.7], [2, 4.7]] } }",
        "arq = { error_by_db = [[0, 0.5], [20, 0.1]] }",
    )
    .unwrap();
    let walk = config.rate.walk().expect("a walk");
    assert!((walk.mean_bps() - (55.547e6 + 14.766e6) / 2.0).abs() < 0.05e6);
    let error = config.arq.unwrap().error;
    let curve = vec![(0.0, 0.5), (20.0, 0.1)];
    assert_eq!(error, BlockError::Signal { walk, curve });
}

#[test]
fn steps_are_in_mbit_and_the_last_one_holds() {
    let config = resolve_at("{ steps = [[0, 20], [30, 0], [30.3, 2]] }", "").unwrap();
    let mut capacity = Capacity::new(&config.rate);
    let mut bytes = |from, to| {
        let [from, to] = [from, to].map(|ms| Instant::ZERO + self::ms(ms));
        capacity.bytes(from, to)
    };
    assert_eq!(bytes(29_000, 30_000), 2_500_000);
    assert_eq!(bytes(30_000, 30_300), 0);
    assert_eq!(bytes(3_600_000, 3_601_000), 250_000);
}

#[test]
fn slots_take_turns() {
    let config = resolve_at(
        "{ slots = { mbps = [2, 4, 4], slot_s = 0.5, late_s = 0.25 } }",
        "",
    )
    .unwrap();
    let mut capacity = Capacity::new(&config.rate);
    let mut bytes = |from, to| {
        let [from, to] = [from, to].map(|ms| Instant::ZERO + self::ms(ms));
        capacity.bytes(from, to)
    };
    assert_eq!(bytes(0, 250), 125_000);
    assert_eq!(bytes(250, 750), 125_000);
    assert_eq!(bytes(1_500_250, 1_500_750), 125_000);
}
