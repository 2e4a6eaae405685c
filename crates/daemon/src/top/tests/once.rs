//! The lines of `tidegate top --once`.

use crate::fixtures::{START_US, path, snapshot};
use crate::top::model::Model;
use crate::top::once::table;
use tidegate_agent::{Kind, PathView};

/// The line of an interface without groups, after two looks a second apart.
fn said(first: PathView, second: PathView) -> String {
    let mut model = Model::default();
    for (at_us, view) in [(START_US, first), (START_US + 1_000_000, second)] {
        let mut look = snapshot(at_us, Vec::new());
        look.paths = vec![PathView {
            groups: Vec::new(),
            alone: 0,
            ..view
        }];
        model.update(look);
    }
    table(&model, &[], None)
}

#[test]
fn what_is_hidden_is_said() {
    let mut look = snapshot(START_US, Vec::new());
    look.agent.hidden = Some("all is hidden".into());
    let mut model = Model::default();
    model.update(look);
    let text = table(&model, &[], None);
    assert!(text.contains("\nall is hidden\n"), "{text}");
}

#[test]
fn nothing_is_said_of_what_is_not_there() {
    let idle = said(path(&[]), path(&[]));
    assert!(idle.starts_with("wwan0 down: nothing passes\n"), "{idle}");
    let steered = [0, 125_000].map(|bytes| path(&[(Kind::Tcp, bytes)]));
    let [before, after] = steered;
    let busy = said(before, after);
    assert!(
        busy.starts_with("wwan0 down: queue 30") && !busy.contains("alone"),
        "{busy}"
    );
}
