//! How others see the agent while it runs: by a socket and, if asked for, by metrics and a page.

use super::wake::Bell;
use super::{metrics, page, serve};
use crate::config::{RunArgs, Settings};
use crate::log::Log;
use crate::meeting;
use crate::service::Shared;
use anyhow::Result;
use serde_json::json;
use std::net::SocketAddr;
use std::path::PathBuf;
use tidegate_admission::http::Server;

/// The places where the agent can be seen, until this is dropped.
pub struct Shown {
    metrics: Option<Server>,
    page: Option<page::Served>,
    socket: PathBuf,
    served: Result<serve::Served>,
}

impl Shown {
    /// Opens all of them. A page or metrics that cannot be served are an error, since the user asked for them. A socket
    /// that cannot be served is only logged later: the agent can steer without it.
    pub fn open(settings: &Settings, args: &RunArgs, shared: &Shared, bell: Bell) -> Result<Shown> {
        let metrics = settings.metrics.map(|at| metrics::serve(at, shared));
        let page = settings.page.map(|at| page::serve(at, shared));
        let socket = args.socket.clone().map_or_else(meeting::free, Ok)?;
        Ok(Shown {
            metrics: metrics.transpose()?,
            page: page.transpose()?,
            served: serve::serve(&socket, shared, bell),
            socket,
        })
    }

    /// Logs the addresses.
    pub fn tell(&self, log: Log) {
        if let Some(server) = &self.metrics {
            let address = server.address().to_string();
            let message = format!("metrics at http://{address}/metrics");
            log.info("metrics", &message, json!({ "address": address }));
        }
        if let Some(page) = &self.page {
            tell_of_page(page.address(), log);
        }
        let socket = self.socket.display().to_string();
        let fields = json!({ "socket": socket });
        match &self.served {
            Ok(_) => {
                let message = format!("tidegate top finds the agent at {socket}");
                log.info("serving", &message, fields);
            }
            Err(error) => {
                let message = format!("tidegate top will not find the agent: {error:#}");
                log.warn("not_serving", &message, fields);
            }
        }
    }
}

fn tell_of_page(address: SocketAddr, log: Log) {
    let fields = json!({ "address": address.to_string() });
    if address.ip().is_unspecified() {
        let message = format!(
            "the page is at port {} of every address of this machine, also those that face the Internet: expected the one of your own network",
            address.port()
        );
        log.warn("page", &message, fields);
    } else {
        log.info("page", &format!("the page is at http://{address}/"), fields);
    }
}
