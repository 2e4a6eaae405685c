use super::draw;
use crate::fixtures::{START_US, download, path, quic, snapshot};
use crate::top::model::Model;
use crate::top::view::View;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::style::Modifier;
use tidegate_agent::Kind;

fn model() -> Model {
    let later = START_US + 1_000_000;
    let mut model = Model::default();
    model.update(snapshot(START_US, vec![download(40_000, 0, START_US)]));
    let mut closed = download(40_001, 9000, START_US);
    closed.closed = true;
    let mut look = snapshot(later, vec![download(40_000, 1_250_000, later), closed]);
    look.windowless = vec![quic(240_000, later)];
    look.paths = vec![path(&[(Kind::Tcp, 1_280_000), (Kind::Quic, 260_000)])];
    model.update(look);
    model
}

fn screen(view: &mut View, width: u16, height: u16) -> Buffer {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    terminal
        .draw(|frame| draw(frame, &model(), view, None))
        .unwrap();
    terminal.backend().buffer().clone()
}

fn lines(buffer: &Buffer) -> Vec<String> {
    let row = |y| {
        let cells = (0..buffer.area.width).map(|x| buffer[(x, y)].symbol());
        cells.collect::<String>().trim_end().to_owned()
    };
    (0..buffer.area.height).map(row).collect()
}

fn press(view: &mut View, key: KeyCode) {
    view.key(KeyEvent::new(key, KeyModifiers::NONE), &model());
}

#[test]
fn the_whole_screen_at_eighty_columns() {
    let buffer = screen(&mut View::default(), 80, 9);
    let expected = [
        "tidegate tide steers downloads and uploads, by tcx, for 1 min",
        "↓ wwan0     queue  30 ms   12 Mb/s  steered TCP 83 %, QUIC 17 %  1 alone",
        "  group 3   queue  30 ms   10 Mb/s  2 flows  running  lag 50 ms",
        "  REMOTE                      GRP QUEUE▾    RTT     RATE  WINDOW LIMITED BY",
        "↓ 198.51.100.9:443              3  30 ms  80 ms  10 Mb/s  100 kB law's window",
        "↓ [2001:db8::9]:443             –      –      – 1.9 Mb/s       – QUIC",
        "↓ 198.51.100.9:443              3  30 ms  80 ms  72 kb/s  100 kB closed",
        "",
        "3 of 3  / filter  < > sort  space pause  Enter why  ? keys  q quit",
    ];
    assert_eq!(lines(&buffer), expected);
    // Closed flows are dimmed.
    let dim = |y| buffer[(2, y)].modifier.contains(Modifier::DIM);
    assert_eq!([4, 5, 6].map(dim), [false, false, true]);
}

#[test]
fn a_wide_screen_shows_every_column() {
    let text = lines(&screen(&mut View::default(), 140, 9));
    for title in ["KERNEL", "BYTES", "IF", "LOCAL"] {
        assert!(text[3].contains(title), "{text:?}");
    }
    assert!(text[2].contains("lag 50 ms  forecast 20 Mb/s"), "{text:?}");
    assert!(text[4].contains("6.0 MB"), "{text:?}");
    assert!(text[5].contains("ECT(0)"), "{text:?}");
}

#[test]
fn the_details_explain_the_decision() {
    let mut view = View::default();
    press(&mut view, KeyCode::Enter);
    let text = lines(&screen(&mut view, 100, 24)).join("\n");
    for words in [
        "198.51.100.9:443 → 192.0.2.7:40000, tcp, data that arrive on wwan0",
        "Limited by: law's window – its sender fills the law's window.",
        "Delay: queue 30 ms, round trip 80 ms, the smallest 50 ms (9 samples).",
        "Window: 100 kB told; tide wants 100 kB; the kernel's is 6.0 MB",
        "Queue: that of group 3, for its delays move together with those of one other flow",
        "It is running; lag 50 ms;",
    ] {
        assert!(text.contains(words), "no \"{words}\" in\n{text}");
    }
    press(&mut view, KeyCode::Down);
    let text = lines(&screen(&mut view, 160, 24)).join("\n");
    assert!(
        text.contains("Left alone: QUIC – QUIC, known by its handshake."),
        "{text}"
    );
    assert!(
        text.contains("its packets are this machine's own"),
        "{text}"
    );
    assert!(text.contains("200 ECT(0)"), "{text}");
}

#[test]
fn nothing_is_too_small_to_draw_on() {
    for details in [false, true] {
        for help in [false, true] {
            for (width, height) in [(1, 1), (10, 2), (20, 5), (40, 10), (79, 17), (300, 100)] {
                let mut view = View::default();
                (view.details, view.help) = (details, help);
                let buffer = screen(&mut view, width, height);
                assert_eq!((buffer.area.width, buffer.area.height), (width, height));
            }
        }
    }
}

#[test]
fn before_the_first_look_and_without_an_agent_it_says_so() {
    let mut terminal = Terminal::new(TestBackend::new(80, 6)).unwrap();
    let model = Model::default();
    let notice = Some("the agent has ended; waiting for it");
    terminal
        .draw(|frame| draw(frame, &model, &mut View::default(), notice))
        .unwrap();
    let text = lines(terminal.backend().buffer());
    assert_eq!(text[0], "tidegate the agent has ended; waiting for it");
    assert!(text.concat().contains("No data of any flow"), "{text:?}");
}

/// Names of devices and interfaces are shown, but neither control the terminal nor reverse the text's direction.
#[test]
fn no_name_controls_the_screen() {
    const NAME: &str = "\u{1b}[2J\u{202e}k\u{9b}m";
    let mut look = snapshot(START_US, vec![download(40_000, 9000, START_US)]);
    look.paths = vec![path(&[(Kind::Tcp, 1_280_000)])];
    look.agent.by_device = true;
    look.agent
        .interfaces
        .iter_mut()
        .for_each(|i| i.name = NAME.into());
    look.flows.iter_mut().for_each(|flow| flow.device = Some(1));
    look.devices = vec![crate::devices::DeviceView {
        number: 1,
        name: Some(NAME.into()),
        mac: None,
        address: [192, 0, 2, 7].into(),
        own: false,
        weight: 1,
    }];
    let mut model = Model::default();
    model.update(look);
    let mut view = View::default();
    let mut terminal = Terminal::new(TestBackend::new(160, 40)).unwrap();
    for key in [KeyCode::Down, KeyCode::Enter] {
        view.key(KeyEvent::new(key, KeyModifiers::NONE), &model);
        terminal
            .draw(|frame| draw(frame, &model, &mut view, Some(NAME)))
            .unwrap();
        let text = lines(terminal.backend().buffer()).join("\n");
        assert_eq!(tidegate_terminal::shown_lines(&text), text);
        assert!(text.contains(r"\u{1b}[2J\u{202e}k"), "{text}");
    }
}
