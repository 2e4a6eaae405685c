//! What limits a flow, in three or four words for people who know neither windows nor laws.

use crate::top::row::{Row, Seen};
use tidegate_agent::{Holding, Kind, Limit};

/// What limits the row's flow.
pub fn what(row: &Row) -> String {
    match (&row.seen, row.limit) {
        (Seen::Windowless(way), Limit::Hold(holding)) => held(way.kind, holding),
        (_, limit) => limited(limit).into(),
    }
}

fn limited(limit: Limit) -> &'static str {
    match limit {
        Limit::Law => "as fast as the queue allows",
        Limit::Promised => "slows down",
        Limit::Competing => "beside another machine",
        Limit::Rechecking => "the link is tested",
        Limit::Kernel => "this end takes no more",
        Limit::Sender => "its sender sends no faster",
        Limit::Application => "nothing is sent",
        Limit::Reader => "its program reads slowly",
        Limit::Starting => "the link is not known yet",
        Limit::Open => "no limit is needed",
        Limit::NoLaw => "only measured",
        Limit::NoTimestamps => "no timestamps",
        Limit::Closed => "has ended",
        Limit::LeftAlone(reason) => reason.short(),
        Limit::Windowless(kind) => kind.in_words(),
        Limit::Hold(_) => "may be held",
    }
}

fn held(kind: Kind, holding: Holding) -> String {
    let how = match holding {
        Holding::Held => "as fast as the queue allows",
        Holding::Sender => "its sender sends no faster",
        Holding::Watched | Holding::Asked => "whether it reacts is not known yet",
        Holding::NotBulk => "too little to matter",
        Holding::NotClocked => "its sender does not react",
        Holding::Unanswered => "its delay cannot be measured",
        Holding::NotHttp3 => "not HTTP/3",
        Holding::Denied => "denied by rule",
        Holding::TableFull => "no place for it",
        Holding::GateGone => "nothing can wait any more",
    };
    format!("{}, {how}", kind.in_words())
}

#[cfg(test)]
mod tests {
    use super::{held, limited};
    use tidegate_agent::{Holding, Kind, Limit, Reason};

    #[test]
    fn nobody_has_to_know_a_window_or_a_law() {
        let limits = [
            Limit::Law,
            Limit::Promised,
            Limit::Competing,
            Limit::Rechecking,
            Limit::Kernel,
            Limit::Sender,
            Limit::Starting,
            Limit::Open,
            Limit::NoLaw,
            Limit::Closed,
            Limit::LeftAlone(Reason::Denied),
            Limit::Windowless(Kind::MaybeQuic),
        ];
        let limits = limits.map(|limit| limited(limit).to_owned());
        let holdings = Holding::ALL.map(|holding| held(Kind::MaybeQuic, holding));
        for said in limits.iter().chain(&holdings) {
            assert!(!said.contains("window") && !said.contains("law"), "{said}");
            assert!(!said.contains('?') && said.len() < 50, "{said}");
        }
    }
}
