//! Explains why a flow is in a group, or in none.

use tidegate_agent::FlowView;
use tidegate_laws::sys::{TG_SHARING_PROOF, TG_SHARING_SURE};

/// The reason why a flow is in its group of `flows` flows; it follows a "for".
pub fn because(flow: &FlowView, flows: u32) -> String {
    match (flow.group, flow.score) {
        (Some(_), score) => format!(
            "its delays move together with those of {} (evidence {} of {TG_SHARING_SURE}; it leaves at 0)",
            others(flows.saturating_sub(1)),
            score.unwrap_or(0)
        ),
        (None, Some(score)) => format!(
            "no other flow's delays move with its own (evidence {score} of the {TG_SHARING_PROOF} that prove it)"
        ),
        (None, None) => "it has not been compared with other flows yet".into(),
    }
}

fn others(flows: u32) -> String {
    match flows {
        0 => "flows that have ended".into(),
        1 => "one other flow".into(),
        more => format!("{more} other flows"),
    }
}

#[cfg(test)]
mod tests {
    use super::because;
    use crate::fixtures::download;
    use tidegate_agent::FlowView;

    fn flow(group: Option<u32>, score: Option<i32>) -> FlowView {
        FlowView {
            group,
            score,
            ..download(1, 1, 1)
        }
    }

    #[test]
    fn who_shares_and_why_is_said_in_words() {
        assert_eq!(
            because(&flow(Some(7), Some(20)), 4),
            "its delays move together with those of 3 other flows (evidence 20 of 24; it leaves at 0)"
        );
        assert!(because(&flow(Some(7), Some(20)), 2).contains("one other flow"));
        assert!(because(&flow(Some(7), Some(20)), 1).contains("have ended"));
        assert_eq!(
            because(&flow(None, Some(-3)), 1),
            "no other flow's delays move with its own (evidence -3 of the 12 that prove it)"
        );
        assert!(because(&flow(None, None), 1).contains("not been compared"));
    }
}
