//! Prints what the laboratory is capable of on this machine: root is needed.

fn main() -> anyhow::Result<()> {
    let bench = tidegate_lab::bench(&Default::default())?;
    println!("{bench:#?}");
    Ok(())
}
