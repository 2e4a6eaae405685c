//! Each command has examples, and each of these is understood.

use super::CommandLine;
use clap::{Command, CommandFactory};

/// The command lines in the help of `command` and of its subcommands.
fn lines(command: &Command) -> Vec<String> {
    let help = command.get_after_long_help().map(ToString::to_string);
    let help = help.unwrap_or_default();
    let of_its_own = help.lines().filter_map(|line| line.strip_prefix("  "));
    let of_its_own = of_its_own.filter(|line| !line.starts_with(' '));
    let under = command.get_subcommands().flat_map(lines);
    of_its_own.map(str::to_owned).chain(under).collect()
}

#[test]
fn every_example_is_understood() {
    let lines = lines(&CommandLine::command());
    assert!(!lines.is_empty());
    for line in lines {
        let words = shlex::split(&line).unwrap();
        let words = words.into_iter().skip_while(|word| word == "sudo");
        let parsed = CommandLine::command().try_get_matches_from(words);
        assert!(parsed.is_ok(), "{line}: {}", parsed.unwrap_err());
    }
}

#[test]
fn every_command_that_users_are_told_of_has_some() {
    fn check(command: &Command, words: &str) {
        let mut under = command
            .get_subcommands()
            .filter(|c| !c.is_hide_set())
            .peekable();
        let has = command.get_after_long_help().is_some();
        assert!(has || under.peek().is_some(), "{words} has none");
        for command in under {
            check(command, &format!("{words} {}", command.get_name()));
        }
    }
    check(&CommandLine::command(), "tidegate");
}
