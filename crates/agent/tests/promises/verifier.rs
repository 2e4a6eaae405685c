//! How much work the programs are for the kernel's verifier, which refuses a program above a
//! million instructions (`BPF_COMPLEXITY_LIMIT_INSNS`) and counts differently in every version.

use libbpf_rs::skel::{OpenSkel, Skel, SkelBuilder};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd};
use tidegate_agent::hold::HoldSkelBuilder;
use tidegate_agent::hold_up::HoldUpSkelBuilder;
use tidegate_agent::skeleton::AgentSkelBuilder;
use tidegate_agent::step::StepSkelBuilder;
use tidegate_testing::{hide, is_root};

/// Two fifths of the kernel's limit.
const BUDGET: u32 = 400_000;

/// Half of it where the verifier checks fewer functions on their own.
const BUDGET_WITHOUT_BTF: u32 = 500_000;

/// Names of an object's programs and the instructions that the verifier walked through for each.
fn verified<'obj>(skeleton: &impl Skel<'obj>) -> Vec<(String, u32)> {
    let programs = skeleton.object().progs();
    let verified = programs.map(|program| {
        let mut info = libbpf_sys::bpf_prog_info::default();
        let mut size = size_of_val(&info) as u32;
        let fd = program.as_fd().as_raw_fd();
        // SAFETY: the kernel writes at most `size` bytes of the record.
        let status = unsafe {
            libbpf_sys::bpf_obj_get_info_by_fd(fd, (&raw mut info).cast(), &raw mut size)
        };
        assert_eq!(status, 0);
        (
            program.name().to_string_lossy().into_owned(),
            info.verified_insns,
        )
    });
    verified.collect()
}

#[test]
fn the_verifier_is_not_strained() {
    if is_root() {
        not_strained(BUDGET);
    }
}

/// The programs for kernels without BTF, whose verifier cannot check functions on their own that take a packet.
#[test]
fn nor_is_it_without_btf() {
    if is_root() {
        hide("/sys/kernel/btf");
        not_strained(BUDGET_WITHOUT_BTF);
    }
}

fn not_strained(budget: u32) {
    let mut agent = MaybeUninit::uninit();
    let (mut hold, mut step) = (MaybeUninit::uninit(), MaybeUninit::uninit());
    let mut uploads = MaybeUninit::uninit();
    let mut agent = AgentSkelBuilder::default().open(&mut agent).expect("open");
    // Shares by device need more code.
    let constants = agent.maps.rodata_data.as_deref_mut();
    constants.expect("the programs have constants").by_device = true;
    let hold = HoldSkelBuilder::default().open(&mut hold).expect("open");
    let uploads = HoldUpSkelBuilder::default()
        .open(&mut uploads)
        .expect("open");
    let step = StepSkelBuilder::default().open(&mut step).expect("open");
    let agent = agent.load().expect("the verifier accepts the agent");
    let hold = hold.load().expect("the verifier accepts the hold");
    let uploads = uploads
        .load()
        .expect("the verifier accepts the hold of uploads");
    let step = step.load().expect("the verifier accepts the laws");
    let programs = [
        verified(&agent),
        verified(&hold),
        verified(&uploads),
        verified(&step),
    ];
    let programs = programs.concat();
    assert_eq!(programs.len(), 14);
    for (name, instructions) in &programs {
        println!("{name}: {instructions} instructions");
    }
    for (name, instructions) in &programs {
        assert!((1..budget).contains(instructions), "{name}: {instructions}");
    }
}
