//! The HTML of the pages.

use crate::plan::{Kind, Object, SEGMENT_S, Visit};
use std::collections::BTreeMap;
use std::fmt::Write;

const SCRIPT: &str = include_str!("page/page.js");
const PLAYER: &str = include_str!("page/player.js");
const DOWNLOAD: &str = include_str!("page/download.js");

/// The page of a visit.
pub fn visited(visit: &Visit) -> String {
    let mut html = String::from("<!doctype html><meta charset=utf-8><title>A page</title>\n");
    let late = late(&visit.objects);
    let _ = write!(html, "<script>const late = {late};\n{SCRIPT}</script>\n");
    for object in visit.objects.iter().filter(|object| object.by.is_none()) {
        let url = &object.url;
        let _ = match object.kind {
            Kind::Style => writeln!(
                html,
                r#"<link rel="stylesheet" href="{url}" onload="ran(this)">"#
            ),
            Kind::Script => writeln!(html, r#"<script src="{url}"></script>"#),
            Kind::LateScript => writeln!(html, r#"<script async src="{url}"></script>"#),
            Kind::Image => writeln!(html, r#"<img src="{url}" alt="">"#),
            Kind::Data => Ok(()),
        };
    }
    // The text.
    while html.len() < visit.bytes as usize {
        html.push_str("<p>Words, words, words.\n");
    }
    html
}

/// The objects that each script or style loads, as JSON.
fn late(objects: &[Object]) -> String {
    let mut late = BTreeMap::<&str, Vec<_>>::new();
    for object in objects {
        if let Some(by) = object.by {
            let asked = (object.kind, &object.url);
            late.entry(&objects[by].url).or_default().push(asked);
        }
    }
    serde_json::to_string(&late).expect("texts")
}

/// The page that plays videos.
pub fn player() -> String {
    alone(&format!("const SEGMENT_S = {SEGMENT_S};\n{PLAYER}"))
}

/// The page that downloads files.
pub fn download() -> String {
    alone(DOWNLOAD)
}

fn alone(script: &str) -> String {
    format!("<!doctype html><meta charset=utf-8><title>A page</title>\n<script>{script}</script>\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Plan;

    #[test]
    fn a_page_names_each_of_its_objects_once() {
        for visit in Plan::new(1, 300.0).visits {
            let html = visited(&visit);
            assert!(html.len() as u64 >= visit.bytes);
            let named = |object: &Object| html.matches(&format!("\"{}\"", object.url)).count();
            for (n, object) in visit.objects.iter().enumerate() {
                let asks = visit.objects.iter().any(|other| other.by == Some(n));
                assert_eq!(named(object), 1 + usize::from(asks), "{}", object.url);
            }
        }
    }
}
