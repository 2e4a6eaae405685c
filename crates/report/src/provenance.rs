//! Where a page's numbers come from, in a sentence at its end.

use crate::escape;
use tidegate_scenario::{Provenance, Seeds};

/// A paragraph with the command, the version, the kernel and the seed.
pub fn provenance(of: &Provenance) -> String {
    let version = match of.commit.as_str() {
        "unknown" => of.version.clone(),
        commit => format!("{} ({commit})", of.version),
    };
    let mut parts = vec![format!("Tidegate {version}")];
    parts.extend(of.kernel.as_ref().map(|kernel| format!("Linux {kernel}")));
    parts.extend(of.seed.as_ref().map(Seeds::words));
    format!(
        "<p class=\"provenance\">Made by <code>{}</code>; {}.</p>\n",
        escape(&of.command),
        escape(&parts.join(", "))
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_says_all_that_is_known() {
        let mut of = Provenance {
            version: "1.2.3".into(),
            commit: "0123456789ab".into(),
            kernel: Some("6.18.5".into()),
            command: "tidegate lab 'a<b.toml'".into(),
            seed: Seeds::of([4]),
        };
        assert_eq!(
            provenance(&of),
            "<p class=\"provenance\">Made by <code>tidegate lab &#39;a&lt;b.toml&#39;</code>; \
             Tidegate 1.2.3 (0123456789ab), Linux 6.18.5, seed 4.</p>\n"
        );
        of = Provenance {
            commit: "unknown".into(),
            kernel: None,
            seed: None,
            ..of
        };
        assert!(provenance(&of).ends_with("; Tidegate 1.2.3.</p>\n"));
    }
}
