use super::*;

fn demand(links: &[usize], demand_bps: f64) -> Demand {
    Demand {
        links: links.into(),
        demand_bps,
    }
}

fn greedy(links: &[usize]) -> Demand {
    demand(links, f64::INFINITY)
}

fn shares(capacities: &[f64], demands: &[Demand]) -> Vec<f64> {
    let shares = Shares::fill(capacities, demands).bps;
    shares.iter().map(|bps| (bps * 1e6).round() / 1e6).collect()
}

#[test]
fn equals_have_equal_shares() {
    assert_eq!(shares(&[9.0], &vec![greedy(&[0]); 3]), [3.0; 3]);
}

#[test]
fn what_one_does_not_want_is_the_others() {
    let demands = [demand(&[0], 1.0), greedy(&[0]), greedy(&[0])];
    assert_eq!(shares(&[9.0], &demands), [1.0, 4.0, 4.0]);
    // A demand above the share changes nothing.
    let demands = [demand(&[0], 5.0), greedy(&[0]), greedy(&[0])];
    assert_eq!(shares(&[9.0], &demands), [3.0; 3]);
}

#[test]
fn what_one_cannot_have_elsewhere_is_the_others() {
    let demands = [greedy(&[0, 1]), greedy(&[0]), greedy(&[0])];
    assert_eq!(shares(&[9.0, 1.0], &demands), [1.0, 4.0, 4.0]);
}

/// The parking lot: one flow crosses both links, and each has one of its own.
#[test]
fn who_crosses_two_links_has_the_share_of_the_narrower() {
    let demands = [greedy(&[0, 1]), greedy(&[0]), greedy(&[1])];
    assert_eq!(shares(&[10.0, 4.0], &demands), [2.0, 8.0, 2.0]);
}

#[test]
fn a_link_is_full_only_if_it_is_used_up() {
    let shares = Shares::fill(&[10.0, 4.0, 10.0], &[greedy(&[0, 1]), demand(&[2], 10.0)]);
    let full = [0, 1, 2].map(|link| shares.is_full(link));
    assert_eq!(full, [false, true, true]);
}

#[test]
fn nobody_means_nothing() {
    assert_eq!(shares(&[1.0], &[]), [0.0; 0]);
}
