//! Questions over HTTP.

use super::{Error, Family};
use crate::api::Refusal;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::time::Duration;
use ureq::config::IpFamily;
use ureq::http::Uri;
use ureq::{Agent, Body};

/// How long to wait for a registry's answer.
const TIMEOUT: Duration = Duration::from_secs(4);

/// Bytes of an answer at most.
const ANSWER: u64 = 1 << 18;

#[derive(Debug)]
pub struct Http {
    agent: Agent,
    /// Without a slash at the end.
    urls: Vec<String>,
}

impl Http {
    pub fn new<U: AsRef<str>>(urls: impl IntoIterator<Item = U>) -> Result<Self, Error> {
        let urls = urls.into_iter().map(|url| checked(url.as_ref()));
        let urls = urls.collect::<Result<Vec<_>, _>>()?;
        if urls.is_empty() {
            let url = "no registry".into();
            return Err(Error::Url { url });
        }
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            // The registry uses the address that it sees.
            .proxy(None)
            .timeout_global(Some(TIMEOUT))
            .build();
        let agent = Agent::new_with_config(config);
        Ok(Self { agent, urls })
    }

    /// Asks one registry after the other until one answers or refuses. The authorization is valid for these bytes only,
    /// and is another for each registry.
    pub fn post<A: DeserializeOwned>(
        &self,
        family: Family,
        path: &str,
        question: &impl Serialize,
        authorization: impl Fn(&[u8]) -> Option<String>,
    ) -> Result<A, Error> {
        let body = serde_json::to_vec(question).expect("it has nothing that JSON has not");
        let mut failure = None;
        for url in &self.urls {
            match self.ask(url, family, path, &body, authorization(&body)) {
                Err(error) if !error.is_final() => {
                    failure = Some(match failure {
                        None => error,
                        Some(first) => Error::or(first, error),
                    });
                }
                done => return done,
            }
        }
        Err(failure.expect("there is a registry"))
    }

    fn ask<A: DeserializeOwned>(
        &self,
        url: &str,
        family: Family,
        path: &str,
        question: &[u8],
        authorization: Option<String>,
    ) -> Result<A, Error> {
        let unreachable = |error: ureq::Error| Error::Unreachable {
            url: url.to_owned(),
            reason: error.to_string(),
        };
        let family = match family {
            Family::V4 => IpFamily::Ipv4Only,
            Family::V6 => IpFamily::Ipv6Only,
        };
        let mut request = self.agent.post(format!("{url}{path}"));
        request = request.content_type("application/json");
        if let Some(authorization) = authorization {
            request = request.header("authorization", authorization);
        }
        let request = request.config().ip_family(family).build();
        let mut answer = request.send(question).map_err(unreachable)?;
        let status = answer.status().as_u16();
        let body = read(answer.body_mut()).map_err(unreachable)?;
        understand(url, status, &body)
    }
}

fn checked(url: &str) -> Result<String, Error> {
    let uri = url.parse::<Uri>().ok();
    let good = uri.is_some_and(|uri| {
        uri.scheme_str() == Some("http")
            && uri.host().is_some_and(|host| !host.is_empty())
            && uri.path() == "/"
            && uri.query().is_none()
    });
    if good {
        Ok(url.trim_end_matches('/').to_owned())
    } else {
        let url = printable(url);
        Err(Error::Url { url })
    }
}

/// Text from a registry or a token may come from a stranger: removes characters that could control a terminal.
fn printable(text: &str) -> String {
    text.replace(char::is_control, "\u{fffd}")
}

fn read(body: &mut Body) -> Result<Vec<u8>, ureq::Error> {
    body.with_config().limit(ANSWER).read_to_vec()
}

fn understand<A: DeserializeOwned>(url: &str, status: u16, body: &[u8]) -> Result<A, Error> {
    let url = url.to_owned();
    if status == 200 {
        return serde_json::from_slice(body).map_err(|error| Error::Answer {
            url,
            reason: error.to_string(),
        });
    }
    match serde_json::from_slice::<Refusal>(body) {
        Ok(Refusal { error }) => Err(Error::Refused {
            url,
            status,
            reason: printable(&error),
        }),
        Err(_) => Err(Error::Answer {
            url,
            reason: format!("status {status}"),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::Listed;

    #[test]
    fn what_a_registry_says_cannot_control_a_terminal() {
        let said = br#"{"error":"\u001b[2Jgone\n"}"#;
        let refused = understand::<Listed>("http://registry", 403, said).unwrap_err();
        assert!(refused.to_string().ends_with("\u{fffd}[2Jgone\u{fffd}"));
        let refused = Http::new(["http://\u{1b}[2J"]).unwrap_err();
        assert!(!refused.to_string().contains('\u{1b}'));
    }
}
