//! Names that a file may have at the receiver.

use std::path::{Component, Path};

/// Bytes of a name at most: with what is put around it while it is not whole, a file system's 255.
const LONGEST: usize = 240;

/// What the name of a file that is not whole ends with.
const PART: &str = ".part";

/// What a file is called while it is not whole. No whole one is called so: it would be taken for the
/// beginning of another, and be gone on with.
pub fn of_part(name: &str) -> String {
    format!(".{name}{PART}")
}

/// Refuses what is not a plain name: nothing leaves the folder, nothing plays tricks on a terminal.
pub fn check(name: &str) -> Result<(), String> {
    let mut parts = Path::new(name).components();
    let plain = matches!(
        (parts.next(), parts.next()),
        (Some(Component::Normal(part)), None) if part == name
    );
    if !plain || name.contains(['/', '\\']) {
        return Err(format!("{name:?} is not a plain file name"));
    }
    if name.chars().any(char::is_control) {
        return Err(format!("{name:?} has a control character"));
    }
    if name.starts_with('.') && name.ends_with(PART) {
        return Err(format!(
            "{name:?} is what another file is called while it is not whole"
        ));
    }
    if name.len() > LONGEST {
        return Err(format!("the name {name:?} is longer than {LONGEST} bytes"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::check;

    #[test]
    fn only_plain_names_pass() {
        for name in ["a", "a.part", ".hidden", "ü ö", "..."] {
            assert_eq!(check(name), Ok(()), "{name:?}");
        }
        let bad = [
            "",
            ".",
            "..",
            "/",
            "/etc/passwd",
            "a/b",
            "a/",
            "./a",
            "../a",
            "a\\b",
            "a\0b",
            "a\nb",
            "\u{1b}[2J",
            ".a.part",
        ];
        for name in bad {
            assert!(check(name).is_err(), "{name:?}");
        }
        assert!(check(&"a".repeat(241)).is_err());
    }
}
