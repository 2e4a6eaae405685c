//! Each listening program, among clients that connect, stall, vanish and lie, and while system calls fail. It must not
//! end, leak descriptors or memory, and must serve good clients again afterwards.

mod crowd;
mod faults;
mod flat;
mod servers;

use crowd::Crowd;
use faults::Faults;
use flat::Flat;
use servers::{Kind, Server};
use std::thread::sleep;
use std::time::{Duration, Instant};
use tidegate_lab::Namespace;
use tidegate_testing::{has_program, is_root, own_bpf_file_system};

/// Length of the short runs.
const SHORT: Duration = Duration::from_secs(5);

/// Time between two acts of one crowd, to leave CPU time to others.
const PAUSE: Duration = Duration::from_millis(5);

/// How long a crowd that has gone may keep good clients out.
const GRACE: Duration = Duration::from_secs(30);

#[test]
fn a_prober_among_strangers() {
    among_strangers(Kind::Prober, SHORT);
}

#[test]
fn a_receiver_among_strangers() {
    among_strangers(Kind::Receiver, SHORT);
}

#[test]
fn a_proxy_among_strangers() {
    among_strangers(Kind::Proxy, SHORT);
}

#[test]
fn a_registry_among_strangers() {
    among_strangers(Kind::Registry, SHORT);
}

#[test]
fn an_agent_among_strangers() {
    in_a_namespace(|| among_strangers(Kind::Agent, SHORT));
}

#[test]
fn a_page_among_strangers() {
    in_a_namespace(|| among_strangers(Kind::Page, SHORT));
}

#[test]
fn a_prober_whose_system_calls_fail() {
    while_calls_fail(Kind::Prober, 1);
}

#[test]
fn a_receiver_whose_system_calls_fail() {
    while_calls_fail(Kind::Receiver, 1);
}

#[test]
fn a_proxy_whose_system_calls_fail() {
    while_calls_fail(Kind::Proxy, 1);
}

#[test]
fn a_registry_whose_system_calls_fail() {
    while_calls_fail(Kind::Registry, 1);
}

#[test]
fn an_agent_whose_system_calls_fail() {
    in_a_namespace(|| while_calls_fail(Kind::Agent, 1));
}

#[test]
fn a_page_whose_system_calls_fail() {
    in_a_namespace(|| while_calls_fail(Kind::Page, 1));
}

/// Each kind with other seeds.
#[test]
#[ignore = "takes minutes: for ./dev soak"]
fn many_seeds_of_system_calls_that_fail() {
    let kinds = [Kind::Prober, Kind::Receiver, Kind::Proxy, Kind::Registry];
    std::thread::scope(|scope| {
        for kind in kinds {
            scope.spawn(move || (2..20).for_each(|seed| while_calls_fail(kind, seed)));
        }
        for kind in [Kind::Agent, Kind::Page] {
            let agents = move || (2..20).for_each(|seed| while_calls_fail(kind, seed));
            scope.spawn(move || in_a_namespace(agents));
        }
    });
}

/// All kinds at once, for `TIDEGATE_STRANGERS_MINUTES`, an hour by default.
#[test]
#[ignore = "takes an hour: for ./dev soak"]
fn an_hour_among_strangers() {
    let minutes = std::env::var("TIDEGATE_STRANGERS_MINUTES");
    let minutes: u64 = minutes.map_or(60, |text| text.parse().expect("minutes, a number"));
    let period = Duration::from_secs(60 * minutes);
    let kinds = [Kind::Prober, Kind::Receiver, Kind::Proxy, Kind::Registry];
    std::thread::scope(|scope| {
        for kind in kinds {
            scope.spawn(move || among_strangers(kind, period));
        }
        for kind in [Kind::Agent, Kind::Page] {
            scope.spawn(move || in_a_namespace(move || among_strangers(kind, period)));
        }
    });
}

fn in_a_namespace(work: impl FnOnce() + Send) {
    if !is_root() {
        return;
    }
    let namespace = Namespace::new().unwrap();
    let run = || {
        own_bpf_file_system();
        let up = std::process::Command::new("ip")
            .args(["link", "set", "lo", "up"])
            .status()?;
        assert!(up.success());
        work();
        Ok(())
    };
    namespace.run(run).unwrap();
}

/// One call in this many fails: often enough for each kind of call, and seldom enough for clients to succeed at times.
const FAILING: u32 = 16;

/// How many calls must fail, and the longest time for that: a client that sends files waits ten seconds for an answer.
const ENOUGH: u32 = 50;
const LONGEST: Duration = Duration::from_secs(180);

/// Runs a server whose calls fail while good and bad clients come.
fn while_calls_fail(kind: Kind, seed: u64) {
    if !has_program("cc", "build-essential") {
        return;
    }
    let faults = Faults::new(seed);
    let mut server = Server::start(kind, &|command| faults.prepare(command));
    assert!(server.serves_within(GRACE), "{kind:?}: {}", server.said());
    let before = server.usage();
    faults.once_in(FAILING);
    let (began, mut crowd) = (Instant::now(), Crowd::new(&server, seed));
    while faults.failed() < ENOUGH && began.elapsed() < LONGEST {
        for _ in 0..50 {
            crowd.act();
            sleep(PAUSE);
        }
        // Whether it succeeds depends on the faults.
        server.serves();
    }
    drop(crowd);
    faults.once_in(0);
    println!("{kind:?}, seed {seed}: {} calls failed", faults.failed());
    server.expect_running();
    assert!(
        faults.failed() >= ENOUGH,
        "{kind:?}: only {} calls failed",
        faults.failed()
    );
    assert!(server.serves_within(GRACE), "{kind:?}: {}", server.said());
    let memory = server.usage().memory_kib;
    assert!(
        memory < before.memory_kib + LEAK_KIB,
        "{kind:?} had {before:?}, and has {memory} KiB"
    );
    settles(&server, before.descriptors, before.threads);
    server.end();
}

/// How much memory a few hundred faults may leave in use: what the allocator keeps of the requests served meanwhile.
const LEAK_KIB: u64 = 32 << 10;

fn among_strangers(kind: Kind, period: Duration) {
    let mut server = Server::start(kind, &|_| ());
    assert!(server.serves_within(GRACE), "{kind:?}: {}", server.said());
    let before = server.usage();
    let mut flat = Flat::over(kind, period);
    let (began, mut acts) = (Instant::now(), 0_u64);
    let mut crowd = Crowd::new(&server, 1);
    while began.elapsed() < period {
        crowd.act();
        acts += 1;
        if acts.is_multiple_of(100) {
            flat.note(began.elapsed(), server.usage());
        }
        sleep(PAUSE);
    }
    drop(crowd);
    server.expect_running();
    assert!(server.serves_within(GRACE), "{kind:?}: {}", server.said());
    flat.expect(acts);
    settles(&server, before.descriptors, before.threads);
    server.end();
}

/// Whether it frees the resources that bad clients took.
fn settles(server: &Server, descriptors: usize, threads: u64) {
    let until = Instant::now() + GRACE + GRACE;
    loop {
        let usage = server.usage();
        if usage.descriptors <= descriptors + 2 && usage.threads <= threads + 2 {
            return;
        }
        assert!(
            Instant::now() < until,
            "{:?} had {descriptors} descriptors and {threads} threads, and has {usage:?}",
            server.kind
        );
        sleep(Duration::from_millis(200));
    }
}
