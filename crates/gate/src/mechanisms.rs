//! The kernel's mechanisms that can delay or reject packets.

use crate::GateError;
use crate::rules::{QueueBy, understood};
use crate::serve::QUEUES;
use serde::Serialize;
use tidegate_linux::netfilter::{Expression, has_queues};

/// The mechanisms of this kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Mechanisms {
    /// Netfilter queues, with the kind of rule that sends packets there; none if either is missing.
    pub queue: Option<QueueBy>,
    /// nf_tables' `reject`.
    pub reject: bool,
}

impl Mechanisms {
    /// Finds out by trying them in the calling thread's namespace, and leaves nothing there.
    ///
    /// # Errors
    /// If the kernel cannot be asked: without CAP_NET_ADMIN, or without nf_tables.
    pub fn here() -> Result<Self, GateError> {
        let [expression, target, reject] = understood([
            QueueBy::Expression.expression(*QUEUES.start()),
            QueueBy::Target.expression(*QUEUES.start()),
            Expression::reject(),
        ])
        .map_err(GateError::system("ask which expressions nf_tables has"))?;
        let queues = has_queues(QUEUES).is_ok();
        let by = [(QueueBy::Expression, expression), (QueueBy::Target, target)];
        Ok(Self {
            queue: by
                .into_iter()
                .find(|(_, is)| queues && *is)
                .map(|(by, _)| by),
            reject,
        })
    }
}
