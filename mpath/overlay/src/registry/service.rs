//! Answers to requests, without sockets and without a clock.

use super::authorization;
use super::store::{Put, Receiver, Store, StoreError};
use crate::address::canonical;
use crate::api::{
    Announce, Ask, Enrol, GrantedRelay, Listed, PROXIES, RECEIVERS, RELAYS, RELAYS_MAX, Refusal,
    Ways,
};
use crate::limits::{Sources, whose};
use crate::{Now, Rate, Secret};
use rand::Rng;
use rand::seq::SliceRandom;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::collections::HashSet;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Mutex, PoisonError};
use tidegate_admission::http::Received;

/// The content type of requests.
const JSON: &str = "application/json";

/// The most proxies of one address, or of one /64 of IPv6.
const PROXIES_EACH: usize = 512;

/// How long entries last, and how often clients may ask.
#[derive(Clone, Copy, Debug)]
pub struct Config {
    /// Seconds for which proxies and receivers stay without asking again.
    pub listed_s: u64,
    /// Seconds for which a capability is valid.
    pub capability_s: u64,
    /// The rate of requests from one address.
    pub questions: Rate,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            listed_s: 60,
            capability_s: 600,
            questions: Rate {
                per_second: 20.0,
                burst: 100.0,
            },
        }
    }
}

/// The registry.
pub struct Service {
    secret: Secret,
    store: Box<dyn Store>,
    config: Config,
    asked: Mutex<Sources>,
}

/// A request.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// HTTP's method.
    pub method: &'a str,
    /// The requested path.
    pub path: &'a str,
    /// The header Authorization.
    pub authorization: Option<&'a str>,
    /// The header Content-Type.
    pub content_type: Option<&'a str>,
    /// The body: JSON.
    pub body: &'a [u8],
}

impl<'a> Request<'a> {
    /// A request that came by HTTP.
    pub fn of(received: &'a Received) -> Self {
        Self {
            method: &received.method,
            path: &received.path,
            authorization: received.authorization.as_deref(),
            content_type: received.content_type.as_deref(),
            body: &received.body,
        }
    }
}

/// An answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// HTTP's status.
    pub status: u16,
    /// JSON.
    pub body: Vec<u8>,
}

type Answer = Result<Reply, Reply>;

impl Service {
    /// An overlay whose proxies know `secret`.
    pub fn new(secret: Secret, store: Box<dyn Store>, config: Config) -> Self {
        Self {
            secret,
            store,
            config,
            asked: Mutex::new(Sources::new(config.questions)),
        }
    }

    /// Answers a request from the machine at `peer`.
    pub fn answer(&self, request: Request, peer: IpAddr, now: Now, random: &mut impl Rng) -> Reply {
        self.try_answer(request, peer.to_canonical(), now, random)
            .unwrap_or_else(|refusal| refusal)
    }

    fn try_answer(
        &self,
        request: Request,
        peer: IpAddr,
        now: Now,
        random: &mut impl Rng,
    ) -> Answer {
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        if !asked.take(peer, 1.0, now.instant) {
            return Err(refuse(429, "too many questions from this address"));
        }
        drop(asked);
        if ![PROXIES, RECEIVERS, RELAYS].contains(&request.path) {
            let known = format!("expected {PROXIES}, {RECEIVERS} or {RELAYS}");
            return Err(refuse(404, known));
        }
        if request.method != "POST" {
            return Err(refuse(405, "expected POST"));
        }
        // Any web page can make its visitor's browser post other content types, and so announce the visitor's address;
        // this type only a page of the same origin can post (Fetch standard, CORS).
        if !request.content_type.is_some_and(is_json) {
            return Err(refuse(415, format!("expected Content-Type: {JSON}")));
        }
        match request.path {
            PROXIES => self.enrol(request, peer, now),
            RECEIVERS => self.announce(&parse(request.body)?, peer, now),
            _ => self.ways(&parse(request.body)?, peer, now, random),
        }
    }

    fn enrol(&self, request: Request, peer: IpAddr, now: Now) -> Answer {
        let (header, body) = (request.authorization, request.body);
        authorization::check(&self.secret, &*self.store, header, body, now)?;
        let enrol: Enrol = parse(body)?;
        let address = address(enrol.address.unwrap_or(peer), enrol.port)?;
        if enrol.leaving {
            self.store.remove_proxy(address)?;
        } else {
            self.check_quota(address, now)?;
            let seconds = self.config.listed_s;
            self.store.put_proxy(address, seconds, now.unix_s)?;
        }
        Ok(self.listed(address))
    }

    /// Bounded, so that one faulty machine cannot fill the whole list.
    fn check_quota(&self, address: SocketAddr, now: Now) -> Result<(), Reply> {
        let mut proxies = self.store.proxies(now.unix_s)?;
        proxies.retain(|proxy| *proxy != address && whose(proxy.ip()) == whose(address.ip()));
        if proxies.len() >= PROXIES_EACH {
            return Err(refuse(429, "too many proxies at this address"));
        }
        Ok(())
    }

    /// The address has to be the one that the request comes from, so that no one can direct packets to another machine.
    fn announce(&self, announce: &Announce, peer: IpAddr, now: Now) -> Answer {
        let says = announce.address.unwrap_or(peer).to_canonical();
        if says != peer {
            let port = announce.port;
            let why = format!(
                "the receiver says that it is at {says}, and is seen here as {peer}; behind a router it has \
                 to be started with --advertise {}, and the router has to forward UDP port {port} to it",
                SocketAddr::new(peer, port)
            );
            return Err(refuse(403, why));
        }
        let address = address(peer, announce.port)?;
        let (name, key) = (announce.receiver, announce.key);
        let receiver = Receiver { address, key };
        if announce.leaving {
            self.store.remove_receiver(name, receiver)?;
            return Ok(self.listed(address));
        }
        // Proxies refuse packets that go to another proxy, so senders must not be told to send any there.
        if self.store.proxies(now.unix_s)?.contains(&address) {
            return Err(refuse(403, "a proxy listens at this address"));
        }
        let seconds = self.config.listed_s;
        let put = self
            .store
            .put_receiver(name, receiver, seconds, now.unix_s)?;
        match put {
            Put::Done => Ok(self.listed(address)),
            Put::Taken => Err(refuse(409, "another receiver has this name")),
            Put::OverQuota => Err(refuse(429, "too many receivers at this address")),
        }
    }

    /// Sender, proxies and receiver have addresses of one family: a proxy sees the sender's address of its own family.
    fn ways(&self, ask: &Ask, peer: IpAddr, now: Now, random: &mut impl Rng) -> Answer {
        let ipv6 = peer.is_ipv6();
        let found = self.store.receiver(ask.receiver, ipv6, now.unix_s)?;
        let Some(destination) = found else {
            let family = if ipv6 { "IPv6" } else { "IPv4" };
            let why = format!("no receiver of this name has announced itself by {family}");
            return Err(refuse(404, why));
        };
        let excluded: HashSet<_> = ask.exclude.iter().copied().map(canonical).collect();
        let mut proxies = self.store.proxies(now.unix_s)?;
        proxies.retain(|proxy| proxy.is_ipv6() == ipv6 && !excluded.contains(proxy));
        let most = ask.most.min(RELAYS_MAX).into();
        let (chosen, _) = proxies.partial_shuffle(random, most);
        let expires_s = now.unix_s + self.config.capability_s;
        let end_s = u32::try_from(expires_s).unwrap_or(u32::MAX);
        let relays = chosen.iter().map(|&address| {
            let key = self.secret.proxy_key(address);
            let capability = key.issue(peer, destination, end_s).to_vec();
            GrantedRelay {
                address,
                capability,
            }
        });
        Ok(reply(&Ways {
            destination,
            source: peer,
            expires_s,
            relays: relays.collect(),
        }))
    }

    fn listed(&self, address: SocketAddr) -> Reply {
        reply(&Listed {
            address,
            seconds: self.config.listed_s,
        })
    }
}

impl From<StoreError> for Reply {
    fn from(error: StoreError) -> Self {
        refuse(503, error.to_string())
    }
}

fn parse<T: DeserializeOwned>(body: &[u8]) -> Result<T, Reply> {
    serde_json::from_slice(body).map_err(|error| refuse(400, format!("not understood: {error}")))
}

fn address(ip: IpAddr, port: u16) -> Result<SocketAddr, Reply> {
    if port == 0 || ip.is_unspecified() || ip.is_multicast() {
        let why = format!(
            "{}: no proxy or receiver can listen there",
            SocketAddr::new(ip, port)
        );
        return Err(refuse(400, why));
    }
    Ok(canonical(SocketAddr::new(ip, port)))
}

fn reply(answer: &impl Serialize) -> Reply {
    Reply {
        status: 200,
        body: serde_json::to_vec(answer).expect("it has nothing that JSON has not"),
    }
}

/// Parameters of the content type do not matter.
fn is_json(content_type: &str) -> bool {
    let essence = content_type.split(';').next().unwrap_or_default();
    essence.trim().eq_ignore_ascii_case(JSON)
}

/// A refusal in words.
pub fn refuse(status: u16, why: impl Into<String>) -> Reply {
    let refusal = Refusal { error: why.into() };
    Reply {
        status,
        ..reply(&refusal)
    }
}
