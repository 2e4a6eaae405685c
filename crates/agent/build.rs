//! Compiles the kernel programs and writes their skeletons.

use libbpf_cargo::SkeletonBuilder;
use std::path::{Path, PathBuf};
use tidegate_c_enum::CEnum;

/// The words that the kernel programs share with user space.
const WORDS: [CEnum; 5] = [
    CEnum {
        tag: "tg_count",
        prefix: "TG_COUNT_",
        name: "Reason",
        count: Some("TG_COUNTS"),
    },
    CEnum {
        tag: "tg_scale_state",
        prefix: "TG_SCALE_",
        name: "ScaleState",
        count: None,
    },
    CEnum {
        tag: "tg_kind",
        prefix: "TG_KIND_",
        name: "Kind",
        count: Some("TG_KINDS"),
    },
    CEnum {
        tag: "tg_ecn",
        prefix: "TG_ECN_",
        name: "Ecn",
        count: Some("TG_ECNS"),
    },
    CEnum {
        tag: "tg_origin",
        prefix: "TG_ORIGIN_",
        name: "Origin",
        count: None,
    },
];

fn main() {
    let out = PathBuf::from(std::env::var("OUT_DIR").expect("set by cargo"));
    let arch = std::env::var("CARGO_CFG_TARGET_ARCH").expect("set by cargo");
    // Debian keeps <asm/types.h> in a folder that clang does not search for this target.
    let asm = format!("-idirafter/usr/include/{arch}-linux-gnu");
    println!("cargo:rerun-if-changed=src/bpf");
    println!("cargo:rerun-if-changed=../../laws");
    let words = tidegate_c_enum::rust(Path::new("src/bpf/shared.h"), &WORDS);
    std::fs::write(out.join("words.rs"), words).expect("write the words");
    for program in ["agent", "hold", "hold_up", "step", "trunk", "wait"] {
        SkeletonBuilder::new()
            .source(format!("src/bpf/{program}.bpf.c"))
            .clang_args([
                "-mcpu=v3",
                "-std=gnu11",
                "-Wall",
                "-Wextra",
                "-Werror",
                "-Wno-unused-function",
                &asm,
            ])
            .build_and_generate(out.join(format!("{program}.skel.rs")))
            .expect("compile the kernel program; is clang installed? (./dev setup)");
    }
}
