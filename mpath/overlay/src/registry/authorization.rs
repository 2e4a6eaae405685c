//! A proxy's proof that it knows the secret: `tidegate1 TIME NONCE MAC`.

use super::store::Store;
use super::{Reply, service};
use crate::api::SCHEME;
use crate::{Now, Secret};
use blake3::Hash;

/// Seconds by which a proxy's clock and the registry's may differ.
const SLACK_S: u64 = 60;

/// The most bytes of a nonce.
const NONCE: usize = 64;

struct Shown<'a> {
    time_s: u64,
    nonce: &'a str,
    mac: Hash,
}

fn parse(header: &str) -> Option<Shown<'_>> {
    let mut words = header.split(' ');
    let (SCHEME, Some(time), Some(nonce), Some(mac), None) = (
        words.next()?,
        words.next(),
        words.next(),
        words.next(),
        words.next(),
    ) else {
        return None;
    };
    let hexadecimal =
        (1..=NONCE).contains(&nonce.len()) && nonce.bytes().all(|digit| digit.is_ascii_hexdigit());
    let time_s = time.parse().ok()?;
    let mac = Hash::from_hex(mac).ok()?;
    hexadecimal.then_some(Shown { time_s, nonce, mac })
}

/// Accepts a proxy that knows the secret, with a current time and a new nonce.
pub fn check(
    secret: &Secret,
    store: &dyn Store,
    header: Option<&str>,
    body: &[u8],
    now: Now,
) -> Result<(), Reply> {
    let refuse = |why: String| Err(service::refuse(401, why));
    let Some(shown) = header.and_then(parse) else {
        return refuse(format!(
            "expected an Authorization: {SCHEME}, time, nonce, MAC"
        ));
    };
    // BLAKE3's hashes compare in constant time.
    if secret.enrolment_mac(shown.time_s, shown.nonce, body) != shown.mac {
        return refuse("the token is not this overlay's".into());
    }
    let apart_s = shown.time_s.abs_diff(now.unix_s);
    if apart_s > SLACK_S {
        return refuse(format!(
            "the clocks of registry and proxy are {apart_s} s apart"
        ));
    }
    match store.is_new(shown.nonce, 2 * SLACK_S + 1, now.unix_s) {
        Ok(true) => Ok(()),
        Ok(false) => refuse("this has been said before".into()),
        Err(error) => Err(service::refuse(503, error.to_string())),
    }
}
