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
    // Debian keeps <asm/types.h> in a folder that clang does not search for this target, and a cross compiler's copy in
    // another. The programs need only the sizes of integers from it, so this machine's copy will do as well.
    let host = std::env::var("HOST").expect("set by cargo");
    let host = host.split('-').next().unwrap_or_default();
    let asm = [
        format!("-idirafter/usr/include/{arch}-linux-gnu"),
        format!("-idirafter/usr/{arch}-linux-gnu/include"),
        format!("-idirafter/usr/include/{host}-linux-gnu"),
    ];
    // The debug information names each instruction's source file: without this machine's folders.
    let here = std::env::var("CARGO_MANIFEST_DIR").expect("set by cargo");
    let root = Path::new(&here).join("../..");
    let root = root.canonicalize().expect("the workspace's folder");
    let moved = format!("-ffile-prefix-map={}=tidegate", root.display());
    println!("cargo:rerun-if-changed=src/bpf");
    println!("cargo:rerun-if-changed=../../laws");
    let words = tidegate_c_enum::rust(Path::new("src/bpf/shared.h"), &WORDS);
    std::fs::write(out.join("words.rs"), words).expect("write the words");
    let source = |program: &str, define: &[&str]| {
        let room = match program {
            "hold" | "hold_up" | "wait" => "hold/",
            _ => "",
        };
        let mut builder = SkeletonBuilder::new();
        builder
            .source(format!("src/bpf/{room}{program}.bpf.c"))
            .clang_args(
                [
                    &CLANG[..],
                    &asm.each_ref().map(String::as_str),
                    &[&moved],
                    define,
                ]
                .concat(),
            );
        builder
    };
    const FAILED: &str = "compile the kernel program; is clang installed? (./dev setup)";
    for program in ["agent", "hold", "hold_up", "meter", "step", "trunk", "wait"] {
        source(program, &[])
            .obj(out.join(format!("{program}.o")))
            .build_and_generate(out.join(format!("{program}.skel.rs")))
            .expect(FAILED);
    }
    for program in ["agent", "hold", "hold_up"] {
        source(program, &["-DTG_WITHOUT_BTF"])
            .obj(out.join(format!("{program}-without-btf.o")))
            .build()
            .expect(FAILED);
        choose_by_btf(&out.join(format!("{program}.skel.rs")), program);
    }
}

const CLANG: [&str; 7] = [
    "-Isrc/bpf",
    "-mcpu=v3",
    "-std=gnu11",
    "-Wall",
    "-Wextra",
    "-Werror",
    "-Wno-unused-function",
];

/// Makes a skeleton open the object that suits the kernel: on a kernel without BTF, libbpf does not load an object that
/// uses the kernel's types. Both objects have the same maps, programs and globals.
fn choose_by_btf(skeleton: &Path, program: &str) {
    let out = skeleton.parent().expect("a folder");
    let (with, without) = (format!("{program}.o"), format!("{program}-without-btf.o"));
    let objects = match cfg!(feature = "static") {
        // For routers, whose flash is small.
        true => [&with, &without].map(|object| {
            pack(&out.join(object));
            format!(
                "{{ static OBJECT: crate::packed::Packed = crate::packed::Packed::new(include_bytes!(concat!(\
                 env!(\"OUT_DIR\"), \"/{object}.z\"))); OBJECT.object() }}"
            )
        }),
        false => [
            "&DATA".to_owned(),
            format!("include_bytes!(concat!(env!(\"OUT_DIR\"), \"/{without}\"))"),
        ],
    };
    let text = std::fs::read_to_string(skeleton).expect("just written");
    let opens = "ObjectSkeletonConfigBuilder::new(&DATA)";
    assert_eq!(
        text.matches(opens).count(),
        1,
        "{opens} in {program}'s skeleton"
    );
    let [with, without] = objects;
    let chosen = format!(
        "ObjectSkeletonConfigBuilder::new(if crate::support::has_btf() {{ {with} }} else {{ {without} }})"
    );
    std::fs::write(skeleton, text.replace(opens, &chosen)).expect("write the skeleton");
}

/// Writes OBJECT.z beside an object.
fn pack(object: &Path) {
    let bytes = std::fs::read(object).expect("just compiled");
    let packed = miniz_oxide::deflate::compress_to_vec_zlib(&bytes, 10);
    std::fs::write(object.with_extension("o.z"), packed).expect("write a packed object");
}
