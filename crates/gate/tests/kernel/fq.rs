//! Packets leave when their time stamps say so if the queueing discipline is `fq`.

use crate::hosts::{Path, assert_all_in_order, hosts};
use libbpf_rs::skel::{OpenSkel, SkelBuilder};
use libbpf_rs::{TC_EGRESS, TcHook, TcHookBuilder};
use std::mem::MaybeUninit;
use std::os::fd::AsFd;
use std::time::{Duration, Instant};
use tidegate_agent::wait::{WaitSkel, WaitSkelBuilder};
use tidegate_gate::{Fq, Qdisc};
use tidegate_lab::{IpVersion, Namespace, Veth};
use tidegate_testing::{is_root, skipped};

const WAIT: Duration = Duration::from_millis(300);
const QUIET: Duration = Duration::from_millis(1500);

/// The default limit of `fq` for a flow, in packets.
const USUAL: u32 = 100;

/// Two hosts, and a flow that leaves through `fq`: each of its packets waits.
struct Testbed {
    hosts: Veth,
    path: Path,
    program: WaitSkel<'static>,
}

impl Testbed {
    fn new(flow_limit: u32) -> Option<Self> {
        if !is_root() || !has_fq() {
            return None;
        }
        let hosts = hosts()?;
        let path = Path::new(&hosts, IpVersion::V4);
        let interface = path.flow.interface;
        let program = hosts
            .client
            .run(|| {
                Fq::put_up(interface, flow_limit)?;
                attach(interface)
            })
            .unwrap();
        Some(Self {
            hosts,
            path,
            program,
        })
    }

    fn qdisc(&self) -> Qdisc {
        let ask = || Ok(Qdisc::of(self.path.flow.interface)?);
        self.hosts.client.run(ask).unwrap()
    }

    /// Sends `count` packets at once. Returns those that arrive, and how long the first and the last had waited.
    fn send(&self, count: u32) -> (Vec<(u32, Instant)>, [Duration; 2]) {
        let receiver = self.path.receive(QUIET);
        let began = Instant::now();
        self.path.send(0..count);
        let sent = Instant::now();
        let came = receiver.join().unwrap();
        let waited = [came[0].1 - began, came.last().unwrap().1 - sent];
        (came, waited)
    }
}

fn has_fq() -> bool {
    let lo = || Ok(Fq::is_known(nix::net::if_::if_nametoindex("lo")?)?);
    let known = Namespace::new().unwrap().run(lo).unwrap();
    if !known {
        skipped("needs the queueing discipline fq (sch_fq)");
    }
    known
}

fn attach(interface: u32) -> anyhow::Result<WaitSkel<'static>> {
    let object = Box::leak(Box::new(MaybeUninit::uninit()));
    let mut program = WaitSkelBuilder::default().open(object)?;
    let data = program.maps.rodata_data.as_deref_mut();
    data.expect("the program has constants").wait_us = WAIT.as_micros() as u64;
    let program = program.load()?;
    let mut hook = hook(&program, interface);
    hook.create()?;
    hook.attach()?;
    Ok(program)
}

/// Where it is attached.
fn hook(program: &WaitSkel, interface: u32) -> TcHook {
    TcHookBuilder::new(program.progs.udp_waits.as_fd())
        .ifindex(interface as i32)
        .handle(1)
        .priority(1)
        .hook(TC_EGRESS)
}

#[test]
fn time_stamps_are_obeyed() {
    let Some(testbed) = Testbed::new(4096) else {
        return;
    };
    let (came, [first, last]) = testbed.send(2000);
    assert_all_in_order(&came, 2000);
    println!("of 2000 the first waited {first:?}, the last {last:?}, of {WAIT:?}");
    assert!(first >= WAIT, "the first left after {first:?}");
    assert!(last < 3 * WAIT, "the last left after {last:?}");
}

/// This is what a killed agent leaves.
#[test]
fn what_waits_leaves_though_the_program_is_gone() {
    let Some(testbed) = Testbed::new(4096) else {
        return;
    };
    let receiver = testbed.path.receive(QUIET);
    let began = Instant::now();
    testbed.path.send(0..500);
    let detach = || Ok(hook(&testbed.program, testbed.path.flow.interface).detach()?);
    testbed.hosts.client.run(detach).unwrap();
    let detached = began.elapsed();
    let came = receiver.join().unwrap();
    assert_all_in_order(&came, 500);
    assert!(came[499].1 - began > detached, "all had left before");
}

#[test]
fn its_limit_is_known_and_raised_on_demand() {
    let Some(testbed) = Testbed::new(USUAL) else {
        return;
    };
    let Qdisc::Fq(fq) = testbed.qdisc() else {
        panic!("not fq: {:?}", testbed.qdisc());
    };
    println!("{fq:?}");
    assert_eq!(fq.flow_limit, USUAL);
    assert!(fq.limit >= 1000);
    assert!(fq.horizon_us.is_none_or(|us| us >= 2_000_000), "{fq:?}");
    let (came, _) = testbed.send(300);
    assert_all_in_order(&came, USUAL);
    let raise = || Ok(fq.set_flow_limit(testbed.path.flow.interface, 1000)?);
    testbed.hosts.client.run(raise).unwrap();
    let mut raised = fq.clone();
    raised.flow_limit = 1000;
    assert_eq!(testbed.qdisc(), Qdisc::Fq(raised));
    let (came, _) = testbed.send(300);
    assert_all_in_order(&came, 300);
    let take_down = || Ok(Fq::take_down(testbed.path.flow.interface)?);
    testbed.hosts.client.run(take_down).unwrap();
    assert!(matches!(testbed.qdisc(), Qdisc::Other(_)));
}

#[test]
fn another_discipline_is_named() {
    let Some(hosts) = hosts() else { return };
    let ask = || Ok(Qdisc::of(nix::net::if_::if_nametoindex(Veth::INTERFACE)?)?);
    assert_eq!(
        hosts.client.run(ask).unwrap(),
        Qdisc::Other("noqueue".into())
    );
}
