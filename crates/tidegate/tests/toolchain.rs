//! `./dev setup` finds the pinned Rust, or says what to do; also on Debian 12, whose packages contain no rustup and a
//! Rust of 2022.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

/// A machine with Debian's packages, and programs that a test adds.
struct Machine(TempDir);

impl Machine {
    fn new() -> Self {
        let machine = Self(TempDir::new().unwrap());
        fs::create_dir(machine.bin()).unwrap();
        for tool in [
            "bash", "cat", "chmod", "cut", "dirname", "env", "grep", "id", "sed", "sort", "tr",
        ] {
            let found = ["/usr/bin", "/bin"].map(|folder| Path::new(folder).join(tool));
            let found = found.iter().find(|path| path.exists());
            symlink(
                found.unwrap_or_else(|| panic!("no {tool}")),
                machine.bin().join(tool),
            )
            .unwrap();
        }
        machine.program("dpkg-query", "echo install ok installed");
        machine.program("apt-get", "exit 0");
        machine.program("apt-cache", "exit 0");
        machine.program("sudo", "exec \"$@\"");
        machine
    }

    fn bin(&self) -> PathBuf {
        self.0.path().join("bin")
    }

    /// Adds a program of this name that runs the script.
    fn program(&self, name: &str, script: &str) {
        program(&self.bin().join(name), script);
    }

    fn setup(&self) -> Output {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        Command::new("/bin/bash")
            .args([root.join("dev").to_str().unwrap(), "setup"])
            .env_clear()
            .env("PATH", self.bin())
            .env("HOME", self.0.path())
            .output()
            .unwrap()
    }
}

fn program(path: &Path, script: &str) {
    fs::write(path, format!("#!/bin/bash\n{script}\n")).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

fn pinned() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../rust-toolchain.toml");
    let table: toml::Table = fs::read_to_string(path).unwrap().parse().unwrap();
    table["toolchain"]["channel"].as_str().unwrap().to_owned()
}

fn assert_told(output: &Output, reason: &str) {
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{text}");
    let version = format!("Rust {}", pinned());
    for words in [reason, &version, "https://sh.rustup.rs | sh"] {
        assert!(text.contains(words), "no \"{words}\" in {text}");
    }
}

#[test]
fn without_rust_and_without_a_package_it_says_how_to_get_it() {
    assert_told(&Machine::new().setup(), "no package rustup");
}

#[test]
fn a_distributions_old_rust_is_refused_before_anything_is_built() {
    let machine = Machine::new();
    machine.program("cargo", "echo 'cargo 1.63.0 (fd9c4297c 2022-07-01)'");
    assert_told(&machine.setup(), "is of Rust 1.63.0");
}

#[test]
fn rustups_goes_before_a_distributions() {
    let machine = Machine::new();
    machine.program("cargo", "echo 'cargo 1.63.0'");
    let own = machine.0.path().join(".cargo/bin");
    fs::create_dir_all(&own).unwrap();
    program(&own.join("rustup"), "exit 0");
    let version = pinned();
    program(&own.join("cargo"), &format!("echo 'cargo {version} (0 1)'"));
    let output = machine.setup();
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}");
}

#[test]
fn the_package_is_taken_where_there_is_one() {
    let machine = Machine::new();
    machine.program("apt-cache", "echo 'rustup - the toolchain installer'");
    machine.program(
        "dpkg-query",
        "case \"$*\" in *rustup) ;; *) echo install ok installed ;; esac",
    );
    // It provides cargo, as rustup's package does.
    let bin = machine.bin();
    let cargo = format!("{}/cargo", bin.display());
    let version = pinned();
    machine.program(
        "apt-get",
        &format!(
            "case \"$*\" in *install*rustup*) printf '#!/bin/bash\\necho cargo {version}\\n' >{cargo}; chmod 755 {cargo} ;; esac"
        ),
    );
    let output = machine.setup();
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}");
}
