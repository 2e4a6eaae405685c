use super::{Config, Memory, Reply, Request, Service};
use crate::api::{PROXIES, RECEIVERS, RELAYS, Refusal, Ways};
use crate::{Instant, Now, Secret};
use proptest::collection::vec;
use proptest::prelude::*;
use rand::SeedableRng;
use rand_pcg::Pcg64Mcg;
use std::net::IpAddr;

const PEER: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 1));
const NAME: &str = "07070707070707070707070707070707";

fn at(unix_s: u64) -> Now {
    Now {
        unix_s,
        instant: Instant::from_millis(unix_s * 1000),
    }
}

fn secret() -> Secret {
    Secret::new([1; 32])
}

fn service() -> Service {
    Service::new(secret(), Box::new(Memory::default()), Config::default())
}

fn ask(
    service: &Service,
    path: &str,
    authorization: Option<&str>,
    body: &str,
    unix_s: u64,
) -> Reply {
    let request = Request {
        method: "POST",
        path,
        content_type: Some("application/json"),
        authorization,
        body: body.as_bytes(),
    };
    let mut random = Pcg64Mcg::seed_from_u64(unix_s);
    service.answer(request, PEER, at(unix_s), &mut random)
}

fn enrol(service: &Service, port: u16, unix_s: u64) -> Reply {
    let body = format!("{{\"port\":{port}}}");
    let nonce = format!("{port:04x}{unix_s:08x}");
    let mac = secret()
        .enrolment_mac(unix_s, &nonce, body.as_bytes())
        .to_hex();
    let header = format!("tidegate1 {unix_s} {nonce} {mac}");
    ask(service, PROXIES, Some(&header), &body, unix_s)
}

fn announce(service: &Service, unix_s: u64) -> Reply {
    let body = format!("{{\"receiver\":\"{NAME}\",\"key\":\"{NAME}\",\"port\":999}}");
    ask(service, RECEIVERS, None, &body, unix_s)
}

fn relays(service: &Service, more: &str, unix_s: u64) -> Reply {
    let body = format!("{{\"receiver\":\"{NAME}\"{more}}}");
    ask(service, RELAYS, None, &body, unix_s)
}

fn ports(reply: &Reply) -> Vec<u16> {
    let ways: Ways = serde_json::from_slice(&reply.body).unwrap();
    ways.relays
        .iter()
        .map(|relay| relay.address.port())
        .collect()
}

#[test]
fn everything_lasts_for_a_minute() {
    let service = service();
    assert_eq!(enrol(&service, 1, 1000).status, 200);
    assert_eq!(announce(&service, 1030).status, 200);
    assert_eq!(ports(&relays(&service, "", 1059)), [1]);
    assert!(ports(&relays(&service, "", 1060)).is_empty());
    assert_eq!(relays(&service, "", 1089).status, 200);
    assert_eq!(relays(&service, "", 1090).status, 404);
}

#[test]
fn proxies_are_a_random_choice_of_as_many_as_are_asked_for() {
    let service = service();
    // No faster than one address may ask.
    for port in 1..=300 {
        let unix_s = 1000 + u64::from(port) / 10;
        assert_eq!(enrol(&service, port, unix_s).status, 200);
    }
    assert_eq!(announce(&service, 1031).status, 200);
    let first = ports(&relays(&service, "", 1032));
    let second = ports(&relays(&service, "", 1033));
    assert_eq!((first.len(), second.len()), (64, 64));
    assert_ne!(first, second);
    assert_eq!(ports(&relays(&service, ",\"most\":3", 1034)).len(), 3);
    assert_eq!(ports(&relays(&service, ",\"most\":0", 1035)).len(), 0);
    assert_eq!(ports(&relays(&service, ",\"most\":65535", 1036)).len(), 256);
}

#[test]
fn one_address_has_so_many_proxies_at_most() {
    let service = service();
    // No faster than one address may ask.
    let mut ports = (1..=512).map(|port| (port, 1000 + u64::from(port) / 20));
    assert!(ports.all(|(port, unix_s)| enrol(&service, port, unix_s).status == 200));
    assert_eq!(enrol(&service, 513, 1030).status, 429);
    assert_eq!(enrol(&service, 512, 1030).status, 200);
    assert_eq!(enrol(&service, 513, 1061).status, 200);
}

proptest! {
    /// Every request gets an answer, or a refusal in words.
    #[test]
    fn any_request_is_answered(
        path in prop_oneof![Just(PROXIES), Just(RECEIVERS), Just(RELAYS), Just("/")],
        header in proptest::option::of(prop_oneof![".{0,80}", "tidegate1 [0-9]{1,25} [0-9a-g]{0,70} [0-9a-f]{60,66}"]),
        body in prop_oneof![
            vec(any::<u8>(), 0..200),
            "\\{\"(receiver|key|port|most|exclude|address)\":(\"[0-9a-f]{0,33}\"|-?[0-9]{0,6}|\\[\\]|null)\\}".prop_map(String::into_bytes),
        ],
    ) {
        let request = Request {
            method: "POST",
            path,
            content_type: Some("application/json"),
            authorization: header.as_deref(),
            body: &body,
        };
        let mut random = Pcg64Mcg::seed_from_u64(1);
        let reply = service().answer(request, PEER, at(1000), &mut random);
        prop_assert!((400..500).contains(&reply.status), "{}", reply.status);
        let refusal: Refusal = serde_json::from_slice(&reply.body).unwrap();
        prop_assert!(!refusal.error.is_empty());
    }
}
