//! Prints what the laboratory is capable of on this machine: root is needed.

fn main() -> anyhow::Result<()> {
    let capability = tidegate_lab::capability(&Default::default())?;
    println!("{capability:#?}");
    Ok(())
}
