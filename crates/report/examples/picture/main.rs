//! Pictures of the documents, for light and for dark screens. `./dev picture` makes the numbers and runs this:
//!
//! * `tidegate lab scenarios/lte-download.toml --json --series | cargo run -p tidegate-report --example picture queue FOLDER`
//! * `tidegate sim scenarios/fade.toml --json --series | cargo run -p tidegate-report --example picture fade FOLDER`; so
//!   `sharing` of `late-comer.toml`, and `held` of `quic-download.toml`
//! * `tidegate reproduce rivals downloads --json | cargo run -p tidegate-report --example picture rivals FOLDER`
//! * `cargo run -p tidegate-report --example picture plane FOLDER < docs/reproduction.md`

mod law;
mod plane;
mod queue;
mod rivals;
mod theme;

use std::error::Error;
use std::path::Path;
use theme::THEMES;

const NAMES: &str = "queue, rivals, plane, fade, sharing or held";

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [which, folder] = arguments.as_slice() else {
        return Err(format!("expected {NAMES}, and the folder to write into").into());
    };
    let file = |name: &str| Path::new(folder).join(format!("{which}-{name}.svg"));
    match which.as_str() {
        "queue" => {
            let runs = queue::Runs::read(std::io::stdin())?;
            THEMES.iter().try_for_each(|theme| runs.draw(file, theme))
        }
        "rivals" => {
            let everybody = rivals::read(std::io::stdin())?;
            THEMES
                .iter()
                .try_for_each(|theme| rivals::draw(&file(theme.name), theme, &everybody))
        }
        "plane" => {
            let places = plane::read(std::io::stdin())?;
            THEMES
                .iter()
                .try_for_each(|theme| plane::draw(&file(theme.name), theme, &places))
        }
        name => {
            let make = law::find(name).ok_or(format!("\"{name}\", expected {NAMES}"))?;
            let picture = make(&serde_json::from_reader(std::io::stdin())?)?;
            THEMES
                .iter()
                .try_for_each(|theme| picture.draw(&file(theme.name), theme))
        }
    }
}
