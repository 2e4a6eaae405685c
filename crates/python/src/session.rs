//! A run step by step.

use crate::errors::{unsupported, wrong};
use crate::own::Trouble;
use crate::plan::Plan;
use crate::reading::Variant;
use crate::results::Results;
use pyo3::exceptions::{PyIndexError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::{Duration, Instant};
use tidegate_gym::Shared;
use tidegate_sim::{Manual, Options};

/// The most virtual time between two checks of the real time.
const STRIDE: Duration = Duration::from_millis(100);
/// Time between two checks for an interrupt.
pub const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// A run that the caller steps.
#[pyclass(frozen, module = "tidegate._native")]
pub struct Session {
    /// None once it is finished.
    inner: Shared,
    /// The exceptions of laws and senders in Python.
    trouble: Trouble,
    calls_python: bool,
    plan: Py<Plan>,
}

/// The present state of a flow. Bytes and counts are since its start.
#[pyclass(frozen, get_all, module = "tidegate._native")]
pub struct FlowView {
    /// Whether data may flow.
    established: bool,
    /// Bytes of payload that the receiving application has received.
    received_bytes: u64,
    /// The sender's smoothed round trip; none before the first.
    srtt_ms: Option<f64>,
    /// The sender's last round trip; none before the first.
    last_rtt_ms: Option<f64>,
    /// The sender's smallest recent round trip; none before the first.
    min_rtt_ms: Option<f64>,
    /// The sender's congestion window in segments.
    cwnd_packets: u32,
    /// Segments that the sender believes in flight.
    in_flight_packets: u32,
    /// Payload of a full segment; 0 before the handshake is over.
    segment_bytes: u32,
    /// Bytes that the sender knows to have arrived, SYN and FIN included.
    acknowledged_bytes: u64,
    /// The window that the receiver has advertised.
    window_bytes: u64,
    /// The sender's pacing rate, if it has one.
    pacing_bps: Option<f64>,
    /// Segments sent, those sent again included.
    packets_sent: u64,
    /// Segments sent again.
    retransmits: u64,
    /// Retransmission timeouts.
    timeouts: u64,
}

/// The present state of a link. Packets and bytes are since the start of the run.
#[pyclass(frozen, get_all, module = "tidegate._native")]
pub struct LinkView {
    /// Packets that have arrived at it.
    arrived_packets: u64,
    /// Packets that have left it.
    delivered_packets: u64,
    /// Their bytes, IP headers included.
    delivered_bytes: u64,
    /// Packets that the queue has dropped.
    drops: u64,
    /// Packets that were lost after the queue.
    losses: u64,
    /// Packets in the queue.
    queued_packets: usize,
    /// Their bytes.
    queued_bytes: usize,
    /// Queueing delay of the last packet that left.
    queue_delay_ms: f64,
}

fn ms(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}

impl Session {
    /// The plan's only run, at its start.
    ///
    /// # Errors
    /// If the simulator does not have a feature that the run needs.
    pub fn new(
        py: Python<'_>,
        plan: Py<Plan>,
        variant: &Variant,
        mut options: Options,
    ) -> PyResult<Self> {
        let Variant {
            scenario, inputs, ..
        } = variant;
        let run = &scenario.runs[0];
        let trouble = Trouble::stopping(&options.stop);
        options.own = variant.own_of(run).map(|own| own.at_work(&trouble));
        let session = tidegate_sim::Session::new(scenario, inputs, run, &options);
        let session = session.map_err(|error| unsupported(py, &error))?;
        Ok(Self {
            inner: Arc::new(Mutex::new(Some(session))),
            trouble,
            calls_python: options.own.is_some(),
            plan,
        })
    }

    /// The same session, for an episode over it.
    pub fn shared(&self) -> Shared {
        Arc::clone(&self.inner)
    }

    /// The exceptions of laws and senders in Python.
    pub fn trouble(&self) -> Trouble {
        self.trouble.clone()
    }

    /// Does not wait with the interpreter's lock held: laws and senders in Python need that lock to finish.
    fn lock(&self) -> PyResult<MutexGuard<'_, Option<tidegate_sim::Session>>> {
        match self.inner.try_lock() {
            Ok(guard) => Ok(guard),
            Err(TryLockError::Poisoned(poisoned)) => Ok(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) if self.calls_python => {
                let message = "the session is being advanced: laws and senders see it by what they are called with";
                Err(PyRuntimeError::new_err(message))
            }
            Err(TryLockError::WouldBlock) => {
                Ok(self.inner.lock().unwrap_or_else(PoisonError::into_inner))
            }
        }
    }

    fn with<T>(&self, look: impl FnOnce(&mut tidegate_sim::Session) -> T) -> PyResult<T> {
        let finished = || PyValueError::new_err("the session is finished");
        self.lock()?.as_mut().map(look).ok_or_else(finished)
    }

    /// Raises the exception of Python code, which ends the session.
    fn check(&self) -> PyResult<()> {
        let Some(error) = self.trouble.take() else {
            return Ok(());
        };
        self.lock()?.take();
        Err(error)
    }
}

#[pymethods]
impl Session {
    /// Seconds of virtual time since the start.
    #[getter]
    fn now_s(&self) -> PyResult<f64> {
        self.with(|session| session.now().as_secs_f64())
    }

    /// How long the run is.
    #[getter]
    fn duration_s(&self) -> PyResult<f64> {
        self.with(|session| session.duration().as_secs_f64())
    }

    /// Whether it has come to its end.
    #[getter]
    fn is_over(&self) -> PyResult<bool> {
        self.with(|session| session.is_over())
    }

    /// Names of the flows.
    #[getter]
    fn flows(&self) -> PyResult<Vec<String>> {
        self.with(|session| {
            let numbers = 0..session.flows();
            numbers
                .filter_map(|flow| session.flow_name(flow).map(str::to_owned))
                .collect()
        })
    }

    /// Goes on by `milliseconds`, or to the end.
    fn advance(&self, py: Python<'_>, milliseconds: f64) -> PyResult<()> {
        if !(0.0..=1e12).contains(&milliseconds) {
            let message = format!("{milliseconds}, expected 0 or more (milliseconds)");
            return Err(wrong(py, "ms", message));
        }
        let mut left = Duration::from_secs_f64(milliseconds / 1e3);
        loop {
            left = py.detach(|| self.with(|session| advance(session, left)))?;
            self.check()?;
            py.check_signals()?;
            if left.is_zero() {
                return Ok(());
            }
        }
    }

    /// The present state of a flow, by its number.
    fn flow(&self, flow: usize) -> PyResult<FlowView> {
        let view = self.with(|session| session.flow(flow))?;
        let view = view.ok_or_else(|| PyIndexError::new_err(format!("there is no flow {flow}")))?;
        Ok(FlowView {
            established: view.established,
            received_bytes: view.received_bytes,
            srtt_ms: view.srtt.map(ms),
            last_rtt_ms: view.last_rtt.map(ms),
            min_rtt_ms: view.min_rtt.map(ms),
            cwnd_packets: view.cwnd_segments,
            in_flight_packets: view.in_flight_segments,
            segment_bytes: view.segment_bytes,
            acknowledged_bytes: view.acknowledged_bytes,
            window_bytes: view.window_bytes,
            pacing_bps: view.pacing_rate.map(|bytes| bytes as f64 * 8.0),
            packets_sent: view.segments_sent,
            retransmits: view.retransmits,
            timeouts: view.timeouts,
        })
    }

    /// The present state of a link, by its number: 0 down, 1 up, then the hops.
    fn link(&self, link: usize) -> PyResult<LinkView> {
        let view = self.with(|session| session.link(link))?;
        let view = view.ok_or_else(|| PyIndexError::new_err(format!("there is no link {link}")))?;
        Ok(LinkView {
            arrived_packets: view.arrived_packets,
            delivered_packets: view.delivered_packets,
            delivered_bytes: view.delivered_bytes,
            drops: view.dropped_packets,
            losses: view.lost_packets,
            queued_packets: view.queued_packets,
            queued_bytes: view.queued_bytes,
            queue_delay_ms: ms(view.queue_delay),
        })
    }

    /// Bits that the link could have carried in the milliseconds before now.
    fn capacity_bits(&self, link: usize, within_ms: f64) -> PyResult<f64> {
        let within = Duration::try_from_secs_f64(within_ms / 1e3)
            .map_err(|error| PyValueError::new_err(error.to_string()))?;
        let bytes = self.with(|session| session.capacity_bytes(link, within))?;
        Ok(bytes as f64 * 8.0)
    }

    /// Asks for a receive window; returns whether there is a connection.
    fn set_window(&self, flow: usize, bytes: Option<u32>) -> PyResult<bool> {
        self.with(|session| session.set_window(flow, bytes))
    }

    /// Sets the sender's window and rate; returns whether there is a connection.
    fn set_sender(
        &self,
        flow: usize,
        cwnd_packets: Option<u32>,
        pacing_bps: Option<f64>,
    ) -> PyResult<bool> {
        let told = Manual {
            cwnd: cwnd_packets,
            pacing_rate: pacing_bps.map(|bps| (bps / 8.0).max(1.0) as u64),
        };
        self.with(|session| session.set_sender(flow, told))
    }

    /// The results of the run, which first goes on to its end.
    fn finish(&self, py: Python<'_>) -> PyResult<Results> {
        let rest = self.with(|session| session.duration() - session.now())?;
        self.advance(py, ms(rest).ceil())?;
        let session = self.lock()?.take();
        let session = session.ok_or_else(|| PyValueError::new_err("the session is finished"))?;
        Ok(self.plan.get().results(vec![session.finish()]))
    }
}

/// Goes on until the next check is due; returns the time that is left.
fn advance(session: &mut tidegate_sim::Session, by: Duration) -> Duration {
    if by <= STRIDE {
        session.advance(by);
        return Duration::ZERO;
    }
    let began = Instant::now();
    let mut left = by;
    while !left.is_zero() && began.elapsed() < POLL_INTERVAL {
        if session.is_over() {
            return Duration::ZERO;
        }
        let stride = left.min(STRIDE);
        session.advance(stride);
        left -= stride;
    }
    left
}
