//! How both ends use the registry.

use anyhow::Result;
use std::net::SocketAddr;
use std::time::{Duration, SystemTime};
use tidegate_overlay::{Error, Grant, Listing, ReceiverId, Registry};
use tidegate_terminal::warn;
use tidegate_transfer::{Identity, Relay, Token};
use tokio::sync::watch;
use tokio::time::{sleep, timeout};

use super::files::bad_input;

/// Separates the registries in a token.
const SEPARATOR: char = ',';

/// How long a receiver waits for the registry's first answer before it reports that there is none.
const TIMEOUT: Duration = Duration::from_secs(5);

/// Time between two requests for new proxies.
const REFRESH: Duration = Duration::from_secs(60);

/// The shortest time between two requests, also to a registry that does not answer.
const RETRY: Duration = Duration::from_secs(5);

/// Registries in the form that a token holds them; none without any.
pub fn joined(registries: &[String]) -> Option<String> {
    (!registries.is_empty()).then(|| registries.join(&SEPARATOR.to_string()))
}

fn registry(joined: &str) -> Result<Registry, Error> {
    Registry::new(joined.split(SEPARATOR))
}

/// Announces the receiver until the returned value is dropped. If a registry does not answer, we say so and keep
/// asking: direct transfers need none.
pub fn announce(
    registries: &[String],
    identity: &Identity,
    listening: SocketAddr,
) -> Result<Option<Listing>> {
    if registries.is_empty() {
        return Ok(None);
    }
    let registry = Registry::new(registries).map_err(bad_input)?;
    let (name, key) = (ReceiverId(identity.name()), identity.announcement_key());
    let announcement = registry.announce(name, key, listening);
    if let Err(error) = announcement.wait(TIMEOUT) {
        warn(format_args!(
            "tidegate: {error}; until it knows this receiver everything comes directly"
        ));
    }
    Ok(Some(announcement))
}

/// The paths to a receiver.
#[derive(Default)]
pub struct Ways {
    /// Its address according to the registry.
    pub destination: Option<SocketAddr>,
    /// The proxies that forward to it, as the registry reports them over time; none without a registry: then all data
    /// go directly.
    pub relays: Option<watch::Receiver<Vec<Relay>>>,
}

/// Asks the token's registry, and keeps asking. If it does not answer soon, we say so.
pub async fn ways(token: &Token) -> Result<Ways> {
    let Some(joined) = &token.registry else {
        return Ok(Ways::default());
    };
    let registry = registry(joined).map_err(bad_input)?;
    let name = ReceiverId(token.id);
    let why = match timeout(TIMEOUT, ask(&registry, name)).await {
        Ok(Ok(grant)) => {
            let (sender, relays) = watch::channel(relays_of(&grant));
            tokio::spawn(refresh(registry, name, grant.expires, sender));
            return Ok(Ways {
                destination: Some(grant.destination),
                relays: Some(relays),
            });
        }
        Ok(Err(error)) => error.to_string(),
        Err(_) => format!(
            "the registry {joined} does not answer within {} s",
            TIMEOUT.as_secs()
        ),
    };
    warn(format_args!(
        "tidegate: {why}; everything goes directly until it tells of proxies"
    ));
    let (sender, relays) = watch::channel(Vec::new());
    tokio::spawn(refresh(registry, name, SystemTime::now(), sender));
    Ok(Ways {
        destination: None,
        relays: Some(relays),
    })
}

/// Keeps asking as long as anyone listens. Known proxies stay valid until they expire.
async fn refresh(
    registry: Registry,
    name: ReceiverId,
    mut expires: SystemTime,
    relays: watch::Sender<Vec<Relay>>,
) {
    loop {
        let left = expires
            .duration_since(SystemTime::now())
            .unwrap_or_default();
        sleep(REFRESH.min(left / 2).max(RETRY)).await;
        if relays.is_closed() {
            return;
        }
        if let Ok(grant) = ask(&registry, name).await {
            expires = grant.expires;
            relays.send_replace(relays_of(&grant));
        }
    }
}

async fn ask(registry: &Registry, name: ReceiverId) -> Result<Grant, Error> {
    let registry = registry.clone();
    let asked = tokio::task::spawn_blocking(move || registry.relays(name, &[]));
    asked.await.expect("the client does not panic")
}

fn relays_of(grant: &Grant) -> Vec<Relay> {
    let relay = |relay: &tidegate_overlay::GrantedRelay| Relay {
        address: relay.address,
        capability: relay.capability.clone(),
    };
    grant.relays.iter().map(relay).collect()
}
