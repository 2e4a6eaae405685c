//! Compiles the C laws for the host and describes them to Rust; with the feature `tunable` a copy with variables in it.

mod tunable;

use std::path::PathBuf;
use tidegate_c_enum::CEnum;

/// The words that C and Rust share.
const WORDS: [CEnum; 3] = [
    CEnum {
        tag: "tg_law",
        prefix: "TG_LAW_",
        name: "Law",
        count: None,
    },
    CEnum {
        tag: "tg_tide_state",
        prefix: "TG_TIDE_",
        name: "PathState",
        count: None,
    },
    CEnum {
        tag: "tg_direction",
        prefix: "TG_",
        name: "Direction",
        count: Some("TG_DIRECTIONS"),
    },
];

/// The same for the hold.
const HOLD: [CEnum; 1] = [CEnum {
    tag: "tg_clocking_state",
    prefix: "TG_CLOCKING_",
    name: "AckClocking",
    count: None,
}];

fn main() {
    let manifest = PathBuf::from(std::env::var("CARGO_MANIFEST_DIR").expect("set by cargo"));
    let laws = manifest.join("laws");
    let out = PathBuf::from(std::env::var("OUT_DIR").expect("set by cargo"));
    let wrappers = out.join("wrappers.c");
    println!("cargo:rerun-if-changed={}", laws.display());
    let is_tunable = std::env::var_os("CARGO_FEATURE_TUNABLE").is_some();
    let (folder, laws) = match is_tunable {
        true => (out.clone(), tunable::copy(&laws, &out)),
        false => (manifest, laws),
    };

    let words = tidegate_c_enum::rust(&laws.join("flow.h"), &WORDS)
        + &tidegate_c_enum::rust(&laws.join("hold/ack_clocking.h"), &HOLD);
    std::fs::write(out.join("words.rs"), words).expect("write the words");
    bindgen::Builder::default()
        .header(laws.join("upload.h").display().to_string())
        .header(laws.join("afc.h").display().to_string())
        .header(laws.join("hold/upload.h").display().to_string())
        .clang_arg("-std=c11")
        .allowlist_item("(tg|TG)_.*")
        .blocklist_item("tg_tunable")
        .derive_default(true)
        .prepend_enum_name(false)
        .wrap_static_fns(true)
        .wrap_static_fns_path(&wrappers)
        .generate()
        .expect("describe the laws; is libclang installed? (./dev setup)")
        .write_to_file(out.join("laws.rs"))
        .expect("write the description of the laws");
    cc::Build::new()
        .file(wrappers)
        .files(is_tunable.then(|| out.join("tunable.c")))
        .include(folder)
        .std("c11")
        .flag("-Wall")
        .flag("-Wextra")
        .flag("-Werror")
        .compile("tidegate_laws");
}
