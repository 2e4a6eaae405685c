//! agent
#![allow(missing_docs)]
mod skel {
    include!(concat!(env!("OUT_DIR"), "/agent.skel.rs"));
}
use libbpf_rs::skel::{OpenSkel, SkelBuilder};
use std::mem::MaybeUninit;
pub fn try_load() -> anyhow::Result<()> {
    let mut o = MaybeUninit::uninit();
    let open = skel::AgentSkelBuilder::default().open(&mut o)?;
    let _skel = open.load()?;
    Ok(())
}
#[test]
fn loads() { libbpf_rs::set_print(Some((libbpf_rs::PrintLevel::Info, |_, m| print!("{m}")))); try_load().unwrap(); }
