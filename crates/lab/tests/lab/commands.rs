//! What the commands of a scenario may do, and that nothing of them remains.

use crate::common::{allowed, laboratory, lte, run, try_run};
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant, SystemTime};
use tempfile::TempDir;
use tidegate_lab::{Caller, CommandOutput, Commands, Options, Rights};

/// Debian's number for `nobody` and `nogroup`; a user with this number need not exist.
const NOBODY: u32 = 65_534;

/// The rights of a user who called through sudo.
fn nobody() -> Rights {
    let caller = Caller::find(|name| match name {
        "SUDO_UID" | "SUDO_GID" => Some(NOBODY.to_string().into()),
        _ => None,
    });
    Rights::Caller(caller.unwrap())
}

/// A folder that every user may write to.
fn shared_folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o777)).unwrap();
    folder
}

/// A scenario of `seconds` with one bash command.
fn scenario(script: &str, seconds: f64) -> String {
    let script = script.replace('\\', r"\\").replace('"', r#"\""#);
    lte(&format!(
        "duration_s = {seconds}
         workload = [{{ name = 'script', does = {{ command = {{ run = ['bash', '-c', \"{script}\"] }} }} }}]
         run = [{{ name = 'linux' }}]"
    ))
}

/// What a command wrote to its standard output and error.
fn said(script: &str, rights: Rights) -> String {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let options = Options {
        commands: Commands::Allowed(rights),
        output: CommandOutput::File(log.clone()),
        ..Options::default()
    };
    let warnings = run(&scenario(script, 1.5), &options).runs[0]
        .health
        .warnings
        .join("\n");
    assert!(!warnings.contains("failed"), "{warnings}");
    fs::read_to_string(log).unwrap()
}

#[test]
fn without_leave_a_scenario_with_commands_is_not_run() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("ran");
    let text = scenario(&format!("touch {} # \\u001b[2J", file.display()), 2.0);
    let text = text.replace(r"\\u", r"\u");
    let began = Instant::now();
    let error = try_run(&text, &Options::default()).unwrap_err().to_string();
    assert!(began.elapsed() < Duration::from_secs(1));
    assert!(!file.exists());
    let begins = r#"workload "script" runs a command on this machine, at the client: ["bash", "-c", "touch "#;
    assert!(error.starts_with(begins), "{error}");
    assert!(error.contains("--allow-commands"), "{error}");
    assert!(
        error.contains(r"\u{1b}[2J") && !error.contains('\u{1b}'),
        "{error:?}"
    );
}

#[test]
fn a_command_has_the_rights_of_whoever_called() {
    let Some(_turn) = laboratory() else { return };
    let folder = shared_folder();
    let (secret, mine) = (folder.path().join("secret"), folder.path().join("mine"));
    fs::write(&secret, "for root alone\n").unwrap();
    fs::set_permissions(&secret, fs::Permissions::from_mode(0o600)).unwrap();
    let script = format!(
        "id -u; id -G; cat {}; touch {}; {STATUS}",
        secret.display(),
        mine.display()
    );
    let log = said(&script, nobody());
    assert!(log.starts_with("65534\n65534\n"), "{log}");
    assert!(log.contains("secret: Permission denied"), "{log}");
    assert!(!log.contains("root alone"), "{log}");
    assert_eq!(fs::metadata(mine).unwrap().uid(), NOBODY);
    assert_powerless(&log);
}

/// Prints a command's capabilities.
const STATUS: &str = "grep -E '^(Cap(Inh|Prm|Eff|Amb)|NoNewPrivs)' /proc/self/status";

fn assert_powerless(log: &str) {
    let none = log.matches("\t0000000000000000").count();
    assert_eq!(none, 4, "{log}");
    assert!(log.contains("NoNewPrivs:\t1"), "{log}");
}

#[test]
fn a_command_of_roots_own_has_no_capability_and_gains_none() {
    let Some(_turn) = laboratory() else { return };
    let folder = shared_folder();
    let theirs = folder.path().join("theirs");
    fs::write(&theirs, "for nobody alone\n").unwrap();
    fs::set_permissions(&theirs, fs::Permissions::from_mode(0o600)).unwrap();
    chown(&theirs, Some(NOBODY), Some(NOBODY)).unwrap();
    let script = format!(
        "id -u; cat {}; ip link set lo down; {STATUS}",
        theirs.display()
    );
    let log = said(&script, Rights::Caller(None));
    assert!(log.starts_with("0\n"), "{log}");
    assert!(log.contains("theirs: Permission denied"), "{log}");
    assert!(log.contains("Operation not permitted"), "{log}");
    assert_powerless(&log);
    let log = said("ip link set lo down && echo done", Rights::Root);
    assert_eq!(log, "done\n");
}

#[test]
fn ping_needs_no_capability() {
    let Some(_turn) = laboratory() else { return };
    if !tidegate_testing::has_program("ping", "iputils-ping") {
        return;
    }
    let log = said("ping -c 1 {server}", nobody());
    assert!(log.contains("1 received"), "{log}");
}

#[test]
fn a_command_sees_no_process_but_its_own() {
    let Some(_turn) = laboratory() else { return };
    let log = said("ls /proc | grep -c '^[0-9]'; kill -0 1; echo $?", nobody());
    let mut lines = log.lines();
    let seen: u32 = lines.next().unwrap().parse().unwrap();
    assert!(seen < 8, "{log}");
    // The first process of its namespace runs as root.
    assert_eq!(lines.next_back(), Some("1"), "{log}");
}

/// Starts a process in a new session that keeps writing the time to a file.
fn writes(file: &Path) -> String {
    format!(
        "setsid bash -c 'while :; do date +%s%N >{0}.new; mv {0}.new {0}; sleep 0.02; done' &",
        file.display()
    )
}

fn is_written(file: &Path) -> bool {
    let before = fs::read(file).unwrap();
    std::thread::sleep(Duration::from_millis(500));
    fs::read(file).unwrap() != before
}

#[test]
fn what_a_command_leaves_behind_serves_until_the_run_ends_and_no_longer() {
    let Some(_turn) = laboratory() else { return };
    let folder = shared_folder();
    let file = folder.path().join("time");
    let options = Options {
        commands: Commands::Allowed(nobody()),
        ..Options::default()
    };
    let began = SystemTime::now();
    // The command itself ends at once.
    run(&scenario(&writes(&file), 2.0), &options);
    let written = fs::metadata(&file).unwrap().modified().unwrap();
    assert!(written.duration_since(began).unwrap() > Duration::from_millis(1500));
    assert!(!is_written(&file), "it outlives the run");
}

/// Names the file to which the victim's command writes.
const VICTIM: &str = "TIDEGATE_LAB_TEST_COMMANDS_VICTIM";

#[test]
fn what_a_command_has_started_ends_with_a_killed_laboratory() {
    if let Some(file) = std::env::var_os(VICTIM) {
        let script = format!("{} sleep 1000", writes(Path::new(&file)));
        let options = Options {
            commands: allowed(),
            ..Options::default()
        };
        run(&scenario(&script, 60.0), &options);
        return;
    }
    let Some(_turn) = laboratory() else { return };
    let folder = shared_folder();
    let file = folder.path().join("time");
    let mut victim = Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "commands::what_a_command_has_started_ends_with_a_killed_laboratory",
        ])
        .env(VICTIM, &file)
        .spawn()
        .unwrap();
    let began = Instant::now();
    while !file.exists() {
        assert!(began.elapsed() < Duration::from_secs(15), "it never starts");
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(is_written(&file));
    victim.kill().unwrap();
    victim.wait().unwrap();
    std::thread::sleep(Duration::from_millis(200));
    assert!(!is_written(&file), "it outlives the laboratory");
}
