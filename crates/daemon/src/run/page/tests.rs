//! Tests the page as a browser gets it, about a stand-in for the agent whose state is known.

mod canned;

use super::*;
use canned::{Canned, NASTY};
use serde_json::Value;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Instant;
use tidegate_testing::{Browser, Screen};

fn served(canned: Canned) -> Served {
    let watch = Watch::new(canned.clone());
    canned.samples().for_each(|look| watch.note(look));
    serve_of(PageAddress(([127, 0, 0, 1], 0).into()), watch).unwrap()
}

/// Head and body of the answer.
fn ask(page: &Served, request: &str) -> (String, String) {
    let mut stream = TcpStream::connect(page.address()).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    (head.to_lowercase(), body.to_owned())
}

fn get(page: &Served, path: &str) -> (String, String) {
    ask(
        page,
        &format!("GET {path} HTTP/1.1\r\nHost: {}\r\n\r\n", page.address()),
    )
}

fn json(page: &Served, path: &str) -> Value {
    serde_json::from_str(&get(page, path).1).unwrap()
}

#[test]
fn every_answer_has_the_policy_and_is_not_kept() {
    let page = served(Canned::busy());
    let asked = [
        "/",
        "/page.css",
        "/page.js",
        "/icon.svg",
        "/now.json",
        "/day.json",
        "/no",
    ];
    let mut answers: Vec<_> = asked.iter().map(|path| get(&page, path).0).collect();
    answers.push(ask(&page, "GET / HTTP/1.1\r\nHost: example.org\r\n\r\n").0);
    answers.push(ask(&page, "no HTTP\r\n\r\n").0);
    for head in &answers {
        for line in [
            "content-security-policy: default-src 'none'; script-src 'self'; style-src 'self';",
            "frame-ancestors 'none'",
            "x-content-type-options: nosniff",
            "cache-control: no-store",
            "referrer-policy: no-referrer",
            "cross-origin-resource-policy: same-origin",
        ] {
            assert!(head.contains(line), "{line}: {head}");
        }
        assert!(
            !head.contains("unsafe") && !head.contains("set-cookie"),
            "{head}"
        );
    }
    assert!(
        answers[0].contains("content-type: text/html"),
        "{}",
        answers[0]
    );
    assert!(
        answers[2].contains("content-type: text/javascript"),
        "{}",
        answers[2]
    );
    assert!(answers[6].starts_with("http/1.1 404"), "{}", answers[6]);
}

#[test]
fn the_page_answers_to_no_name_that_may_lead_anywhere() {
    let page = served(Canned::busy());
    for host in ["example.org", "example.org:9750", "router.lan", ""] {
        for path in ["/", "/now.json", "/day.json"] {
            let request = format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n");
            let (head, body) = ask(&page, &request);
            assert!(head.starts_with("http/1.1 421"), "{host}: {head}");
            assert!(
                body.contains("expected the address") && body.len() < 200,
                "{body}"
            );
        }
    }
    let (head, _) = ask(&page, "GET /now.json HTTP/1.1\r\n\r\n");
    assert!(head.starts_with("http/1.1 421"), "{head}");
    let (head, _) = ask(
        &page,
        "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nHost: example.org\r\n\r\n",
    );
    assert!(head.starts_with("http/1.1 400"), "{head}");
    let (head, _) = ask(&page, "GET / HTTP/1.1\r\nHost: localhost:9750\r\n\r\n");
    assert!(head.starts_with("http/1.1 200"), "{head}");
}

#[test]
fn the_page_can_be_read_and_nothing_else() {
    let page = served(Canned::busy());
    for method in ["POST", "PUT", "DELETE", "OPTIONS", "TRACE"] {
        let (head, _) = ask(
            &page,
            &format!("{method} /now.json HTTP/1.1\r\nHost: localhost\r\n\r\n"),
        );
        assert!(head.starts_with("http/1.1 405"), "{method}: {head}");
    }
    let (head, body) = ask(&page, "HEAD / HTTP/1.1\r\nHost: localhost\r\n\r\n");
    assert!(
        head.starts_with("http/1.1 200") && body.is_empty(),
        "{head}"
    );
    let (head, _) = ask(
        &page,
        "GET http://127.0.0.1/../etc/passwd HTTP/1.1\r\nHost: localhost\r\n\r\n",
    );
    assert!(head.starts_with("http/1.1 404"), "{head}");
}

/// With any number of browsers, the agent's tables are read once a second.
#[test]
fn many_who_look_cost_as_much_as_one() {
    let canned = Canned::busy();
    let page = served(canned.clone());
    let began = Instant::now();
    std::thread::scope(|scope| {
        for _ in 0..12 {
            scope.spawn(|| json(&page, "/now.json"));
        }
    });
    for _ in 0..20 {
        json(&page, "/now.json");
    }
    // The first answer takes two looks, since rates need two.
    let most = 2 + began.elapsed().as_millis().div_ceil(900) as usize;
    assert!(canned.looks() <= most, "{} looks", canned.looks());
}

#[test]
fn what_is_told_is_bounded() {
    let page = served(Canned::crowded(2000));
    let now = json(&page, "/now.json");
    assert_eq!(now["flows"].as_array().unwrap().len(), 30);
    assert_eq!(now["more_flows"], 2000 - 30);
    let size = |path| get(&page, path).1.len();
    let files: usize = FILES.iter().map(|(_, _, text)| text.len()).sum();
    let all = files + size("/now.json") + size("/day.json");
    assert!(all < 500_000, "{all} bytes");
}

#[test]
fn an_agent_that_has_ended_is_no_page() {
    let page = served(Canned::ended());
    for path in ["/now.json", "/day.json"] {
        let (head, _) = get(&page, path);
        assert!(head.starts_with("http/1.1 503"), "{head}");
    }
}

#[test]
fn a_browser_shows_it_at_every_width_and_in_both_schemes() {
    let Some(mut browser) = Browser::start() else {
        return;
    };
    let busy = served(Canned::busy());
    let quiet = served(Canned::quiet());
    for screen in Screen::ALL {
        browser.look_at(screen);
        for (name, page) in [("busy", &busy), ("quiet", &quiet)] {
            browser.open(&format!("http://{}/", page.address()));
            browser.wait_for("document.getElementById('state').className === 'state live'");
            for span in ["seconds", "minutes", "hours"] {
                let choose = format!("document.querySelector('input[value={span}]').click()");
                browser.evaluate(&choose);
                if span != "seconds" {
                    let sum = if span == "hours" { "week" } else { "day" };
                    let choose = format!("document.querySelector('input[value={sum}]').click()");
                    browser.evaluate(&choose);
                    browser.evaluate(
                        "document.querySelectorAll('details').forEach(d => d.open = true)",
                    );
                }
                browser.draw_if_wanted(&format!("page-{name}-{span}-{}", screen.name()));
                let wrong = browser.audit();
                assert!(wrong.is_empty(), "{name}, {span}, {screen:?}: {wrong:#?}");
            }
        }
    }
}

#[test]
fn the_page_asks_nobody_else_and_changes_with_time() {
    let Some(mut browser) = Browser::start() else {
        return;
    };
    let page = served(Canned::busy());
    let own = format!("http://{}/", page.address());
    browser.look_at(Screen::ALL[2]);
    browser.open(&own);
    browser.wait_for("document.getElementById('state').className === 'state live'");
    let shown = |browser: &mut Browser| {
        let shown = browser.evaluate("document.getElementById('queue-chart').innerHTML");
        shown.as_str().unwrap().to_owned()
    };
    let before = shown(&mut browser);
    assert!(before.contains("curve down"), "{before}");
    browser.wait_for("document.getElementById('headline').textContent === 'The queue is short.'");
    let same = serde_json::to_string(&before).unwrap();
    browser.wait_for(&format!(
        "document.getElementById('queue-chart').innerHTML !== {same}"
    ));
    assert!(browser.requests().len() > 5, "{:?}", browser.requests());
    for request in browser.requests() {
        assert!(request.starts_with(&own), "{request}");
    }
    // Devices' names appear as they are, and are not read as HTML.
    let text = browser.evaluate("document.getElementById('devices').textContent");
    assert!(text.as_str().unwrap().contains(NASTY), "{text}");
    assert_eq!(
        browser.evaluate("document.querySelectorAll('#devices img').length"),
        0
    );
    assert_eq!(browser.evaluate("window.broken === undefined"), true);
    assert!(browser.problems().is_empty(), "{:?}", browser.problems());

    // A script that the page did not load from here does not run either.
    let run = "(() => { const s = document.createElement('script'); \
               try { s.text = 'window.broken = 1'; document.body.append(s); } catch (e) {} \
               return window.broken === undefined; })()";
    assert_eq!(browser.evaluate(run), true);

    // When the agent no longer answers, the page says so.
    drop(page);
    browser.wait_for("document.getElementById('state').className === 'state lost'");
}
