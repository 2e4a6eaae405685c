//! The runner with shell scripts as test programs, in a separate package.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

/// The programs that wait.
const WAITING: [&str; 2] = ["one", "other"];
/// The program that needs the machine to itself.
const ALONE: &str = "lonely";
const OK: &str = "echo 'test result: ok. 2 passed; 0 failed; 1 ignored; 0 measured'";

struct Package {
    folder: TempDir,
    messages: String,
}

impl Package {
    /// With these test programs.
    fn new(programs: &[(&str, &str)]) -> Self {
        let folder = TempDir::new().unwrap();
        let manifest = folder.path().join("Cargo.toml");
        let mut metadata = "[package]\nname = 'p'\n[package.metadata.tests.real-time]\n".to_owned();
        for (name, _) in programs.iter().filter(|(name, _)| WAITING.contains(name)) {
            metadata += &format!("{name} = 0\n");
        }
        if programs.iter().any(|(name, _)| *name == ALONE) {
            metadata += &format!("[package.metadata.tests.alone]\n{ALONE} = 1\n");
        }
        fs::write(&manifest, metadata).unwrap();
        let mut messages = String::new();
        for (name, script) in programs {
            let executable = folder.path().join(name);
            fs::write(&executable, format!("#!/bin/sh\n{script}\n")).unwrap();
            fs::set_permissions(&executable, fs::Permissions::from_mode(0o755)).unwrap();
            messages += &format!(
                r#"{{"manifest_path":{manifest:?},"target":{{"kind":["test"],"name":"{name}"}},"profile":{{"test":true}},"executable":{executable:?}}}"#
            );
            messages += "\n";
        }
        Self { folder, messages }
    }

    fn run(&self, args: &[&str]) -> Output {
        let messages = self.folder.path().join("messages");
        fs::write(&messages, &self.messages).unwrap();
        Command::new(env!("CARGO_BIN_EXE_tidegate-runner"))
            .args(args)
            .stdin(Stdio::from(fs::File::open(messages).unwrap()))
            .output()
            .unwrap()
    }
}

fn lines(output: &Output) -> Vec<String> {
    let text = String::from_utf8_lossy(&output.stdout);
    text.lines().map(str::to_owned).collect()
}

/// Each waits until the other has begun.
#[test]
fn what_waits_runs_side_by_side() {
    let meet = |mine: &str, other: &str| {
        format!(
            "touch {mine}; for i in $(seq 200); do [ -e {other} ] && break; sleep 0.1; done; [ -e {other} ] && {OK}"
        )
    };
    let package = Package::new(&[("one", &meet("a", "b")), ("other", &meet("b", "a"))]);
    let output = package.run(&[]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let last = lines(&output).pop();
    assert_eq!(last.as_deref(), Some("4 passed, 0 failed, 2 skipped"));
}

#[test]
fn what_needs_the_machine_to_itself_runs_after_all_others() {
    let slow = format!("sleep 0.3; touch done; {OK}");
    let lonely = format!("[ -e done ] && {OK}");
    let package = Package::new(&[(ALONE, &lonely), ("one", &slow)]);
    let output = package.run(&[]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let last = lines(&output).pop();
    assert_eq!(last.as_deref(), Some("4 passed, 0 failed, 2 skipped"));
}

#[test]
fn a_failure_is_shown_and_fails() {
    let failing = "echo 'failures:'; echo the reason; echo 'test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured'; exit 101";
    let skipping = format!("echo 'SKIPPED t: no root' >&2; {OK}");
    let package = Package::new(&[("bad", failing), ("one", &skipping), ("dead", "kill -9 $$")]);
    let output = package.run(&[]);
    assert_eq!(output.status.code(), Some(1));
    let lines = lines(&output);
    assert_eq!(lines.last().unwrap(), "3 passed, 2 failed, 1 skipped");
    assert_eq!(lines.iter().filter(|l| *l == "the reason").count(), 2);
    assert!(
        lines
            .iter()
            .any(|l| l.contains("FAILED") && l.contains("/dead")),
        "{lines:?}"
    );
    assert!(lines.iter().any(|l| l == "SKIPPED t: no root"));
}

/// A script with one test that fails, unless it is asked for by its name and `alone` succeeds.
fn fails_beside_others(alone: &str) -> String {
    format!(
        "if [ \"$3\" = t::late ] && {alone}; then {OK}; exit; fi
         printf 'failures:\\nwhy\\n\\nfailures:\\n    t::late\\n\\n'
         echo 'test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured'; exit 101"
    )
}

#[test]
fn what_waits_may_pass_alone_which_is_said() {
    let (late, never) = (fails_beside_others("true"), fails_beside_others("false"));
    let package = Package::new(&[("one", &late)]);
    let output = package.run(&[]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let lines = lines(&output);
    let said = lines.iter().position(|l| l.contains("Passed only alone"));
    assert!(
        lines[said.unwrap() + 1].ends_with("/one t::late"),
        "{lines:?}"
    );
    assert_eq!(lines.last().unwrap(), "2 passed, 0 failed, 0 skipped");
    // A test that fails alone, too, has failed, and so has one of a program that computes.
    for name in ["other", "computes"] {
        let script = if name == "other" { &never } else { &late };
        let output = Package::new(&[(name, script)]).run(&[]);
        assert_eq!(output.status.code(), Some(1), "{output:?}");
    }
}

#[test]
fn what_waits_is_left_out_of_the_quick_ones() {
    let package = Package::new(&[("one", "exit 1"), ("computes", OK)]);
    let output = package.run(&["--quick"]);
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(
        lines(&output).last().unwrap(),
        "2 passed, 0 failed, 1 skipped"
    );
}

#[test]
fn a_name_that_is_none_is_refused() {
    let output = Package::new(&[("one", OK)]).run(&["none/such"]);
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        said.contains("none/such") && said.contains("/one"),
        "{said}"
    );
}
