//! Checks that the documents' command lines and configurations are valid. Further checks: `tests/documents`.

use crate::args::CommandLine;
use clap::CommandFactory;
use clap::error::ErrorKind;
use markdown::{command_lines, documents, words_of_tidegate};
use tidegate_daemon::File;

#[allow(dead_code)] // The tests of the documents use the rest.
#[path = "../tests/documents/markdown.rs"]
mod markdown;

/// The error of a command line, if it has one.
fn complaint(words: &[String]) -> Option<String> {
    let parsed = CommandLine::command().try_get_matches_from(words);
    let error = parsed.err()?;
    let is_asked_for = [ErrorKind::DisplayHelp, ErrorKind::DisplayVersion].contains(&error.kind());
    (!is_asked_for).then(|| format!("{}: {error}", words.join(" ")))
}

#[test]
fn every_command_line_is_understood() {
    let mut wrong = Vec::new();
    let mut count = 0;
    for document in documents() {
        for block in document.blocks() {
            for words in command_lines(&block) {
                count += 1;
                let at = format!("{}:{}", document.path.display(), block.line);
                wrong.extend(complaint(&words).map(|complaint| format!("{at}: {complaint}")));
            }
        }
        for (code, line) in document.inline() {
            let Some(words) = words_of_tidegate(&code) else {
                continue;
            };
            let at = format!("{}:{line}", document.path.display());
            wrong.extend(
                unknown_option(&words).map(|option| format!("{at}: {code}: there is no {option}")),
            );
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(count > 100, "{count} command lines");
}

/// The first unknown option of a command within a sentence; such a command need not be complete.
fn unknown_option(words: &[String]) -> Option<String> {
    let whole = CommandLine::command();
    let mut command = &whole;
    for word in &words[1..] {
        if word == "--" {
            return None;
        }
        if let Some(option) = word.strip_prefix("--") {
            let name = option.split('=').next().unwrap_or_default();
            let known = command
                .get_arguments()
                .any(|argument| argument.get_long() == Some(name));
            if !known && !["help", "version"].contains(&name) {
                return Some(format!("--{name}"));
            }
        } else if let Some(under) = command.find_subcommand(word) {
            command = under;
        }
    }
    None
}

#[test]
fn every_configuration_is_understood() {
    let mut count = 0;
    for document in documents() {
        for block in document.blocks() {
            if block.words() == ["toml", "config"] {
                let at = format!("{}:{}", document.path.display(), block.line);
                let file = tempfile::NamedTempFile::new().expect("a file");
                std::fs::write(file.path(), &block.text).expect("writable");
                File::load(file.path()).unwrap_or_else(|error| panic!("{at}: {error:#}"));
                count += 1;
            }
        }
    }
    assert!(count >= 3, "{count} configurations");
}
