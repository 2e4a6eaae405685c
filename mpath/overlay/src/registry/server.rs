//! HTTP around the service.

use super::service::refuse;
use super::{Reply, Request, Service};
use crate::Now;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::time::Instant;
use tidegate_admission::{Bounds, http};

/// Connections whose request has not been answered. One network may hide many customers of a provider.
const PLACES: Bounds = Bounds {
    all: 512,
    network: 128,
};

/// Serves until it is dropped.
#[derive(Debug)]
pub struct Server(http::Server);

impl Server {
    /// Serves at this address; port 0 stands for any.
    ///
    /// # Errors
    /// If the address cannot be bound.
    pub fn start(address: SocketAddr, service: Service) -> io::Result<Self> {
        let began = Instant::now();
        http::Server::start(address, PLACES, Clocked { service, began }).map(Self)
    }

    /// The address at which it serves.
    pub fn address(&self) -> SocketAddr {
        self.0.address()
    }
}

/// The service with a clock.
struct Clocked {
    service: Service,
    began: Instant,
}

impl http::Service for Clocked {
    fn answer(&self, request: &http::Received, peer: IpAddr) -> http::Reply {
        let now = Now::since(self.began);
        let random = &mut rand::rng();
        as_json(self.service.answer(Request::of(request), peer, now, random))
    }

    fn refuse(&self, refusal: &http::Refusal) -> http::Reply {
        as_json(refuse(refusal.status, refusal.why.as_str()))
    }
}

fn as_json(reply: Reply) -> http::Reply {
    http::Reply {
        headers: &[],
        status: reply.status,
        content_type: "application/json",
        body: reply.body,
    }
}
