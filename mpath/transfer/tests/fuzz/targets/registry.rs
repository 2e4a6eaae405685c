//! Target: any bytes as a request to a registry, as they are and with a proxy's correct authorization.
//!
//! Whatever they are: the answer is JSON, and a refusal has a reason.

use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::SeedableRng;
use serde_json::Value;
use std::net::IpAddr;
use tidegate_overlay::api::PROXIES;
use tidegate_overlay::registry::{Config, Memory, Received, Reply, Request, Service, refuse};
use tidegate_overlay::{Instant, Now, Secret};

const PEER: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 1));
const UNIX_S: u64 = 1_800_000_000;

pub fn run(data: &[u8]) {
    let secret = Secret::new([1; 32]);
    let service = Service::new(
        secret.clone(),
        Box::new(Memory::default()),
        Config::default(),
    );
    let request = match Received::read(data) {
        Ok(Some(request)) => request,
        Ok(None) => return,
        Err(refusal) => return check(&refuse(refusal.status, refusal.why)),
    };
    let request = Request::of(&request);
    ask(&service, request);
    if request.path == PROXIES {
        let mac = secret.enrolment_mac(UNIX_S, "aa", request.body).to_hex();
        let header = format!("tidegate1 {UNIX_S} aa {mac}");
        let authorization = Some(header.as_str());
        ask(
            &service,
            Request {
                authorization,
                ..request
            },
        );
    }
    // Again, with the entries that the first request has left in the store.
    ask(&service, request);
}

fn ask(service: &Service, request: Request) {
    let now = Now {
        unix_s: UNIX_S,
        instant: Instant::ZERO,
    };
    let mut random = Pcg64Mcg::seed_from_u64(1);
    check(&service.answer(request, PEER, now, &mut random));
}

fn check(reply: &Reply) {
    let said: Value = serde_json::from_slice(&reply.body).unwrap();
    match reply.status {
        200 => assert!(said["error"].is_null()),
        status => assert!(
            (400..500).contains(&status) && !said["error"].as_str().unwrap().is_empty(),
            "{status} {said}"
        ),
    }
}
