//! A receiver's law.

use super::Trouble;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tidegate_sim::{Arrival, OwnLaw};

/// The view of a law when data arrive: one object for a connection's life, which always shows the present.
#[pyclass(frozen, module = "tidegate._native")]
pub struct ReceiverView(Mutex<Arrival>);

impl ReceiverView {
    fn lock(&self) -> MutexGuard<'_, Arrival> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn ms(duration: Duration) -> f64 {
    duration.as_nanos() as f64 / 1e6
}

#[pymethods]
impl ReceiverView {
    /// Virtual time since the start of the run.
    #[getter]
    fn now_ms(&self) -> f64 {
        ms(self.lock().now)
    }

    /// Payload of the segment that has arrived, whether or not it came before.
    #[getter]
    fn bytes(&self) -> u32 {
        self.lock().bytes
    }

    /// Bytes that have arrived in order since the connection's start.
    #[getter]
    fn in_order_bytes(&self) -> u64 {
        self.lock().in_order_bytes
    }

    /// Bytes that the application has read.
    #[getter]
    fn read_bytes(&self) -> u64 {
        self.lock().read_bytes
    }

    /// The round trip that this segment ends; none if it ends none.
    #[getter]
    fn rtt_ms(&self) -> Option<f64> {
        self.lock().rtt.map(ms)
    }

    /// The smallest round trip; none before the first.
    #[getter]
    fn min_rtt_ms(&self) -> Option<f64> {
        self.lock().rtt_min.map(ms)
    }

    /// How long the segment has waited in queues, by the sender's timestamps; none where that is not known.
    #[getter]
    fn queue_delay_ms(&self) -> Option<f64> {
        self.lock().queue_delay.map(ms)
    }

    /// Payload of a full segment, as far as is known.
    #[getter]
    fn segment_bytes(&self) -> u32 {
        self.lock().segment_bytes
    }

    /// The window that the host offered in its last acknowledgement; 0 before the first.
    #[getter]
    fn host_window_bytes(&self) -> u64 {
        self.lock().host_window
    }

    /// The window that the sender was told in it.
    #[getter]
    fn window_bytes(&self) -> u64 {
        self.lock().window
    }
}

/// An instance of a Python class.
#[derive(Debug)]
pub struct Law {
    data: Py<PyAny>,
    view: Py<ReceiverView>,
    /// The view alone: the arguments of `data`.
    arguments: Py<PyTuple>,
    trouble: Trouble,
}

/// Before the first arrival.
const NOTHING: Arrival = Arrival {
    now: Duration::ZERO,
    bytes: 0,
    in_order_bytes: 0,
    read_bytes: 0,
    rtt: None,
    rtt_min: None,
    queue_delay: None,
    segment_bytes: 0,
    host_window: 0,
    window: 0,
};

impl Law {
    /// An instance that `make` makes.
    ///
    /// # Errors
    /// Its exception; or the instance has no `data`.
    pub fn new(py: Python<'_>, make: &Bound<'_, PyAny>, trouble: &Trouble) -> PyResult<Self> {
        let object = make.call0()?;
        let view = Py::new(py, ReceiverView(Mutex::new(NOTHING)))?;
        Ok(Self {
            data: object.getattr("data")?.unbind(),
            arguments: PyTuple::new(py, [&view])?.unbind(),
            view,
            trouble: trouble.clone(),
        })
    }
}

impl OwnLaw for Law {
    fn arrives(&mut self, arrival: &Arrival) -> Option<u32> {
        self.trouble.calling(|py| {
            *self.view.get().lock() = *arrival;
            let answer = self.data.bind(py).call1(self.arguments.bind(py))?;
            window(&answer)
        })?
    }
}

/// A window in bytes. The host's own is smaller than the largest.
fn window(answer: &Bound<'_, PyAny>) -> PyResult<Option<u32>> {
    if answer.is_none() {
        return Ok(None);
    }
    let bytes: f64 = answer.extract().map_err(|error: PyErr| {
        let message = format!("data() answered {answer:?}, expected a window in bytes, or None");
        let wrong = PyErr::new::<pyo3::exceptions::PyTypeError, _>(message);
        wrong.set_cause(answer.py(), Some(error));
        wrong
    })?;
    if bytes >= 0.0 {
        return Ok(Some(bytes as u32));
    }
    let message = format!("data() answered {bytes}, expected 0 bytes or more, or None");
    Err(PyValueError::new_err(message))
}
