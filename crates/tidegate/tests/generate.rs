//! Checks that manual pages and completions match the command's own help.

use std::fs;
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

const TIDEGATE: &str = env!("CARGO_BIN_EXE_tidegate");

fn output(args: &[&str]) -> String {
    let output = Command::new(TIDEGATE).args(args).output().unwrap();
    assert!(output.status.success(), "{args:?}");
    String::from_utf8(output.stdout).unwrap()
}

fn generate(what: &str, folder: &Path) {
    output(&["generate", what, folder.to_str().unwrap()]);
}

/// Every command in the `--help` of `command` except `help` itself: "run", "mpath", "mpath proxy".
fn commands_of(command: &str) -> Vec<String> {
    let help = output(&words(command, "--help"));
    let Some((_, list)) = help.split_once("Commands:\n") else {
        return Vec::new();
    };
    let list = list.split_once("\n\n").expect("an end").0;
    // Continuation lines of descriptions are indented further.
    let names = list.lines().filter_map(|l| l.strip_prefix("  "));
    let names = names.filter(|l| !l.starts_with(' '));
    let names = names.filter_map(|l| l.split_whitespace().next());
    let names = names.filter(|name| *name != "help");
    let commands = names.map(|name| format!("{command} {name}").trim_start().to_owned());
    commands
        .flat_map(|command| {
            let under = commands_of(&command);
            std::iter::once(command).chain(under)
        })
        .collect()
}

fn commands() -> Vec<String> {
    let names = commands_of("");
    assert!(
        names.iter().any(|n| n == "run") && names.len() > 5,
        "{names:?}"
    );
    names
}

fn words<'a>(command: &'a str, option: &'a str) -> Vec<&'a str> {
    command.split_whitespace().chain([option]).collect()
}

/// Every long option in a command's `--help`.
fn options(command: &str) -> Vec<String> {
    let help = output(&words(command, "--help"));
    let words = help.lines().filter_map(|l| {
        let line = l.trim_start();
        line.split([' ', ','])
            .find(|w| w.starts_with("--") && line.starts_with('-'))
    });
    words.map(str::to_owned).collect()
}

#[test]
fn a_page_for_every_command_with_every_option() {
    let folder = TempDir::new().unwrap();
    generate("man", folder.path());
    let pages = fs::read_dir(folder.path()).unwrap().count();
    assert_eq!(pages, commands().len() + 1, "a page too many or too few");
    let page = |name: &str| fs::read_to_string(folder.path().join(format!("{name}.1"))).unwrap();
    for command in commands() {
        let name = format!("tidegate-{}", command.replace(' ', "-"));
        let (above, _) = name.rsplit_once('-').expect("it begins with tidegate-");
        let escaped = name.replace('-', "\\-");
        assert!(page(above).contains(&format!("{escaped}(1)")), "{command}");
        let page = page(&name);
        for option in options(&command) {
            let option = option.replace('-', "\\-");
            assert!(page.contains(&option), "{command}: no {option}");
        }
    }
}

#[test]
fn completions_know_every_command_and_parse() {
    let folder = TempDir::new().unwrap();
    generate("completions", folder.path());
    for name in ["tidegate.bash", "_tidegate", "tidegate.fish"] {
        let text = fs::read_to_string(folder.path().join(name)).unwrap();
        for command in commands() {
            let word = command.rsplit(' ').next().expect("a word");
            assert!(text.contains(word), "{name}: no {command}");
        }
    }
    let script = folder.path().join("tidegate.bash");
    let status = Command::new("bash").arg("-n").arg(script).status();
    assert!(status.unwrap().success());
}

#[test]
fn a_folder_that_cannot_be_made() {
    let output = Command::new(TIDEGATE)
        .args(["generate", "man", "/proc/none"])
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(
        !output.status.success() && text.contains("/proc/none"),
        "{text}"
    );
}
