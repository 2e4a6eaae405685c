//! Prints how fast and how punctual the laboratory is on this machine. Needs root.

fn main() -> anyhow::Result<()> {
    let capability = tidegate_lab::capability(&Default::default())?;
    println!("{capability:#?}");
    Ok(())
}
