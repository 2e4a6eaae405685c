//! The same work in ns-3, if that is installed: `comparisons/ns3/bulk.cc`, compiled on the spot.

use super::sim::Work;
use anyhow::{Context, Result, ensure};
use serde::Deserialize;
use std::ffi::OsStr;
use std::io::ErrorKind;
use std::process::{Command, Output};
use tempfile::TempDir;

/// The program's source.
const SOURCE: &str = include_str!("../../../../comparisons/ns3/bulk.cc");

/// The modules it uses, by their names in `pkg-config`.
const MODULES: [&str; 6] = [
    "ns3-applications",
    "ns3-internet",
    "ns3-point-to-point",
    "ns3-traffic-control",
    "ns3-network",
    "ns3-core",
];

/// The compiled program; its folder is removed with this value.
pub struct Ns3 {
    folder: TempDir,
    /// The version of ns-3, such as `3.37`.
    pub version: String,
}

/// What the program prints.
#[derive(Deserialize)]
struct Report {
    segments: u64,
    wall_s: f64,
}

impl Ns3 {
    /// Compiles the program; none if ns-3 is not installed.
    ///
    /// # Errors
    /// If there is no compiler, or it fails.
    pub fn build() -> Result<Option<Self>> {
        let Some(version) = installed_version()? else {
            return Ok(None);
        };
        let folder = tempfile::tempdir().context("cannot make a folder for the ns-3 program")?;
        let source = folder.path().join("bulk.cc");
        std::fs::write(&source, SOURCE)?;
        // Only the modules' names: Debian's package also lists libraries that ns-3 was built with
        // and that nothing here needs.
        let libraries = pkg_config("--libs-only-l")?
            .map(|o| text(&o.stdout))
            .unwrap_or_default();
        let mut compiler = Command::new("c++");
        compiler.args(["-O2", "-o"]).arg(folder.path().join("bulk"));
        compiler.arg(source).args(libraries.split_whitespace());
        output(&mut compiler).context("cannot compile the ns-3 program")?;
        Ok(Some(Self { folder, version }))
    }

    /// Data segments that arrive in a second of wall time.
    ///
    /// # Errors
    /// If the program fails.
    pub fn segments_per_second(&self, work: &Work) -> Result<f64> {
        let mut program = Command::new(self.folder.path().join("bulk"));
        program
            .arg(format!("--flows={}", work.flows))
            .arg(format!("--mbps={}", work.mbps))
            .arg(format!("--rtt={}", 2.0 * work.delay_ms))
            .arg(format!("--buffer={}", work.packets))
            .arg(format!("--seconds={}", work.seconds));
        let printed = output(&mut program).context("the ns-3 program failed")?;
        let report: Report = serde_json::from_slice(&printed.stdout)?;
        Ok(report.segments as f64 / report.wall_s)
    }
}

fn installed_version() -> Result<Option<String>> {
    Ok(pkg_config("--modversion")?.and_then(|o| text(&o.stdout).lines().next().map(str::to_owned)))
}

/// None if `pkg-config` or a module is missing.
fn pkg_config(option: &str) -> Result<Option<Output>> {
    match Command::new("pkg-config")
        .arg(option)
        .args(MODULES)
        .output()
    {
        Ok(output) => Ok(output.status.success().then_some(output)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error).context("cannot run pkg-config"),
    }
}

/// Runs a command to its end; an error contains its error output.
fn output(command: &mut Command) -> Result<Output> {
    let name = command.get_program().to_owned();
    let output = command
        .output()
        .with_context(|| format!("cannot run {}", shown(&name)))?;
    ensure!(
        output.status.success(),
        "{}: {}: {}",
        shown(&name),
        output.status,
        text(&output.stderr)
    );
    Ok(output)
}

fn shown(name: &OsStr) -> std::path::Display<'_> {
    std::path::Path::new(name).display()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).trim().to_owned()
}
