//! Laws and senders in Python: classes; each connection gets an instance.
//!
//! Their exceptions cannot pass through the simulator: the first is kept ([`Trouble`]), the run is stopped, and the
//! caller of the run raises it. From then on no Python code is called any more.

mod law;
mod sender;

pub use law::ReceiverView;
pub use sender::SenderView;

use pyo3::prelude::*;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tidegate_scenario::{Side, Workload};
use tidegate_sim::{Own, Place};
use tidegate_tcp::cc::{CongestionControl, Factory};
use tidegate_tcp::steer::{Arrival, LawFactory, OwnLaw};

/// A Python class, as `_own.py` describes it.
#[derive(Debug, FromPyObject)]
pub struct Code {
    /// Makes an instance.
    make: Py<PyAny>,
    /// Its name in results.
    name: String,
    /// What identifies its behaviour, if the class states it.
    identity: Option<String>,
}

/// A run's laws and senders in Python.
#[derive(Debug, FromPyObject)]
pub struct Codes {
    law: Option<Code>,
    server_law: Option<Code>,
    congestion_control: Option<Code>,
    /// What of its workloads is, by their names.
    workloads: BTreeMap<String, WorkloadCodes>,
}

/// What of a workload is Python's, in every run.
#[derive(Debug, FromPyObject)]
struct WorkloadCodes {
    law: Option<Code>,
    congestion_control: Option<Code>,
}

impl Codes {
    /// Each by the scenario's key that it replaces.
    fn all(&self) -> impl Iterator<Item = (String, &Code)> {
        let of_run = [
            ("law".to_owned(), &self.law),
            ("server_law".to_owned(), &self.server_law),
            ("congestion_control".to_owned(), &self.congestion_control),
        ];
        let of_workloads = self.workloads.iter().flat_map(|(name, codes)| {
            let place = |key| format!("workload.{name}.{key}");
            let WorkloadCodes {
                law,
                congestion_control,
            } = codes;
            [
                (place("law"), law),
                (place("congestion_control"), congestion_control),
            ]
        });
        let all = of_run.into_iter().chain(of_workloads);
        all.filter_map(|(place, code)| Some((place, code.as_ref()?)))
    }

    /// The law for data of that workload that arrive at that host.
    fn law_at(&self, place: &Place<'_>) -> Option<&Code> {
        let of_workload = self.workloads.get(place.workload);
        let of_workload = of_workload.and_then(|codes| codes.law.as_ref());
        of_workload.or_else(|| self.law_of(place.side))
    }

    fn congestion_control_at(&self, place: &Place<'_>) -> Option<&Code> {
        let of_workload = self.workloads.get(place.workload);
        let of_workload = of_workload.and_then(|codes| codes.congestion_control.as_ref());
        of_workload.or(self.congestion_control.as_ref())
    }

    fn law_of(&self, side: Side) -> Option<&Code> {
        match side {
            Side::Client => self.law.as_ref(),
            Side::Server => self.server_law.as_ref(),
        }
    }

    /// The identity of each, by place.
    ///
    /// # Errors
    /// The name of a class that does not state one.
    pub fn stated(&self) -> Result<Vec<(String, &str)>, &str> {
        let stated = self.all().map(|(place, code)| {
            let identity = code.identity.as_deref().ok_or(code.name.as_str())?;
            Ok((place, identity))
        });
        stated.collect()
    }

    /// The sender of a workload's data for the laboratory, unless the workload names another; exceptions are kept in
    /// `trouble`.
    pub fn sender(self: &Arc<Self>, trouble: &Trouble, workload: &Workload) -> Option<Factory> {
        if workload.congestion_control.is_some() {
            return None;
        }
        self.congestion_control_at(&place(&workload.name, workload.sender()))?;
        let (own, name, side) = (
            self.at_work(trouble),
            workload.name.clone(),
            workload.sender(),
        );
        Some(Factory::new(move |seed| {
            let sender = own.congestion_control(&place(&name, side));
            // Without one the run is about to end.
            sender.unwrap_or_else(|| Factory::default().build(seed))
        }))
    }

    /// The law for a workload's data for the laboratory, unless the workload names another.
    pub fn law(self: &Arc<Self>, trouble: &Trouble, workload: &Workload) -> Option<LawFactory> {
        if workload.law.is_some() {
            return None;
        }
        let side = workload.sender().opposite();
        let code = self.law_at(&place(&workload.name, side))?;
        let (own, name) = (self.at_work(trouble), workload.name.clone());
        Some(LawFactory::new(&code.name, move || {
            let law = own.law(&place(&name, side));
            law.unwrap_or_else(|| Box::new(NoLaw))
        }))
    }

    /// The name of the run's sender in Python.
    pub fn sender_name(&self) -> Option<&str> {
        Some(&self.congestion_control.as_ref()?.name)
    }

    /// For the simulator; exceptions are kept in `trouble`.
    pub fn at_work(self: &Arc<Self>, trouble: &Trouble) -> Arc<dyn Own> {
        Arc::new(AtWork {
            codes: Arc::clone(self),
            trouble: trouble.clone(),
        })
    }
}

/// The first exception, and the flag that stops its run.
#[derive(Clone, Default)]
pub struct Trouble {
    stop: Arc<AtomicBool>,
    raised: Arc<Mutex<Option<PyErr>>>,
}

impl fmt::Debug for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Trouble").field(&self.stop).finish()
    }
}

impl Trouble {
    /// Sets `stop` when an exception comes.
    pub fn stopping(stop: &Arc<AtomicBool>) -> Self {
        Self {
            stop: Arc::clone(stop),
            ..Self::default()
        }
    }

    /// Whether no Python code may be called any more.
    fn is_over(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Keeps an exception, if it is the first.
    pub fn keep(&self, error: PyErr) {
        let mut raised = self.raised.lock().unwrap_or_else(PoisonError::into_inner);
        raised.get_or_insert(error);
        self.stop.store(true, Ordering::Relaxed);
    }

    /// The exception, if there is one.
    pub fn take(&self) -> Option<PyErr> {
        let mut raised = self.raised.lock().unwrap_or_else(PoisonError::into_inner);
        raised.take()
    }

    /// Calls `call` with the interpreter's lock, unless all is over.
    fn calling<T>(&self, call: impl FnOnce(Python<'_>) -> PyResult<T>) -> Option<T> {
        if self.is_over() {
            return None;
        }
        Python::attach(|py| call(py).map_err(|error| self.keep(error)).ok())
    }
}

const fn place(workload: &str, side: Side) -> Place<'_> {
    Place { workload, side }
}

/// In place of a law that could not be made: the run is about to end.
#[derive(Debug)]
struct NoLaw;

impl OwnLaw for NoLaw {
    fn arrives(&mut self, _arrival: &Arrival) -> Option<u32> {
        None
    }
}

#[derive(Debug)]
struct AtWork {
    codes: Arc<Codes>,
    trouble: Trouble,
}

impl Own for AtWork {
    fn law(&self, place: &Place<'_>) -> Option<Box<dyn OwnLaw>> {
        let code = self.codes.law_at(place)?;
        let law = self
            .trouble
            .calling(|py| law::Law::new(py, code.make.bind(py), &self.trouble))?;
        Some(Box::new(law))
    }

    fn congestion_control(&self, place: &Place<'_>) -> Option<Box<dyn CongestionControl>> {
        let code = self.codes.congestion_control_at(place)?;
        let sender = self
            .trouble
            .calling(|py| sender::Sender::new(code.make.bind(py), &self.trouble))?;
        Some(Box::new(sender))
    }

    fn law_name(&self, side: Side) -> Option<&str> {
        Some(&self.codes.law_of(side)?.name)
    }

    fn congestion_control_name(&self) -> Option<&str> {
        self.codes.sender_name()
    }
}
