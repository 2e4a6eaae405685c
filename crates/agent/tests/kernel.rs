//! The laws inside the kernel against the laws on the host: the same C, compiled for BPF, verified and translated by
//! the kernel's JIT compiler, must leave the same state and the same window, bit for bit, both for a flow seen from its
//! receiver and for an upload seen from its sender. The tests of `tidegate-laws` compare the host's C with the
//! formulas.

mod support;

use libbpf_rs::skel::{OpenSkel, SkelBuilder};
use libbpf_rs::{MapCore, MapFlags, MapMut, ProgramInput, ProgramMut};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed};
use std::cell::{Cell, RefCell};
use std::mem::MaybeUninit;
use support::{bytes, record};
use tidegate_agent::step::types::{tg_arrival, tg_step, tg_upload_step};
use tidegate_agent::step::{StepSkel, StepSkelBuilder};
use tidegate_laws::{Law, Params, sys};
use tidegate_testing::is_root;

/// A data segment that arrives, and the acknowledgement that leaves then.
#[derive(Clone, Copy, Debug)]
struct Step {
    arrives: sys::tg_segment,
    leaves: sys::tg_ack,
    leaves_us: u64,
    tsval: u32,
}

/// What a peer and a link may do, as differences to what went before.
#[derive(Clone, Copy, Debug)]
struct Plausible {
    gap_us: u64,
    queue_us: u64,
    len: u32,
    lost: bool,
    again: bool,
    ack_after_us: u64,
    kernel: u16,
    bare: bool,
    sack: bool,
}

fn plausible() -> impl Strategy<Value = Vec<Plausible>> {
    let gap = prop_oneof![8 => 0u64..5_000, 2 => 0u64..100_000, 1 => 0u64..12_000_000];
    let queue = prop_oneof![Just(0u64), 0u64..3_000, 10_000u64..400_000];
    let len = prop_oneof![3 => Just(1448u32), 1 => 1u32..65_000];
    let chances = (prop::bool::weighted(0.05), prop::bool::weighted(0.05));
    let ack = (
        0u64..3_000,
        any::<u16>(),
        prop::bool::weighted(0.9),
        prop::bool::weighted(0.1),
    );
    let step = (gap, queue, len, chances, ack).prop_map(
        |(gap_us, queue_us, len, (lost, again), (ack_after_us, kernel, bare, sack))| Plausible {
            gap_us,
            queue_us,
            len,
            lost,
            again,
            ack_after_us,
            kernel,
            bare,
            sack,
        },
    );
    prop::collection::vec(step, 1..300)
}

/// The direction that has the queue: that of arriving or of leaving packets.
#[derive(Clone, Copy, PartialEq)]
enum Queue {
    Down,
    Up,
}

/// A connection over a path of 40 ms, with or without timestamps. The queue stays for a while, so
/// that round trips are believable.
fn connection(steps: &[Plausible], scale: u8, timestamps: bool, at: Queue) -> Vec<Step> {
    let mut now_us = (1 << 32) - 3_000_000;
    let mut seq = u32::MAX - 200_000;
    let mut received = seq;
    let mut queue_us = 0;
    // When our stamps left, and what they were.
    let mut left = Vec::new();
    let ms = |us: u64| (us / 1_000) as u32;
    let step = |(i, s): (usize, &Plausible)| {
        now_us += s.gap_us;
        if i % 20 == 0 {
            queue_us = s.queue_us;
        }
        let from = if s.again {
            seq.wrapping_sub(s.len)
        } else {
            seq
        };
        let end = from.wrapping_add(s.len);
        seq = if s.again { seq } else { end };
        if !s.lost {
            received = seq;
        }
        let sent_us = now_us - 20_000 - if at == Queue::Down { queue_us } else { 0 };
        let echoed_us = now_us - 40_000 - queue_us;
        let echoed = left.iter().rev().find(|(us, _)| *us <= echoed_us);
        let tsecr = echoed.map_or(ms(echoed_us), |&(_, tsval)| tsval);
        let leaves_us = now_us + s.ack_after_us.min(s.gap_us);
        left.push((leaves_us, ms(now_us)));
        Step {
            arrives: sys::tg_segment {
                now_us,
                end: from.wrapping_add(s.len),
                len: s.len,
                mss: 1448.min(s.len),
                tsval: ms(sent_us + 55_000_000),
                tsecr,
                stamped: timestamps.into(),
                uploading: (s.queue_us > 10_000).into(),
                back_us: if s.queue_us > 10_000 {
                    s.queue_us as u32
                } else {
                    0
                },
                ..Default::default()
            },
            leaves: sys::tg_ack {
                ack: received,
                raw: s.kernel,
                scale,
                bare: s.bare.into(),
                sack: s.sack.into(),
            },
            leaves_us,
            tsval: ms(now_us),
        }
    };
    steps.iter().enumerate().map(step).collect()
}

/// Anything that a hostile peer may write, at any time.
fn hostile() -> impl Strategy<Value = Vec<Step>> {
    let small = || prop_oneof![any::<u32>(), 0u32..10, (u32::MAX - 10)..=u32::MAX];
    let arrives = (
        0u64..1 << 34,
        small(),
        small(),
        small(),
        small(),
        small(),
        any::<bool>(),
        any::<bool>(),
    );
    let leaves = (
        small(),
        any::<u16>(),
        0u8..=14,
        any::<bool>(),
        any::<bool>(),
        small(),
    );
    let step = (arrives, leaves).prop_map(|(a, l)| Step {
        arrives: sys::tg_segment {
            now_us: a.0,
            end: a.1,
            len: a.2,
            mss: a.3,
            tsval: a.4,
            tsecr: a.5,
            stamped: a.6.into(),
            uploading: a.7.into(),
            ..Default::default()
        },
        leaves: sys::tg_ack {
            ack: l.0,
            raw: l.1,
            scale: l.2,
            bare: l.3.into(),
            sack: l.4.into(),
        },
        leaves_us: 0,
        tsval: l.5,
    });
    prop::collection::vec(step, 1..100).prop_map(|mut steps| {
        // Time does not go back, but may jump for hours.
        let mut now_us = 0;
        for s in &mut steps {
            now_us += s.arrives.now_us;
            s.arrives.now_us = now_us;
            s.leaves_us = now_us;
        }
        steps
    })
}

fn params() -> impl Strategy<Value = sys::tg_params> {
    let limit = prop_oneof![Just(sys::TG_UNLIMITED), any::<u32>()];
    let law = prop::sample::select(&Law::ALL[..]);
    let params = (law, 64u32..4_096, limit, 0u32..2);
    params.prop_map(|(law, lambda_q8, limit, keep)| sys::tg_params {
        stampless: 1,
        law: law as u32,
        lambda_q8,
        limit,
        keep,
    })
}

/// The laws on the host, in the order in which the kernel's step calls them.
struct Host {
    flow: sys::tg_flow,
    path: sys::tg_interface,
    measured: sys::tg_arrival,
}

impl Host {
    fn new() -> Self {
        let mut flow = sys::tg_flow::default();
        // SAFETY: the record is exclusively ours.
        unsafe { sys::tg_flow_init(&mut flow) };
        Self {
            flow,
            path: sys::tg_interface::default(),
            measured: sys::tg_arrival::default(),
        }
    }

    fn step(&mut self, params: &sys::tg_params, s: &Step) -> u16 {
        let (flow, path) = (&mut self.flow, &mut self.path);
        self.measured = left_behind(0x5a);
        // SAFETY: every pointer is to a live record, exclusively borrowed where C writes.
        unsafe {
            sys::tg_flow_data_in(flow, params, path, &s.arrives, &mut self.measured);
            let timestamps = s.arrives.stamped.into();
            sys::tg_flow_ack_out(flow, &s.leaves, s.leaves_us, timestamps, s.tsval)
        }
    }
}

/// What an earlier packet has left where the next one is measured: anything. Results must not depend on it, so kernel
/// and host get different bytes.
fn left_behind(byte: u8) -> sys::tg_arrival {
    record(&[byte; size_of::<sys::tg_arrival>()])
}

/// The laws in the kernel; the state lies in a map.
struct Kernel<'obj> {
    skeleton: StepSkel<'obj>,
    state: tg_step,
    upload: tg_upload_step,
    steps: Cell<u8>,
}

impl<'obj> Kernel<'obj> {
    fn load(object: &'obj mut MaybeUninit<libbpf_rs::OpenObject>) -> Self {
        let open = StepSkelBuilder::default().open(object).expect("open");
        let skeleton = open.load().expect("the verifier accepts the laws");
        Self {
            skeleton,
            state: tg_step::default(),
            upload: tg_upload_step::default(),
            steps: Cell::new(0),
        }
    }

    /// Different bytes for each step.
    fn left_behind(&self) -> tg_arrival {
        self.steps.set(self.steps.get().wrapping_add(1));
        record(bytes(&left_behind(self.steps.get())))
    }

    fn begin(&mut self, host: &Host) {
        self.state = tg_step::default();
        self.state.flow = record(bytes(&host.flow));
        self.state.path = record(bytes(&host.path));
    }

    fn step(&mut self, params: &sys::tg_params, s: &Step) -> u32 {
        self.state.params = record(bytes(params));
        self.state.arrives = record(bytes(&s.arrives));
        self.state.measured = self.left_behind();
        self.state.leaves = record(bytes(&s.leaves));
        self.state.leaves_us = s.leaves_us;
        self.state.tsval = s.tsval;
        let program = &self.skeleton.progs.step;
        self.state = run(program, &self.skeleton.maps.steps, &self.state);
        self.state.raw
    }

    fn begin_upload(&mut self, host: &UploadHost) {
        self.upload = tg_upload_step::default();
        self.upload.upload = record(bytes(&host.upload));
        self.upload.path = record(bytes(&host.path));
    }

    fn upload_step(&mut self, params: &sys::tg_params, s: &UploadStep) -> u32 {
        self.upload.params = record(bytes(params));
        self.upload.ack = record(bytes(&s.ack));
        self.upload.arrives = record(bytes(&s.arrives));
        self.upload.measured = self.left_behind();
        self.upload.leaves_us = s.leaves_us;
        self.upload.mss = s.mss;
        self.upload.tsval = s.tsval;
        let program = &self.skeleton.progs.upload_step;
        self.upload = run(program, &self.skeleton.maps.upload_steps, &self.upload);
        self.upload.raw
    }
}

/// Runs a step's program once on `state`, which lies in the only place of `map`.
fn run<T: Copy>(program: &ProgramMut, map: &MapMut, state: &T) -> T {
    let key = 0u32.to_ne_bytes();
    map.update(&key, bytes(state), MapFlags::ANY)
        .expect("write the state");
    let run = program.test_run(ProgramInput::default()).expect("run");
    assert_eq!(run.return_value, 0);
    let state = map.lookup(&key, MapFlags::ANY).expect("read the state");
    record(&state.expect("there"))
}

/// An upload on the host, in the order in which the kernel's step calls its parts.
struct UploadHost {
    upload: sys::tg_upload,
    path: sys::tg_interface,
    measured: sys::tg_arrival,
}

impl UploadHost {
    fn new() -> Self {
        let mut upload = sys::tg_upload::default();
        // SAFETY: the record is exclusively ours.
        unsafe { sys::tg_upload_init(&mut upload) };
        Self {
            upload,
            path: sys::tg_interface::default(),
            measured: sys::tg_arrival::default(),
        }
    }

    fn step(&mut self, params: &sys::tg_params, s: &UploadStep) -> u16 {
        let (upload, path) = (&mut self.upload, &mut self.path);
        self.measured = left_behind(0x5a);
        let (ack, segment, measured) = (&s.ack, &s.arrives, &mut self.measured);
        // SAFETY: every pointer is to a live record, exclusively borrowed where C writes.
        unsafe {
            let raw = sys::tg_upload_ack_in(upload, params, path, ack, segment, measured);
            sys::tg_upload_data_out(upload, s.mss, s.tsval, s.leaves_us);
            raw
        }
    }
}

/// What an upload's sender sees: an acknowledgement that arrives, and data that leave then.
#[derive(Clone, Copy, Debug)]
struct UploadStep {
    ack: sys::tg_ack,
    arrives: sys::tg_segment,
    leaves_us: u64,
    mss: u32,
    tsval: u32,
}

/// A history of a receiver, told to a sender: the acknowledgement that leaves is the one that
/// arrives, and the data that arrive are those that leave.
fn mirrored(step: &Step) -> UploadStep {
    UploadStep {
        ack: step.leaves,
        arrives: step.arrives,
        leaves_us: step.leaves_us,
        mss: step.arrives.mss,
        tsval: step.tsval,
    }
}

/// Runs a history through both and returns how many windows were lowered.
fn compare_upload(kernel: &mut Kernel, params: &sys::tg_params, steps: &[Step]) -> usize {
    let mut host = UploadHost::new();
    kernel.begin_upload(&host);
    let mut lowered = 0;
    for (i, step) in steps.iter().map(mirrored).enumerate() {
        let ours = host.step(params, &step);
        let theirs = kernel.upload_step(params, &step);
        assert_eq!(theirs, u32::from(ours), "window after step {i}, {step:?}");
        assert_eq!(
            bytes(&kernel.upload.upload),
            bytes(&host.upload),
            "upload after step {i}"
        );
        assert_eq!(
            bytes(&kernel.upload.path),
            bytes(&host.path),
            "path after step {i}"
        );
        assert_eq!(
            bytes(&kernel.upload.measured),
            bytes(&host.measured),
            "what was measured at step {i}"
        );
        lowered += usize::from(ours < step.ack.raw);
    }
    lowered
}

/// Runs a history through both and returns how many windows were lowered.
fn compare(kernel: &mut Kernel, params: &sys::tg_params, steps: &[Step]) -> usize {
    let mut host = Host::new();
    kernel.begin(&host);
    let mut lowered = 0;
    for (i, step) in steps.iter().enumerate() {
        let ours = host.step(params, step);
        let theirs = kernel.step(params, step);
        assert_eq!(theirs, u32::from(ours), "window after step {i}, {step:?}");
        assert_eq!(
            bytes(&kernel.state.flow),
            bytes(&host.flow),
            "flow after step {i}"
        );
        assert_eq!(
            bytes(&kernel.state.path),
            bytes(&host.path),
            "path after step {i}"
        );
        assert_eq!(
            bytes(&kernel.state.measured),
            bytes(&host.measured),
            "what was measured at step {i}"
        );
        lowered += usize::from(ours < step.leaves.raw);
    }
    lowered
}

/// Runs the histories of flows over one interface through both, by turns as the segments arrive, and returns how
/// many flows were found to share their queue.
fn compare_company(kernel: &mut Kernel, params: &sys::tg_params, company: &[Vec<Step>]) -> usize {
    let mut hosts: Vec<_> = company.iter().map(|_| Host::new()).collect();
    let mut path = sys::tg_interface::default();
    let mut turns: Vec<_> = (company.iter().enumerate())
        .flat_map(|(flow, steps)| steps.iter().map(move |step| (flow, step)))
        .collect();
    turns.sort_by_key(|(_, step)| step.arrives.now_us);
    for (i, (flow, step)) in turns.into_iter().enumerate() {
        let host = &mut hosts[flow];
        host.path = path;
        kernel.begin(host);
        let ours = host.step(params, step);
        let theirs = kernel.step(params, step);
        assert_eq!(
            theirs,
            u32::from(ours),
            "window after step {i} of flow {flow}"
        );
        assert_eq!(bytes(&kernel.state.flow), bytes(&host.flow), "step {i}");
        assert_eq!(bytes(&kernel.state.path), bytes(&host.path), "step {i}");
        path = host.path;
    }
    hosts
        .iter()
        .filter(|h| h.flow.member.sharing.joined != 0)
        .count()
}

fn histories(cases: u32) -> Config {
    Config {
        cases,
        rng_seed: RngSeed::Fixed(0x7464),
        failure_persistence: None,
        ..Config::default()
    }
}

#[test]
fn plausible_histories_agree_bit_for_bit() {
    if !is_root() {
        return;
    }
    let mut object = MaybeUninit::uninit();
    let kernel = RefCell::new(Kernel::load(&mut object));
    let lowered = RefCell::new([0; Law::ALL.len()]);
    let histories_of_a_flow = (params(), plausible(), 0u8..=14, prop::bool::weighted(0.8));
    proptest!(histories(300), |((params, steps, scale, timestamps) in histories_of_a_flow)| {
        let steps = connection(&steps, scale, timestamps, Queue::Down);
        let n = compare(&mut kernel.borrow_mut(), &params, &steps);
        lowered.borrow_mut()[params.law as usize] += n;
    });
    let lowered = lowered.into_inner();
    assert_eq!(lowered[sys::TG_LAW_NONE as usize], 0);
    assert!(
        lowered[1..].iter().all(|&n| n > 100),
        "a law that never steered: {lowered:?}"
    );
}

#[test]
fn hostile_histories_agree_bit_for_bit() {
    if !is_root() {
        return;
    }
    let mut object = MaybeUninit::uninit();
    let kernel = RefCell::new(Kernel::load(&mut object));
    proptest!(histories(300), |(params in params(), steps in hostile())| {
        compare(&mut kernel.borrow_mut(), &params, &steps);
    });
}

/// A queue that rises and falls within a second, by up to 300 ms, and flows that each send a segment every few
/// milliseconds into it or, every third, into an empty one.
fn company(flows: u64, spacing_us: u64, period_us: u64) -> Vec<Vec<Step>> {
    let ms = |us: u64| (us / 1_000) as u32;
    let queue_us = |now_us: u64| {
        let phase = now_us % period_us;
        600_000 * phase.min(period_us - phase) / period_us
    };
    let step = |flow: u64, i: u64| {
        let now_us = 10_000_000 + i * spacing_us + flow * spacing_us / flows;
        let queue_us = if flow % 3 == 2 { 0 } else { queue_us(now_us) };
        let end = (i as u32 + 1) * 1448;
        Step {
            arrives: sys::tg_segment {
                now_us,
                end,
                len: 1448,
                mss: 1448,
                tsval: ms(now_us - 20_000 - queue_us),
                tsecr: ms(now_us - 40_000 - queue_us),
                stamped: 1,
                ..Default::default()
            },
            leaves: sys::tg_ack {
                ack: end,
                raw: 30_000,
                scale: 8,
                bare: 1,
                sack: 0,
            },
            leaves_us: now_us,
            tsval: ms(now_us),
        }
    };
    (0..flows)
        .map(|flow| (0..6_000_000 / spacing_us).map(|i| step(flow, i)).collect())
        .collect()
}

#[test]
fn flows_that_share_a_queue_agree_bit_for_bit() {
    if !is_root() {
        return;
    }
    let mut object = MaybeUninit::uninit();
    let mut kernel = Kernel::load(&mut object);
    let params = Params::default().to_sys();
    for (flows, spacing_us, period_us) in [
        (2, 3_000, 900_000),
        (3, 4_000, 700_000),
        (9, 9_000, 800_000),
    ] {
        let company = company(flows, spacing_us, period_us);
        let joined = compare_company(&mut kernel, &params, &company);
        assert!(joined >= 2, "{joined} of {flows} joined");
    }
}

#[test]
fn plausible_histories_of_uploads_agree_bit_for_bit() {
    if !is_root() {
        return;
    }
    let mut object = MaybeUninit::uninit();
    let kernel = RefCell::new(Kernel::load(&mut object));
    let lowered = RefCell::new([0; Law::ALL.len()]);
    let histories_of_an_upload = (params(), plausible(), 0u8..=14, prop::bool::weighted(0.8));
    proptest!(histories(300), |((params, steps, scale, timestamps) in histories_of_an_upload)| {
        let steps = connection(&steps, scale, timestamps, Queue::Up);
        let n = compare_upload(&mut kernel.borrow_mut(), &params, &steps);
        lowered.borrow_mut()[params.law as usize] += n;
    });
    let lowered = lowered.into_inner();
    for (law, &n) in Law::ALL.iter().zip(&lowered) {
        let steers = law.steers_uploads();
        assert!(if steers { n > 100 } else { n == 0 }, "{lowered:?}");
    }
}

#[test]
fn hostile_histories_of_uploads_agree_bit_for_bit() {
    if !is_root() {
        return;
    }
    let mut object = MaybeUninit::uninit();
    let kernel = RefCell::new(Kernel::load(&mut object));
    proptest!(histories(300), |(params in params(), steps in hostile())| {
        compare_upload(&mut kernel.borrow_mut(), &params, &steps);
    });
}
