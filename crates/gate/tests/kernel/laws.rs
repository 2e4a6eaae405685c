//! The gate's process of these tests, and its laws, which the environment names.

use std::env;
use std::process::{Command, Stdio};
use tidegate_gate::{Gate, GateError, Leaving, Limits, serve};

/// Decides when packets leave.
#[derive(Clone, Copy)]
pub enum Law {
    /// They wait that long, in µs.
    Wait(u64),
    /// Each waits for a random time up to that, in µs: a law need not keep them in order.
    Jitter(u64),
    /// They wait for two seconds, until that many have come: then the law panics.
    Panics(u64),
}

const LAW: &str = "TIDEGATE_TEST_LAW";

impl Law {
    fn to_words(self) -> String {
        match self {
            Self::Wait(us) => format!("wait {us}"),
            Self::Jitter(us) => format!("jitter {us}"),
            Self::Panics(packets) => format!("panics {packets}"),
        }
    }

    fn from_words(words: &str) -> Self {
        let (kind, number) = words.split_once(' ').expect("two words");
        let number = number.parse().expect("a number");
        match kind {
            "wait" => Self::Wait(number),
            "jitter" => Self::Jitter(number),
            "panics" => Self::Panics(number),
            _ => panic!("no law {kind}"),
        }
    }

    fn due_us(self, came: u64, packet: &Leaving) -> u64 {
        match self {
            Self::Wait(us) => packet.at_us + us,
            // Knuth's multiplicative hash: neighbours lie far apart.
            Self::Jitter(us) => packet.at_us + came.wrapping_mul(2_654_435_761) % us,
            Self::Panics(packets) => {
                assert!(came < packets, "as it should");
                packet.at_us + 2_000_000
            }
        }
    }
}

/// A gate whose process is this test program's [`gate_process`], in the calling thread's namespace.
pub fn start(law: Law, limits: Limits) -> Result<Gate, GateError> {
    let mut program = myself("laws::gate_process");
    program.env(LAW, law.to_words());
    Gate::start(program, limits, &[])
}

/// This program, about to run one of its ignored tests.
pub fn myself(test: &str) -> Command {
    let mut program = Command::new(env::current_exe().expect("it runs"));
    program
        .args([
            test,
            "--exact",
            "--ignored",
            "--nocapture",
            "--test-threads=1",
        ])
        // Nobody reads a panicking law's backtrace, and looking up its symbols takes longer than packets may wait.
        .env("RUST_BACKTRACE", "0")
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    program
}

#[test]
#[ignore = "the gate's process, which others start"]
fn gate_process() {
    let Ok(words) = env::var(LAW) else { return };
    let law = Law::from_words(&words);
    let mut came = 0;
    let due_us = move |packet: &Leaving, head: &[u8]| {
        assert!(head.len() >= 28, "the headers are there");
        came += 1;
        law.due_us(came, packet)
    };
    serve(|_| Ok::<_, String>(due_us)).unwrap();
}
