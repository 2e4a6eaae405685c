//! Bad input is refused with one clear sentence and exit status 2.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Output};
use tempfile::TempDir;
use tidegate_testing::{hide, is_root, own_cgroups};

const TIDEGATE: &str = env!("CARGO_BIN_EXE_tidegate");

const SCENARIO: &str = r#"
name = "small"
duration_s = 1
down = { rate = { trace = "link.down" }, delay_ms = 10 }
up = { rate = { constant_mbps = 5 }, delay_ms = 10 }
workload = [{ name = "download", does = { bulk = {} } }]
run = [{ name = "linux" }]
"#;

fn tidegate(args: &[&str]) -> Command {
    let mut command = Command::new(TIDEGATE);
    command.args(args);
    command
}

/// Standard error must be one sentence that contains all of `words`, standard output must be empty, and the status must
/// be 2.
fn assert_refused(output: &Output, words: &[&str]) {
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(output.stdout.is_empty());
    assert_eq!(text.trim_end().lines().count(), 1, "{text}");
    for word in words {
        assert!(text.contains(word), "no \"{word}\" in: {text}");
    }
}

/// A folder with the scenario and its trace, which every user may read.
fn folder(scenario: &str, trace: &str) -> TempDir {
    let folder = TempDir::new().unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    fs::write(folder.path().join("small.toml"), scenario).unwrap();
    fs::write(folder.path().join("link.down"), trace).unwrap();
    folder
}

fn lab(folder: &Path, more: &[&str]) -> Output {
    let scenario = folder.join("small.toml");
    let mut command = tidegate(&["lab", scenario.to_str().unwrap()]);
    command.args(more).output().unwrap()
}

/// No single value is at fault, so there is no line; but the file is named.
#[test]
fn what_only_the_simulator_has() {
    let (head, _) = SCENARIO.split_once("run = ").unwrap();
    let shaped =
        "run = [{ name = \"shaped\", cake = { down = { mbps = 5 }, up = { mbps = 1 } } }]\n";
    let folder = folder(&format!("{head}{shaped}"), "1\n2\n");
    let words = ["small.toml: ", "\"shaped\"", "CAKE", "only the simulator"];
    assert_refused(&lab(folder.path(), &[]), &words);
}

#[test]
fn a_congestion_control_that_quic_lacks() {
    let scenario = SCENARIO.replace(
        "name = \"download\",",
        "name = \"download\", windowless = true,",
    );
    let runs =
        "run = [{ name = \"linux\" },\n  { name = \"odd\", congestion_control = \"vegas\" }]\n";
    let (head, _) = scenario.split_once("run = ").unwrap();
    let folder = folder(&format!("{head}{runs}"), "1\n2\n");
    let words = [
        "small.toml:8:",
        "\"download\"",
        "\"vegas\"",
        "cubic, reno, bbr",
    ];
    assert_refused(&lab(folder.path(), &[]), &words);
    // The second run has the fault, whether the first is run or not.
    assert_refused(&lab(folder.path(), &["--run", "odd"]), &words);
    // A value from the command line has no line.
    let vary = ["--run", "linux", "--vary", "hosts.congestion_control=bbr3"];
    let scenario = format!("hosts = {{ congestion_control = \"cubic\" }}\n{head}{runs}");
    fs::write(folder.path().join("small.toml"), scenario).unwrap();
    assert_refused(
        &lab(folder.path(), &vary),
        &["small.toml: workload", "\"bbr3\""],
    );
}

#[test]
fn a_trace_with_a_bad_line() {
    let folder = folder(SCENARIO, "1\n2\nthree\n4\n");
    assert_refused(
        &lab(folder.path(), &[]),
        &["link.down:3:", "expected", "found a word of 5 characters"],
    );
}

#[test]
fn a_scenario_with_an_unknown_key() {
    let folder = folder(&SCENARIO.replace("duration_s", "duration"), "1\n");
    assert_refused(
        &lab(folder.path(), &[]),
        &["small.toml:3:", "duration", "duration_s"],
    );
}

#[test]
fn a_scenario_that_makes_no_sense() {
    let folder = folder(
        &SCENARIO.replace("duration_s = 1", "duration_s = -1"),
        "1\n",
    );
    assert_refused(
        &lab(folder.path(), &[]),
        &["small.toml:", "duration_s", "expected"],
    );
}

#[test]
fn a_scenario_that_is_not_there() {
    assert_refused(
        &lab(Path::new("no/such/folder"), &[]),
        &["no/such/folder/small.toml"],
    );
}

#[test]
fn a_run_that_the_scenario_does_not_have() {
    let folder = folder(SCENARIO, "1\n");
    assert_refused(&lab(folder.path(), &["--run", "tied"]), &["tied", "linux"]);
}

#[test]
fn a_variation_of_what_is_not_there() {
    let folder = folder(SCENARIO, "1\n");
    assert_refused(
        &lab(folder.path(), &["--vary", "sideways.delay_ms=1"]),
        &["sideways"],
    );
    assert_refused(
        &lab(folder.path(), &["--vary", "down.delay=1"]),
        &["delay_ms"],
    );
}

#[test]
fn a_later_variant_is_refused_before_the_first_is_run() {
    let folder = folder(SCENARIO, "1\n");
    let bad = folder.path().join("bad.down");
    fs::write(&bad, "2\n1\n").unwrap();
    let good = folder.path().join("link.down");
    let vary = format!("down.rate.trace={},{}", good.display(), bad.display());
    assert_refused(&lab(folder.path(), &["--vary", &vary]), &["bad.down:2:"]);
}

#[test]
fn an_interface_that_cannot_exist() {
    if is_root() {
        let output = tidegate(&["run", "--iface", "no/such0"]).output().unwrap();
        assert_refused(&output, &["no/such0"]);
    }
}

#[test]
fn a_lambda_for_a_law_that_has_none() {
    if is_root() {
        let output = tidegate(&["run", "--law", "tide", "--lambda", "2"])
            .output()
            .unwrap();
        assert_refused(&output, &["--lambda", "drwa"]);
    }
}

/// Faulty configurations, and what each error must name.
const CONFIGURATIONS: [(&str, &[&str]); 22] = [
    ("law = \"tied\"", &[":1:", "tied", "tide"]),
    ("lore = \"tide\"", &[":1:", "lore", "law"]),
    ("lambda = 0", &[":1:", "above 0"]),
    ("compare = 0.2", &[":1:", "from 0 to 0.1"]),
    ("compare = 0.01\ndry_run = true", &["compare", "dry run"]),
    ("limit = -1", &[":1:", "-1"]),
    ("metrics = \"here\"", &[":1:", "socket address"]),
    ("interfaces = [\"lo\",\n\"no such\"]", &[":2:", "no such"]),
    (
        "only = \"uploads\"\nlaw = \"drs\"",
        &["drs", "tide or rsfc"],
    ),
    ("default = \"drop\"", &[":1:", "drop", "deny"]),
    ("[[rule]]\naction = \"deny\"", &[":1:", "asks for nothing"]),
    ("[[rule]]\nport = 1", &[":2:", "port", "remote_port"]),
    (
        "[[rule]]\naction = \"deny\"\nremote_port = 0",
        &[":3:", "1 to 65535"],
    ),
    (
        "[[rule]]\naction = \"deny\"\nlocal_port = [1, \"9-8\"]",
        &[":3:", "9-8"],
    ),
    (
        "[[rule]]\naction = \"deny\"\nprefix = \"10.0.0.0/33\"",
        &[":3:", "10.0.0.0/33"],
    ),
    (
        "[[rule]]\naction = \"deny\"\ninterface = \"tun9\"",
        &[":3:", "tun9", "lo"],
    ),
    (
        "[[rule]]\naction = \"deny\"\ncgroup = \"no/such\"",
        &[":3:", "no/such"],
    ),
    (
        "[[rule]]\naction = \"allow\"\nuid = 1\nweight = 101",
        &[":4:", "1 to 100"],
    ),
    (
        "[[rule]]\naction = \"deny\"\nuid = 1\nweight = 2",
        &[":4:", "allow"],
    ),
    (
        "[[rule]]\naction = \"deny\"\nunit = \"backup\"",
        &[":3:", "\"backup\"", "backup.service"],
    ),
    (
        "[[rule]]\naction = \"deny\"\nunit = \"a.service\"\nuser_unit = \"b.service\"",
        &[":3:", "expected one of cgroup, unit and user_unit"],
    ),
    (
        "[[rule]]\naction = \"deny\"\nprogram = \"/usr/bin/steam\"",
        &[":3:", "program"],
    ),
];

#[test]
fn configurations_that_are_wrong() {
    if !is_root() {
        return;
    }
    // One of them names a control group.
    own_cgroups();
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("tidegate.toml");
    let refused = |text: &str, words: &[&str]| {
        fs::write(&file, text).unwrap();
        let args = ["run", "--config", file.to_str().unwrap(), "--seconds", "0"];
        let mut command = tidegate(&args);
        if !text.starts_with("interfaces") {
            command.args(["--iface", "lo"]);
        }
        assert_refused(&command.output().unwrap(), words);
    };
    for (text, words) in CONFIGURATIONS {
        refused(text, words);
    }
    let weights = "law = \"drwa\"\n[[rule]]\naction = \"allow\"\nuid = 1\nweight = 2";
    refused(weights, &["tidegate.toml:5:", "drwa", "tide"]);
    let many: Vec<_> = (1..=65).map(|port| port.to_string()).collect();
    let many = format!(
        "[[rule]]\naction = \"deny\"\nlocal_port = [{}]",
        many.join(", ")
    );
    refused(&many, &["tidegate.toml:1:", "65", "64"]);
}

#[test]
fn recordings_that_are_not_there_or_broken() {
    let reproduce = |traces: &Path| {
        let traces = traces.to_str().expect("a plain path");
        tidegate(&["reproduce", "tide", "--quick", "--traces", traces])
            .output()
            .unwrap()
    };
    let folder = folder(SCENARIO, "0\n5\nfive\n");
    let missing = folder.path().join("missing");
    assert_refused(&reproduce(&missing), &["--traces", "missing"]);
    assert_refused(
        &reproduce(folder.path()),
        &["link.down:3", "found a word of 4 characters"],
    );
}

#[test]
fn no_root() {
    if !is_root() {
        return;
    }
    // Other users may not be able to read the build's folder, nor the traces beside it.
    let folder = folder(SCENARIO, "1\n");
    let binary = folder.path().join("tidegate");
    // Copied by another program: a child of another test could inherit our open file, which would make it busy for a
    // moment.
    let copied = Command::new("cp").arg(TIDEGATE).arg(&binary).status();
    assert!(copied.unwrap().success());
    let nobody = |args: &[&str]| {
        Command::new(&binary)
            .args(args)
            .current_dir("/")
            .uid(65534)
            .gid(65534)
            .output()
            .unwrap()
    };
    assert_refused(
        &nobody(&["run", "--iface", "lo"]),
        &["root", "missing: CAP_BPF, CAP_NET_ADMIN, CAP_PERFMON"],
    );
    let scenario = folder.path().join("small.toml");
    assert_refused(&nobody(&["lab", scenario.to_str().unwrap()]), &["root"]);
    assert_refused(&nobody(&["link", "--", "true"]), &["root"]);
    assert_refused(&nobody(&["reproduce", "drwa", "8", "--lab"]), &["root"]);
}

#[test]
fn a_kernel_that_is_too_old() {
    // The kernel itself reports an old version (personality(2), UNAME26).
    let script = format!("exec setarch --uname-2.6 {TIDEGATE} run --iface lo");
    let output = Command::new("sh").args(["-c", &script]).output().unwrap();
    assert_refused(&output, &["Linux 2.6.", "5.15"]);
    let script = format!("exec setarch --uname-2.6 {TIDEGATE} check");
    let output = Command::new("sh").args(["-c", &script]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8_lossy(&output.stdout);
    let kernel = said.lines().find(|line| line.contains("kernel")).unwrap();
    assert!(
        kernel.contains("FAILS") && kernel.contains("5.15"),
        "{said}"
    );
}

#[test]
fn a_kernel_without_btf() {
    if !is_root() {
        return;
    }
    hide("/sys/kernel/btf");
    let output = tidegate(&["check"]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}");
    let finding = said.lines().find(|line| line.contains("BTF")).unwrap();
    assert!(
        finding.contains("note") && finding.contains("older than the agent"),
        "{said}"
    );
}

#[test]
fn a_rate_that_is_none() {
    let output = tidegate(&["link", "--down", "-3", "--", "true"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    let output = tidegate(&["link", "--down=-3", "--", "true"])
        .output()
        .unwrap();
    assert_refused(&output, &["--down", "expected 0.001 to 100000 Mbit/s"]);
    let output = tidegate(&["link", "--down", "walk = { peak_mbps = 5 }", "--", "true"])
        .output()
        .unwrap();
    assert_refused(&output, &["--down", "missing field `points`"]);
}

#[test]
fn a_word_that_is_none() {
    for (arguments, words) in [
        (
            ["link", "--policy=lifo", "--", "true"].as_slice(),
            [
                "--policy",
                "expected drop-tail, drop-head, codel, red, pie, fq-codel, dualpi2 or abc",
            ],
        ),
        (&["trace", "gsm"], ["gsm", "expected lte, hspa or evdo"]),
    ] {
        let output = tidegate(arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(words.iter().all(|word| said.contains(word)), "{said}");
    }
}

#[test]
fn a_closed_pipe_is_no_error() {
    let script = format!("{TIDEGATE} trace lte --seconds 600 | head -n 1; echo ${{PIPESTATUS[0]}}");
    let output = Command::new("bash").args(["-c", &script]).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert_eq!(
        String::from_utf8_lossy(&output.stdout).lines().last(),
        Some("0")
    );
}

#[test]
fn commands_of_a_scenario_without_leave() {
    let folder = TempDir::new().unwrap();
    let (file, ran) = (folder.path().join("sent.toml"), folder.path().join("ran"));
    let text = format!(
        r#"
name = "sent"
duration_s = 1
down = {{ rate = {{ constant_mbps = 5 }}, delay_ms = 10 }}
up = {{ rate = {{ constant_mbps = 5 }}, delay_ms = 10 }}
run = [{{ name = "linux" }}]

[[workload]]
name = "harmless\u001b[2J"
does.command.run = ["touch", "{}", "\u001b]0;\u202e"]

[[workload]]
name = "second"
does.command.side = "server"
does.command.run = ["sh", "-c", "true"]
"#,
        ran.display()
    );
    fs::write(&file, text).unwrap();
    let path = file.to_str().unwrap();
    for more in [&[][..], &["--vary", "down.delay_ms=1,2"]] {
        let output = tidegate(&[&["lab", path], more].concat()).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{said}");
        let ran_as = ran.display();
        let expected = format!(
            "tidegate: {path}:10: workload \"harmless\\u{{1b}}[2J\" runs a command on this machine, at the client: \
             [\"touch\", \"{ran_as}\", \"\\u{{1b}}]0;\\u{{202e}}\"]; --allow-commands allows it\n\
             tidegate: {path}:15: workload \"second\" runs a command on this machine, at the server: \
             [\"sh\", \"-c\", \"true\"]; --allow-commands allows it\n"
        );
        assert_eq!(said, expected);
        assert!(output.stdout.is_empty() && !ran.exists());
    }
    // The simulator runs no commands, with or without permission.
    let output = tidegate(&["sim", path]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let output = tidegate(&["lab", path, "--root"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(!ran.exists());
}

#[test]
fn no_word_of_a_key_is_repeated() {
    let folder = TempDir::new().unwrap();
    let key = folder.path().join("key");
    let path = key.to_str().unwrap();
    for text in [
        "root:$6$secretword$x:19000:0:99999:7:::\n",
        "{\"secretword\": \"secretword\"}\n",
        "\"secretword\"\n",
        "tgm1-secretword\n",
    ] {
        fs::write(&key, text).unwrap();
        fs::set_permissions(&key, fs::Permissions::from_mode(0o600)).unwrap();
        for words in [
            &["probe", "run", "127.0.0.1", "--yes", "--key", path][..],
            &["probe", "serve", "--key", path],
            &["mpath", "send", "--token", path, path],
            &["mpath", "recv", "--key", path],
            &["mpath", "registry", "--secret", path],
        ] {
            let output = tidegate(words).output().unwrap();
            let said = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(2), "{words:?}: {said}");
            assert!(said.contains(path), "{words:?}: {said}");
            assert!(!said.contains("secretword"), "{words:?}: {said}");
        }
    }
}
