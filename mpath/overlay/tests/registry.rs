//! The registry over HTTP, and its clients.

mod common;

use common::{KEY, announced, ask, enrol, post, registry, serve, serve_at, unix_s, until};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::{Duration, SystemTime};
use tidegate_overlay::api::{Announce, RECEIVERS};
use tidegate_overlay::capability::Invalid;
use tidegate_overlay::registry::{Config, Memory};
use tidegate_overlay::{Error, ReceiverId, Secret};

const SOON: Duration = Duration::from_secs(10);
const RECEIVER: ReceiverId = ReceiverId([7; 16]);
const LOCAL: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

fn secret() -> Secret {
    Secret::new([1; 32])
}

fn local(port: u16) -> SocketAddr {
    (Ipv4Addr::LOCALHOST, port).into()
}

/// Entries that last for three seconds.
fn short() -> Config {
    Config {
        listed_s: 3,
        ..Config::default()
    }
}

#[test]
fn a_sender_gets_the_receivers_address_and_capabilities_that_proxies_find_good() {
    let server = serve(secret(), Memory::default(), Config::default());
    let registry = registry(&server);
    let _receiver = announced(&registry, RECEIVER, local(4000));
    let ports = [5001, 5002, 5003];
    let proxies = ports.map(|port| {
        let proxy = registry.enrol(secret(), local(port), Vec::new());
        assert_eq!(proxy.wait(SOON), Ok(vec![local(port)]));
        proxy
    });
    let grant = registry.relays(RECEIVER, &[local(5002)]).unwrap();
    assert_eq!((grant.destination, grant.source), (local(4000), LOCAL));
    let mut found: Vec<_> = grant.relays.iter().map(|relay| relay.address).collect();
    found.sort();
    assert_eq!(found, [local(5001), local(5003)]);
    let left = grant.expires.duration_since(SystemTime::now()).unwrap();
    assert!((590..=600).contains(&left.as_secs()), "{left:?}");
    for relay in &grant.relays {
        let key = secret().proxy_key(relay.address);
        let check = |source| key.check(&relay.capability, source, grant.destination, 0);
        assert_eq!(check(LOCAL), Ok(()));
        assert_eq!(check([127, 0, 0, 2].into()), Err(Invalid::Mac));
    }
    // Entries that end in good order are taken off at once.
    drop(proxies);
    let grant = registry.relays(RECEIVER, &[]).unwrap();
    assert_eq!(grant.relays, []);
}

#[test]
fn a_proxy_is_listed_where_it_says_to_be_reached() {
    let server = serve(secret(), Memory::default(), Config::default());
    let public: SocketAddr = "198.51.100.9:7000".parse().unwrap();
    let any = "[::]:5000".parse().unwrap();
    let proxy = registry(&server).enrol(secret(), any, vec![public]);
    assert_eq!(proxy.wait(SOON), Ok(vec![public]));
    let other = registry(&server).enrol(secret(), any, Vec::new());
    assert_eq!(other.wait(SOON), Ok(vec![local(5000)]));
}

#[test]
fn a_wrong_secret_is_refused() {
    let server = serve(secret(), Memory::default(), Config::default());
    let wrong = Secret::new([2; 32]);
    let proxy = registry(&server).enrol(wrong, local(5000), Vec::new());
    let refused = proxy.wait(SOON).unwrap_err();
    assert!(
        refused.is_final() && refused.to_string().contains("token"),
        "{refused}"
    );
    let _receiver = announced(&registry(&server), RECEIVER, local(4000));
    let grant = registry(&server).relays(RECEIVER, &[]).unwrap();
    assert_eq!(grant.relays, []);
}

#[test]
fn an_address_that_is_somebody_elses_is_refused() {
    let server = serve(secret(), Memory::default(), Config::default());
    let registry = registry(&server);
    let victim = "192.0.2.1:53".parse().unwrap();
    let refused = registry.announce(RECEIVER, KEY, victim).wait(SOON);
    assert!(
        matches!(&refused, Err(Error::Refused { status: 403, reason, .. }) if reason.contains("--advertise 127.0.0.1:53")),
        "{refused:?}"
    );
    let unknown = registry.relays(RECEIVER, &[]).unwrap_err();
    assert!(unknown.is_unknown_receiver(), "{unknown}");
}

#[test]
fn neither_can_a_proxy_be_announced_nor_a_name_be_taken_over() {
    let server = serve(secret(), Memory::default(), Config::default());
    let registry = registry(&server);
    let proxy = registry.enrol(secret(), local(5000), Vec::new());
    proxy.wait(SOON).unwrap();
    let status = |port| {
        let stranger = registry.announce(RECEIVER, [4; 16], local(port));
        match stranger.wait(SOON) {
            Err(Error::Refused { status, .. }) => status,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(status(5000), 403);
    let receiver = announced(&registry, RECEIVER, local(4000));
    assert_eq!(status(4001), 409);
    assert_eq!(
        registry.relays(RECEIVER, &[]).unwrap().destination,
        local(4000)
    );
    drop(receiver);
    // A receiver that was killed has left its name behind, and gets it back.
    let killed = Announce {
        receiver: RECEIVER,
        key: KEY,
        address: None,
        port: 4002,
        leaving: false,
    };
    let body = serde_json::to_string(&killed).unwrap();
    let said = ask(server.address(), &post(RECEIVERS, &body));
    assert!(said.starts_with("HTTP/1.1 200"), "{said}");
    assert_eq!(status(4001), 409);
    announced(&registry, RECEIVER, local(4003));
}

#[test]
fn whoever_does_not_come_back_is_forgotten_and_who_does_is_not() {
    let server = serve(secret(), Memory::default(), short());
    let registry = registry(&server);
    let stays = announced(&registry, RECEIVER, local(4000));
    let silent = Announce {
        receiver: ReceiverId([8; 16]),
        key: [9; 16],
        address: None,
        port: 4001,
        leaving: false,
    };
    let body = serde_json::to_string(&silent).unwrap();
    let said = ask(server.address(), &post(RECEIVERS, &body));
    assert!(said.starts_with("HTTP/1.1 200"), "{said}");
    until("the silent receiver is forgotten", || {
        let grant = registry.relays(silent.receiver, &[]);
        grant.is_err_and(|error| error.is_unknown_receiver())
    });
    assert_eq!(
        registry.relays(RECEIVER, &[]).unwrap().destination,
        local(4000)
    );
    assert_eq!(stays.error(), None);
}

#[test]
fn a_registry_that_restarts_is_found_again() {
    let server = serve(secret(), Memory::default(), short());
    let address = server.address();
    let registry = registry(&server);
    let receiver = announced(&registry, RECEIVER, local(4000));
    let proxy = registry.enrol(secret(), local(5000), Vec::new());
    proxy.wait(SOON).unwrap();
    drop(server);
    until("both notice", || {
        receiver.error().is_some() && proxy.error().is_some()
    });
    // A proxy that is there goes on meanwhile.
    assert_eq!(proxy.addresses(), [local(5000)]);
    let silent = registry.relays(RECEIVER, &[]);
    assert!(
        matches!(silent, Err(Error::Unreachable { .. })),
        "{silent:?}"
    );
    let _server = serve_at(address, secret(), Memory::default(), short());
    until("both are back", || {
        let grant = registry.relays(RECEIVER, &[]);
        grant.is_ok_and(|grant| grant.relays.len() == 1)
    });
}

#[test]
fn one_address_asks_only_so_much() {
    let config = Config {
        questions: tidegate_overlay::Rate {
            per_second: 0.001,
            burst: 3.0,
        },
        ..Config::default()
    };
    let server = serve(secret(), Memory::default(), config);
    let statuses = [(); 5].map(|()| {
        let said = ask(server.address(), &post("/v1/relays", "{}"));
        said[9..12].to_owned()
    });
    assert_eq!(statuses, ["400", "400", "400", "429", "429"]);
}

#[test]
fn garbage_is_refused_in_words() {
    let server = serve(secret(), Memory::default(), Config::default());
    let long = "x".repeat(20_000);
    let cases = [
        ("\0\0\0\0\r\n\r\n".to_owned(), "400", "no HTTP request"),
        (
            "GET /v1/relays HTTP/1.1\r\n\r\n".to_owned(),
            "405",
            "expected POST",
        ),
        (post("/", ""), "404", "expected /v1/"),
        // As a web page could let its visitor's browser announce itself.
        (
            post(RECEIVERS, "{}").replace("application/json", "text/plain"),
            "415",
            "application/json",
        ),
        (post("/v1/relays", "{"), "400", "not understood"),
        (
            post("/v1/relays", r#"{"receiver":"zz"}"#),
            "400",
            "32 hexadecimal digits",
        ),
        (post("/v1/proxies", "{}"), "401", "Authorization"),
        (
            post(
                RECEIVERS,
                r#"{"receiver":"07070707070707070707070707070707","key":"07070707070707070707070707070707","port":0}"#,
            ),
            "400",
            "no proxy or receiver can listen",
        ),
        (
            format!("POST / HTTP/1.1\r\na: {long}\r\n\r\n"),
            "431",
            "bytes of headers",
        ),
        (
            "POST / HTTP/1.1\r\ncontent-length: 999999\r\n\r\n".to_owned(),
            "413",
            "more than",
        ),
        (
            "POST / HTTP/1.1\r\ncontent-length: -1\r\n\r\n".to_owned(),
            "400",
            "is not a number",
        ),
        (
            "POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n".to_owned(),
            "411",
            "Content-Length",
        ),
        (
            "POST / HTTP/1.1\r\ncontent-length: 10\r\n\r\nshort".to_owned(),
            "408",
            "incomplete",
        ),
    ];
    for (request, status, words) in cases {
        let said = ask(server.address(), &request);
        assert_eq!(said.get(9..12), Some(status), "{request:.60}: {said}");
        assert!(said.contains(words), "{said}");
    }
    // It has survived.
    announced(&registry(&server), RECEIVER, local(4000));
}

#[test]
fn only_addresses_of_registries_are_taken() {
    for url in [
        "",
        "registry",
        "https://registry:1",
        "http://",
        "http://registry/path",
    ] {
        let refused = tidegate_overlay::Registry::new([url]).unwrap_err();
        assert!(refused.to_string().contains("expected"), "{refused}");
    }
    assert!(tidegate_overlay::Registry::new::<&str>([]).is_err());
}

#[test]
fn what_a_proxy_has_said_cannot_be_said_again_or_later_or_of_another_port() {
    let server = serve(secret(), Memory::default(), Config::default());
    let now_s = unix_s();
    let said = |request: &str| ask(server.address(), request);
    let first = enrol(&secret(), now_s, "aa", 5000);
    assert!(said(&first).starts_with("HTTP/1.1 200"));
    assert!(said(&first).contains("said before"));
    let old = enrol(&secret(), now_s - 70, "ab", 5000);
    assert!(said(&old).contains("clocks"));
    let changed = enrol(&secret(), now_s, "ac", 5000).replace("5000", "5001");
    assert!(said(&changed).contains("token"));
}

#[test]
fn one_address_cannot_fill_the_memory() {
    common::one_address_cannot_fill(&Memory::default());
}

#[test]
fn one_network_cannot_fill_the_memory() {
    common::one_network_cannot_fill(&Memory::default());
}

#[test]
fn a_stranger_who_says_nothing_keeps_nobody_out() {
    use std::io::Write;
    let server = serve(secret(), Memory::default(), Config::default());
    let crowd: Vec<_> = (0..700)
        .map(|_| {
            let mut stream = std::net::TcpStream::connect(server.address()).unwrap();
            // The oldest have been ended meanwhile.
            let _ = stream.write_all(b"P");
            stream
        })
        .collect();
    assert!(ask(server.address(), &post("/v1/relays", "{}")).starts_with("HTTP/1.1 400"));
    drop(crowd);
}
