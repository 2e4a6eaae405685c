//! What stands at the end of each command's help and manual page: how it is used.

use clap::Command;

/// A command line, and what it is for.
type Example = (&'static str, &'static str);

/// By the words of the command.
const OF_AGENT: &[(&[&str], &[Example])] = &[
    (
        &["run"],
        &[
            (
                "sudo tidegate run",
                "steer where the default routes go, until interrupted",
            ),
            (
                "sudo tidegate run --dry-run",
                "change nothing, and say what would be steered",
            ),
            (
                "sudo tidegate run --iface wwan0 --udp hold",
                "on one interface, and slow QUIC down, too",
            ),
            (
                "sudo tidegate run --page",
                "and show in a browser, at http://127.0.0.1:9750/, what the queue does",
            ),
            (
                "sudo tidegate run --page 192.168.1.1",
                "on a router: the page for the home's network",
            ),
            (
                "sudo tidegate run --law rsfc --only downloads",
                "on a server or proxy: uploads that end there",
            ),
        ],
    ),
    (
        &["check"],
        &[(
            "sudo tidegate check",
            "what this machine can do, and what to change",
        )],
    ),
    (
        &["top"],
        &[
            ("sudo tidegate top --sort rate", "who uses the link"),
            (
                "sudo tidegate top --filter 'down !udp'",
                "downloads over TCP alone",
            ),
            ("sudo tidegate top --once --json", "one look, for programs"),
        ],
    ),
    (
        &["stop"],
        &[(
            "sudo tidegate stop",
            "end the agent, and clear up after any",
        )],
    ),
];

#[cfg(feature = "full")]
const OF_THE_REST: &[(&[&str], &[Example])] = &[
    (
        &["lab"],
        &[
            (
                "sudo tidegate lab scenarios/lte-download.toml",
                "the kernel's TCP over an emulated LTE link",
            ),
            (
                "sudo tidegate lab scenarios/lte-download.toml --run tide --html lte.html",
                "one of its runs, with pictures",
            ),
        ],
    ),
    (
        &["sim"],
        &[
            (
                "tidegate sim scenarios/lte-download.toml",
                "the same in virtual time, without root",
            ),
            (
                "tidegate sim scenarios/lte-download.toml --vary down.delay_ms=10,40,140 --seeds 8 --out sweep.csv",
                "over three delays and eight seeds",
            ),
        ],
    ),
    (
        &["reproduce"],
        &[
            ("tidegate reproduce", "what there is"),
            (
                "tidegate reproduce drwa --quick",
                "a paper, within two minutes",
            ),
            (
                "tidegate reproduce tide --traces FOLDER --html tide.html",
                "over recorded links, with pictures",
            ),
        ],
    ),
    (
        &["validate"],
        &[(
            "sudo tidegate validate --html validate.html",
            "simulator and kernel side by side",
        )],
    ),
    (
        &["link"],
        &[
            (
                "sudo tidegate link --down lte --up 5 -- curl -o /dev/null https://example.org/file",
                "a download behind LTE",
            ),
            (
                "sudo tidegate link --down 20 --up 2 --queue 500 -- bash",
                "a shell behind a slow link",
            ),
            (
                "sudo tidegate link --down 'steps = [[0, 20], [30, 2]]' --log passed.csv -- iperf3 -c server -R",
                "a rate that falls, and what passed",
            ),
        ],
    ),
    (
        &["try"],
        &[
            (
                "sudo tidegate try --url https://example.org/large.file --page try.html",
                "does it help here? Three minutes, a large file, and a page to share",
            ),
            (
                "sudo tidegate try --ping example.org -- iperf3 -c server -R -t 60",
                "with any command as load",
            ),
            (
                "sudo tidegate try --probe server --key probe.key --upload",
                "the uplink, with your own `tidegate probe serve`",
            ),
        ],
    ),
    (
        &["probe", "serve"],
        &[
            (
                "tidegate probe serve --key probe.key",
                "answer at port 4817; a firewall has to let in UDP and TCP at it",
            ),
            (
                "tidegate probe serve --max-rate 500 --max-data 50GB",
                "for faster links",
            ),
        ],
    ),
    (
        &["probe", "run"],
        &[
            (
                "tidegate probe run server --key probe.key",
                "measure the link to a server",
            ),
            (
                "tidegate probe run server --key probe.key responsiveness --max-data 30MB --yes",
                "one test, without a question",
            ),
        ],
    ),
    (
        &["trace"],
        &[(
            "tidegate trace lte --seconds 120 --mean-mbps 20",
            "two minutes of LTE of 20 Mbit/s in Mahimahi's format, to standard output",
        )],
    ),
    (
        &["bench"],
        &[
            ("tidegate bench sim laws", "some parts"),
            (
                "sudo tidegate bench agent --against OTHER",
                "the agent beside another build's",
            ),
        ],
    ),
    (
        &["mpath", "recv"],
        &[(
            "tidegate mpath recv inbox",
            "receive files at UDP port 9447, which a firewall has to let in; prints a token for the sender",
        )],
    ),
    (
        &["mpath", "send"],
        &[(
            "tidegate mpath send film.mkv --token -",
            "asks for the receiver's token",
        )],
    ),
    (
        &["mpath", "registry"],
        &[(
            "tidegate mpath registry --secret overlay.token",
            "answer at TCP port 7480, which a firewall has to let in",
        )],
    ),
    (
        &["mpath", "proxy"],
        &[(
            "tidegate mpath proxy --registry http://registry:7480 --secret overlay.token",
            "forward at UDP port 7481, which a firewall has to let in",
        )],
    ),
];

/// All of this build's.
fn all() -> impl Iterator<Item = &'static (&'static [&'static str], &'static [Example])> {
    #[cfg(feature = "full")]
    return OF_AGENT.iter().chain(OF_THE_REST);
    #[cfg(not(feature = "full"))]
    OF_AGENT.iter()
}

/// The command with examples at the end of its commands' helps.
pub fn with_examples(command: Command) -> Command {
    all().fold(command, |command, (words, examples)| {
        add(command, words, examples)
    })
}

fn add(command: Command, words: &[&'static str], examples: &[Example]) -> Command {
    match words {
        [] => command.after_long_help(text(examples)),
        [first, rest @ ..] => command.mut_subcommand(first, |command| add(command, rest, examples)),
    }
}

fn text(examples: &[Example]) -> String {
    let each = examples
        .iter()
        .map(|(line, what)| format!("  {line}\n      {what}"));
    format!("Examples:\n{}", each.collect::<Vec<_>>().join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::CommandLine;
    use clap::CommandFactory;

    #[test]
    fn every_example_is_understood() {
        for (line, _) in all().flat_map(|(_, examples)| *examples) {
            let words = shlex::split(line).unwrap();
            let words = words.into_iter().skip_while(|word| word == "sudo");
            let parsed = with_examples(CommandLine::command()).try_get_matches_from(words);
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
        check(&with_examples(CommandLine::command()), "tidegate");
    }
}
