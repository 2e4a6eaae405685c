//! The receiver's token, as the user gives it to the sender. Every user of the machine can read a command line, so
//! there are other ways.

use super::files::bad_input;
use crate::secret::warn_if_readable;
use std::io::Write;
use std::io::{IsTerminal, stdin};
use std::path::{Path, PathBuf};
use tidegate_command::exit::BadInput;
use tidegate_scenario::read_text;
use tidegate_terminal::warn;
use tidegate_transfer::{Token, TokenError};

/// The environment variable. The overlay's token has another.
const VARIABLE: &str = "TIDEGATE_MPATH_RECEIVER";

/// Stands for standard input.
const STDIN: &str = "-";

/// Prefix of tokens of any version.
const PREFIX: &str = "tgm";

/// The token and the remaining files: the last word may be the token.
pub fn find<'a>(
    file: Option<&Path>,
    words: &'a [PathBuf],
) -> Result<(Token, &'a [PathBuf]), BadInput> {
    let (token, files) = match (file, words.split_last()) {
        (Some(file), _) => (from_file(file)?, words),
        (None, Some((last, files))) if is_token(last) => (on_command_line(last)?, files),
        _ => (from_environment()?, words),
    };
    if files.is_empty() {
        return Err(bad_input("expected a file to send before the token"));
    }
    Ok((token, files))
}

/// Whether the word is a token. A file with such a name can be given as `./NAME`.
fn is_token(word: &Path) -> bool {
    word.to_str().is_some_and(|word| word.starts_with(PREFIX))
}

fn on_command_line(word: &Path) -> Result<Token, BadInput> {
    let token = word.to_string_lossy().parse().map_err(bad_input)?;
    warn(format_args!(
        "warning: everybody on this machine can read a command line, and with it the token; --token - asks for it"
    ));
    Ok(token)
}

fn from_file(file: &Path) -> Result<Token, BadInput> {
    if file == Path::new(STDIN) {
        return from_stdin();
    }
    let named = |what: String| bad_input(format!("{}: {what}", file.display()));
    let text = read_text(file).map_err(|error| named(error.to_string()))?;
    warn_if_readable(file);
    text.parse()
        .map_err(|error: TokenError| named(error.to_string()))
}

fn from_stdin() -> Result<Token, BadInput> {
    let stdin = stdin();
    if stdin.is_terminal() {
        let _ = write!(
            tidegate_terminal::err(),
            "the token that the receiver printed: "
        );
    }
    let mut line = String::new();
    stdin
        .read_line(&mut line)
        .map_err(|error| bad_input(format!("standard input: {error}")))?;
    line.parse()
        .map_err(|error| bad_input(format!("standard input: {error}")))
}

fn from_environment() -> Result<Token, BadInput> {
    let Some(token) = std::env::var_os(VARIABLE) else {
        return Err(bad_input(format!(
            "expected the token that the receiver printed: in --token FILE, asked for by --token -, in \
             {VARIABLE}, or behind the files; it begins with tgm1-"
        )));
    };
    let token = token.to_string_lossy().parse();
    token.map_err(|error| bad_input(format!("{VARIABLE}: {error}")))
}
