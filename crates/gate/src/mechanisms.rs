//! What of the kernel's can make packets wait, or reject them.

use crate::GateError;
use crate::rules::{QueueBy, table_name};
use crate::serve::QUEUES;
use serde::Serialize;
use std::io;
use tidegate_netfilter::{Chain, Change, Expression, Family, Hook, Table, has_queues};

/// What this kernel has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Mechanisms {
    /// Netfilter queues, and by what rules send packets there; none if either is missing.
    pub queue: Option<QueueBy>,
    /// nf_tables' `reject`.
    pub reject: bool,
}

impl Mechanisms {
    /// Tries them in the calling thread's namespace, and leaves nothing there: all rules are of one
    /// transaction, which the kernel refuses for its last.
    ///
    /// # Errors
    /// If the kernel cannot be asked: without CAP_NET_ADMIN, or without nf_tables.
    pub fn here() -> Result<Self, GateError> {
        let [expression, target, reject] = rules_by([
            QueueBy::Expression.expression(*QUEUES.start()),
            QueueBy::Target.expression(*QUEUES.start()),
            Expression::reject(),
        ])?;
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

/// Whether rules may consist of these.
fn rules_by<const N: usize>(expressions: [Expression; N]) -> Result<[bool; N], GateError> {
    let cannot = || GateError::system("ask nf_tables what it has");
    let table = Table::new(Family::Inet, &table_name("check")).map_err(cannot())?;
    // Where an expression for packets that leave may stand, and one that rejects them.
    let chain = Chain {
        name: "check",
        kind: "filter",
        hook: Hook::Output,
        priority: 0,
    };
    let rules = expressions.map(|one| table.rule(chain.name, &[one]));
    let before = [table.create(), table.chain(&chain)];
    let nonsense = table.rule("none", &[]);
    let changes: Vec<Change> = before
        .iter()
        .cloned()
        .chain(rules)
        .chain([nonsense])
        .collect();
    let results = table.attempt(&changes).map_err(cannot())?;
    let mut results = results.into_iter();
    for result in results.by_ref().take(before.len()) {
        result.map_err(cannot())?;
    }
    let answers: Vec<bool> = results.take(N).map(|r: io::Result<()>| r.is_ok()).collect();
    Ok(answers.try_into().expect("an answer to each"))
}
