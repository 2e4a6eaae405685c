//! The hold beside an agent: its programs, the gate's process, and the thread that looks after both.

use super::controller::{Controller, News};
use super::view::HoldSnapshot;
use super::{Terms, echoes::Echoes};
use anyhow::{Context, Result};
use rand::RngExt;
use std::os::fd::{AsFd, BorrowedFd};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;
use tidegate_agent::{Agent, AgentError, Directions, Doorbell, HoldPrograms, Interface};
use tidegate_gate::{Gate, Limits};

/// Time between two looks at the records. A sender in slow start doubles its window each round trip: a flow that is
/// found 50 ms late has left slow start before its first echo is back, and its round trips must then be watched for
/// seconds.
const POLL_INTERVAL: Duration = Duration::from_millis(4);

/// Time between two looks when there is no flow and the doorbell is silent. We wake only to renew the lease, which
/// lasts a second.
const REST: Duration = Duration::from_millis(250);

/// The hold; it ends when this is dropped.
pub struct Hold {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
    controller: Arc<Mutex<Controller>>,
}

impl Hold {
    /// Makes the hold ready beside `agent`, for these directions, in the calling thread's network namespace, but on no
    /// interface yet. `bell` rings when there are news.
    ///
    /// # Errors
    /// If the kernel lacks what is needed.
    pub fn start(
        agent: &Agent,
        directions: Directions,
        bell: impl Fn() + Send + 'static,
    ) -> Result<Self> {
        let (id, secret) = rand::rng().random();
        let echoes = Echoes::new(id, secret)?;
        let held = HoldPrograms::load(agent, directions, id, secret)
            .context("load the hold's programs")?;
        let doorbell = held.doorbell()?;
        let gate = start_gate(&held.descriptors())?;
        let stop = Arc::new(AtomicBool::new(false));
        let controller = Arc::new(Mutex::new(Controller::new(gate, held, echoes)));
        let (kept, ended) = (controller.clone(), stop.clone());
        let thread = std::thread::Builder::new()
            .name("hold".into())
            .spawn(move || control(&kept, &doorbell, &ended, &bell))
            .context("start the hold's thread")?;
        Ok(Self {
            stop,
            thread: Some(thread),
            controller,
        })
    }

    fn controller(&self) -> MutexGuard<'_, Controller> {
        locked(&self.controller)
    }

    /// Applies these terms from now on, on the interfaces where they hold any flow.
    ///
    /// # Errors
    /// If the kernel refuses; then all stays as it was.
    pub fn set(&self, terms: &Terms, interfaces: &[Interface]) -> Result<(), AgentError> {
        self.controller().set(terms, interfaces)
    }

    /// Whether the gate's process has ended.
    pub fn is_without_gate(&self) -> bool {
        self.controller().is_without_gate()
    }

    /// Starts another gate in place of one that has ended. It gets the capabilities of the calling thread, since the
    /// hold's own has none.
    ///
    /// # Errors
    /// If the kernel refuses; then the hold stays without a gate.
    pub fn start_gate_again(&self) -> Result<()> {
        let descriptors = self.controller().descriptors()?;
        let gate = start_gate(&descriptors.each_ref().map(AsFd::as_fd))?;
        Ok(self.controller().take_gate(gate)?)
    }

    /// The news since the last call.
    pub fn news(&self) -> Vec<News> {
        self.controller().take_news()
    }

    /// The hold's state now.
    pub fn watch(&self) -> HoldSnapshot {
        self.controller().watch()
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Starts this program as a gate.
fn start_gate(descriptors: &[BorrowedFd]) -> Result<Gate> {
    let path = std::env::current_exe().context("find this program")?;
    // After an upgrade the file is another program, whose records may have another layout.
    let mut program = match path.exists() {
        true => Command::new(path),
        false => Command::new("/proc/self/exe"),
    };
    program.arg("gate");
    Ok(Gate::start(program, Limits::default(), descriptors)?)
}

/// Runs until it is asked to stop.
fn control(
    controller: &Mutex<Controller>,
    doorbell: &Doorbell,
    stop: &AtomicBool,
    bell: &dyn Fn(),
) {
    // All descriptors are open, so this thread needs no capability any more. An error means that it had none to give
    // up.
    let _ = tidegate_agent::drop_capabilities();
    while !stop.load(Ordering::Relaxed) {
        let (goes_on, news, rests) = {
            let mut controller = locked(controller);
            (controller.step(), controller.has_news(), controller.rests())
        };
        if news {
            bell();
        }
        if rests || !goes_on {
            doorbell.wait(REST);
        } else {
            std::thread::sleep(POLL_INTERVAL);
        }
    }
    locked(controller).let_go();
}

fn locked(controller: &Mutex<Controller>) -> MutexGuard<'_, Controller> {
    controller.lock().unwrap_or_else(PoisonError::into_inner)
}
