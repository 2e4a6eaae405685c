//! Runs the blocks that a document marks `sh run`: one after another for each page, in an empty folder that contains
//! the shipped scenarios, with the program in the path, and as root in a network namespace. Blocks marked `root` are
//! skipped without root. If a name follows, the page's last scenario is first written to that file.

use crate::markdown::{Block, Document, documents, root};
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use tidegate_linux::netns::Namespace;
use tidegate_testing::{has_program, has_tun, is_root, skipped};

/// Seconds that a block may take on a busy machine.
const TIMEOUT: u32 = 240;

/// Task pages without blocks that can be run this way, and why.
const CANNOT: [(&str, &str); 13] = [
    (
        "docs/page.md",
        "it needs a running agent and a browser; tests/page has both",
    ),
    (
        "docs/try.md",
        "it needs a link that can be filled for minutes; tests/trial makes some",
    ),
    (
        "docs/working.md",
        "what it looks at is the machine's own link; tests/promises and tests/sight try its commands in namespaces",
    ),
    (
        "docs/router.md",
        "it needs a router with devices; tests/devices makes one",
    ),
    (
        "docs/openwrt.md",
        "it needs OpenWrt; tests/openwrt tries the init script",
    ),
    (
        "docs/containers.md",
        "it needs a container runtime; tests/containers does what one would",
    ),
    (
        "docs/rules.md",
        "it needs the machine's own agent; tests/operation tries reloads, rules and ends",
    ),
    (
        "docs/metrics.md",
        "it needs a running agent; tests/sight scrapes one",
    ),
    (
        "docs/python.md",
        "it needs the package; tests/python runs its code",
    ),
    (
        "docs/home.md",
        "its commands change a router: tests/bridge.rs and tests/openwrt.rs try what they do",
    ),
    ("docs/known.md", "it has no commands"),
    ("docs/reasons.md", "it has no commands"),
    ("docs/words.md", "it has no commands"),
];

fn pages() -> Vec<Document> {
    let mut documents = documents();
    documents.retain(|document| document.blocks().iter().any(|block| block.is_run()));
    documents
}

impl Block {
    fn is_run(&self) -> bool {
        self.words().starts_with(&["sh", "run"])
    }
}

#[test]
fn every_page_of_a_task_is_tried_or_says_why_not() {
    let tried: Vec<_> = pages().into_iter().map(|page| page.path).collect();
    let found = [
        "measurements.md",
        "reproduction.md",
        "promises.md",
        "quic-stacks.md",
        "browsing.md",
        "security.md",
        "architecture.md",
    ];
    for document in documents() {
        let path = document.path.as_path();
        let is_task = path.parent() == Some(Path::new("docs"));
        let is_other = ["docs/README.md", "docs/SUMMARY.md"]
            .iter()
            .any(|name| path == Path::new(name))
            || found.iter().any(|name| path.ends_with(name));
        if !is_task || is_other {
            continue;
        }
        let excused = CANNOT.iter().any(|(name, _)| path == Path::new(name));
        assert!(
            tried.contains(&document.path) != excused,
            "{}: neither tried nor excused, or both",
            path.display()
        );
    }
}

#[test]
fn the_commands_of_each_page_do_what_it_says() {
    for page in pages() {
        try_page(&page);
    }
}

fn try_page(page: &Document) {
    let folder = tempfile::tempdir().expect("a folder");
    symlink(
        root().join("scenarios").canonicalize().expect("there"),
        folder.path().join("scenarios"),
    )
    .expect("a link");
    let mut scenario = String::new();
    for block in page.blocks() {
        let words = block.words();
        if words == ["toml", "scenario"] {
            scenario.clone_from(&block.text);
        }
        if !block.is_run() {
            continue;
        }
        let at = format!("{}:{}", page.path.display(), block.line);
        for word in &words[2..] {
            match *word {
                "root" if !is_root() => return skipped(format!("{at}: not root")),
                "root" if !has_tun() => return,
                "root" => {}
                file => fs::write(folder.path().join(file), &scenario).expect("writable"),
            }
        }
        let (status, printed) = run(&block.text, folder.path());
        assert!(status.success(), "{at}: {status}\n{printed}");
        eprintln!("{at}: done");
    }
}

/// Its exit status and output.
fn run(script: &str, folder: &Path) -> (ExitStatus, String) {
    // Use a file: a process that the script leaves running would keep a pipe open.
    let printed = tempfile::NamedTempFile::new().expect("a file");
    let to = || Stdio::from(printed.as_file().try_clone().expect("open"));
    let program = Path::new(env!("CARGO_BIN_EXE_tidegate"));
    let path = format!(
        "{}:{}",
        program.parent().expect("a folder").display(),
        std::env::var("PATH").unwrap_or_default()
    );
    let mut command = Command::new("timeout");
    command
        .args(["-k", "5", &TIMEOUT.to_string(), "bash", "-euc", script])
        .current_dir(folder)
        .env("PATH", path)
        .env("HOME", folder)
        .env("XDG_STATE_HOME", folder)
        .stdin(Stdio::null())
        .stdout(to())
        .stderr(to());
    let status = if !is_root() || !has_program("ip", "iproute2") {
        ended(&mut command)
    } else {
        let namespace = Namespace::new().expect("root");
        let run = || {
            Command::new("ip")
                .args(["link", "set", "lo", "up"])
                .status()?;
            ended(&mut command)
        };
        namespace.run(run)
    };
    let text = fs::read(printed.path()).expect("readable");
    (
        status.expect("timeout and bash"),
        String::from_utf8_lossy(&text).into_owned(),
    )
}

/// Waits for timeout(1), which leads a process group, and kills the rest of the group.
fn ended(command: &mut Command) -> anyhow::Result<ExitStatus> {
    let mut child = command.spawn()?;
    let status = child.wait()?;
    let group = Pid::from_raw(child.id() as i32);
    let _ = killpg(group, Signal::SIGKILL);
    Ok(status)
}
