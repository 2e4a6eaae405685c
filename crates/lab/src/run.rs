//! Runs a scenario: one run after another, each in namespaces of its own.

use crate::clock::Clock;
use crate::emulator::{Emulator, Record, Window};
use crate::hosts::{Host, IpVersion, Settings};
use crate::machine::CpuTicks;
use crate::netns::{Namespace, panic_text};
use crate::outcome::Outcome;
use crate::sample::Samples;
use crate::steer::{Steer, Steering};
use crate::workload::{Cast, CommandOutput, Stage, Task, Term};
use anyhow::{Context, Result, anyhow};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, Scope, ScopedJoinHandle};
use std::time::Duration;
use tidegate_link::Instant;
use tidegate_scenario::{
    Law, LinkInputs, ResultSet, Run, RunResult, Scenario, Side, Workload, WorkloadKind,
};

/// How a scenario is run.
pub struct Options<'a> {
    /// Attaches the agent to the runs that have a law.
    pub steer: Option<&'a dyn Steer>,
    /// Ends everything soon after it is set, from a signal handler for example.
    pub stop: Arc<AtomicBool>,
    /// Called several times a second.
    pub progress: &'a (dyn Fn(&Progress) + Sync),
    /// Whether the result holds curves over time.
    pub series: bool,
    /// Version of IP that the workloads use.
    pub ip: IpVersion,
    /// Where commands write.
    pub output: CommandOutput,
}

impl Default for Options<'_> {
    /// No agent, no progress, no series, IPv4, commands write to standard error.
    fn default() -> Self {
        Self {
            steer: None,
            stop: Arc::default(),
            progress: &|_| {},
            series: false,
            ip: IpVersion::default(),
            output: CommandOutput::default(),
        }
    }
}

/// How far a scenario has come.
#[derive(Clone, Debug)]
pub struct Progress {
    /// Name of the run in hand.
    pub run: String,
    /// Its number, from 0.
    pub index: usize,
    /// How many runs there are.
    pub runs: usize,
    /// Time since the run's start.
    pub elapsed: Duration,
    /// How long the run lasts.
    pub duration: Duration,
}

/// Runs every run of `scenario`, in their order, and returns what they measured. `inputs` are the
/// scenario's own links (`Scenario::link_inputs`).
///
/// If [`Options::stop`] is set, the run in hand is abandoned and the result holds those before it.
///
/// # Errors
/// Without root or a TUN driver; when the kernel lacks a congestion control, a run has a law but no
/// agent is given, the agent fails, or data arrives that is not what was sent.
pub fn run_scenario(
    scenario: &Scenario,
    inputs: &LinkInputs,
    options: &Options,
) -> Result<ResultSet> {
    let mut results = ResultSet {
        scenario: scenario.name.clone(),
        description: scenario.description.clone(),
        runs: Vec::new(),
    };
    for (index, run) in scenario.runs.iter().enumerate() {
        let progress = Progress {
            run: run.name.clone(),
            index,
            runs: scenario.runs.len(),
            elapsed: Duration::ZERO,
            duration: Duration::from_secs_f64(scenario.duration_s),
        };
        let result = Laboratory::build(scenario, inputs, run, options)
            .and_then(|lab| lab.run(progress))
            .with_context(|| format!("run \"{}\"", run.name))?;
        match result {
            Some(result) => results.runs.push(result),
            None => break,
        }
    }
    Ok(results)
}

/// Everything that one run needs.
struct Laboratory<'a> {
    scenario: &'a Scenario,
    inputs: &'a LinkInputs,
    run: &'a Run,
    options: &'a Options<'a>,
    settings: Settings,
    client: Host,
    server: Host,
    window: Window,
    /// Set as soon as the run has to end.
    halt: AtomicBool,
}

impl<'a> Laboratory<'a> {
    fn build(
        scenario: &'a Scenario,
        inputs: &'a LinkInputs,
        run: &'a Run,
        options: &'a Options<'a>,
    ) -> Result<Self> {
        let settings = Settings::of(&scenario.hosts, run);
        Ok(Self {
            client: Host::new(Side::Client, &settings)?,
            server: Host::new(Side::Server, &settings)?,
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

    /// None if it was stopped.
    fn run(&self, progress: Progress) -> Result<Option<RunResult>> {
        let warnings = Mutex::new(self.warn_of_commands());
        let stage = Stage {
            version: self.options.ip,
            congestion_control: &self.settings.congestion_control,
            output: &self.options.output,
            end: self.window.end,
            warnings: &warnings,
        };
        let mut cast = Cast::prepare(&self.scenario.workloads, &stage, &self.server.namespace)?;
        let tasks = std::mem::take(&mut cast.tasks);
        let Observed {
            record,
            samples,
            machine_cpu,
        } = self.perform(tasks, &cast, &stage, progress)?;
        if self.is_stopped() {
            return Ok(None);
        }
        let outcome = Outcome {
            record,
            samples,
            cast,
            window: self.window,
            device_losses: self.client.plumbing_losses()? + self.server.plumbing_losses()?,
            machine_cpu,
            warnings: warnings.into_inner().unwrap_or_default(),
        };
        Ok(Some(outcome.result(
            self.run,
            &self.settings.congestion_control,
            self.inputs,
            self.options.series,
        )))
    }

    /// Starts every thread, watches over them until the end, and collects what they have seen.
    fn perform(
        &self,
        tasks: Vec<Task>,
        cast: &Cast,
        stage: &Stage,
        progress: Progress,
    ) -> Result<Observed> {
        let mut steering = self.attach()?;
        let flows = &cast.flows;
        let clock = Clock::start();
        let observed = thread::scope(|scope| -> Result<Observed> {
            // However this ends, the threads must not wait for the end of the run.
            let halting = HaltOnDrop(Some(&self.halt));
            let term = |end| Term {
                clock,
                end,
                halt: &self.halt,
            };
            let emulator = self.emulator(clock);
            let emulator = self.spawn(scope, "emulator", None, || emulator.run(&self.halt))?;
            let namespace = Some(&self.client.namespace);
            let steering = steering.as_deref_mut();
            let sampler = self.spawn(scope, "sampler", namespace, move || {
                Ok(Samples::collect(flows, steering, &term(self.window.end)))
            })?;
            let workers: Result<Vec<_>> = tasks
                .into_iter()
                .map(|task| self.start(scope, task, stage, term))
                .collect();
            let machine_cpu = self.watch(clock, progress);
            drop(halting);
            // Whatever a worker has to say is nearer to the cause than what follows from it.
            for worker in workers? {
                joined(worker)?;
            }
            Ok(Observed {
                record: joined(emulator)?,
                samples: joined(sampler)?,
                machine_cpu: machine_cpu?,
            })
        })?;
        if let Some(steering) = steering {
            self.client.namespace.run(|| steering.finish())?;
        }
        Ok(observed)
    }

    /// Attaches the agent, if the run has a law.
    fn attach(&self) -> Result<Option<Box<dyn Steering>>> {
        if self.run.law == Law::None {
            return Ok(None);
        }
        let law = self.run.law.name();
        let steer = self
            .options
            .steer
            .with_context(|| format!("law \"{law}\" needs the agent, and there is none here"))?;
        let interface = self.client.tun.name();
        self.client
            .namespace
            .run(|| steer.attach(self.run, interface))
            .map(Some)
    }

    fn emulator(&self, clock: Clock) -> Emulator<'_> {
        Emulator::new(
            (&self.client.tun, &self.server.tun),
            (self.inputs.down.clone(), self.inputs.up.clone()),
            self.scenario.seed,
            clock,
            self.window,
        )
    }

    fn start<'scope, 'env>(
        &'env self,
        scope: &'scope Scope<'scope, 'env>,
        task: Task,
        stage: &'env Stage,
        term: impl Fn(Instant) -> Term<'env>,
    ) -> Result<Handle<'scope, ()>> {
        let host = match task.side {
            Side::Client => &self.client,
            Side::Server => &self.server,
        };
        let term = term(task.end);
        self.spawn(scope, "workload", Some(&host.namespace), move || {
            // What the client connects to listens already; the server need not be first.
            if !term.sleep_until(task.start) {
                return Ok(());
            }
            (task.work)(stage, &term).with_context(|| format!("workload \"{}\"", task.name))
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

    /// Waits for the end, or for whatever ends the run early; share of the machine that was busy
    /// after the warm-up.
    fn watch(&self, clock: Clock, mut progress: Progress) -> Result<f64> {
        const LOOK: Duration = Duration::from_millis(50);
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
            clock.sleep_until(self.window.end.min(now + LOOK));
        }
        let after = CpuTicks::now()?;
        Ok(warmup.map_or(0.0, |before| after.busy_share_since(&before)))
    }

    fn warn_of_commands(&self) -> Vec<String> {
        let is_command = |w: &Workload| matches!(w.does, WorkloadKind::Command { .. });
        let hosts = [&self.client, &self.server];
        if hosts.iter().all(|h| h.congestion_control_is_default)
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

/// What the threads of a run have seen.
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
