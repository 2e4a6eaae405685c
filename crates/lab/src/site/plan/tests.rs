use super::*;
use std::path::Path;
use tidegate_scenario::{DOWN, UP};

/// The plan of a scenario with those workloads and the hops `a` and `b`, down, whose numbers are 2 and 3.
fn planned(workloads: &str) -> (Vec<Plan>, Vec<Home>) {
    let link = "{ rate = { constant_mbps = 1 }, delay_ms = 1 }";
    let text = format!(
        "name = 'x'
         duration_s = 1
         down = {link}
         up = {link}
         hop = [{{ name = 'a', link = {link} }}, {{ name = 'b', link = {link} }}]
         workload = [{workloads}]
         run = [{{ name = 'r' }}]"
    );
    plan(&Scenario::parse(&text, Path::new("x.toml")).unwrap())
}

fn home(site: usize, address: usize) -> Home {
    Home { site, address }
}

fn ways(down: &[usize]) -> Ways {
    Ways {
        down: down.into(),
        up: vec![UP],
    }
}

const EVERYWHERE: [usize; 3] = [2, 3, DOWN];

#[test]
fn who_chooses_no_links_shares_one_address() {
    let (plans, homes) = planned(
        "{ name = 'x', does = { bulk = {} } },
         { name = 'y', does = { ping = { interval_ms = 10 } } },
         { name = 'z', links = ['up', 'down', 'b', 'a'], does = { bulk = {} } }",
    );
    assert_eq!(homes, [home(0, 0); 3]);
    let common = Plan {
        residents: Residents::Steered,
        ways: vec![ways(&EVERYWHERE)],
    };
    assert_eq!(plans, [common]);
}

#[test]
fn each_choice_of_links_has_an_address_of_the_one_server() {
    let (plans, homes) = planned(
        "{ name = 'x', links = ['a', 'down', 'up'], does = { bulk = {} } },
         { name = 'y', links = ['up', 'down'], does = { bulk = {} } },
         { name = 'z', links = ['down', 'a', 'up'], does = { bulk = {} } }",
    );
    assert_eq!(homes, [home(0, 1), home(0, 2), home(0, 1)]);
    let all = [ways(&EVERYWHERE), ways(&[2, DOWN]), ways(&[DOWN])];
    assert_eq!(plans[0].ways, all);
}

#[test]
fn who_is_not_steered_or_takes_several_ways_lives_elsewhere() {
    let (plans, homes) = planned(
        "{ name = 'p', links = ['a', 'down', 'up'], does = { mpath = {} } },
         { name = 'q', steered = false, does = { bulk = {} } },
         { name = 'r', steered = false, links = ['down', 'up'], does = { bulk = {} } },
         { name = 's', steered = false, does = { mpath = {} } },
         { name = 't', does = { bulk = {} } }",
    );
    let residents: Vec<Residents> = plans.iter().map(|plan| plan.residents).collect();
    let expected = [
        Residents::Steered,
        Residents::Alone(0),
        Residents::Unsteered,
        Residents::Alone(3),
    ];
    assert_eq!(residents, expected);
    let expected = [home(1, 0), home(2, 0), home(2, 1), home(3, 0), home(0, 0)];
    assert_eq!(homes, expected);
    assert_eq!(plans[1].ways, [ways(&[2, DOWN])]);
    assert_eq!(plans[2].ways, [ways(&EVERYWHERE), ways(&[DOWN])]);
}
