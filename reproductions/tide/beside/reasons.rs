//! Why tide misses some of these bounds.

use super::company::{Company, FOUR_JOIN, HELD_JOINS, JOINS, JOINS_FOUR};

/// Why its share is smaller at first.
const BEGINS: &str = "until a question has told whose the queue is tide steers for a short one, and its sender then begins with the \
     congestion window of that, while the newcomer's slow start has filled the buffer; it grows for a minute";

/// Why half of the link is less than Linux's share.
const EVEN: &str = "untouched Linux had filled the buffer before, which keeps a newcomer out for minutes, and has most of the link all \
                    the time; an even share is half of it";

/// Why it keeps less beside that company; empty if unknown.
pub fn kept(company: Company) -> &'static str {
    match company {
        JOINS | FOUR_JOIN | JOINS_FOUR => BEGINS,
        HELD_JOINS => EVEN,
        _ => "",
    }
}
