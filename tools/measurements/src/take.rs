//! Runs a table's commands and lays out what they print.

use crate::rows::Row;
use anyhow::{Context, Result, ensure};
use serde_json::Value;
use std::collections::HashMap;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The means of measurement.
pub struct Setting {
    /// The program.
    pub program: PathBuf,
    /// Recordings that are not part of the project.
    pub traces: Option<PathBuf>,
}

/// Runs commands, each once, however many tables use it.
pub struct Taker {
    setting: Setting,
    printed: HashMap<&'static str, Printed>,
    interrupted: Arc<AtomicBool>,
}

/// The output of a command.
#[derive(Clone, Debug)]
pub enum Printed {
    /// JSON.
    Json(Value),
    /// Lines for people.
    Text(String),
}

/// A table as measured now.
pub struct Taken {
    commands: &'static [&'static str],
    sources: Vec<Printed>,
    table: String,
}

impl Taker {
    /// A taker that has run nothing yet.
    ///
    /// # Errors
    /// If the program does not exist, or the handler of interrupts cannot be set.
    pub fn new(setting: Setting) -> Result<Self> {
        let program = setting.program.display();
        ensure!(
            setting.program.is_file(),
            "no program {program}: ./dev measurements builds it"
        );
        let interrupted = Arc::new(AtomicBool::new(false));
        // A terminal also interrupts the command, which then ends in good order.
        signal_hook::flag::register(signal_hook::consts::SIGINT, Arc::clone(&interrupted))?;
        Ok(Self {
            setting,
            printed: HashMap::new(),
            interrupted,
        })
    }

    /// Whether the user has interrupted it.
    pub fn is_interrupted(&self) -> bool {
        self.interrupted.load(Ordering::Relaxed)
    }

    /// Measures the numbers of a table.
    ///
    /// # Errors
    /// If a command fails, or the table cannot be made from its output.
    pub fn take(&mut self, row: &Row) -> Result<Taken> {
        let mut sources = Vec::new();
        for command in row.commands {
            if !self.printed.contains_key(command) {
                eprintln!("    {command}");
                let printed = self.run(command).with_context(|| (*command).to_owned())?;
                self.printed.insert(command, printed);
            }
            sources.push(self.printed[command].clone());
        }
        let table = (row.table)(&sources).context("the table cannot be made from its output")?;
        Ok(Taken {
            commands: row.commands,
            sources,
            table,
        })
    }

    fn run(&self, line: &str) -> Result<Printed> {
        let of_ours = line.strip_prefix("tidegate ");
        let script = match of_ours {
            Some(rest) => format!(
                "exec {:?} {} --json",
                self.setting.program,
                self.with_recordings(rest)?
            ),
            // Cargo prints compilation on standard error, and so do the tests.
            None => format!("exec {line} 2>&1"),
        };
        let mut command = Command::new("sh");
        command.args(["-c", &script]).stdin(Stdio::null());
        // Its progress is shown as ours.
        command.stdout(Stdio::piped()).stderr(Stdio::inherit());
        let output = command.spawn()?.wait_with_output()?;
        let text = String::from_utf8(output.stdout)?;
        // A command that compares the simulator with the kernel fails if they differ; its numbers are used all the
        // same.
        let told = of_ours.and_then(|_| serde_json::from_str(&text).ok());
        match told {
            Some(json) if !self.is_interrupted() => Ok(Printed::Json(json)),
            _ => {
                ensure!(output.status.success(), "ended with {}", output.status);
                Ok(Printed::Text(text))
            }
        }
    }

    /// A command with the folder's recordings in place of the word RECORDINGS, each as a rate.
    fn with_recordings(&self, line: &str) -> Result<String> {
        const WORD: &str = "'down.rate=RECORDINGS'";
        let Some(folder) = self.setting.traces.as_ref().filter(|_| line.contains(WORD)) else {
            return Ok(line.into());
        };
        let mut rates = Vec::new();
        for entry in
            std::fs::read_dir(folder).with_context(|| format!("read {}", folder.display()))?
        {
            let path = entry?.path();
            let kind = match path.extension().and_then(|end| end.to_str()) {
                Some("down") => "trace",
                Some("csv") => "series",
                _ => continue,
            };
            rates.push(format!("{{{kind}=\"{}\"}}", path.display()));
        }
        rates.sort();
        ensure!(
            !rates.is_empty(),
            "{}: no recording (*.down, *.csv)",
            folder.display()
        );
        Ok(line.replace(WORD, &format!("'down.rate={}'", rates.join(","))))
    }
}

impl Taken {
    /// The text between a table's marks: when and with what it was taken, and the table.
    pub fn block(&self, date: &str) -> String {
        let commands = self.commands.iter().map(|command| format!("`{command}`"));
        let commands = commands.collect::<Vec<_>>().join(", ");
        format!(
            "Taken on {date} by {commands}{}.\n\n{}\n{}\n",
            self.by_whom(),
            self.table.trim_end(),
            self.doubts()
        )
    }

    /// Version, commit and kernel.
    fn by_whom(&self) -> String {
        let mut provenances = self.results().filter_map(|set| set.get("provenance"));
        let Some(of) = provenances.next() else {
            return String::new();
        };
        let text = |key: &str| of.get(key).and_then(Value::as_str);
        let mut said = format!(
            ": Tidegate {} ({})",
            text("version").unwrap_or("?"),
            text("commit").unwrap_or("unknown")
        );
        if let Some(kernel) = text("kernel") {
            said.push_str(&format!(", Linux {kernel}"));
        }
        said
    }

    /// How well the laboratory kept time, and the runs that it says should not be counted.
    fn doubts(&self) -> String {
        let errors = self.healths();
        let errors = errors.filter_map(|health| health.pointer("/timing_error_ms/p99")?.as_f64());
        let Some(worst) = errors.filter(|ms| *ms > 0.0).reduce(f64::max) else {
            return String::new();
        };
        let mut said = format!(
            "\nSingle runs; packets were at most {worst:.2} ms late in the 99th percentile of a run."
        );
        if self.doubted() > 0 {
            said.push_str(&format!(
                " Of {} of {} runs the laboratory says that the machine was too busy for them to be counted.",
                self.doubted(),
                self.healths().count()
            ));
        }
        said + "\n"
    }

    /// The number of runs that the laboratory says should not be counted.
    pub fn doubted(&self) -> usize {
        let warnings = self.healths();
        let warnings = warnings.filter_map(|health| health.get("warnings")?.as_array());
        warnings.filter(|warnings| !warnings.is_empty()).count()
    }

    /// The health report of each run.
    fn healths(&self) -> impl Iterator<Item = &Value> {
        let sets = self.results();
        let sets = sets.filter_map(|set| set.get("runs")?.as_array());
        sets.flatten().filter_map(|run| run.get("health"))
    }

    /// Each result in the output.
    fn results(&self) -> impl Iterator<Item = &Value> {
        self.sources.iter().flat_map(|printed| match printed {
            Printed::Json(Value::Array(sets)) => sets.iter().collect(),
            Printed::Json(set) => vec![set],
            Printed::Text(_) => Vec::new(),
        })
    }
}
