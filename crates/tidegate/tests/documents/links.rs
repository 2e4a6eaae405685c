//! Checks that every link has a target.

use crate::markdown::{Document, documents, root};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

/// The path without `.` and `..`.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => drop(plain.pop()),
            Component::CurDir => {}
            other => plain.push(other),
        }
    }
    plain
}

#[test]
fn every_link_leads_to_a_file_and_a_heading_that_are_there() {
    let documents = documents();
    let anchors: BTreeMap<_, _> = documents
        .iter()
        .map(|d| (d.path.clone(), d.anchors()))
        .collect();
    let mut wrong = Vec::new();
    let mut count = 0;
    for document in &documents {
        for (link, line) in document.links() {
            if link.contains("://") {
                continue;
            }
            count += 1;
            let (path, anchor) = link.split_once('#').unwrap_or((&link, ""));
            let target = match path {
                "" => document.path.clone(),
                path => plain(&document.path.parent().expect("a folder").join(path)),
            };
            let has_anchor = || anchors.get(&target).is_some_and(|all| all.contains(anchor));
            if !root().join(&target).exists() || !anchor.is_empty() && !has_anchor() {
                wrong.push(format!("{}:{line}: {link}", document.path.display()));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "links that lead nowhere:\n{}",
        wrong.join("\n")
    );
    assert!(count > 200, "{count} links");
}

/// The documents also form a web site (`./dev book`), which contains no other files.
#[test]
fn documents_link_to_documents_alone() {
    for document in documents().iter().filter(|d| d.path.starts_with("docs")) {
        for (link, line) in document.links() {
            let path = link.split('#').next().unwrap_or_default();
            let target = plain(&document.path.parent().expect("a folder").join(path));
            let is_inside = link.contains("://") || target.starts_with("docs");
            assert!(
                is_inside,
                "{}:{line}: {link} leads out of docs/",
                document.path.display()
            );
        }
    }
}

#[test]
fn index_and_contents_name_every_document() {
    let documents = documents();
    let named = |name: &str| -> BTreeSet<PathBuf> {
        let index = documents
            .iter()
            .find(|d| d.path == Path::new(name))
            .expect(name);
        let links = index.links().into_iter();
        let paths = links.map(|(link, _)| link.split('#').next().unwrap_or_default().to_owned());
        paths
            .map(|path| plain(&Path::new("docs").join(path)))
            .collect()
    };
    let (index, contents) = (named("docs/README.md"), named("docs/SUMMARY.md"));
    let own = ["docs/README.md", "docs/SUMMARY.md"].map(PathBuf::from);
    let is_page = |d: &&Document| d.path.starts_with("docs") && !own.contains(&d.path);
    for document in documents.iter().filter(is_page) {
        let path = &document.path;
        assert!(
            index.contains(path),
            "{} is not in docs/README.md",
            path.display()
        );
        assert!(
            contents.contains(path),
            "{} is not in docs/SUMMARY.md",
            path.display()
        );
    }
}

/// Checks pictures in HTML, which the Markdown parser does not look into.
#[test]
fn the_pictures_of_the_first_screen_are_there() {
    let documents = documents();
    let readme = documents
        .iter()
        .find(|d| d.path == Path::new("README.md"))
        .expect("there");
    let quoted = readme.text.split('"').filter(|text| text.ends_with(".svg"));
    let pictures: Vec<_> = quoted.collect();
    assert_eq!(
        pictures.len(),
        4,
        "for light screens and dark ones, wide and narrow"
    );
    for picture in pictures {
        let text = std::fs::read_to_string(root().join(picture)).expect(picture);
        let drawn = roxmltree::Document::parse(&text).expect(picture);
        let number = |node: roxmltree::Node, name| node.attribute(name)?.parse::<f64>().ok();
        let width = number(drawn.root_element(), "width").unwrap();
        // A phone shows 343 pixels between the margins; text at half its size would be unreadable.
        let shown = if picture.contains("narrow") {
            343.0
        } else {
            800.0
        };
        let letters = drawn.descendants().filter_map(|n| number(n, "font-size"));
        let least = letters.fold(f64::INFINITY, f64::min) * shown / width;
        assert!(least >= 10.0, "{picture}: letters of {least:.1} pixels");
    }
}
