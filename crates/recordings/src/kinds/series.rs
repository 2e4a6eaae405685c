//! Steps that all time series share.

use crate::samples::Sample;
use crate::sessions::choose;
use crate::steps::{Holds, steps};
use crate::{Direction, Form, Import, Kind, Options, Recorded, Refused};

/// The import that results from samples.
pub fn import(
    kind: Kind,
    samples: Vec<Sample>,
    holds: Holds,
    options: &Options,
    is: String,
) -> Result<Import, Refused> {
    let longest = match holds {
        Holds::AsARule => options.longest_gap,
        // A sample that holds until the next one leaves no gaps.
        Holds::UntilTheNext => std::time::Duration::MAX,
    };
    let samples = choose(samples, options.session.as_deref(), longest)?;
    let (steps, notes) = steps(samples, holds, options.longest_gap)?;
    Ok(Import {
        kind,
        recorded: Recorded::Rates(steps),
        form: Form::Series,
        is,
        notes,
    })
}

/// Refuses a direction for a kind that has only one.
pub fn only_down(kind: Kind, options: &Options) -> Result<(), Refused> {
    match options.direction {
        Some(Direction::Up) => Err(Refused::whole(format!(
            "a file of kind {kind} has one direction, found --direction up; leave it out"
        ))),
        _ => Ok(()),
    }
}

/// Refuses a session for a file without sessions.
pub fn no_session(kind: Kind, options: &Options) -> Result<(), Refused> {
    match &options.session {
        Some(_) => Err(Refused::whole(format!(
            "a file of kind {kind} has no sessions, found --session; leave it out"
        ))),
        None => Ok(()),
    }
}
