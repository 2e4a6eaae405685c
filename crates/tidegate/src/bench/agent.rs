//! What the running agent costs: in goodput through a veth pair, where only the CPU is the bottleneck, and in
//! nanoseconds a packet.

mod on_a_link;

use super::agent_process::AgentProcess;
use super::packets::programs::{Build, OnInterface};
use super::{Row, median};
use anyhow::{Context, Result, ensure};
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, poll};
use nix::sched::{CpuSet, sched_setaffinity};
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use nix::sys::socket::{setsockopt, sockopt};
use nix::unistd::Pid;
use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::os::fd::AsFd;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};
use tidegate_agent::{Agent, Config, Cost, Interface};
use tidegate_lab::{IpVersion, Namespace, Offload, Veth, use_congestion_control};
use tidegate_terminal::warn;

/// Length of one measurement: short, so that neighbouring ones meet the same conditions.
const SLICE: Duration = Duration::from_millis(300);

/// Time before each measurement that does not count: connections or the agent start.
const SETTLE: Duration = Duration::from_millis(200);

/// Pairs of measurements with and without the agent.
const PAIRS: usize = 31;

/// How many connections at once.
const FLOWS: [usize; 3] = [1, 100, 1000];

/// The receive buffer, in bytes. Its window fits into the queue between the devices (`netdev_max_backlog`, 1000
/// packets): otherwise we would only measure losses.
const RECEIVE_BUFFER: usize = 1 << 20;

/// Packet sizes with names.
const SIZES: [(&str, Offload); 2] = [
    ("64 KB packets", Offload::On),
    // The programs run far more often.
    ("1500 B packets", Offload::Off),
];

/// Packets that are counted separately: during a download at the client, and at its server, for which it is an upload.
const COSTS: [&str; 4] = [
    "arriving data of a download",
    "leaving acknowledgements of a download",
    "arriving acknowledgements of an upload",
    "leaving data of an upload",
];

/// Takes seven minutes; eight with another build, whose programs take turns with ours. `stop` ends it early with an
/// error.
pub fn measure(against: Option<&Path>, stop: &Arc<AtomicBool>) -> Result<Vec<Row>> {
    allow_files()?;
    let against = against.map(Build::read).transpose()?;
    let hosts = Veth::new()?;
    let bench = Bench {
        hosts: &hosts,
        against: against.as_ref(),
        stop,
    };
    let mut rows = Vec::new();
    for (size, offload) in SIZES {
        hosts.set_offload(offload)?;
        // A short queue is good for caches, so steering may gain more than it costs. A dry run only costs.
        for flows in FLOWS {
            let ways = [("goodput", false), ("goodput, dry run", true)];
            // One connection is enough to show what measuring alone costs.
            let alone = flows == 1 && against.is_none();
            for (what, dry_run) in ways.into_iter().take(if alone { 2 } else { 1 }) {
                let whose = ["", " by the other build"];
                for (side, whose) in bench.compare(flows, dry_run)?.into_iter().zip(whose) {
                    let name = format!("agent: {what}{whose}, {size}, {}", connections(flows));
                    warn(format_args!("{name}: {:.3} of that without", side.ratio));
                    let row = Row::new(name, side.bps / 1e6, "Mbit/s");
                    rows.push(row.versus("without the agent", side.ratio));
                }
            }
            for (way, ns) in COSTS.into_iter().zip(bench.cost(flows)?) {
                let name = format!("agent: {way}, {size}, {}", connections(flows));
                rows.push(Row::new(name, ns, "ns/packet"));
            }
        }
    }
    rows.extend(bench.standing()?);
    rows.extend(on_a_link::measure(stop)?);
    Ok(rows)
}

fn connections(flows: usize) -> String {
    format!("{flows} flow{}", if flows == 1 { "" } else { "s" })
}

/// Raises the limit of open files: two descriptors per connection exceed a shell's limit.
fn allow_files() -> Result<()> {
    let (_, most) = getrlimit(Resource::RLIMIT_NOFILE)?;
    Ok(setrlimit(Resource::RLIMIT_NOFILE, most, most)?)
}

struct Bench<'a> {
    hosts: &'a Veth,
    against: Option<&'a Build>,
    stop: &'a AtomicBool,
}

/// Goodput with one agent.
struct Side {
    bps: f64,
    /// Relative to goodput without an agent.
    ratio: f64,
}

impl Side {
    /// Medians over pairs of neighbouring measurements, with the agent and without.
    fn of(pairs: &[(f64, f64)]) -> Self {
        Self {
            bps: median(pairs.iter().map(|&(with, _)| with).collect()),
            ratio: median(
                pairs
                    .iter()
                    .map(|&(with, without)| with / without)
                    .collect(),
            ),
        }
    }
}

impl Bench<'_> {
    /// Goodput with our agent, and with the other build's if there is one, each relative to goodput without. We take
    /// medians over neighbouring measurements on the same connections, so that other load on the machine hits both
    /// sides alike. Both agents have seen the connections' handshakes, as an agent that always runs has.
    fn compare(&self, flows: usize, dry_run: bool) -> Result<Vec<Side>> {
        let find = || Ok(Interface::find(Veth::INTERFACE)?);
        let interface = self.hosts.client.run(find)?;
        let mut agent = self.start(&self.hosts.client, dry_run)?;
        let other = self.against.map(|build| build.load_on(interface.index));
        let other = other.transpose()?;
        let attach_other = |other: &OnInterface| self.hosts.client.run(|| other.attach());
        let first = other.as_ref().map(attach_other).transpose()?;
        self.during_downloads(flows, |received| {
            self.wait(SETTLE)?;
            drop(first);
            agent.release(interface.index);
            let mut sides = vec![Vec::new(); 1 + usize::from(other.is_some())];
            for _ in 0..PAIRS {
                let without = self.goodput_bps(received)?;
                agent = self.attached(agent, &interface)?;
                sides[0].push((self.goodput_bps(received)?, without));
                agent.release(interface.index);
                if let Some(other) = &other {
                    let _attached = attach_other(other)?;
                    sides[1].push((self.goodput_bps(received)?, without));
                }
            }
            Ok(sides.iter().map(|pairs| Side::of(pairs)).collect())
        })
    }

    /// Attaches the agent at the client.
    fn attached(&self, mut agent: Agent, interface: &Interface) -> Result<Agent> {
        self.hosts.client.run(|| {
            agent.attach(interface)?;
            Ok(agent)
        })
    }

    /// What an idle agent costs: memory, and its process.
    fn standing(&self) -> Result<[Row; 2]> {
        let tables = self.start(&self.hosts.client, false)?.table_bytes()? as f64;
        let process = AgentProcess::start(&self.hosts.client)?;
        let share = process.cpu_at_rest()?;
        process.stop()?;
        Ok([
            Row::new(
                "agent: memory of the tables in the kernel",
                tables / 1e6,
                "MB",
            ),
            Row::new("agent: user space at rest", 100.0 * share, "% of a CPU"),
        ])
    }

    /// Nanoseconds a packet as the kernel counts them, in the order of [`COSTS`].
    fn cost(&self, flows: usize) -> Result<Vec<f64>> {
        let mut receiver = self.start(&self.hosts.client, false)?;
        receiver.count_cost()?;
        self.during_downloads(flows, |received| self.goodput_bps(received))?;
        let mut costs = receiver.cost()?.to_vec();
        drop(receiver);
        let mut sender = self.start(&self.hosts.server, false)?;
        sender.count_cost()?;
        self.during_downloads(flows, |received| self.goodput_bps(received))?;
        costs.extend(sender.cost()?);
        let ns = |c: Cost| c.nanoseconds as f64 / c.runs.max(1) as f64;
        Ok(costs.into_iter().map(ns).collect())
    }

    /// Starts the default agent at `host`.
    fn start(&self, host: &Namespace, dry_run: bool) -> Result<Agent> {
        host.run(|| {
            Ok(Agent::start(&Config {
                interfaces: vec![Interface::find(Veth::INTERFACE)?],
                dry_run,
                ..Config::default()
            })?)
        })
    }

    fn goodput_bps(&self, received: &AtomicU64) -> Result<f64> {
        self.wait(SETTLE)?;
        let (from, began) = (received.load(Ordering::Relaxed), Instant::now());
        self.wait(SLICE)?;
        let bytes = received.load(Ordering::Relaxed) - from;
        Ok(8.0 * bytes as f64 / began.elapsed().as_secs_f64())
    }

    /// Waits; an error if the user interrupts it.
    fn wait(&self, period: Duration) -> Result<()> {
        const POLL_INTERVAL: Duration = Duration::from_millis(50);
        let until = Instant::now() + period;
        while let Some(left) = until.checked_duration_since(Instant::now()) {
            ensure!(!self.stop.load(Ordering::Relaxed), "stopped");
            thread::sleep(left.min(POLL_INTERVAL));
        }
        Ok(())
    }

    /// Runs `act` on the bytes received while `flows` downloads run at once.
    fn during_downloads<T>(
        &self,
        flows: usize,
        act: impl FnOnce(&AtomicU64) -> Result<T>,
    ) -> Result<T> {
        let address = SocketAddr::new(Veth::server_address(IpVersion::V4), 0);
        let listener = self.hosts.server.run(|| Ok(TcpListener::bind(address)?))?;
        use_congestion_control(&listener, "cubic")?;
        let (received, over) = (AtomicU64::new(0), AtomicBool::new(false));
        thread::scope(|scope| {
            // The threads must end even if this fails.
            let until_over = Over(&over);
            let pairs = (0..flows).map(|_| self.connect(&listener));
            let (receivers, senders) = pairs.collect::<Result<(Vec<_>, Vec<_>)>>()?;
            let workers = [
                scope.spawn(|| send(senders, &over)),
                scope.spawn(|| receive(receivers, &received)),
            ];
            let result = act(&received);
            drop(until_over);
            for worker in workers {
                worker.join().expect("no worker panics")?;
            }
            result
        })
    }

    /// The client's and the server's end of a new connection, whose sender uses CUBIC.
    fn connect(&self, listener: &TcpListener) -> Result<(TcpStream, TcpStream)> {
        let to = listener.local_addr()?;
        let client = self.hosts.client.run(|| Ok(TcpStream::connect(to)?))?;
        let (server, _) = listener.accept()?;
        setsockopt(&client, sockopt::RcvBufForce, &RECEIVE_BUFFER)?;
        client.set_nonblocking(true)?;
        server.set_nonblocking(true)?;
        Ok((client, server))
    }
}

struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Fills every stream until it is over, and closes them.
fn send(streams: Vec<TcpStream>, over: &AtomicBool) -> Result<()> {
    stay_on_one_cpu()?;
    let chunk = vec![0; 256 << 10];
    let mut ready = interest(&streams, PollFlags::POLLOUT);
    while !over.load(Ordering::Relaxed) {
        for mut stream in wait(&streams, &mut ready)? {
            unless_later(stream.write(&chunk)).context("cannot send")?;
        }
    }
    for stream in &streams {
        stream.shutdown(Shutdown::Write)?;
    }
    Ok(())
}

/// Counts the received bytes of all streams until the last one is closed.
fn receive(mut streams: Vec<TcpStream>, received: &AtomicU64) -> Result<()> {
    stay_on_one_cpu()?;
    let mut buffer = vec![0; 256 << 10];
    while !streams.is_empty() {
        let mut ready = interest(&streams, PollFlags::POLLIN);
        let mut closed = false;
        while !closed {
            for mut stream in wait(&streams, &mut ready)? {
                let bytes = unless_later(stream.read(&mut buffer)).context("cannot receive")?;
                received.fetch_add(bytes.unwrap_or(0) as u64, Ordering::Relaxed);
                closed |= bytes == Some(0);
            }
        }
        drop(ready);
        streams.retain(|stream| !matches!(stream.peek(&mut [0]), Ok(0)));
    }
    Ok(())
}

fn interest(streams: &[TcpStream], flags: PollFlags) -> Vec<PollFd<'_>> {
    streams
        .iter()
        .map(|stream| PollFd::new(stream.as_fd(), flags))
        .collect()
}

/// Waits until any stream is ready, and returns those that are.
fn wait<'a>(
    streams: &'a [TcpStream],
    ready: &mut [PollFd<'_>],
) -> Result<impl Iterator<Item = &'a TcpStream>> {
    const A_MOMENT_MS: u8 = 100;
    match poll(ready, A_MOMENT_MS) {
        Ok(_) | Err(Errno::EINTR) => {}
        Err(error) => return Err(error).context("cannot wait for a connection"),
    }
    let can = |fd: &PollFd<'_>| fd.any().unwrap_or(true);
    let ready: Vec<bool> = ready.iter().map(can).collect();
    Ok(streams
        .iter()
        .zip(ready)
        .filter_map(|(stream, ready)| ready.then_some(stream)))
}

/// How many bytes were transferred; none if the call would block.
fn unless_later(outcome: std::io::Result<usize>) -> std::io::Result<Option<usize>> {
    match outcome {
        Ok(bytes) => Ok(Some(bytes)),
        Err(e) if matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => Ok(None),
        Err(e) => Err(e),
    }
}

/// Keeps the calling thread on the last CPU, senders and receivers alike, so that only CPU time limits goodput. On two
/// CPUs they wait for each other, and how often one wakes the other matters far more than what the agent costs.
fn stay_on_one_cpu() -> Result<()> {
    let cpus = thread::available_parallelism()?.get();
    let mut set = CpuSet::new();
    set.set(cpus - 1)?;
    sched_setaffinity(Pid::from_raw(0), &set).context("cannot stay on one CPU")
}
