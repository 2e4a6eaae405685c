//! The audit of a page finds what is wrong with it, and nothing in a good page.

use std::fs;
use tempfile::TempDir;
use tidegate_testing::{Browser, Screen};

/// A page with that in its body.
fn html(body: &str) -> String {
    format!(
        "<!DOCTYPE html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>page</title>\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; img-src data:\">\
         <link rel=\"icon\" href=\"data:,\"></head><body><h1>page</h1>{body}</body></html>"
    )
}

const FAULTS: [(&str, &str); 15] = [
    ("<div style=\"width: 900px\">wide</div>", "pixels wide"),
    (
        "<p style=\"color: #aaa; background: #fff\">pale</p>",
        "contrast 2.3",
    ),
    (
        "<div style=\"background: #333\"><p style=\"color: rgba(255,255,255,.3)\">pale</p></div>",
        "contrast",
    ),
    (
        "<div style=\"width: 60px; overflow: hidden; white-space: nowrap\">this is cut off</div>",
        "does not fit",
    ),
    (
        "<div style=\"width: 90px; overflow: auto\"><p style=\"width: 300px\">to be scrolled to</p></div>",
        "has to be scrolled to",
    ),
    ("<p style=\"font-size: 9px\">small</p>", "letters of 9.0"),
    (
        "<svg aria-label=\"a\" width=\"100\" height=\"20\" viewBox=\"0 0 400 80\"><text y=\"40\" font-size=\"20\">small</text></svg>",
        "letters of 5.0",
    ),
    (
        "<svg aria-label=\"a\" width=\"50\" height=\"20\"><text y=\"15\">longer than it</text></svg>",
        "cut off by its picture",
    ),
    (
        "<svg width=\"50\" height=\"20\"><path d=\"M0 0h9\"/></svg>",
        "a picture without a name",
    ),
    ("<img src=\"data:,\">", "an image without a text"),
    ("<input type=\"text\">", "a control without a name"),
    (
        "<table><tr><td>1</td></tr></table>",
        "a table without heads",
    ),
    ("<h3>deep</h3>", "a heading of rank 3 below one of 1"),
    ("<p>\u{2500}\u{2500}\u{253c}</p>", "draw boxes"),
    ("<script>1</script>", "log: "),
];

#[test]
fn an_audit_finds_each_fault_and_nothing_where_there_is_none() {
    let Some(mut browser) = Browser::start() else {
        return;
    };
    browser.look_at(Screen::ALL[0]);
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("page.html");
    let mut audit = |body: &str| {
        fs::write(&file, html(body)).unwrap();
        browser.open(&format!("file://{}", file.display()));
        browser.audit()
    };
    let good = "<p>text</p><label>name <input type=\"text\"></label><svg aria-label=\"a\" width=\"90\" height=\"20\"><text y=\"15\">text</text></svg>";
    assert_eq!(audit(good), [""; 0]);
    for (body, complaint) in FAULTS {
        let found = audit(body);
        assert!(
            found.iter().any(|one| one.contains(complaint)),
            "{body}: {complaint}, {found:?}"
        );
    }
}

#[test]
fn schemes_and_widths_are_what_was_asked_for() {
    let Some(mut browser) = Browser::start() else {
        return;
    };
    for screen in Screen::ALL {
        browser.look_at(screen);
        browser.open("data:text/html,<p>page</p>");
        let seen =
            browser.evaluate("[innerWidth, matchMedia('(prefers-color-scheme: dark)').matches]");
        assert_eq!(seen[1], screen.dark, "{screen:?}");
        // A page without a viewport is drawn as for a desktop.
        assert!(
            seen[0] == screen.width || seen[0] == 980,
            "{screen:?} {seen}"
        );
    }
}
