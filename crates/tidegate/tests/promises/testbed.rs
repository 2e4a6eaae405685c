//! The testbed: a link with a long queue, an agent, and the state that it leaves in the kernel.

use crate::TIMEOUT;
use crate::agent::{Agent, Program, is_loaded};
use crate::download::{Came, Download};
use crate::remains::{gate_table, has_table, is_alive, queues};
use std::fs::{File, read_to_string};
use std::path::PathBuf;
use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tempfile::{NamedTempFile, TempDir};
use tidegate_lab::{EmulatedHosts, IpVersion, Namespace};
use tidegate_link::{Config, Rate};
use tidegate_testing::has_tun;

/// The longest time of an acknowledgement that does not wait: half a round trip, and the delays of a busy machine.
const AT_ONCE: Duration = Duration::from_millis(45);

/// No packet waits longer than two seconds.
pub const LONGEST: Duration = Duration::from_millis(2300);

/// All that was sent has arrived once, in order and in time.
pub fn assert_whole(came: &[Came], sent: u64) {
    let numbers = came.iter().map(|c| c.number);
    assert!(numbers.eq(0..sent), "out of order, lost or twice");
    assert!(came.iter().all(|c| c.after < LONGEST));
}

const ONE_WAY: Duration = Duration::from_millis(20);

/// A link, and an agent that holds at its near end.
pub struct Testbed {
    pub hosts: EmulatedHosts,
    pub agent: Agent,
    pub gate: u32,
    log: NamedTempFile,
    /// Contains the agent's socket: other tests have agents at the default place.
    folder: TempDir,
    _turn: MutexGuard<'static, ()>,
}

/// A link of 10 Mbit/s with a queue of 1000 packets.
pub fn link() -> EmulatedHosts {
    let link = |bps| Config {
        rate: Rate::constant(bps),
        delay: ONE_WAY.into(),
        ..Config::default()
    };
    EmulatedHosts::new(link(10e6), link(5e6), 1).unwrap()
}

/// One test at a time, since they measure time. None without root, which is printed.
pub fn turn() -> Option<MutexGuard<'static, ()>> {
    static TURN: Mutex<()> = Mutex::new(());
    has_tun().then(|| TURN.lock().unwrap_or_else(PoisonError::into_inner))
}

const SOCKET: &str = "agent.sock";

impl Testbed {
    /// The agent's socket for `tidegate top`.
    pub fn socket(&self) -> PathBuf {
        self.folder.path().join(SOCKET)
    }

    pub fn new() -> Option<Self> {
        Self::with(|_| {})
    }

    /// Runs `prepare` on the hosts before the agent starts.
    pub fn with(prepare: impl FnOnce(&EmulatedHosts)) -> Option<Self> {
        Self::of(&["--udp", "hold"], prepare)
    }

    /// With an agent that has these arguments.
    pub fn of(words: &[&str], prepare: impl FnOnce(&EmulatedHosts)) -> Option<Self> {
        Self::by(words, |_| {}, prepare)
    }

    /// With an agent whose command is changed by `more`.
    pub fn by(
        words: &[&str],
        more: impl FnOnce(&mut Command) + Send,
        prepare: impl FnOnce(&EmulatedHosts),
    ) -> Option<Self> {
        let turn = turn()?;
        let hosts = link();
        prepare(&hosts);
        let log = NamedTempFile::new().unwrap();
        let errors: File = log.reopen().unwrap();
        let folder = TempDir::new().unwrap();
        let socket = folder.path().join(SOCKET);
        let agent = Agent::start_with(hosts.client(), |command| {
            command
                .args(words)
                .arg("--socket")
                .arg(socket)
                .stderr(errors);
            more(command);
        });
        let gate = children(agent.id());
        let [gate] = gate[..] else {
            panic!("{gate:?}: one gate");
        };
        Some(Self {
            hosts,
            agent,
            gate,
            log,
            folder,
            _turn: turn,
        })
    }

    /// The agent's log.
    pub fn log(&self) -> String {
        read_to_string(self.log.path()).unwrap()
    }

    /// A download whose acknowledgements are held.
    pub fn held(&self) -> Download {
        let download = Download::start(&self.hosts, IpVersion::V4, 4433);
        wait_until_held(&download);
        download
    }

    /// Ends the agent by `end` while packets wait: no packet is lost or waits on, and nothing is left in the kernel.
    pub fn ends(self, end: impl FnOnce(Agent)) {
        let download = self.held();
        let (_, before) = download.since(0);
        let (programs, gate) = (self.agent.programs(), self.gate);
        assert!(programs.len() >= 6, "{programs:?}");
        end(self.agent);
        wait_until_nothing_is_left(&self.hosts, gate, &programs);
        wait_until_free(&download);
        let (came, sent) = download.end();
        assert_eq!(came.len() as u64, sent, "some are lost, or came twice");
        assert!(came.iter().all(|c| c.after < LONGEST));
        let overtaken = came.windows(2).filter(|two| two[1].number < two[0].number);
        println!(
            "{} of {sent} had come before; {} runs were overtaken",
            before,
            overtaken.count()
        );
        assert!(
            came[..before].is_sorted_by_key(|c| c.number),
            "out of order"
        );
    }
}

/// Waits until gate, queue, table and programs are gone.
pub fn wait_until_nothing_is_left(hosts: &EmulatedHosts, gate: u32, programs: &[Program]) {
    wait_for("the gate's end", || !is_alive(gate));
    assert_eq!(queues(hosts.client()), 0, "a queue is left");
    wait_for("the programs to go", || !programs.iter().any(is_loaded));
    wait_for("the table to go", || {
        !has_table(hosts.client(), &gate_table(gate))
    });
}

/// Waits until every recent acknowledgement has waited.
pub fn wait_until_held(download: &Download) {
    wait_until_all(download, "acknowledgements that wait", |after| {
        after > AT_ONCE
    });
}

/// Waits until no recent acknowledgement has waited.
pub fn wait_until_free(download: &Download) {
    wait_until_all(download, "acknowledgements that do not wait", |after| {
        after < AT_ONCE
    });
}

/// Waits until the condition holds for the last few, while the download goes on.
fn wait_until_all(download: &Download, what: &str, is_so: impl Fn(Duration) -> bool) {
    const FEW: usize = 20;
    let (arrived, (_, from)) = (download.arrived(), download.since(0));
    wait_for(what, || {
        let (since, _) = download.since(from);
        let last = since.last_chunk::<FEW>();
        download.arrived() > arrived + 1_000_000
            && last.is_some_and(|last| last.iter().all(|after| is_so(*after)))
    });
}

/// None of these waited, though a busy machine may delay some.
pub fn assert_free(after: &[Duration]) {
    let late = after.iter().filter(|after| **after > AT_ONCE).count();
    assert!(late * 10 < after.len(), "{late} of {} waited", after.len());
}

pub fn wait_for(what: &str, mut holds: impl FnMut() -> bool) {
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < TIMEOUT, "waited in vain for {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Child processes.
fn children(process: u32) -> Vec<u32> {
    let tasks = std::fs::read_dir(format!("/proc/{process}/task"))
        .unwrap()
        .flatten();
    let lists = tasks.filter_map(|task| read_to_string(task.path().join("children")).ok());
    let lists: Vec<_> = lists.collect();
    let words = lists.iter().flat_map(|list| list.split_whitespace());
    words.map(|word| word.parse().unwrap()).collect()
}

pub fn output(host: &Namespace, program: &str, args: &[&str]) -> String {
    let run = || Ok(Command::new(program).args(args).output()?);
    let output = host.run(run).unwrap();
    assert!(output.status.success(), "{program} {args:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}
