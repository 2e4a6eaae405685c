//! The examples at the end of a command's help and manual page. Each command has its examples beside its arguments.

/// A command line, and its purpose.
pub type Example = (&'static str, &'static str);

/// The text of these examples for the end of a command's help.
pub fn examples(examples: &[Example]) -> String {
    let each = examples
        .iter()
        .map(|(line, what)| format!("  {line}\n      {what}"));
    format!("Examples:\n{}", each.collect::<Vec<_>>().join("\n"))
}
