//! The live page: what the queue does, who uses the link, what is steered and what is not. A page of HTML with its style,
//! its script and its icon, and two documents of JSON that the script asks for; nothing else, and nothing that is written.

mod address;
pub mod history;
mod host;
mod now;
mod plain;
pub mod source;
mod verdict;
mod watch;

pub use address::PageAddress;

use crate::exit::BadInput;
use crate::snapshot::Shared;
use anyhow::Result;
use source::Source;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use tidegate_admission::Bounds;
use tidegate_admission::http::{Received, Refusal, Reply, Server, Service};
use watch::{Watch, Watching};

/// Who looks at a time: a browser opens some connections at once.
const PLACES: Bounds = Bounds {
    all: 32,
    network: 16,
};

/// What a browser may do with what it gets from here: load style, script, icon and data from here alone, and show the page
/// by itself, not in another. Nothing is kept, and nobody else is told of it.
const HEADERS: &[(&str, &str)] = &[
    (
        "content-security-policy",
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; \
         form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'",
    ),
    ("x-content-type-options", "nosniff"),
    ("x-frame-options", "DENY"),
    ("referrer-policy", "no-referrer"),
    ("cross-origin-resource-policy", "same-origin"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cache-control", "no-store"),
];

/// What does not change.
const FILES: [(&str, &str, &str); 4] = [
    (
        "/",
        "text/html; charset=utf-8",
        include_str!("page/page.html"),
    ),
    (
        "/page.css",
        "text/css; charset=utf-8",
        include_str!("page/page.css"),
    ),
    (
        "/page.js",
        "text/javascript; charset=utf-8",
        include_str!("page/page.js"),
    ),
    ("/icon.svg", "image/svg+xml", include_str!("page/icon.svg")),
];

/// The page, as long as this lives.
pub struct Served {
    server: Server,
    _watching: Watching,
}

impl Served {
    /// Where it is.
    pub fn address(&self) -> SocketAddr {
        self.server.address()
    }
}

/// Serves the page about the agent; port 0 stands for any.
pub fn serve(address: PageAddress, shared: &Shared) -> Result<Served> {
    serve_of(address, Watch::new(shared.clone()))
}

fn serve_of(PageAddress(address): PageAddress, watch: Watch<impl Source>) -> Result<Served> {
    let watch = Arc::new(watch);
    let asked = Arc::clone(&watch);
    let server = Server::start(address, PLACES, Page(asked))
        .map_err(|error| BadInput(format!("cannot serve the page at {address}: {error}")))?;
    let _watching = Watching::start(watch)?;
    Ok(Served { server, _watching })
}

struct Page<S>(Arc<Watch<S>>);

impl<S: Source> Service for Page<S> {
    fn answer(&self, request: &Received, _: IpAddr) -> Reply {
        if !request.host.as_deref().is_some_and(host::is_own) {
            return plain(
                421,
                "asked for by a name that may lead anywhere; expected the address of this machine, as in http://192.168.1.1:9750/\n",
            );
        }
        if !["GET", "HEAD"].contains(&request.method.as_str()) {
            return plain(405, "expected GET\n");
        }
        let path = request.path.split('?').next().unwrap_or_default();
        if let Some((_, content_type, text)) = FILES.iter().find(|(name, _, _)| *name == path) {
            return reply(200, content_type, text.as_bytes().to_vec());
        }
        let said = match path {
            "/now.json" => self.0.now(),
            "/day.json" => self.0.day(),
            _ => return plain(404, "the page is at /\n"),
        };
        match said {
            Some(Ok(body)) => reply(200, "application/json", body),
            Some(Err(error)) => plain(500, format!("{error:#}\n")),
            None => plain(503, "ended\n"),
        }
    }

    fn refuse(&self, refusal: &Refusal) -> Reply {
        plain(refusal.status, format!("{}\n", refusal.why))
    }
}

fn plain(status: u16, text: impl Into<String>) -> Reply {
    reply(
        status,
        "text/plain; charset=utf-8",
        text.into().into_bytes(),
    )
}

fn reply(status: u16, content_type: &'static str, body: Vec<u8>) -> Reply {
    Reply {
        status,
        content_type,
        headers: HEADERS,
        body,
    }
}

#[cfg(test)]
mod tests;
