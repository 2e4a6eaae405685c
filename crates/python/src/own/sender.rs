//! A sender's congestion control.

use super::Trouble;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tidegate_sim::cc::{AckSample, CongestionControl, Event, Recovery, Window};
use tidegate_sim::{Flight, Instant, RateSample};

/// The view of a sender, and its settings: one object for a connection's life, which always shows the present.
#[pyclass(frozen, module = "tidegate._native")]
pub struct SenderView(Mutex<Now>);

/// The present state of a sender.
struct Now {
    window: Window,
    flight: Flight,
    brought: Brought,
}

impl SenderView {
    fn lock(&self) -> MutexGuard<'_, Now> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn ms(duration: Duration) -> f64 {
    duration.as_nanos() as f64 / 1e6
}

fn wrong<T>(what: &str, value: impl std::fmt::Display, expected: &str) -> PyResult<T> {
    let message = format!("{what} is {value}, expected {expected}");
    Err(PyValueError::new_err(message))
}

#[pymethods]
impl SenderView {
    /// Virtual time since the start of the run.
    #[getter]
    fn now_ms(&self) -> f64 {
        self.lock().flight.now.as_nanos() as f64 / 1e6
    }

    /// Segments that this acknowledgement has newly delivered, in order or by SACK.
    #[getter]
    fn acked_packets(&self) -> u32 {
        self.lock().brought.acked
    }

    /// Segments delivered since the start.
    #[getter]
    fn delivered_packets(&self) -> u64 {
        self.lock().flight.delivered
    }

    /// Segments believed lost since the start.
    #[getter]
    fn lost_packets(&self) -> u64 {
        self.lock().flight.lost
    }

    /// Segments in flight.
    #[getter]
    fn in_flight_packets(&self) -> u32 {
        self.lock().flight.in_flight
    }

    /// Payload of a full segment.
    #[getter]
    fn segment_bytes(&self) -> u32 {
        self.lock().flight.mss
    }

    /// The round trip that this acknowledgement has measured; none if it has not.
    #[getter]
    fn rtt_ms(&self) -> Option<f64> {
        self.lock().brought.rtt.map(ms)
    }

    /// The smoothed round trip; none before the first.
    #[getter]
    fn srtt_ms(&self) -> Option<f64> {
        self.lock().flight.srtt.map(ms)
    }

    /// The smallest round trip of the last 300 s; none before the first.
    #[getter]
    fn min_rtt_ms(&self) -> Option<f64> {
        self.lock().flight.min_rtt.map(ms)
    }

    /// Payload delivered over the last round trip, in bit/s; none where it is not known.
    #[getter]
    fn delivery_bps(&self) -> Option<f64> {
        let now = self.lock();
        let (segments, time) = now.brought.delivered?;
        Some(segments as f64 * f64::from(now.flight.mss) * 8.0 / time.as_secs_f64())
    }

    /// Whether the window has limited what was sent.
    #[getter]
    fn cwnd_limited(&self) -> bool {
        self.lock().flight.cwnd_limited
    }

    /// Whether the application had nothing more to send.
    #[getter]
    fn app_limited(&self) -> bool {
        self.lock().flight.app_limited
    }

    /// The state of loss recovery: `open`, `disorder`, `recovery` or `loss`.
    #[getter]
    fn recovery(&self) -> &'static str {
        match self.lock().flight.recovery {
            Recovery::Open => "open",
            Recovery::Disorder => "disorder",
            Recovery::Cwr => "cwr",
            Recovery::Recovery => "recovery",
            Recovery::Loss => "loss",
        }
    }

    /// Congestion window in segments.
    #[getter]
    fn cwnd_packets(&self) -> u32 {
        self.lock().window.cwnd
    }

    #[setter]
    fn set_cwnd_packets(&self, packets: i64) -> PyResult<()> {
        let Some(cwnd) = u32::try_from(packets).ok().filter(|&cwnd| cwnd >= 1) else {
            return wrong("cwnd_packets", packets, "1 or more segments");
        };
        self.lock().window.cwnd = cwnd;
        Ok(())
    }

    /// Slow-start threshold in segments; 2147483647 until the first loss.
    #[getter]
    fn ssthresh_packets(&self) -> u32 {
        self.lock().window.ssthresh
    }

    #[setter]
    fn set_ssthresh_packets(&self, packets: i64) -> PyResult<()> {
        let Some(ssthresh) = u32::try_from(packets).ok().filter(|&packets| packets >= 1) else {
            return wrong("ssthresh_packets", packets, "1 or more segments");
        };
        self.lock().window.ssthresh = ssthresh;
        Ok(())
    }

    /// Segments acknowledged towards the window's next increase; 0 again when the window is reduced.
    #[getter]
    fn cwnd_count(&self) -> u32 {
        self.lock().window.count
    }

    #[setter]
    fn set_cwnd_count(&self, packets: i64) -> PyResult<()> {
        let Ok(count) = u32::try_from(packets) else {
            return wrong("cwnd_count", packets, "0 or more segments");
        };
        self.lock().window.count = count;
        Ok(())
    }

    /// Bit/s at which to send; none: as fast as the window allows.
    #[getter]
    fn pacing_bps(&self) -> Option<f64> {
        let rate = self.lock().window.pacing_rate;
        rate.map(|bytes| bytes as f64 * 8.0)
    }

    #[setter]
    fn set_pacing_bps(&self, bps: Option<f64>) -> PyResult<()> {
        if let Some(bps) = bps.filter(|bps| !(8.0..1e15).contains(bps)) {
            return wrong("pacing_bps", bps, "8 to 1e15 bit/s, or None");
        }
        self.lock().window.pacing_rate = bps.map(|bps| (bps / 8.0) as u64);
        Ok(())
    }
}

/// An instance of a Python class.
#[derive(Debug)]
pub struct Sender {
    methods: Methods,
    /// `ack` is called for every acknowledgement, in recovery too, and it alone sets window and rate.
    every_ack: bool,
    caller: Caller,
    /// The round trip of the current acknowledgement.
    rtt: Option<Duration>,
    /// The window set at a loss, until recovery begins.
    requested: Option<Window>,
    next_step: Option<Instant>,
}

/// Its methods; only `ack` is required.
#[derive(Debug)]
struct Methods {
    start: Option<Py<PyAny>>,
    sample: Option<Py<PyAny>>,
    ack: Py<PyAny>,
    loss: Option<Py<PyAny>>,
    timeout: Option<Py<PyAny>>,
    step: Option<Py<PyAny>>,
}

/// The arguments of the methods.
#[derive(Debug)]
struct Caller {
    /// The view, from the first call on, and a tuple of it as arguments.
    view: Option<(Py<SenderView>, Py<PyTuple>)>,
    trouble: Trouble,
}

/// The contents of an acknowledgement.
#[derive(Clone, Copy, Default)]
struct Brought {
    acked: u32,
    rtt: Option<Duration>,
    delivered: Option<(u64, Duration)>,
}

impl Caller {
    /// Calls a method with the sender's present state, uses the window that it sets, and returns its answer.
    fn call<T>(
        &mut self,
        method: &Py<PyAny>,
        w: &mut Window,
        f: &Flight,
        brought: Brought,
        take: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<T>,
    ) -> Option<T> {
        let view = &mut self.view;
        self.trouble.calling(|py| {
            let now = Now {
                window: *w,
                flight: *f,
                brought,
            };
            let (view, arguments) = match view {
                Some(both) => {
                    *both.0.get().lock() = now;
                    both
                }
                none => {
                    let view = Py::new(py, SenderView(Mutex::new(now)))?;
                    let arguments = PyTuple::new(py, [&view])?.unbind();
                    none.insert((view, arguments))
                }
            };
            let answer = method.bind(py).call1(arguments.bind(py))?;
            *w = view.get().lock().window;
            take(&answer)
        })
    }

    /// The same for an optional method without an answer.
    fn tell(&mut self, method: Option<&Py<PyAny>>, w: &mut Window, f: &Flight, brought: Brought) {
        if let Some(method) = method {
            self.call(method, w, f, brought, |_| Ok(()));
        }
    }
}

impl Sender {
    /// An instance that `make` makes.
    ///
    /// # Errors
    /// Its exception; or the instance has no `ack`.
    pub fn new(make: &Bound<'_, PyAny>, trouble: &Trouble) -> PyResult<Self> {
        let object = make.call0()?;
        let optional = |name| -> PyResult<Option<Py<PyAny>>> {
            Ok(object.getattr_opt(name)?.map(Bound::unbind))
        };
        let every_ack = object.getattr_opt("every_ack")?;
        Ok(Self {
            every_ack: every_ack.map_or(Ok(false), |flag| flag.is_truthy())?,
            methods: Methods {
                start: optional("start")?,
                sample: optional("sample")?,
                ack: object.getattr("ack")?.unbind(),
                loss: optional("loss")?,
                timeout: optional("timeout")?,
                step: optional("step")?,
            },
            caller: Caller {
                view: None,
                trouble: trouble.clone(),
            },
            rtt: None,
            requested: None,
            next_step: None,
        })
    }

    fn acknowledged(&mut self, w: &mut Window, f: &Flight, brought: Brought) {
        self.caller
            .call(&self.methods.ack, w, f, brought, |_| Ok(()));
    }
}

/// Milliseconds until the next step; none: there is none.
fn further(answer: &Bound<'_, PyAny>) -> PyResult<Option<Duration>> {
    let Some(ms) = answer.extract::<Option<f64>>()? else {
        return Ok(None);
    };
    if !(0.001..1e12).contains(&ms) {
        return wrong("what step() answers", ms, "0.001 ms or more, or None");
    }
    Ok(Some(Duration::from_secs_f64(ms / 1e3)))
}

impl CongestionControl for Sender {
    fn init(&mut self, w: &mut Window, f: &Flight) {
        let nothing = Brought::default();
        self.caller.tell(self.methods.start.as_ref(), w, f, nothing);
        self.step(w, f);
    }

    fn pkts_acked(&mut self, w: &mut Window, f: &Flight, sample: &AckSample) {
        self.rtt = sample.rtt;
        let brought = Brought {
            acked: sample.acked,
            rtt: sample.rtt,
            delivered: None,
        };
        self.caller
            .tell(self.methods.sample.as_ref(), w, f, brought);
    }

    fn ssthresh(&mut self, w: &Window, f: &Flight) -> u32 {
        let ssthresh = if self.every_ack { w.cwnd } else { w.cwnd / 2 };
        let mut requested = Window {
            ssthresh: ssthresh.max(2),
            ..*w
        };
        let nothing = Brought::default();
        self.caller
            .tell(self.methods.loss.as_ref(), &mut requested, f, nothing);
        self.requested = Some(requested);
        requested.ssthresh
    }

    fn set_state(&mut self, w: &mut Window, _f: &Flight, state: Recovery) {
        let Some(requested) = self.requested.take() else {
            return;
        };
        w.pacing_rate = requested.pacing_rate;
        // Otherwise PRR leads the window to the threshold. After a timeout the window begins anew for every sender.
        if self.every_ack && state == Recovery::Recovery {
            w.cwnd = requested.cwnd;
        }
    }

    fn event(&mut self, w: &mut Window, f: &Flight, event: Event) {
        if event == Event::Timeout {
            let nothing = Brought::default();
            if let Some(requested) = self.requested.take() {
                w.pacing_rate = requested.pacing_rate;
            }
            self.caller
                .tell(self.methods.timeout.as_ref(), w, f, nothing);
        }
    }

    fn cong_avoid(&mut self, w: &mut Window, f: &Flight, acked: u32) {
        let brought = Brought {
            acked,
            rtt: self.rtt,
            delivered: None,
        };
        self.acknowledged(w, f, brought);
    }

    fn controls_rate(&self) -> bool {
        self.every_ack
    }

    fn control(&mut self, w: &mut Window, f: &Flight, sample: &RateSample) {
        let brought = Brought {
            acked: sample.acked_sacked,
            rtt: sample.rtt,
            delivered: sample.delivered,
        };
        self.acknowledged(w, f, brought);
    }

    fn undo_cwnd(&mut self, w: &Window, _f: &Flight) -> u32 {
        if self.every_ack {
            return w.cwnd;
        }
        w.cwnd.max(w.prior_cwnd)
    }

    fn next_step(&self) -> Option<Instant> {
        self.next_step
    }

    fn step(&mut self, w: &mut Window, f: &Flight) {
        self.next_step = None;
        if let Some(step) = &self.methods.step {
            let answer = self.caller.call(step, w, f, Brought::default(), further);
            self.next_step = answer.flatten().map(|further| f.now + further);
        }
    }
}
