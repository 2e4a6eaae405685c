//! The live page: how long the queue is, who uses the link, what is steered and what is not. It consists of HTML with
//! its style, script and icon, and of two JSON documents that the script fetches. It is read-only.

pub mod history;
mod host;
mod now;
mod plain;
pub mod source;
mod verdict;
mod watch;

use crate::config::PageAddress;
use crate::service::Shared;
use anyhow::Result;
use source::Source;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use tidegate_admission::Bounds;
use tidegate_admission::http::{Received, Refusal, Reply, Server, Service};
use tidegate_command::exit::BadInput;
use watch::{Watch, Watching};

/// How many connections may be open at once: a browser opens several.
const PLACES: Bounds = Bounds {
    all: 32,
    network: 16,
};

/// Limits what a browser does with the page: it loads style, script, icon and data from this server alone, shows the
/// page in no frame, caches nothing and sends no referrer.
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

/// Static files.
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

/// The page; it is served until this value is dropped.
pub struct Served {
    server: Server,
    _watching: Watching,
}

impl Served {
    /// The address it is served at.
    pub fn address(&self) -> SocketAddr {
        self.server.address()
    }
}

/// Serves the page about the agent; port 0 stands for any free port.
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
