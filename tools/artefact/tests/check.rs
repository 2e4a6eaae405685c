//! The artefact's program, run with a stand-in for `tidegate` whose numbers are known.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};
use tempfile::TempDir;

const CLAIMS: &str = r#"
tolerance = { relative = 0.001, absolute = 0.001 }

[[claim]]
id = "slow"
says = "it is slow"
page = "docs/slow.md"
command = "reproduce slow"
minutes = 5

[[claim]]
id = "quick"
says = "it is quick"
page = "docs/quick.md"
command = "reproduce quick --quick"
minutes = 1
shows = [{ figure = "fig-1", name = "gain" }]
"#;

/// The stand-in's output.
fn report(gain: &str, verdict: &str) -> String {
    format!(
        r#"{{"seeds": 1, "figures": [{{"id": "fig-1", "title": "t", "quantities": [
            {{"name": "gain", "unit": "%", "ours": {gain}, "verdict": "{verdict}"}},
            {{"name": "delay", "unit": "ms", "ours": null, "verdict": "fails"}}]}}], "version": "x"}}"#
    )
}

/// A folder with claims and a program that prints the report and records how it was called.
fn folder(report: &str) -> TempDir {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("claims.toml"), CLAIMS).unwrap();
    prints(folder.path(), report);
    folder
}

fn prints(folder: &Path, report: &str) {
    let program = folder.join("program");
    let script = format!("#!/bin/sh\necho \"$*\" >>called\ncat <<'END'\n{report}\nEND\n");
    fs::write(&program, script).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
}

fn artefact(folder: &Path, command: &str, more: &[&str]) -> Output {
    let mut artefact = Command::new(env!("CARGO_BIN_EXE_tidegate-artefact"));
    artefact.arg(command).args(more).current_dir(folder);
    artefact.args(["--claims", "claims.toml", "--expected", "expected.json"]);
    if ["check", "expect"].contains(&command) {
        artefact.args(["--program", "./program"]);
    }
    artefact.output().unwrap()
}

/// Standard output and standard error, after checking the exit status.
fn said(output: &Output, status: i32) -> String {
    let [out, err] =
        [&output.stdout, &output.stderr].map(|b| String::from_utf8_lossy(b).into_owned());
    assert_eq!(output.status.code(), Some(status), "{out}{err}");
    out + &err
}

#[test]
fn what_was_expected_holds_and_a_wrong_number_does_not() {
    let folder = folder(&report("41.7", "holds"));
    let path = folder.path();
    said(&artefact(path, "expect", &[]), 0);
    let all = said(&artefact(path, "check", &[]), 0);
    assert!(all.contains("slow") && all.contains("quick"), "{all}");
    // Within a thousandth.
    prints(path, &report("41.71", "holds"));
    said(&artefact(path, "check", &["quick"]), 0);
    prints(path, &report("41.8", "holds"));
    let wrong = said(&artefact(path, "check", &["quick"]), 1);
    let row = wrong.lines().find(|line| line.contains("gain"));
    let row = row.unwrap_or_else(|| panic!("no row in: {wrong}"));
    for word in ["41.7, holds", "41.8, holds", "NO"] {
        assert!(row.contains(word), "no \"{word}\" in: {row}");
    }
    prints(path, &report("41.7", "direction"));
    said(&artefact(path, "check", &["quick"]), 1);
}

#[test]
fn the_quickest_is_run_alone() {
    let folder = folder(&report("1", "holds"));
    said(&artefact(folder.path(), "expect", &[]), 0);
    fs::remove_file(folder.path().join("called")).unwrap();
    said(&artefact(folder.path(), "check", &["--quickest"]), 0);
    let called = fs::read_to_string(folder.path().join("called")).unwrap();
    assert_eq!(called, "reproduce quick --quick --json\n");
}

#[test]
fn what_cannot_be_compared_is_said() {
    let folder = folder(&report("1", "holds"));
    let path = folder.path();
    let none = said(&artefact(path, "check", &[]), 2);
    assert!(none.contains("expected.json"), "{none}");
    // A claim that is newer than the numbers.
    let quick = CLAIMS.find("[[claim]]\nid = \"quick\"").unwrap();
    let tolerance = CLAIMS.find("[[claim]]").unwrap();
    let older = [&CLAIMS[..tolerance], &CLAIMS[quick..]].concat();
    fs::write(path.join("claims.toml"), older).unwrap();
    said(&artefact(path, "expect", &[]), 0);
    fs::write(path.join("claims.toml"), CLAIMS).unwrap();
    let missing = said(&artefact(path, "check", &["slow"]), 2);
    assert!(
        missing.contains("no numbers of claim \"slow\""),
        "{missing}"
    );
    let unknown = said(&artefact(path, "check", &["fast"]), 2);
    assert!(
        unknown.contains("no claim \"fast\", expected one of slow, quick"),
        "{unknown}"
    );
    let text = fs::read_to_string(path.join("expected.json")).unwrap();
    let version = text.split("\"behaviour\": ").nth(1).unwrap();
    let version = version.split(',').next().unwrap();
    let older = text.replacen(&format!("\"behaviour\": {version}"), "\"behaviour\": 1", 1);
    fs::write(path.join("expected.json"), &older).unwrap();
    for command in ["check", "expect"] {
        let old = said(&artefact(path, command, &["quick"]), 2);
        assert!(old.contains("numbers of behaviour version 1"), "{old}");
    }
    assert_eq!(
        fs::read_to_string(path.join("expected.json")).unwrap(),
        older
    );
}

#[test]
fn nothing_is_written_unless_every_claim_was_measured() {
    let folder = folder(&report("1", "holds"));
    let path = folder.path();
    // The first claim prints its numbers, the second does not.
    let script = "#!/bin/sh\n[ \"$2\" = slow ] && exec cat slow\necho 'no report'\n";
    fs::write(path.join("slow"), report("1", "holds")).unwrap();
    fs::write(path.join("program"), script).unwrap();
    let failed = said(&artefact(path, "expect", &[]), 2);
    assert!(
        failed.contains("slow: 0 s") && failed.contains("claim \"quick\""),
        "{failed}"
    );
    assert!(!path.join("expected.json").exists());
}

#[test]
fn the_committees_page_has_every_claim() {
    let folder = folder(&report("41.7", "holds"));
    let path = folder.path();
    said(&artefact(path, "expect", &[]), 0);
    fs::write(path.join("page.md"), "# Page\n\n<!-- claims -->\n\nEnd\n").unwrap();
    let page = said(&artefact(path, "readme", &["--template", "page.md"]), 0);
    assert!(page.contains("| `quick`: it is quick (docs/quick.md) | `tidegate reproduce quick --quick` | 1 | 2 | gain (fig-1): 41.7 % |"), "{page}");
    assert!(
        page.contains("take 6.0 minutes") && page.ends_with("End\n"),
        "{page}"
    );
    fs::write(path.join("page.md"), "# Page\n").unwrap();
    said(&artefact(path, "readme", &["--template", "page.md"]), 2);
}

/// The shipped claims can be read, and their expected numbers are this simulator's: raise BEHAVIOUR_VERSION, and run
/// `./dev artefact expect`.
#[test]
fn the_shipped_claims_have_numbers() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut artefact = Command::new(env!("CARGO_BIN_EXE_tidegate-artefact"));
    let page = artefact.arg("readme").current_dir(root).output().unwrap();
    let page = said(&page, 0);
    assert!(page.contains("| `drwa`: "), "{page}");
    assert!(!page.contains("<!-- claims -->"), "{page}");
}
