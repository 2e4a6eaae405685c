use super::*;
use crate::task::{Act, Reward};
use tidegate_scenario::Scenario;
use tidegate_sim::Options;

const TASK: Task = Task {
    act: Act::Window,
    reward: Reward::Tide,
    step_ms: 10.0,
    start_ms: 500.0,
    history: 3,
    delta: 0.1,
};

fn session(seed: u64) -> Shared {
    let text = format!(
        r#"
        name = "small"
        duration_s = 3
        seed = {seed}
        down = {{ rate = {{ constant_mbps = 20 }}, delay_ms = 20, queue = {{ packets = 100 }}, loss = {{ random = 0.002 }} }}
        up = {{ rate = {{ constant_mbps = 5 }}, delay_ms = 20 }}
        workload = [{{ name = "download", does = {{ bulk = {{}} }} }}]
        run = [{{ name = "mine" }}]
        "#
    );
    let path = std::path::Path::new("small.toml");
    let scenario = Scenario::parse(&text, path).unwrap();
    let inputs = scenario.link_inputs(path).unwrap();
    let run = &scenario.runs[0];
    let session = Session::new(&scenario, &inputs, run, &Options::default());
    Arc::new(Mutex::new(Some(session.unwrap())))
}

fn finish(vector: &mut Vector) {
    while !vector.go_on() {}
}

/// The observations of five episodes in 300 steps.
fn steps(threads: usize) -> Vec<(Vec<f32>, Option<Step>)> {
    let mut vector = Vector::new(5, threads);
    for number in 0..5 {
        vector.place(number, session(number as u64), TASK, 0);
    }
    finish(&mut vector);
    let mut shown = Vec::new();
    for step in 0..300 {
        for number in 0..5 {
            vector.act(number, ((step + number) % 3) as f64 - 1.0);
        }
        finish(&mut vector);
        let mut read = |number| {
            let take = |outcome: Observed<'_>| (outcome.seen.to_vec(), outcome.step);
            shown.push(vector.read(number, take).unwrap());
        };
        (0..5).for_each(&mut read);
    }
    shown
}

#[test]
fn together_on_threads_and_alone_the_numbers_are_the_same() {
    let one = steps(1);
    assert!(one == steps(2) && one == steps(4));
    let mut alone = Episode::new(TASK, 0);
    let shared = session(3);
    let mut session = lock(&shared);
    let session = session.as_mut().unwrap();
    assert!(alone.go_on(session, &|| true));
    for step in 0..300 {
        alone.act(session, ((step + 3) % 3) as f64 - 1.0);
        // With the least patience.
        while !alone.go_on(session, &|| false) {}
        let observed = alone.observe(session);
        let (seen, told) = &one[step * 5 + 3];
        assert_eq!((alone.seen(), Some(observed)), (seen.as_slice(), *told));
    }
    assert!(one.last().unwrap().1.unwrap().over);
}

#[test]
fn whose_session_is_finished_is_not_there() {
    let mut vector = Vector::new(2, 1);
    let other = session(1);
    vector.place(0, session(0), TASK, 0);
    vector.place(1, Arc::clone(&other), TASK, 0);
    finish(&mut vector);
    lock(&other).take();
    vector.act(0, 0.0);
    vector.act(1, 0.0);
    finish(&mut vector);
    assert!(vector.read(0, |outcome| outcome.step.is_some()).unwrap());
    assert!(vector.read(1, |_| ()).is_none());
}
