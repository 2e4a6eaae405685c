//! The laboratory ends with its process, however that ends.

use crate::common::{allowed, laboratory, lte, run};
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};
use tidegate_lab::{Namespace, Options};

/// Names the file to which the victim's command writes the name of its namespace.
const VICTIM: &str = "TIDEGATE_LAB_TEST_VICTIM";

#[test]
fn a_killed_laboratory_leaves_no_namespace_and_no_process() {
    if let Some(file) = std::env::var_os(VICTIM) {
        return be_the_victim(Path::new(&file));
    }
    let Some(_turn) = laboratory() else { return };
    // In the test's own namespace, since the machine's may have other devices.
    Namespace::new().unwrap().enter().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("namespace");
    let mut victim = Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "killed::a_killed_laboratory_leaves_no_namespace_and_no_process",
        ])
        .env(VICTIM, &file)
        .spawn()
        .unwrap();
    let namespace = wait_for("the victim's namespace", || {
        let text = fs::read_to_string(&file).ok()?;
        text.ends_with('\n').then(|| text.trim().to_owned())
    });
    assert!(namespace.starts_with("net:["), "{namespace}");
    assert!(
        !holders(&namespace).is_empty(),
        "the test looks in the wrong place"
    );
    victim.kill().unwrap();
    victim.wait().unwrap();
    wait_for("everybody to leave the namespace", || {
        holders(&namespace).is_empty().then_some(())
    });
    let interfaces = nix::net::if_::if_nameindex().unwrap();
    let left = interfaces
        .iter()
        .filter(|i| i.name().to_bytes().starts_with(b"tg"));
    assert_eq!(left.count(), 0);
}

fn be_the_victim(file: &Path) {
    let text = lte(&format!(
        "duration_s = 60
         workload = [
           {{ name = 'bulk', does = {{ bulk = {{}} }} }},
           {{ name = 'spy', does = {{ command = {{ run = ['sh', '-c', 'readlink /proc/self/ns/net > {}; exec sleep 1000'] }} }} }},
         ]
         run = [{{ name = 'linux' }}]",
        file.display()
    ));
    let options = Options {
        commands: allowed(),
        ..Options::default()
    };
    run(&text, &options);
}

/// Threads inside the namespace and descriptors that hold it.
fn holders(namespace: &str) -> Vec<String> {
    let is_it = |path: &Path| fs::read_link(path).is_ok_and(|to| to == Path::new(namespace));
    let mut holders = Vec::new();
    for process in entries(Path::new("/proc")) {
        let threads = entries(&process.join("task"));
        let inside = threads.into_iter().map(|t| t.join("ns/net"));
        let paths = inside.chain(entries(&process.join("fd")));
        holders.extend(paths.filter(|p| is_it(p)).map(|p| p.display().to_string()));
    }
    holders
}

fn entries(folder: &Path) -> Vec<std::path::PathBuf> {
    fs::read_dir(folder)
        .map(|entries| entries.flatten().map(|e| e.path()).collect())
        .unwrap_or_default()
}

fn wait_for<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let began = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(
            began.elapsed() < Duration::from_secs(15),
            "waited in vain for {what}"
        );
        std::thread::sleep(Duration::from_millis(20));
    }
}
