//! One run: two hosts, the emulator between them, and a thread for every part in the workloads.

use crate::address::{address, server_address};
use crate::clock::{Awake, Clock};
use crate::emulator::{Emulator, LaneConfig, Record};
use crate::hosts::{Host, Settings, of_kernel};
use crate::machine::CpuTicks;
use crate::outcome::RunRecord;
use crate::own;
use crate::run::{Options, Progress};
use crate::sample::Samples;
use crate::site::{self, Home, Site};
use crate::steer::Steering;
use crate::term::Term;
use crate::transport::{Control, Own, Quic, Transport, takes_quic};
use crate::workload::{Applications, Task, TaskContext};
use anyhow::{Context, Result, anyhow};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, Scope, ScopedJoinHandle};
use std::time::Duration;
use tidegate_link::{Config, Instant};
use tidegate_linux::netns::{Namespace, panic_text};
use tidegate_measure::{LinkRecord, Window, demand};
use tidegate_scenario::{
    Direction, LinkInputs, Run, RunResult, Scenario, Side, Workload, WorkloadKind,
};

/// Everything that one run needs.
pub struct Laboratory<'a> {
    scenario: &'a Scenario,
    inputs: &'a LinkInputs,
    run: &'a Run,
    options: &'a Options<'a>,
    settings: Settings,
    /// The first is the one with a law.
    sites: Vec<Site>,
    /// The site and address of each workload.
    homes: Vec<Home>,
    window: Window,
    /// Set as soon as the run has to end.
    halt: AtomicBool,
}

impl<'a> Laboratory<'a> {
    /// Makes the hosts.
    ///
    /// # Errors
    /// Without root or a TUN driver, or when the kernel lacks the congestion control.
    pub fn build(
        scenario: &'a Scenario,
        inputs: &'a LinkInputs,
        run: &'a Run,
        options: &'a Options<'a>,
    ) -> Result<Self> {
        let settings = Settings::of(&scenario.hosts, run, scenario.seed);
        own::check(&settings.own_tcp, &scenario.workloads)?;
        let (sites, homes) = site::build(scenario, &settings)?;
        Ok(Self {
            sites,
            homes,
            window: Window {
                warmup: Instant::from_secs_f64(scenario.warmup_s),
                end: Instant::from_secs_f64(scenario.duration_s),
            },
            halt: AtomicBool::new(false),
            scenario,
            inputs,
            run,
            options,
            settings,
        })
    }

    /// Runs it; none if it was stopped. Reports to `progress` from time to time.
    ///
    /// # Errors
    /// When a part of it fails.
    pub fn run(&self, progress: Progress) -> Result<Option<RunResult>> {
        let warnings = Mutex::new(self.warn_of_commands());
        let workloads = 0..self.homes.len();
        let contexts: Vec<TaskContext> = workloads
            .map(|number| self.context(number, &warnings))
            .collect::<Result<_>>()?;
        let mut applications = Applications::default();
        for (number, workload) in self.scenario.workloads.iter().enumerate() {
            let server = &self.site_of(number).server.namespace;
            server.run(|| applications.add(number, workload, &contexts[number]))?;
        }
        let tasks = std::mem::take(&mut applications.tasks);
        let Observed {
            record,
            samples,
            machine_cpu,
        } = self.perform(tasks, &applications, &contexts, progress)?;
        if self.is_stopped() {
            return Ok(None);
        }
        let outcome = RunRecord {
            record,
            samples,
            applications,
            window: self.window,
            ways: self.sites[0].ways(),
            plumbing_losses: self.plumbing_losses(&contexts)?,
            machine_cpu,
            warnings: warnings.into_inner().unwrap_or_default(),
        };
        let mut result = outcome.result(
            self.run,
            &self.settings.congestion_control,
            (&self.scenario.hops, self.inputs),
            self.options.series,
        );
        [result.own_law, result.own_server_law] =
            own::law_names(&self.scenario.workloads, self.run, self.options);
        Ok(Some(result))
    }

    /// Starts every thread, watches them until the end, and collects their records.
    fn perform(
        &self,
        tasks: Vec<Task>,
        applications: &Applications,
        contexts: &[TaskContext],
        progress: Progress,
    ) -> Result<Observed> {
        let _awake = Awake::keep();
        let mut steering = self.attach()?;
        let flows = &applications.flows;
        let clock = Clock::start();
        let observed = thread::scope(|scope| -> Result<Observed> {
            // Even after an error, threads must not wait for the end of the run.
            let halting = HaltOnDrop(Some(&self.halt));
            let term = |end| Term {
                clock,
                end,
                halt: &self.halt,
            };
            let emulator = self.emulator(clock);
            let emulator = self.spawn(scope, "emulator", None, || emulator.run(&self.halt))?;
            let own_hosts: Vec<_> = self
                .sites
                .iter()
                .flat_map(Site::ends)
                .filter_map(Host::own)
                .map(|host| self.spawn(scope, "tcp", None, move || host.run(clock, &self.halt)))
                .collect::<Result<_>>()?;
            let steering = &mut steering[..];
            let sampler = self.spawn(scope, "sampler", None, move || {
                Ok(Samples::collect(flows, steering, &term(self.window.end)))
            })?;
            let workers: Result<Vec<_>> = tasks
                .into_iter()
                .map(|task| {
                    let context = &contexts[task.workload];
                    self.start(scope, task, context, term)
                })
                .collect();
            let machine_cpu = self.watch(clock, progress);
            drop(halting);
            // A worker's error comes first: it is nearer to the cause than the errors that follow from it.
            for worker in workers? {
                joined(worker)?;
            }
            for host in own_hosts {
                joined(host)?;
            }
            Ok(Observed {
                record: joined(emulator)?,
                samples: joined(sampler)?,
                machine_cpu: machine_cpu?,
            })
        })?;
        for (steering, side) in steering.into_iter().zip(self.steered_sides()) {
            self.host(side).namespace.run(|| steering.finish())?;
        }
        Ok(observed)
    }

    /// The hosts at which the run has a law.
    fn steered_sides(&self) -> impl Iterator<Item = Side> {
        let sides = [Side::Client, Side::Server].into_iter();
        sides.filter(|&side| !self.run.law_of(side).is_none())
    }

    /// Attaches an agent to each of them.
    fn attach(&self) -> Result<Vec<Box<dyn Steering>>> {
        self.steered_sides()
            .map(|side| self.attach_to(side))
            .collect()
    }

    fn attach_to(&self, side: Side) -> Result<Box<dyn Steering>> {
        let law = self.run.law_of(side).name();
        let steer = self
            .options
            .steer
            .with_context(|| format!("law \"{law}\" needs the agent, and there is none here"))?;
        let host = self.host(side);
        let interface = host.interface().with_context(|| {
            let side = side.name();
            format!("law \"{law}\" needs the kernel's TCP at the {side}")
        })?;
        host.namespace
            .run(|| steer.attach(self.run, side, interface))
    }

    /// The host on that side of the site with a law.
    fn host(&self, side: Side) -> &Host {
        self.sites[0].host(side)
    }

    /// The site of a workload.
    fn site_of(&self, workload: usize) -> &Site {
        &self.sites[self.homes[workload].site]
    }

    /// The context of the tasks of that workload.
    fn context<'b>(
        &'b self,
        number: usize,
        warnings: &'b Mutex<Vec<String>>,
    ) -> Result<TaskContext<'b>> {
        let version = self.options.ip;
        let [client, server] = self.transports(number)?;
        Ok(TaskContext {
            client_address: address(Side::Client, version),
            server_address: server_address(self.homes[number].address, version),
            client,
            server,
            commands: &self.options.commands,
            output: &self.options.output,
            end: self.window.end,
            warnings,
        })
    }

    /// The transports of that workload, at both ends.
    fn transports(&self, number: usize) -> Result<[Transport; 2]> {
        let (site, workload) = (self.site_of(number), &self.scenario.workloads[number]);
        if takes_quic(self.run, workload) {
            let control = Control::of(&self.scenario.hosts, self.run, workload)?;
            let quic = Arc::new(Quic::new(control, self.settings.initial_window)?);
            return Ok([Transport::Quic(quic.clone()), Transport::Quic(quic)]);
        }
        let named = workload.congestion_control.as_deref();
        let in_kernel = named.map(|name| of_kernel(name, &self.settings.own_tcp));
        let congestion_control = own::sender(workload, &self.settings, self.options)?;
        let law = own::law(workload, self.run, &self.settings, self.options)?;
        let own = |side| Own {
            congestion_control: congestion_control.clone(),
            law: law.clone().filter(|_| side != workload.sender()),
        };
        let [client, server] = site.ends();
        Ok([(client, Side::Client), (server, Side::Server)]
            .map(|(host, side)| host.transport(site.multipath, in_kernel, own(side))))
    }

    fn plumbing_losses(&self, contexts: &[TaskContext]) -> Result<u64> {
        let hosts = self.sites.iter().flat_map(Site::hosts);
        let devices: u64 = hosts.map(Host::plumbing_losses).sum::<Result<_>>()?;
        let sockets: u64 = contexts.iter().map(|context| context.client.losses()).sum();
        Ok(devices + sockets)
    }

    fn emulator(&self, clock: Clock) -> Emulator<'_> {
        let (ports, topology) = site::connect(self.scenario, &self.sites);
        let seed = self.scenario.seed;
        let mut lanes = vec![
            self.lane(&self.inputs.down, Direction::Down, seed),
            self.lane(&self.inputs.up, Direction::Up, seed.wrapping_add(1)),
        ];
        for (n, (hop, config)) in self.scenario.hops.iter().zip(&self.inputs.hops).enumerate() {
            let seed = seed.wrapping_add(2 + n as u64);
            lanes.push(self.lane(config, hop.direction, seed));
        }
        Emulator::between(ports, topology, lanes, clock, self.window)
    }

    fn lane(&self, link: &Config, direction: Direction, seed: u64) -> LaneConfig {
        let demand = demand(self.scenario, direction, &self.window);
        let record = LinkRecord::new(self.window, demand, true);
        (link.clone(), record, seed)
    }

    fn start<'scope, 'env>(
        &'env self,
        scope: &'scope Scope<'scope, 'env>,
        task: Task,
        context: &'env TaskContext,
        term: impl Fn(Instant) -> Term<'env>,
    ) -> Result<Handle<'scope, ()>> {
        let host = self.site_of(task.workload).at(task.place);
        let term = term(task.end);
        self.spawn(scope, "workload", Some(&host.namespace), move || {
            // The server's listeners are open already; its task need not start first.
            if !term.sleep_until(task.start) {
                return Ok(());
            }
            (task.work)(context, &term).with_context(|| format!("workload \"{}\"", task.name))
        })
    }

    /// Starts a thread, inside `namespace` if there is one. If it fails or panics the run is halted.
    fn spawn<'scope, 'env, T: Send + 'scope>(
        &'env self,
        scope: &'scope Scope<'scope, 'env>,
        name: &str,
        namespace: Option<&'env Namespace>,
        work: impl FnOnce() -> Result<T> + Send + 'scope,
    ) -> Result<Handle<'scope, T>> {
        let work = move || {
            let mut guard = HaltOnDrop(Some(&self.halt));
            namespace.map_or(Ok(()), Namespace::enter)?;
            let result = work()?;
            guard.0 = None;
            Ok(result)
        };
        thread::Builder::new()
            .name(name.into())
            .spawn_scoped(scope, work)
            .context("cannot start a thread")
    }

    /// Waits until the run ends, or is ended early. Returns the share of the machine that was busy after the warm-up.
    fn watch(&self, clock: Clock, mut progress: Progress) -> Result<f64> {
        const POLL_INTERVAL: Duration = Duration::from_millis(50);
        let mut warmup = None;
        loop {
            let now = clock.now();
            progress.elapsed = (now - Instant::ZERO).min(progress.duration);
            (self.options.progress)(&progress);
            if now >= self.window.end || self.halt.load(Ordering::Relaxed) || self.is_stopped() {
                break;
            }
            if now >= self.window.warmup && warmup.is_none() {
                warmup = Some(CpuTicks::now()?);
            }
            clock.sleep_until(self.window.end.min(now + POLL_INTERVAL));
        }
        let after = CpuTicks::now()?;
        Ok(warmup.map_or(0.0, |before| after.busy_share_since(&before)))
    }

    fn warn_of_commands(&self) -> Vec<String> {
        let is_command = |w: &Workload| matches!(w.does, WorkloadKind::Command { .. });
        let mut hosts = self.sites.iter().flat_map(Site::hosts);
        if hosts.all(|h| h.congestion_control_is_default)
            || !self.scenario.workloads.iter().any(is_command)
        {
            return Vec::new();
        }
        vec![format!(
            "commands do not use {name} by themselves, since net.ipv4.tcp_allowed_congestion_control \
             of this machine lacks it",
            name = self.settings.congestion_control
        )]
    }

    fn is_stopped(&self) -> bool {
        self.options.stop.load(Ordering::Relaxed)
    }
}

/// The records of a run's threads.
struct Observed {
    record: Record,
    samples: Samples,
    machine_cpu: f64,
}

type Handle<'scope, T> = ScopedJoinHandle<'scope, Result<T>>;

/// Halts the run unless it is disarmed.
struct HaltOnDrop<'a>(Option<&'a AtomicBool>);

impl Drop for HaltOnDrop<'_> {
    fn drop(&mut self) {
        if let Some(halt) = self.0 {
            halt.store(true, Ordering::Relaxed);
        }
    }
}

fn joined<T>(handle: Handle<'_, T>) -> Result<T> {
    handle
        .join()
        .unwrap_or_else(|panic| Err(anyhow!("a thread panicked: {}", panic_text(&*panic))))
}
