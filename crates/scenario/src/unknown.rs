//! What somebody may have meant who wrote a word that is not known.

/// TOML's complaint of an unknown key or word, with the known one that is nearest to it, if one is near.
pub(crate) fn with_suggestion(message: &str) -> String {
    let known = |rest: &str| -> Option<String> {
        let mut quoted = rest.split('`').skip(1).step_by(2);
        let word = quoted.next()?;
        Some(format!(
            "`{word}` (did you mean `{}`?)",
            nearest(word, quoted)?
        ))
    };
    for what in ["unknown field ", "unknown variant "] {
        if let Some(rest) = message.strip_prefix(what)
            && let Some(suggestion) = known(rest)
            && let Some((_, expected)) = rest.split_once(", ")
        {
            return format!("{what}{suggestion}, {expected}");
        }
    }
    message.into()
}

/// The known word that it is without its unit, as `delay` of `delay_ms`, or that a third of its letters make of it, at most.
fn nearest<'a>(word: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let far = |known: &str| match known.strip_prefix(word) {
        Some(unit) if unit.starts_with('_') => 0,
        _ => strsim::damerau_levenshtein(word, known),
    };
    let most = (word.chars().count() + 1) / 3;
    known
        .filter(|known| far(known) <= most)
        .min_by_key(|known| far(known))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_word_is_suggested_if_it_is_near() {
        let known = "expected one of `name`, `seed`, `warmup_s`, `duration_s`";
        for (message, expected) in [
            (
                "unknown field `warmup`",
                "unknown field `warmup` (did you mean `warmup_s`?)",
            ),
            (
                "unknown field `duratoin_s`",
                "unknown field `duratoin_s` (did you mean `duration_s`?)",
            ),
            (
                "unknown field `duration`",
                "unknown field `duration` (did you mean `duration_s`?)",
            ),
            ("unknown field `delay`", "unknown field `delay`"),
            ("unknown field `s`", "unknown field `s`"),
            (
                "unknown variant `sead`",
                "unknown variant `sead` (did you mean `seed`?)",
            ),
            ("missing field `name`", "missing field `name`"),
        ] {
            assert_eq!(
                with_suggestion(&format!("{message}, {known}")),
                format!("{expected}, {known}")
            );
        }
        assert_eq!(with_suggestion("unknown field `"), "unknown field `");
    }
}
