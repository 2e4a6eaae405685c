//! The laws with variables for constants, for sweeps: what `build.rs` compiles instead of `laws/` with the feature `tunable`.
//!
//! A copy of the headers, in which each constant whose comment says "swept" is an element of one array of the process,
//! and arrays whose length is such a constant are twice as long. Without the feature none of this exists: `laws/`
//! itself is compiled, and the kernel programs never see a copy.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

/// The marks in a constant's comment; it needs one of them: it may be varied, or turns a mechanism off.
const MARKS: [&str; 2] = ["swept", "ablation: "];

/// Where the array is declared: after the types that every header has.
const TYPES: &str = "typedef __INT64_TYPE__ tg_s64;\n";

/// A constant that may be varied.
struct Constant {
    header: String,
    name: String,
    value: String,
    says: String,
}

/// Copies `laws` to `to/laws`, and writes what belongs to the copy: `to/tunable.c` has the array, `to/tunable.rs` describes
/// it to Rust. Returns the copy's folder.
pub fn copy(laws: &Path, to: &Path) -> PathBuf {
    let folder = to.join("laws");
    let headers = headers(laws, Path::new(""));
    let constants: Vec<Constant> = headers
        .iter()
        .flat_map(|header| found(header, &read(laws, header)))
        .collect();
    for header in &headers {
        let path = folder.join(header);
        fs::create_dir_all(path.parent().expect("a folder")).expect("create a folder");
        fs::write(path, varied(&read(laws, header), &constants)).expect("write a header");
    }
    fs::write(to.join("tunable.c"), array(&constants)).expect("write the array");
    fs::write(to.join("tunable.rs"), described(&constants)).expect("describe the array");
    folder
}

/// Every header in `below` of `laws`, in the order of names.
fn headers(laws: &Path, below: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(laws.join(below)).expect("read the laws");
    let mut names: Vec<_> = entries
        .map(|entry| entry.expect("read the laws").file_name())
        .collect();
    names.sort();
    let each = names.iter().map(|name| below.join(name));
    each.flat_map(|path| match laws.join(&path).is_dir() {
        true => headers(laws, &path),
        false => vec![path],
    })
    .collect()
}

fn read(laws: &Path, header: &Path) -> String {
    fs::read_to_string(laws.join(header)).expect("read a header")
}

/// The constants of a header that may be varied.
fn found(header: &Path, text: &str) -> Vec<Constant> {
    let constant = |line: &str| {
        let (definition, says) = line.strip_prefix("#define ")?.split_once("/*")?;
        let (name, value) = definition.trim().split_once(' ')?;
        MARKS
            .iter()
            .any(|mark| says.contains(mark))
            .then(|| Constant {
                header: header.display().to_string(),
                name: name.to_owned(),
                value: value.trim().to_owned(),
                says: says.trim_end_matches("*/").trim().to_owned(),
            })
    };
    text.lines().filter_map(constant).collect()
}

/// The header with variables instead of constants.
fn varied(text: &str, constants: &[Constant]) -> String {
    let declared = format!("{TYPES}extern tg_s64 tg_tunable[];\n");
    let mut varied = text.replace(TYPES, &declared);
    for (place, Constant { name, value, .. }) in constants.iter().enumerate() {
        varied = varied.replace(&format!("[{name}]"), &format!("[2 * ({value})]"));
        let lines =
            varied.lines().map(
                |line| match line.strip_prefix(&format!("#define {name} ")) {
                    Some(_) => {
                        format!("#define {name} ((__typeof__({value}))tg_tunable[{place}])\n")
                    }
                    None => format!("{line}\n"),
                },
            );
        varied = lines.collect();
    }
    varied
}

fn array(constants: &[Constant]) -> String {
    let values: String = constants
        .iter()
        .map(|c| format!("\t{},\n", c.value))
        .collect();
    format!(
        "#include \"laws/base.h\"\n\ntg_s64 tg_tunable[] = {{\n{values}}};\nconst tg_s64 tg_tunable_in_use[] = {{\n{values}}};\n"
    )
}

fn described(constants: &[Constant]) -> String {
    let mut source = String::from("[\n");
    for Constant {
        header, name, says, ..
    } in constants
    {
        writeln!(
            source,
            "    Constant {{ header: {header:?}, name: {name:?}, says: {says:?} }},"
        )
        .expect("text");
    }
    source + "]\n"
}
