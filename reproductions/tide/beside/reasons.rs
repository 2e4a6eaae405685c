//! Why tide misses what is asked of it.

use super::company::{Company, FOUR_JOIN, HELD_JOINS, JOINS, JOINS_FOUR};

/// Why its share falls.
const FORECAST: &str = "tide's forecast is the rate that it is left with: while another's queue of delay q stands, a window of \
     m · H brings m · H / (H + q), which is the next forecast, until the smallest window is left";

/// Why half the link is less than Linux's.
const EVEN: &str = "untouched Linux had filled the buffer before, which keeps a newcomer out for minutes, and has most of the link all \
                    the time; an even share is half of it";

/// Why it keeps less beside that company; empty where that is not known.
pub fn kept(company: Company) -> &'static str {
    match company {
        JOINS | FOUR_JOIN | JOINS_FOUR => FORECAST,
        HELD_JOINS => EVEN,
        _ => "",
    }
}
