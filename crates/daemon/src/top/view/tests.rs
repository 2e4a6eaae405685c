use super::{Action, View};
use crate::fixtures::{START_US, download, snapshot};
use crate::top::model::Model;
use crate::top::order::Order;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

fn model(ports: impl IntoIterator<Item = u16>) -> Model {
    let mut model = Model::default();
    let flows = ports.into_iter().map(|port| {
        let mut flow = download(port, 9000, START_US);
        // The smaller the port, the longer the queue.
        flow.queue_us = Some(1_000_000 / u32::from(port));
        flow
    });
    model.update(snapshot(START_US, flows.collect()));
    model
}

fn press(view: &mut View, model: &Model, keys: &[KeyCode]) {
    for key in keys {
        let action = view.key(KeyEvent::new(*key, KeyModifiers::NONE), model);
        assert_eq!(action, Action::Stay);
    }
}

/// The port of the flow that is selected.
fn selected(view: &mut View, model: &Model) -> Option<u16> {
    let rows = model.rows(&view.selection);
    let at = view.selected(&rows)?;
    view.has_selection().then(|| rows[at].key.local.port)
}

#[test]
fn a_selection_stays_with_its_flow_wherever_that_goes() {
    let mut view = View::default();
    let model = model(1..=5);
    assert_eq!(selected(&mut view, &model), None);
    press(&mut view, &model, &[KeyCode::Down; 3]);
    assert_eq!(selected(&mut view, &model), Some(3));
    press(&mut view, &model, &[KeyCode::Char('r')]);
    assert_eq!(selected(&mut view, &model), Some(3));
    press(&mut view, &model, &[KeyCode::End]);
    assert_eq!(selected(&mut view, &model), Some(1));
    press(&mut view, &model, &[KeyCode::Down, KeyCode::PageDown]);
    assert_eq!(selected(&mut view, &model), Some(1));
    press(&mut view, &model, &[KeyCode::Home]);
    assert_eq!(selected(&mut view, &model), Some(5));
}

#[test]
fn where_the_selected_flow_goes_its_successor_is_selected() {
    let mut view = View::default();
    press(&mut view, &model(1..=3), &[KeyCode::Down, KeyCode::Down]);
    assert_eq!(selected(&mut view, &model([1, 3])), Some(3));
    assert_eq!(selected(&mut view, &model([1])), Some(1));
    assert_eq!(selected(&mut view, &model([])), None);
}

#[test]
fn a_filter_acts_as_it_is_typed_and_escape_brings_the_old_one_back() {
    let mut view = View::new(Order::Queue, "down", false);
    let model = model(1..=3);
    let rows = |view: &View| model.rows(&view.selection).len();
    assert_eq!(rows(&view), 3);
    press(
        &mut view,
        &model,
        &[KeyCode::Char('/'), KeyCode::Char(' '), KeyCode::Char('2')],
    );
    assert_eq!((rows(&view), view.filter.as_str()), (1, "down 2"));
    press(&mut view, &model, &[KeyCode::Esc]);
    assert_eq!((rows(&view), view.filter.as_str()), (3, "down"));
    press(
        &mut view,
        &model,
        &[KeyCode::Char('/'), KeyCode::Char('q'), KeyCode::Enter],
    );
    assert_eq!((rows(&view), view.filter.as_str()), (0, "downq"));
    press(&mut view, &model, &[KeyCode::Esc]);
    assert_eq!((rows(&view), view.filter.as_str()), (3, ""));
}

#[test]
fn keys_choose_order_pause_and_end() {
    let mut view = View::default();
    let model = model(1..=3);
    press(&mut view, &model, &[KeyCode::Char('>'), KeyCode::Char(' ')]);
    assert_eq!(view.selection.order, Order::Rtt);
    assert!(view.paused);
    press(
        &mut view,
        &model,
        &[KeyCode::Char('<'), KeyCode::Char('<'), KeyCode::Char('p')],
    );
    assert_eq!(view.selection.order, Order::Group);
    assert!(!view.paused);
    let key = |code, modifiers| KeyEvent::new(code, modifiers);
    let quit = key(KeyCode::Char('q'), KeyModifiers::NONE);
    assert_eq!(view.key(quit, &model), Action::Quit);
    let interrupt = key(KeyCode::Char('c'), KeyModifiers::CONTROL);
    press(&mut view, &model, &[KeyCode::Char('/')]);
    assert_eq!(view.key(interrupt, &model), Action::Quit);
}
