//! How others see the agent while it runs: by a socket and, if asked for, by metrics.

use super::log::Log;
use super::{metrics, serve};
use crate::args::RunArgs;
use crate::snapshot::Shared;
use anyhow::Result;
use serde_json::json;
use std::net::SocketAddr;
use std::path::PathBuf;
use tidegate_admission::http::Server;

/// Where the agent can be seen, as long as this lives.
pub struct Shown {
    metrics: Option<Server>,
    socket: PathBuf,
    served: Result<serve::Served>,
}

impl Shown {
    /// Opens both. Metrics that cannot be served are an error; a socket that cannot is told later:
    /// to steer is what the agent is for, and to be looked at is not worth ending for.
    pub fn open(args: &RunArgs, metrics: Option<SocketAddr>, shared: &Shared) -> Result<Shown> {
        let address = args.metrics.or(metrics);
        let metrics = address.map(|address| metrics::serve(address, shared));
        Ok(Shown {
            metrics: metrics.transpose()?,
            socket: args.socket.clone(),
            served: serve::serve(&args.socket, shared),
        })
    }

    /// Says where.
    pub fn tell(&self, log: Log) {
        if let Some(server) = &self.metrics {
            let address = server.address().to_string();
            let message = format!("metrics at http://{address}/metrics");
            log.info("metrics", &message, json!({ "address": address }));
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
