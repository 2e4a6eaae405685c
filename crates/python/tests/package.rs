//! The Python package, as its own tests see it (`tests/python`): with the library of this build, in an environment of
//! its own that has what they use. And that it contains nothing unnecessary.

use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::Duration;
use tidegate_testing::{has_program, skipped};

fn root() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.canonicalize().expect("there")
}

/// The folder of this build: where cargo puts programs.
fn build() -> PathBuf {
    let test = std::env::current_exe().expect("known");
    let deps = test.parent().expect("a folder");
    deps.parent().expect("a folder").to_owned()
}

/// The library of this build, which cargo has made for this test.
fn library() -> PathBuf {
    let name = "lib_native.so";
    let places = [build().join("deps").join(name), build().join(name)];
    let found = places.into_iter().find(|place| place.exists());
    found.expect("cargo builds a package's library before its tests")
}

fn succeeded(output: &Output) -> bool {
    let printed = [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text));
    eprintln!("{}{}", printed[0], printed[1]);
    output.status.success()
}

/// Runs the command and shows what it prints as it does: a test that hangs is named by then. The output goes through a
/// file, since what a test leaves running would keep a pipe open, and its reader waiting.
fn shown(command: &mut Command, file: &Path) -> bool {
    let prints = fs::File::create(file).expect("writable");
    let mut printed = fs::File::open(file).expect("readable");
    command.stdout(prints.try_clone().expect("a descriptor"));
    let mut child = command.stderr(prints).spawn().expect("runs");
    loop {
        let ended = child.try_wait().expect("it is our child");
        io::copy(&mut printed, &mut io::stderr()).expect("readable");
        match ended {
            Some(status) => return status.success(),
            None => thread::sleep(Duration::from_millis(200)),
        }
    }
}

/// The interpreter of an environment that has what the tests use; none if it cannot be made.
fn interpreter(folder: &Path) -> Option<PathBuf> {
    let python = folder.join("venv/bin/python");
    let wanted = fs::read_to_string(root().join("tests/python/requirements.txt")).expect("there");
    let mark = folder.join("requirements.txt");
    if fs::read_to_string(&mark).is_ok_and(|made| made == wanted) && python.exists() {
        return Some(python);
    }
    fs::create_dir_all(folder).expect("writable");
    let made = Command::new("python3")
        .args(["-m", "venv", "--clear"])
        .arg(folder.join("venv"))
        .output()
        .expect("python3");
    if !succeeded(&made) {
        skipped("python3 has no venv (python3-venv)");
        return None;
    }
    // Whatever the network does, the tests go on: without the package's, which is said.
    let installed = Command::new("timeout")
        .arg("600")
        .arg(&python)
        .args(["-m", "pip", "install", "--quiet"])
        .args(["--disable-pip-version-check", "--timeout", "20"])
        .args(["--only-binary", ":all:", "-r"])
        .arg(root().join("tests/python/requirements.txt"))
        .output()
        .expect("timeout(1) and pip");
    if !succeeded(&installed) {
        skipped("cannot install what the package's tests use (tests/python/requirements.txt)");
        return None;
    }
    fs::write(&mark, wanted).expect("writable");
    Some(python)
}

/// A folder with the package of this build in it.
fn package(folder: &Path) -> PathBuf {
    let site = folder.join("site");
    let _ = fs::remove_dir_all(&site);
    let package = site.join("tidegate");
    fs::create_dir_all(&package).expect("writable");
    for file in fs::read_dir(root().join("python/tidegate")).expect("there") {
        let file = file.expect("readable");
        symlink(file.path(), package.join(file.file_name())).expect("writable");
    }
    symlink(library(), package.join("_native.abi3.so")).expect("writable");
    site
}

/// Runs pytest and mypy on the package, unless they cannot be installed.
#[test]
fn the_package_does_what_its_tests_say() {
    if !has_program("python3", "python3-venv") {
        return;
    }
    let folder = build().join("python-tests");
    let Some(python) = interpreter(&folder) else {
        return;
    };
    let site = package(&folder);
    let program = build().join("tidegate");
    let run = |arguments: &[&str]| {
        let mut command = Command::new(&python);
        command
            .args(arguments)
            .current_dir(root())
            .env("PYTHONPATH", &site)
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .env("MPLBACKEND", "agg");
        if program.exists() {
            command.env("TIDEGATE_PROGRAM", &program);
        } else {
            eprintln!("not compared with the command line, which is not built");
        }
        command.stdin(Stdio::null());
        shown(&mut command, &folder.join("printed"))
    };
    // A test that takes five minutes hangs: where all of its threads are is printed, and the run ends.
    let tests = run(&[
        "-m",
        "pytest",
        "-v",
        "-p",
        "no:cacheprovider",
        "-o",
        "faulthandler_timeout=300",
        "-o",
        "faulthandler_exit_on_timeout=true",
        "tests/python",
    ]);
    assert!(tests, "pytest");
    let types = run(&["-m", "mypy", "--cache-dir=/dev/null", "-p", "tidegate"]);
    assert!(types, "mypy");
}

/// Its manifest and its library: it is for machines without root, kernels that cannot be steered, and other
/// architectures.
#[test]
fn the_library_needs_neither_libbpf_nor_an_interpreter_to_link_to() {
    let library = fs::read(library()).expect("readable");
    let has = |word: &str| {
        library
            .windows(word.len())
            .any(|part| part == word.as_bytes())
    };
    assert!(has("PyInit__native"));
    for word in ["libbpf", "libelf.so", "libpython"] {
        assert!(!has(word), "{word}");
    }
}
