//! Logs what the hold reports.

use crate::log::Log;
use crate::service::Shared;
use crate::udp::News;
use serde_json::json;
use tidegate_agent::{Direction, Holding};

/// Logs the hold's news since the last call.
pub fn tell(shared: &Shared, log: Log) {
    let missing = shared.with(|watched| {
        let missing = watched.windowless.take_missing()?;
        watched.about.set_udp(watched.windowless.rules());
        Some(missing)
    });
    if let Some(why) = missing.flatten() {
        let message = format!(
            "HTTP/3 and other UDP are left alone: {why}; `tidegate check` says what is missing; with udp = \"leave\" nothing is said"
        );
        log.info("hold_missing", &message, json!({ "why": why }));
    }
    let news = shared.with(|watched| watched.windowless.news());
    for one in news.unwrap_or_default() {
        line(&one, log);
    }
}

fn line(news: &News, log: Log) {
    let Some(flow) = &news.flow else {
        let cause = news.cause.as_deref().unwrap_or("unknown");
        let message = format!(
            "the process behind the packet queue has ended: from now on UDP is left alone until the agent is started anew; the cause: {cause}"
        );
        let fields = json!({ "why": news.state, "cause": cause });
        log.warn("hold_ended", &message, fields);
        return;
    };
    let fields = json!({
        "interface": news.interface, "direction": news.direction, "local": flow.local, "remote": flow.remote, "why": news.state,
    });
    let (from, to) = match news.direction {
        Direction::Down => (flow.remote, flow.local),
        Direction::Up => (flow.local, flow.remote),
    };
    let which = format!("UDP from {from} to {to} on {}", news.interface);
    match news.state {
        Holding::Held => log.info("held", &format!("{which} is held"), fields),
        state => {
            let message = format!("{which} is left alone: {}", state.words());
            log.info("hold_left", &message, fields);
        }
    }
}
