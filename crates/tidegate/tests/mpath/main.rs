//! The overlay's servers as programs: their output, what they refuse, and how they end.

mod hostile;

use hostile::SlowWay;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, ChildStderr, ChildStdout, Command, Output, Stdio};
use tempfile::TempDir;

/// Environment variables with the overlay's token and the receiver's.
const TOKEN: &str = "TIDEGATE_MPATH_TOKEN";
const RECEIVER: &str = "TIDEGATE_MPATH_RECEIVER";

fn tidegate(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tidegate"));
    command.arg("mpath").args(args).env_remove(TOKEN);
    command
}

/// A running server; killed when dropped.
struct Running {
    process: Child,
    out: BufReader<ChildStdout>,
    err: BufReader<ChildStderr>,
}

impl Running {
    fn start(command: &mut Command) -> Self {
        let piped = command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut process = piped.spawn().unwrap();
        let out = BufReader::new(process.stdout.take().unwrap());
        let err = BufReader::new(process.stderr.take().unwrap());
        Self { process, out, err }
    }

    /// The first line of standard output that contains these words.
    fn says(&mut self, words: &str) -> String {
        line(&mut self.out, words)
    }

    /// Ends it; returns the rest of its output.
    fn end(mut self) -> String {
        terminate(&self.process);
        let mut rest = String::new();
        self.out.read_to_string(&mut rest).unwrap();
        let status = self.process.wait().unwrap();
        assert_eq!(status.code(), Some(0));
        rest
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Ends a process as systemd does.
fn terminate(process: &Child) {
    let pid = Pid::from_raw(process.id().try_into().unwrap());
    kill(pid, Signal::SIGTERM).unwrap();
}

fn line(from: &mut impl BufRead, words: &str) -> String {
    loop {
        let mut line = String::new();
        assert_ne!(
            from.read_line(&mut line).unwrap(),
            0,
            "no line with {words}"
        );
        if line.contains(words) {
            return line.trim().to_owned();
        }
    }
}

/// A registry with a token in this file, and its address.
fn registry(secret: &Path) -> (Running, String) {
    let secret = secret.to_str().unwrap();
    let mut command = tidegate(&["registry", "--listen", "127.0.0.1:0", "--secret", secret]);
    let mut registry = Running::start(&mut command);
    let address = listening(&mut registry);
    (registry, address)
}

fn listening(registry: &mut Running) -> String {
    let listens = line(&mut registry.err, "listens at");
    listens.rsplit(' ').next().unwrap().to_owned()
}

fn proxy(registry: &str) -> Command {
    let url = format!("http://{registry}");
    tidegate(&["proxy", "--registry", &url, "--listen", "127.0.0.1:0"])
}

fn assert_refused(output: &Output, words: &str) {
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(text.contains(words), "no \"{words}\" in: {text}");
}

#[test]
fn one_printed_token_starts_a_proxy_which_counts_what_comes() {
    let new = &["registry", "--listen", "127.0.0.1:0"];
    let mut registry = Running::start(tidegate(new).env_remove(TOKEN));
    let address = listening(&mut registry);
    let token = registry.says("tgp1-");

    let mut proxy = Running::start(proxy(&address).env(TOKEN, token).arg("--json"));
    let listens = line(&mut proxy.err, "listens at");
    line(&mut proxy.err, "listed as");
    let at = listens
        .split(' ')
        .find(|word| word.starts_with("127."))
        .unwrap();
    let sender = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    sender
        .send_to(b"nonsense", at.trim_end_matches(','))
        .unwrap();
    let said: Value = serde_json::from_str(proxy.end().lines().last().unwrap()).unwrap();
    assert_eq!(said["received"]["packets"], 1);
    assert_eq!(said["forwarded"]["packets"], 0);
    let refused = said["refused"].as_object().unwrap();
    assert_eq!(refused.len(), 11);
    assert_eq!(refused["version"], 1, "{refused:?}");

    assert_eq!(registry.end(), "", "nothing is printed but the token");
}

#[test]
fn a_token_that_a_file_keeps_is_not_printed() {
    let folder = TempDir::new().unwrap();
    let secret = folder.path().join("token");
    for _ in 0..2 {
        let (mut registry, _) = registry(&secret);
        terminate(&registry.process);
        let mut said = String::new();
        registry.out.read_to_string(&mut said).unwrap();
        registry.err.read_to_string(&mut said).unwrap();
        assert!(!said.contains("tgp1-"), "{said}");
    }
    assert!(fs::read_to_string(&secret).unwrap().starts_with("tgp1-"));
    let mode = fs::metadata(&secret).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn a_new_token_does_not_reach_the_journal() {
    // Connects the output as systemd does for services.
    let (ours, journal) = UnixStream::pair().unwrap();
    let about = nix::sys::stat::fstat(&journal).unwrap();
    let stream = format!("{}:{}", about.st_dev, about.st_ino);
    let mut command = tidegate(&["registry", "--listen", "127.0.0.1:0"]);
    command.env_remove(TOKEN).env("JOURNAL_STREAM", stream);
    command
        .stdout(OwnedFd::from(journal))
        .stderr(Stdio::piped());
    let output = command.spawn().unwrap().wait_with_output().unwrap();
    assert_refused(&output, "--secret FILE");
    drop(command);
    let mut said = String::new();
    (&ours).read_to_string(&mut said).unwrap();
    assert_eq!(said, "");
}

#[test]
fn a_proxy_waits_for_its_registry_and_warns() {
    let folder = TempDir::new().unwrap();
    let secret = folder.path().join("token");
    let (first, address) = registry(&secret);
    first.end();
    let mut proxy = Running::start(proxy(&address).arg("--secret").arg(&secret));
    line(&mut proxy.err, "does not answer");
    let path = secret.to_str().unwrap();
    let again = &["registry", "--listen", &address, "--secret", path];
    let _again = Running::start(&mut tidegate(again));
    proxy.says("listed as 127.0.0.1");
    assert!(proxy.end().contains("forwarded 0 packets"));
}

#[test]
fn a_token_of_another_overlay_is_refused() {
    let folder = TempDir::new().unwrap();
    let (_registry, address) = registry(&folder.path().join("token"));
    let other = folder.path().join("other");
    registry(&other).0.end();
    let output = proxy(&address)
        .arg("--secret")
        .arg(&other)
        .output()
        .unwrap();
    assert_refused(&output, "the token is not this overlay's");
}

#[test]
fn bad_input_is_refused() {
    let folder = TempDir::new().unwrap();
    let file = |name: &str, text: &str| {
        let file = folder.path().join(name);
        fs::write(&file, text).unwrap();
        file.to_str().unwrap().to_owned()
    };
    let bad = file("bad", "tgp1-abc");
    let none = folder.path().join("none");
    let none = none.to_str().unwrap();
    let at = "http://127.0.0.1:9";
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = taken.local_addr().unwrap().to_string();
    let proxy = ["proxy", "--registry"];
    let four = [proxy[0], proxy[1], at, "--listen", "127.0.0.1:0"];
    let cases: [(&[&str], &str); 11] = [
        (&["proxy"], "--registry"),
        (&[proxy[0], proxy[1], at], TOKEN),
        (
            &[proxy[0], proxy[1], at, "--secret", &bad],
            "expected an overlay's token",
        ),
        (&[proxy[0], proxy[1], at, "--secret", none], "no such file"),
        (&[proxy[0], proxy[1], "registry"], "expected a registry"),
        (&[proxy[0], proxy[1], at, "--rate", "0"], "expected Mbit/s"),
        (
            &[proxy[0], proxy[1], at, "--public", "0.0.0.0:1"],
            "that senders reach",
        ),
        (
            &[&four[..], &["--public", "[2a00::1]:1"]].concat(),
            "expected addresses of one IP version",
        ),
        (&["registry", "--listen", &taken], "cannot listen at"),
        (
            &["registry", "--store", "nonsense"],
            "expected memory, redis",
        ),
        (
            &["registry", "--store", "redis://:word@127.0.0.1"],
            "TIDEGATE_MPATH_STORE",
        ),
    ];
    for (args, words) in cases {
        assert_refused(&tidegate(args).output().unwrap(), words);
    }
}

/// Waits until some data have arrived.
fn wait_for_some(folder: &Path) {
    let began = std::time::Instant::now();
    let bytes = || {
        let files = fs::read_dir(folder).unwrap().flatten();
        files
            .filter_map(|file| file.metadata().ok())
            .map(|m| m.len())
            .sum::<u64>()
    };
    while bytes() == 0 {
        assert!(began.elapsed().as_secs() < 20, "nothing arrives");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
}

/// All four programs transfer a file. The sender learns of the proxies from the registry, which is killed meanwhile.
/// The direct path loses nothing, so the proxies only carry probes.
#[test]
fn a_file_finds_its_way_and_the_proxies_forward_a_part_of_it() {
    const BYTES: usize = 1_500_000;
    let folder = TempDir::new().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (registry, address) = registry(Path::new(&path("token")));
    let token = fs::read_to_string(path("token")).unwrap();
    let token = token.trim().to_owned();
    let url = format!("http://{address}");
    let mut proxies = [0; 2].map(|_| {
        let mut proxy = proxy(&address);
        Running::start(proxy.env(TOKEN, &token).args(["--json", "--allow-private"]))
    });
    for proxy in &mut proxies {
        line(&mut proxy.err, "listed as");
    }
    let content: Vec<u8> = (0..BYTES as u32).map(|n| (n ^ (n >> 9)) as u8).collect();
    fs::write(path("file"), &content).unwrap();
    fs::create_dir(path("into")).unwrap();
    let (into, key) = (path("into"), path("key"));
    let arguments = ["recv", &into, "--once", "--key", &key, "--registry", &url];
    let mut receive = tidegate(&arguments);
    // Over plain loopback the file would arrive before the sender looks for other paths.
    let way = SlowWay::new();
    receive.args(["--listen", &way.to.to_string()]);
    receive.args(["--advertise", &way.from.to_string()]);
    let mut receiver = Running::start(&mut receive);
    let token = receiver.says("tgm1-");
    let mut send = tidegate(&["send", &path("file"), "--json"]);
    let mut sender = Running::start(send.env(RECEIVER, &token));
    wait_for_some(Path::new(&into));
    drop(registry);

    receiver.says("file: ");
    let status = receiver.process.wait().unwrap();
    assert_eq!(status.code(), Some(0));
    let mut said = String::new();
    sender.out.read_to_string(&mut said).unwrap();
    assert_eq!(sender.process.wait().unwrap().code(), Some(0));
    let said: Value = serde_json::from_str(&said).unwrap();
    assert_eq!(said["bytes"], BYTES);
    assert!(fs::read(path("into/file")).unwrap() == content, "content");
    let forwarded = proxies.map(|proxy| {
        let said: Value = serde_json::from_str(proxy.end().lines().last().unwrap()).unwrap();
        said["forwarded"]["packets"].as_u64().unwrap()
    });
    assert!(forwarded.iter().all(|&n| n > 0), "{forwarded:?}");
}
