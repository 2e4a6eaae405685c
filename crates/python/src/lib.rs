//! The simulator and the laboratory for Python: `tidegate._native`, on which the package in `python/tidegate` is built.
//!
//! This crate does what Python cannot do: read and check scenarios, run them on threads without the interpreter's lock,
//! and pass results on as Arrow. The interface for people is in Python.

mod errors;
mod execute;
mod gym;
mod laboratory;
mod own;
mod plan;
mod reading;
mod results;
mod session;
mod shipped;
mod sweep;
mod table;
mod tables;
mod values;

use pyo3::prelude::*;

/// The contents of the module.
#[pymodule]
mod _native {
    #[pymodule_export]
    use super::execute::Stop;
    #[pymodule_export]
    use super::gym::{Episode, Task, Vector};
    #[pymodule_export]
    use super::own::{ReceiverView, SenderView};
    #[pymodule_export]
    use super::plan::{Plan, parse};
    #[pymodule_export]
    use super::results::Results;
    #[pymodule_export]
    use super::session::{FlowView, LinkView, Session};
    #[pymodule_export]
    use super::shipped::{shipped, shipped_names};
    #[pymodule_export]
    use super::sweep::{Sweep, Written};
    #[pymodule_export]
    use super::table::{Table, mean, ratio};
    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))?;
        module.add("COMMIT", env!("TIDEGATE_COMMIT"))?;
        module.add("BEHAVIOUR_VERSION", tidegate_sim::BEHAVIOUR_VERSION)
    }
}
