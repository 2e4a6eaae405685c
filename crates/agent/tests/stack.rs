//! The programs' use of the stack. Kernels before private stacks (Linux 6.13) add up all frames of a chain of calls,
//! each rounded up to 32 bytes, and refuse a chain above 512 (`check_max_stack_depth` in kernel/bpf/verifier.c). This
//! machine's kernel may be newer, so the chains are added up here.

use object::{Object, ObjectSection, ObjectSymbol, RelocationTarget, SectionIndex, SymbolKind};
use std::collections::BTreeMap;

const MOST: i64 = 512;

/// One instruction of BPF (RFC 9669 section 3).
const INSTRUCTION: usize = 8;
/// `lddw` has two.
const LOAD_WIDE: u8 = 0x18;
const CALL: u8 = 0x85;
/// `mov` from a register, and `add` of a number, both of 64 bits.
const MOVE: u8 = 0xbf;
const ADD: u8 = 0x07;
/// The frame pointer, and the source register of a call within the programs.
const FRAME: u8 = 10;
const LOCAL: u8 = 1;

type Place = (SectionIndex, u64);

struct Function {
    name: String,
    /// Bytes of its frame.
    frame: i64,
    calls: Vec<Place>,
}

/// All functions of an object, by the place where they begin.
fn functions(object: &[u8]) -> BTreeMap<(usize, u64), Function> {
    let file = object::File::parse(object).unwrap();
    let functions = file
        .symbols()
        .filter(|s| s.kind() == SymbolKind::Text && s.size() > 0);
    let read = |symbol: object::Symbol| {
        let index = symbol.section_index().unwrap();
        let section = file.section_by_index(index).unwrap();
        let at = symbol.address();
        let code = &section.data().unwrap()[at as usize..][..symbol.size() as usize];
        // The target of a call, which the loader may have to fill in.
        let called = |offset: u64, imm: i64| {
            let relocation = section.relocations().find(|(place, _)| *place == offset);
            let Some((_, relocation)) = relocation else {
                let at = offset as i64 + (imm + 1) * INSTRUCTION as i64;
                return Some((index, at as u64));
            };
            let RelocationTarget::Symbol(target) = relocation.target() else {
                panic!("a call to no symbol");
            };
            let target = file.symbol_by_index(target).unwrap();
            let within = match target.kind() {
                SymbolKind::Section => ((imm + 1) * INSTRUCTION as i64) as u64,
                _ => target.address(),
            };
            // The kernel's own functions have no section.
            Some((target.section_index()?, within))
        };
        let function = scan(symbol.name().unwrap(), code, |offset, imm| {
            called(at + offset, imm)
        });
        ((index.0, at), function)
    };
    functions.map(read).collect()
}

/// The depth of its frame, by all accesses to it, and the functions that it calls.
fn scan(name: &str, code: &[u8], called: impl Fn(u64, i64) -> Option<Place>) -> Function {
    let (mut depth, mut calls) = (0, Vec::new());
    let mut of_frame = [false; 16];
    let mut at = 0;
    while at < code.len() {
        let instruction: [u8; INSTRUCTION] = code[at..][..INSTRUCTION].try_into().unwrap();
        let [op, registers, low, high, imm @ ..] = instruction;
        let (to, from) = (registers & 15, registers >> 4);
        let offset = i64::from(i16::from_le_bytes([low, high]));
        let imm = i64::from(i32::from_le_bytes(imm));
        // Classes LDX, and ST and STX.
        let accessed = match op & 7 {
            1 => from == FRAME,
            2 | 3 => to == FRAME,
            _ => false,
        };
        if accessed {
            depth = depth.min(offset);
        }
        match op {
            MOVE => of_frame[usize::from(to)] = from == FRAME,
            ADD if of_frame[usize::from(to)] => {
                depth = depth.min(imm);
                of_frame[usize::from(to)] = false;
            }
            CALL if from == LOCAL => calls.extend(called(at as u64, imm)),
            LOAD_WIDE => at += INSTRUCTION,
            _ => {}
        }
        at += INSTRUCTION;
    }
    Function {
        name: name.into(),
        frame: -depth,
        calls,
    }
}

/// The deepest chain of calls from there, in bytes, and its functions.
fn deepest(all: &BTreeMap<(usize, u64), Function>, place: Place) -> (i64, Vec<&str>) {
    let function = &all[&(place.0.0, place.1)];
    let below = function.calls.iter().map(|call| deepest(all, *call));
    let (bytes, mut chain) = below.max_by_key(|(bytes, _)| *bytes).unwrap_or_default();
    chain.insert(0, &function.name);
    (
        bytes + (function.frame.max(1) as u64).next_multiple_of(32) as i64,
        chain,
    )
}

#[test]
fn no_chain_of_calls_takes_more_stack_than_old_kernels_have() {
    macro_rules! objects {
        ($($name:literal),*) => {
            [$(($name, include_bytes!(concat!(env!("OUT_DIR"), "/", $name, ".o")).as_slice())),*]
        };
    }
    let objects = objects![
        "agent",
        "agent-without-btf",
        "hold",
        "hold-without-btf",
        "hold_up",
        "hold_up-without-btf",
        "step",
        "wait"
    ];
    for (name, object) in objects {
        let all = functions(object);
        assert!(!all.is_empty(), "{name}");
        for &(section, at) in all.keys() {
            let (bytes, chain) = deepest(&all, (SectionIndex(section), at));
            assert!(bytes <= MOST, "{name}: {bytes} bytes by {chain:?}");
        }
    }
}
