//! `tidegate sim` as users run it: sweeps, their files, and interrupts.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

const SCENARIO: &str = r#"
name = "small"
duration_s = 5
down = { rate = { constant_mbps = 10 }, delay_ms = 10, queue = { packets = 50 }, loss = { random = 0.002 } }
up = { rate = { constant_mbps = 5 }, delay_ms = 10 }
workload = [{ name = "download", does = { bulk = {} } }]
run = [{ name = "linux" }, { name = "tide", law = "tide" }]
"#;

fn folder(scenario: &str) -> TempDir {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("small.toml"), scenario).unwrap();
    folder
}

fn sim(folder: &Path, more: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tidegate"));
    command.current_dir(folder).args(["sim", "small.toml"]);
    command.args(more.split_whitespace());
    command
}

fn done(mut command: Command) -> Output {
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}");
    output
}

#[test]
fn several_seeds_are_shown_as_means_with_intervals() {
    let folder = folder(SCENARIO);
    let output = done(sim(folder.path(), "--seeds 3 --vary down.delay_ms=5,30"));
    let text = String::from_utf8(output.stdout).unwrap();
    let heads = text
        .lines()
        .filter(|line| line.contains("means over 3 seeds"));
    assert_eq!(heads.count(), 2, "{text}");
    let rows = text
        .lines()
        .filter(|line| line.starts_with("tide ") && line.contains(" ±"));
    assert_eq!(rows.count(), 2, "{text}");
    let output = done(sim(folder.path(), "--seeds 3 --json"));
    let sets: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(sets.as_array().unwrap().len(), 3);
}

/// If nothing is random, several seeds are a single measurement without an interval.
#[test]
fn seeds_that_change_nothing_are_given_no_interval() {
    let folder = recorded("link.down");
    let path = folder.path();
    let scenario = fs::read_to_string(path.join("small.toml")).unwrap();
    let alike = scenario.replace(", loss = { random = 0.002 }", "");
    assert_ne!(alike, scenario);
    let lines: String = (1..2000)
        .map(|n| format!("{}\n", n + n * n / 1000))
        .collect();
    fs::write(path.join("link.down"), lines).unwrap();
    fs::write(path.join("small.toml"), &alike).unwrap();
    let text = |more| String::from_utf8(done(sim(path, more)).stdout).unwrap();
    let same = text("--seeds 3");
    assert!(
        same.contains("the same with all 3 seeds")
            && same.contains("the same piece of a recording")
            && !same.contains('±'),
        "{same}"
    );
    // Another start in the recording gives another measurement.
    let other = text("--seeds 3 --vary down.begin_by_seed=true");
    assert!(
        other.contains("means over 3 seeds")
            && other.contains(" ±")
            && !other.contains("same piece"),
        "{other}"
    );
}

/// Only datagrams fill this link; no bulk workload does.
#[test]
fn what_nothing_tells_is_absent_and_not_zero() {
    let datagrams = SCENARIO.replace(
        "bulk = {}",
        "ping = { interval_ms = 1, packet_bytes = 1400 }",
    );
    assert_ne!(datagrams, SCENARIO);
    let folder = folder(&datagrams);
    let output = done(sim(folder.path(), "--json"));
    let result: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let link = &result["runs"][0]["link"];
    assert!(link["delivered_bps"].as_f64() > Some(1e6), "{link}");
    assert!(link.get("utilisation").is_none(), "{link}");
    let full = done(sim(self::folder(SCENARIO).path(), "--json"));
    let full: serde_json::Value = serde_json::from_slice(&full.stdout).unwrap();
    assert!(full["runs"][0]["link"]["utilisation"].as_f64() > Some(0.5));
}

const SWEEP: &str = "--vary down.delay_ms=5,30 --seeds 3 --out rows.csv";

#[test]
fn a_sweep_writes_the_same_rows_on_one_thread_and_on_many() {
    let folder = folder(SCENARIO);
    let rows = folder.path().join("rows.csv");
    let [one, many] = [1, 4].map(|jobs| {
        let _ = fs::remove_file(&rows);
        done(sim(folder.path(), &format!("{SWEEP} --jobs {jobs}")));
        fs::read_to_string(&rows).unwrap()
    });
    assert_eq!(one, many);
    let keys: Vec<_> = one
        .lines()
        .map(|line| line.split(',').take(3).collect::<Vec<_>>().join(" "))
        .collect();
    assert_eq!(keys[0], "down.delay_ms seed run");
    assert_eq!(keys[1..4], ["5 1 linux", "5 1 tide", "5 2 linux"]);
    assert_eq!(keys.len(), 1 + 2 * 3 * 2);
}

#[test]
fn what_is_torn_is_gone_on_with() {
    let folder = folder(SCENARIO);
    let rows = folder.path().join("rows.csv");
    done(sim(folder.path(), SWEEP));
    let whole = fs::read(&rows).unwrap();
    fs::write(&rows, &whole[..whole.len() / 2]).unwrap();
    done(sim(folder.path(), &format!("{SWEEP} --resume")));
    assert_eq!(fs::read(&rows).unwrap(), whole);
    let again = sim(folder.path(), SWEEP).output().unwrap();
    assert_eq!(again.status.code(), Some(2));
    assert_eq!(fs::read(&rows).unwrap(), whole);
}

/// Rows of another scenario are not taken for this one's, nor overwritten.
#[test]
fn a_sweep_is_not_gone_on_with_when_its_scenario_has_changed() {
    let folder = folder(SCENARIO);
    let [rows, scenario] = ["rows.csv", "small.toml"].map(|name| folder.path().join(name));
    done(sim(folder.path(), &format!("{SWEEP} --run tide")));
    let before = fs::read_to_string(&rows).unwrap();
    for (from, to) in [
        ("duration_s = 5", "duration_s = 4"),
        ("law = \"tide\"", "law = \"drwa\""),
    ] {
        fs::write(&scenario, SCENARIO.replace(from, to)).unwrap();
        let output = sim(folder.path(), &format!("{SWEEP} --resume"))
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{text}");
        let words = "rows.csv:2: down.delay_ms=5 seed=1 run=tide has the key ";
        assert!(text.contains(words), "{text}");
        assert_eq!(fs::read_to_string(&rows).unwrap(), before);
    }
    // Another description, or a change of another run, does not change these rows.
    let other = SCENARIO.replace("{ name = \"linux\" }", "{ name = \"linux\", lambda = 2 }");
    fs::write(&scenario, format!("description = 'the same'\n{other}")).unwrap();
    done(sim(folder.path(), &format!("{SWEEP} --resume")));
    let after = fs::read_to_string(&rows).unwrap();
    assert!(after.starts_with(&before));
    assert_eq!(after.lines().count(), 1 + 2 * 3 * 2);
}

#[test]
fn an_interrupt_leaves_a_file_that_can_be_gone_on_with() {
    // The runs are long, so that the interrupt comes during one.
    let folder = folder(&SCENARIO.replace("duration_s = 5", "duration_s = 600"));
    let rows = folder.path().join("rows.csv");
    let command = "--seeds 1000 --out rows.csv --jobs 2";
    let mut child = sim(folder.path(), command)
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let started = Instant::now();
    while fs::read_to_string(&rows).map_or(0, |text| text.lines().count()) < 3 {
        assert!(started.elapsed() < Duration::from_secs(120), "no rows");
        std::thread::sleep(Duration::from_millis(20));
    }
    let pid = nix::unistd::Pid::from_raw(child.id() as i32);
    nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGINT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(1));
    let text = fs::read_to_string(&rows).unwrap();
    assert!(text.ends_with('\n'));
    let columns = text.lines().next().unwrap().split(',').count();
    assert!(text.lines().all(|line| line.split(',').count() == columns));
}

/// All complete shards of a folder, by name. Incomplete ones have other names.
fn shards(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let entries = fs::read_dir(folder).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    let whole = paths.filter(|path| path.extension().is_some_and(|e| e == "csv"));
    let mut shards: Vec<_> = whole
        .map(|path| {
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            (name, fs::read(path).unwrap())
        })
        .collect();
    shards.sort();
    shards
}

#[test]
fn a_sweep_leaves_the_same_shards_however_it_went() {
    let folder = folder(SCENARIO);
    let [one, many, torn] = ["one/", "many/", "torn/"].map(|name| folder.path().join(name));
    let sweep = |out: &Path, more: &str| {
        let out = out.display();
        let out = format!("--vary down.delay_ms=5,30 --seeds 3 --out {out}/ {more}");
        sim(folder.path(), &out)
    };
    done(sweep(&one, "--jobs 1"));
    done(sweep(&many, "--jobs 4"));
    let whole = shards(&one);
    assert_eq!(whole.len(), 6);
    assert_eq!(shards(&many), whole);
    // The shards contain the same rows as a file.
    done(sim(folder.path(), SWEEP));
    let rows = fs::read_to_string(folder.path().join("rows.csv")).unwrap();
    let body = |text: &[u8]| {
        let text = String::from_utf8(text.to_vec()).unwrap();
        let lines = text.lines().skip(1).map(str::to_owned);
        lines.collect::<Vec<_>>()
    };
    let of_shards: Vec<_> = whole.iter().flat_map(|(_, text)| body(text)).collect();
    assert_eq!(of_shards, body(rows.as_bytes()));
    // Complete shards are not run again: their modification time stays.
    done(sweep(&torn, ""));
    let (kept, lost) = (torn.join(&whole[0].0), torn.join(&whole[3].0));
    let written = fs::metadata(&kept).unwrap().modified().unwrap();
    fs::remove_file(lost).unwrap();
    done(sweep(&torn, "--resume"));
    assert_eq!(shards(&torn), whole);
    assert_eq!(fs::metadata(&kept).unwrap().modified().unwrap(), written);
    // More seeds go into other shards.
    done(sim(
        folder.path(),
        "--vary down.delay_ms=5,30 --seeds 4 --out torn/ --resume",
    ));
    let more = shards(&torn);
    assert_eq!(more.len(), 8);
    assert!(whole.iter().all(|shard| more.contains(shard)));
    let again = sweep(&one, "").output().unwrap();
    assert_eq!(again.status.code(), Some(2));
}

#[test]
fn a_killed_sweep_is_gone_on_with_to_the_same_bytes() {
    let folder = folder(&SCENARIO.replace("duration_s = 5", "duration_s = 30"));
    let sweep = |more: &str| sim(folder.path(), &format!("--seeds 40 {more}"));
    done(sweep("--out whole/"));
    let whole = shards(&folder.path().join("whole"));
    let mut child = sweep("--out killed/").spawn().unwrap();
    let killed = folder.path().join("killed");
    let started = Instant::now();
    while !killed.exists() || shards(&killed).len() < 3 {
        assert!(started.elapsed() < Duration::from_secs(120), "no shards");
        std::thread::sleep(Duration::from_millis(2));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let before = shards(&killed);
    assert!(before.iter().all(|shard| whole.contains(shard)));
    done(sweep("--out killed/ --resume"));
    assert_eq!(shards(&killed), whole);
    let names = fs::read_dir(&killed)
        .unwrap()
        .map(|e| e.unwrap().file_name());
    let parts = names.filter(|name| name.to_string_lossy().ends_with(".part"));
    assert_eq!(parts.count(), 0);
}

/// As the shell completes file names, wherever the scenario is.
#[test]
fn files_that_vary_are_those_of_the_current_folder() {
    let folder = folder(SCENARIO);
    let here = folder.path().join("here");
    fs::create_dir(&here).unwrap();
    fs::write(here.join("delays.txt"), "20\n60\n").unwrap();
    fs::write(here.join("rates.csv"), "0,5000000\n1,7000000\n").unwrap();
    for varied in [
        "down.delay_trace=delays.txt",
        "down.rate={series=\"rates.csv\"}",
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tidegate"));
        command
            .current_dir(&here)
            .args(["sim", "../small.toml", "--json", "--vary", varied]);
        assert!(!done(command).stdout.is_empty());
    }
}

#[test]
fn json_is_one_object_or_an_array_of_variants() {
    let folder = folder(SCENARIO);
    let json = |more: &str| -> serde_json::Value {
        let output = done(sim(folder.path(), &format!("--json {more}")));
        serde_json::from_slice(&output.stdout).unwrap()
    };
    let one = json("--run tide");
    assert_eq!(one["runs"].as_array().unwrap().len(), 1);
    assert_eq!(one["runs"][0]["law"], "tide");
    let two = json("--seeds 2");
    assert_eq!(two[1]["scenario"], "small seed=2");
    assert_eq!(two[1]["runs"].as_array().unwrap().len(), 2);
}

#[test]
fn what_the_simulator_lacks_is_refused_in_a_sentence() {
    for (from, to, words) in [
        (
            "does = { bulk = {} }",
            "does = { command = { run = ['true'] } }",
            "only the laboratory",
        ),
        (
            "law = \"tide\"",
            "congestion_control = \"swift\"",
            "no congestion control \"swift\"",
        ),
    ] {
        let folder = folder(&SCENARIO.replace(from, to));
        let output = sim(folder.path(), "").output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{text}");
        assert!(output.stdout.is_empty());
        assert!(text.contains(words), "{text}");
        assert_eq!(text.trim_end().lines().count(), 1, "{text}");
    }
}

#[test]
fn all_that_is_wrong_is_told_at_once() {
    let wrong = SCENARIO
        .replace("delay_ms = 10, queue", "lag_ms = 10, queue")
        .replace("constant_mbps = 5", "trace = 'none.down'")
        .replace("law = \"tide\"", "law = \"tidal\"");
    let folder = folder(&wrong);
    let output = sim(folder.path(), "").output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{text}");
    let lines: Vec<&str> = text.lines().collect();
    let expected = [
        "tidegate: small.toml:4: unknown field `lag_ms`, expected one of `rate`, `delay_ms`, ",
        "tidegate: small.toml:4: missing field `delay_ms`",
        "tidegate: small.toml:5: cannot read none.down: No such file",
        "tidegate: small.toml:7: unknown variant `tidal` (did you mean `tide`?), expected one of ",
    ];
    for (line, expected) in lines.iter().zip(expected) {
        assert!(line.starts_with(expected), "{text}");
    }
    assert_eq!(lines.len(), expected.len(), "{text}");
}

#[test]
fn json_and_page_say_where_they_come_from_and_are_the_same_however_they_were_made() {
    let folder = folder(SCENARIO);
    let made = |jobs: u32| {
        let page = format!("{jobs}.html");
        let more = format!("--seeds 2 --run tide --json --jobs {jobs} --html {page}");
        let json = done(sim(folder.path(), &more)).stdout;
        (json, fs::read_to_string(folder.path().join(page)).unwrap())
    };
    let (json, page) = made(1);
    assert_eq!((&json, &page), (&made(2).0, &made(2).1));

    let sets: serde_json::Value = serde_json::from_slice(&json).unwrap();
    let provenance = &sets[1]["provenance"];
    assert_eq!(provenance["version"], env!("CARGO_PKG_VERSION"));
    let command = "tidegate sim small.toml --seeds 2 --run tide";
    assert_eq!(provenance["command"], command);
    assert_eq!(provenance["seed"], 2);
    assert!(provenance.get("kernel").is_none(), "{provenance}");
    let commit = provenance["commit"].as_str().unwrap();
    let version = Command::new(env!("CARGO_BIN_EXE_tidegate"))
        .arg("--version")
        .output()
        .unwrap();
    let version = String::from_utf8(version.stdout).unwrap();
    assert!(version.contains(commit), "{version}: no {commit}");
    for said in [command, commit, "seeds 1 to 2"] {
        assert!(page.contains(said), "no {said}");
    }
}

/// A scenario that plays a recording.
fn recorded(name: &str) -> TempDir {
    let rate = format!(
        "{{ {} = \"{name}\" }}",
        if name.ends_with("csv") {
            "series"
        } else {
            "trace"
        }
    );
    folder(&SCENARIO.replace("{ constant_mbps = 10 }", &rate))
}

/// Runs a shell script in which `tidegate` is the program.
fn shell(folder: &Path, script: &str) -> Output {
    let mut command = Command::new("timeout");
    let script = format!(
        "tidegate() {{ {} \"$@\"; }}; {script}",
        env!("CARGO_BIN_EXE_tidegate")
    );
    command
        .current_dir(folder)
        .args(["60", "bash", "-c", &script]);
    command.output().unwrap()
}

/// A trace from `trace` may be longer than the limit for configurations.
#[test]
fn an_hour_that_trace_has_written_is_played() {
    let folder = recorded("hour.down");
    let script = "tidegate trace lte --seconds 3600 > hour.down && tidegate sim small.toml --vary duration_s=2 --seeds 2";
    let output = shell(folder.path(), script);
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(fs::metadata(folder.path().join("hour.down")).unwrap().len() > 20 << 20);
}

/// A pipe can only be read once: all seeds use what came through it, and the scenario may also come through one.
#[test]
fn pipes_serve_all_seeds() {
    let folder = recorded("link.down");
    let path = folder.path();
    let lines = r"printf '1\n2\n2\n'";
    let sweep = "--vary duration_s=1 --seeds 2 --out";
    for (number, script) in [
        format!("{lines} > link.down; tidegate sim small.toml {sweep} 0.csv"),
        format!("tidegate sim small.toml --vary down.rate.trace=<({lines}) {sweep} 1.csv"),
        format!("mkfifo pipe; {lines} > pipe & tidegate sim small.toml --vary down.rate.trace=pipe {sweep} 2.csv"),
        format!("tidegate sim <(cat small.toml) --vary down.rate.trace=link.down {sweep} 3.csv"),
    ]
    .into_iter()
    .enumerate()
    {
        let output = shell(path, &script);
        assert!(output.status.success(), "{script}: {}", String::from_utf8_lossy(&output.stderr));
        let rows = fs::read_to_string(path.join(format!("{number}.csv"))).unwrap();
        let keys: Vec<_> = rows
            .lines()
            .filter_map(|row| row.split(',').find(|cell| cell.len() > 32 && cell.contains('-')))
            .map(str::to_owned)
            .collect();
        assert_eq!(keys.len(), 4, "{rows}");
        let first = fs::read_to_string(path.join("0.csv")).unwrap();
        assert!(keys.iter().all(|key| first.contains(key)), "{script}\n{rows}\n{first}");
    }
}

#[test]
fn a_series_in_mbits_causes_a_warning_that_names_the_unit() {
    let folder = recorded("ride.csv");
    fs::write(folder.path().join("ride.csv"), "0,2.5\n1,8\n").unwrap();
    let output = done(sim(folder.path(), "--vary duration_s=1 --seeds 2"));
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(said.lines().count(), 1, "{said}");
    assert!(
        said.contains("ride.csv: no rate above 8 bit/s: the second column is in bits per second"),
        "{said}"
    );
}

#[test]
fn numbers_of_the_command_line_have_the_scenarios_ranges() {
    let folder = folder(SCENARIO);
    for (more, expected) in [
        (
            "--vary duration_s=1e9",
            "duration_s is 1000000000, expected 0.001 to 1000000 s",
        ),
        (
            "--vary workload.0.does.bulk.flows=0",
            "does.bulk.flows is 0, expected 1 to 100000 connections",
        ),
        (
            "--vary workload.0.does.bulk.flows=-1",
            "does.bulk.flows is -1, expected 1 to 100000 connections",
        ),
        (
            "--vary hosts={rmem_max=3}",
            "hosts.rmem_max is 3, expected 4096 to 2147483647 bytes",
        ),
        ("--seeds 4000000000", "4000000000"),
        (
            "--seeds 900000 --vary down.delay_ms=1,2",
            "2 x 900000 variants",
        ),
        (
            "--vary seed=9223372036854775807 --seeds 2",
            "both --seeds and --vary seed",
        ),
    ] {
        let output = sim(folder.path(), more).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{more}: {said}");
        assert!(said.contains(expected), "{more}: {said}");
    }
}
