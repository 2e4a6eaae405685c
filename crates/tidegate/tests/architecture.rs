//! Checks `docs/architecture.md`: its tables of rooms and of dependencies must match the manifests, and what it says of
//! directions must hold. Also checks that the tests named in `docs/promises.md` for servers and link exist, and the
//! laws' constants in `docs/internals/constants.md`.

mod house;

use house::{manifests, root};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use toml::Table;

type Names = BTreeSet<String>;

/// The cells of the rows of the Markdown table with this header.
fn table(text: &str, header: &str) -> Vec<Vec<String>> {
    let rows = text.lines().skip_while(|line| *line != header).skip(2);
    let cells = |row: &str| {
        let row = row.trim_matches('|');
        row.split(" | ")
            .map(|cell| cell.trim().to_owned())
            .collect()
    };
    let found: Vec<_> = rows
        .take_while(|row| row.starts_with('|'))
        .map(cells)
        .collect();
    assert!(!found.is_empty(), "no table \"{header}\"");
    found
}

fn document() -> String {
    fs::read_to_string(root().join("docs/architecture.md")).expect("readable")
}

/// All pieces of text in back quotes.
fn quoted(cell: &str) -> Names {
    cell.split('`')
        .skip(1)
        .step_by(2)
        .map(str::to_owned)
        .collect()
}

/// Names of the dependencies in these sections of a manifest.
fn dependencies(manifest: &Table, sections: &[&str]) -> Names {
    let sections = sections.iter().filter_map(|section| manifest.get(*section));
    let tables = sections.filter_map(|section| section.as_table());
    tables.flat_map(Table::keys).cloned().collect()
}

/// Separates our rooms from external crates.
fn ours(names: Names) -> (Names, Names) {
    let (ours, others): (Names, Names) = names
        .into_iter()
        .partition(|name| name.starts_with("tidegate-"));
    let rooms = ours.iter().map(|name| name["tidegate-".len()..].to_owned());
    (rooms.collect(), others)
}

/// What each room may use according to the document; absent: everything.
fn rooms() -> BTreeMap<String, Option<Names>> {
    let header = "| room | what it is | may use |";
    let document = document();
    let tables = document.match_indices(header);
    let rows = tables.flat_map(|(at, _)| table(&document[at..], header));
    let listed: Vec<_> = rows
        .map(|row| {
            let [room, _, uses] = &row[..] else {
                panic!("a row of {} cells: {row:?}", row.len());
            };
            let room = room.trim_matches('`').trim_end_matches('/');
            let uses = (uses != "all").then(|| {
                let uses = uses.split(", ").map(str::to_owned);
                uses.filter(|used| !["–", "`laws/`", ""].contains(&used.as_str()))
                    .collect()
            });
            (room.to_owned(), uses)
        })
        .collect();
    let rooms: BTreeMap<_, _> = listed.iter().cloned().collect();
    assert_eq!(rooms.len(), listed.len(), "a room has two rows");
    rooms
}

#[test]
fn the_house_has_the_folder_of_every_room() {
    let rows = table(&document(), "| folder | what is in it |");
    let folders: Names = rows.iter().flat_map(|row| quoted(&row[0])).collect();
    for folder in &folders {
        assert!(root().join(folder).is_dir(), "{folder} is in the house");
    }
    for room in rooms().into_keys().chain(manifests().into_keys()) {
        let folder = room.split('/').next().unwrap_or_default();
        let is_there = folders.contains(&format!("{folder}/"));
        assert!(is_there, "{folder}, with {room}, is not in the house");
    }
}

#[test]
fn every_room_uses_what_the_document_says() {
    let rooms = rooms();
    for (folder, manifest) in manifests() {
        let stated = rooms.get(&folder);
        let stated = stated.unwrap_or_else(|| panic!("{folder} is not in the table of rooms"));
        let (used, _) = ours(dependencies(
            &manifest,
            &["dependencies", "build-dependencies"],
        ));
        if let Some(stated) = stated {
            assert_eq!(
                &used, stated,
                "{folder}: the manifest and the table of rooms"
            );
        }
    }
}

#[test]
fn every_room_of_the_document_is_there() {
    for room in rooms().keys() {
        assert!(
            root().join(room).is_dir(),
            "{room} is in the table of rooms"
        );
    }
}

/// Rooms that the agent's program must do without: it runs on routers.
const NOT_ON_ROUTERS: [&str; 13] = [
    "gym",
    "lab",
    "measure",
    "overlay",
    "probe",
    "recordings",
    "report",
    "reproductions",
    "sim",
    "study",
    "sweep",
    "tcp",
    "transfer",
];

/// The manifest of a room, whichever folder has it.
fn manifest_of<'a>(room: &str, manifests: &'a BTreeMap<String, Table>) -> &'a Table {
    let mut found = manifests.iter().filter(|(folder, _)| name(folder) == room);
    let (_, manifest) = found.next().unwrap_or_else(|| panic!("no room {room}"));
    assert_eq!(found.next(), None, "two rooms {room}");
    manifest
}

/// A room's name without the folders around it.
fn name(folder: &str) -> &str {
    folder.rsplit('/').next().unwrap_or(folder)
}

/// All rooms that this one is built from, directly or by way of others.
fn below(room: &str, manifests: &BTreeMap<String, Table>) -> Names {
    let mut all = Names::new();
    let mut next = vec![room.to_owned()];
    while let Some(room) = next.pop() {
        let (used, _) = ours(dependencies(
            manifest_of(&room, manifests),
            &["dependencies"],
        ));
        next.extend(used.into_iter().filter(|used| all.insert(used.clone())));
    }
    all
}

#[test]
fn the_agents_program_has_nothing_of_the_laboratory() {
    let manifests = manifests();
    let below = below("daemon", &manifests);
    assert!(below.contains("agent"), "{below:?}");
    for room in NOT_ON_ROUTERS {
        assert!(!below.contains(room), "crates/daemon is built from {room}");
    }
    let sections = ["dependencies", "dev-dependencies", "build-dependencies"];
    for (folder, manifest) in &manifests {
        let (used, _) = ours(dependencies(manifest, &sections));
        let may = folder == "crates/tidegate";
        assert!(may || !used.contains("daemon"), "{folder} uses daemon");
    }
}

/// Which of a crate's modules each of them uses. Tests may use what they like.
fn modules(folder: &Path) -> BTreeMap<String, Names> {
    let mut uses = BTreeMap::<String, Names>::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(inner) = folders.pop() {
        for entry in fs::read_dir(inner).expect("readable").flatten() {
            let path = entry.path();
            if path.file_stem().is_some_and(|name| name == "tests") {
                continue;
            }
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let within = path.strip_prefix(folder).expect("within");
            let module = within.iter().next().expect("a name");
            let module = module.to_string_lossy().trim_end_matches(".rs").to_owned();
            if within.extension().is_none_or(|end| end != "rs")
                || ["main", "lib", "fixtures"].contains(&module.as_str())
            {
                continue;
            }
            let text = fs::read_to_string(&path).expect("readable");
            let code = text.split("#[cfg(test)]\nmod tests {").next();
            let mut used = used(code.unwrap_or_default());
            used.remove(&module);
            uses.entry(module).or_default().append(&mut used);
        }
    }
    uses
}

/// The modules in `use crate::module::…`, `use crate::{one, another}` and paths without `use`.
fn used(code: &str) -> Names {
    let lines = code.lines().filter(|l| !l.trim_start().starts_with("//"));
    let code = lines.collect::<Vec<_>>().join("\n");
    let name = |text: &str| {
        let text = text.trim_start();
        let end = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        text[..end.unwrap_or(text.len())].to_owned()
    };
    let mut all = Names::new();
    for after in code.split("crate::").skip(1) {
        match after
            .strip_prefix('{')
            .and_then(|list| list.split_once('}'))
        {
            Some((list, _)) => all.extend(list.split(',').map(name)),
            None => all.extend([name(after)]),
        }
    }
    all.remove("");
    all
}

#[test]
fn no_module_uses_one_that_uses_it() {
    for room in ["daemon", "tidegate"] {
        let mut rest = modules(&root().join("crates").join(room).join("src"));
        assert!(rest.len() > 15, "{room}: {rest:?}");
        // Takes away, again and again, those that use none of the rest.
        loop {
            let left: Names = rest.keys().cloned().collect();
            rest.retain(|_, used| !used.is_disjoint(&left));
            if rest.len() == left.len() {
                break;
            }
        }
        let rest: Vec<_> = rest.iter().collect();
        assert!(rest.is_empty(), "{room}: a circle among {rest:?}");
    }
}

#[test]
fn the_agents_modules_use_what_is_below_them() {
    let uses = modules(&root().join("crates/daemon/src"));
    let rows = table(&document(), "| modules | what they have |");
    let mut below = Names::new();
    for row in &rows {
        let here = quoted(&row[0]);
        below.extend(here.iter().cloned());
        for module in here {
            let used = uses
                .get(&module)
                .unwrap_or_else(|| panic!("{module}: no such module"));
            let above: Vec<_> = used.difference(&below).collect();
            assert!(above.is_empty(), "{module} uses {above:?}");
        }
    }
    let unlisted: Vec<_> = uses.keys().filter(|name| !below.contains(*name)).collect();
    assert!(unlisted.is_empty(), "not in the table: {unlisted:?}");
}

#[test]
fn every_dependency_has_its_reason() {
    let rows = table(&document(), "| crate | for |");
    let explained: Names = rows.iter().flat_map(|row| quoted(&row[0])).collect();
    let sections = ["dependencies", "dev-dependencies", "build-dependencies"];
    let manifests = manifests();
    let used: Names = manifests
        .values()
        .flat_map(|manifest| ours(dependencies(manifest, &sections)).1)
        .collect();
    let unexplained: Vec<_> = used.difference(&explained).collect();
    assert!(
        unexplained.is_empty(),
        "used without a reason: {unexplained:?}"
    );
    // A reason may also name a part of the crate, such as `crossterm`, which lies underneath.
    let unused: Vec<_> = rows
        .iter()
        .filter(|row| quoted(&row[0]).is_disjoint(&used))
        .collect();
    assert!(unused.is_empty(), "explained, and not used: {unused:?}");
}

/// Rooms whose output goes only to developers, or to no terminal.
const OF_DEVELOPERS: [&str; 8] = [
    "c-enum",
    "commit",
    "constants",
    "measurements",
    "rivals",
    "runner",
    "testing",
    "terminal",
];

/// Output for people must go through `crates/terminal`: otherwise a hostile name could control the terminal.
#[test]
fn one_room_prints_for_people() {
    for (folder, manifest) in manifests() {
        let (_, others) = ours(dependencies(&manifest, &["dependencies"]));
        for library in ["comfy-table", "indicatif"] {
            let is_here = others.contains(library);
            assert_eq!(is_here, folder == "crates/terminal", "{folder}: {library}");
        }
        if OF_DEVELOPERS.contains(&name(&folder)) {
            continue;
        }
        let mut code = String::new();
        let src = root().join(&folder).join("src");
        let flat = root().join(&folder);
        sources(if src.is_dir() { &src } else { &flat }, &mut code);
        let streams = code
            .lines()
            .filter(|line| line.contains("io::stdout()") || line.contains("io::stderr()"));
        // Asking what a stream is, or handing it to another process, prints nothing.
        let other = [".is_terminal()", "fstat(", ".as_fd()"];
        let mut printing = streams.filter(|line| !other.iter().any(|o| line.contains(o)));
        assert_eq!(printing.next(), None, "{folder}: use tidegate_terminal");
    }
}

/// Collects the sources of all tests.
fn sources(folder: &Path, all: &mut String) {
    for entry in fs::read_dir(folder).expect("readable").flatten() {
        let path = entry.path();
        if path.is_dir() {
            sources(&path, all);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            all.push_str(&fs::read_to_string(path).expect("readable"));
        }
    }
}

#[test]
fn every_promise_of_a_server_has_tests_that_are_there() {
    let text = fs::read_to_string(root().join("docs/promises.md")).expect("readable");
    let chapter = text
        .split("## The servers and `link`")
        .nth(1)
        .expect("there");
    let mut code = String::new();
    for folder in manifests().keys() {
        sources(&root().join(folder), &mut code);
    }
    for row in table(chapter, "| promise | tests |") {
        let names = quoted(&row[1]);
        assert!(!names.is_empty(), "{row:?}");
        for name in names {
            assert!(
                code.contains(&format!("fn {name}(")),
                "{name}: no such test"
            );
        }
    }
}

/// What the laws' headers say of their constants: the words of the comment, by name without `TG_`.
fn constants() -> BTreeMap<String, String> {
    let folders = ["laws", "laws/tide", "laws/hold"].map(|folder| root().join(folder));
    let files = folders
        .iter()
        .flat_map(|folder| fs::read_dir(folder).expect("readable"));
    let paths = files.map(|file| file.expect("readable").path());
    let headers = paths.filter(|path| path.extension().is_some_and(|end| end == "h"));
    let texts = headers.map(|path| fs::read_to_string(path).expect("readable"));
    let define = |line: &str| {
        let (name, rest) = line.strip_prefix("#define TG_")?.split_once(' ')?;
        let says = rest.split_once("/*")?.1.trim_end_matches("*/").trim();
        Some((name.to_owned(), says.to_owned()))
    };
    let lines: Vec<String> = texts
        .flat_map(|text| text.lines().map(str::to_owned).collect::<Vec<_>>())
        .collect();
    lines.iter().filter_map(|line| define(line)).collect()
}

#[test]
fn every_constant_that_rests_on_a_sweep_is_listed_as_one() {
    let page = root().join("docs/internals/constants.md");
    let page = fs::read_to_string(page).expect("readable");
    let row = |name: &str| {
        page.lines()
            .find(|l| l.starts_with(&format!("| `{name}` |")))
    };
    let constants = constants();
    let swept: Vec<_> = constants
        .iter()
        .filter(|(_, says)| says.contains("swept"))
        .collect();
    assert!(swept.len() > 40, "{}", swept.len());
    let unlisted = swept
        .iter()
        .filter(|(name, _)| !row(name).is_some_and(|row| row.contains("a sweep: ")));
    let unlisted: Vec<_> = unlisted.map(|(name, _)| name).collect();
    assert!(unlisted.is_empty(), "{unlisted:?}");
    let gone: Vec<_> = page
        .lines()
        .filter(|line| line.contains("| a sweep: "))
        .filter_map(|line| line.split('`').nth(1))
        .filter(|name| !constants.contains_key(*name))
        .collect();
    assert!(gone.is_empty(), "{gone:?}");
}
