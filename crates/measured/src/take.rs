//! Runs a table's commands and lays out what they print.

use crate::rows::Row;
use anyhow::{Context, Result, ensure};
use serde_json::Value;
use std::collections::HashMap;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// With what it is measured.
pub struct Setting {
    /// The program.
    pub program: PathBuf,
    /// Recordings that are no part of the project.
    pub traces: Option<PathBuf>,
}

/// Runs commands, each once, however many tables are made of it.
pub struct Taker {
    setting: Setting,
    printed: HashMap<&'static str, Printed>,
    interrupted: Arc<AtomicBool>,
}

/// What a command printed.
#[derive(Clone, Debug)]
pub enum Printed {
    /// JSON.
    Json(Value),
    /// Lines for people.
    Text(String),
}

/// A table, as it is now.
pub struct Taken {
    commands: &'static [&'static str],
    sources: Vec<Printed>,
    table: String,
}

impl Taker {
    /// One that has run nothing yet.
    ///
    /// # Errors
    /// When the program cannot be found, or interrupts cannot be waited for.
    pub fn new(setting: Setting) -> Result<Self> {
        let program = setting.program.display();
        ensure!(
            setting.program.is_file(),
            "no program {program}: ./dev measurements builds it"
        );
        let interrupted = Arc::new(AtomicBool::new(false));
        // A terminal interrupts the command, too, which ends in order.
        signal_hook::flag::register(signal_hook::consts::SIGINT, Arc::clone(&interrupted))?;
        Ok(Self {
            setting,
            printed: HashMap::new(),
            interrupted,
        })
    }

    /// Whether the user has had enough.
    pub fn is_interrupted(&self) -> bool {
        self.interrupted.load(Ordering::Relaxed)
    }

    /// Measures what a table says.
    ///
    /// # Errors
    /// When a command fails, or prints what the table is not made of.
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
        let table = (row.table)(&sources).context("its output is not what the table is made of")?;
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
            // What cargo has compiled says is on standard error, and so is what the tests say.
            None => format!("exec {line} 2>&1"),
        };
        let mut command = Command::new("sh");
        command.args(["-c", &script]).stdin(Stdio::null());
        // Its progress is ours.
        command.stdout(Stdio::piped()).stderr(Stdio::inherit());
        let output = command.spawn()?.wait_with_output()?;
        let text = String::from_utf8(output.stdout)?;
        // One that holds the simulator against the kernel fails if they are apart; its numbers stand all the same.
        let told = of_ours.and_then(|_| serde_json::from_str(&text).ok());
        match told {
            Some(json) if !self.is_interrupted() => Ok(Printed::Json(json)),
            _ => {
                ensure!(output.status.success(), "ended with {}", output.status);
                Ok(Printed::Text(text))
            }
        }
    }

    /// A command with the folder's recordings in the place of that word, each as a rate.
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
    /// What stands between a table's marks: when it was taken, by what, and the table.
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

    /// How well the laboratory kept time, and the runs of which it says that they should not be counted.
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

    /// Runs of which the laboratory says that they should not be counted.
    pub fn doubted(&self) -> usize {
        let warnings = self.healths();
        let warnings = warnings.filter_map(|health| health.get("warnings")?.as_array());
        warnings.filter(|warnings| !warnings.is_empty()).count()
    }

    /// What each run says of itself.
    fn healths(&self) -> impl Iterator<Item = &Value> {
        let sets = self.results();
        let sets = sets.filter_map(|set| set.get("runs")?.as_array());
        sets.flatten().filter_map(|run| run.get("health"))
    }

    /// Each result that was printed.
    fn results(&self) -> impl Iterator<Item = &Value> {
        self.sources.iter().flat_map(|printed| match printed {
            Printed::Json(Value::Array(sets)) => sets.iter().collect(),
            Printed::Json(set) => vec![set],
            Printed::Text(_) => Vec::new(),
        })
    }
}
