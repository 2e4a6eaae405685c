use super::*;

fn wish(links: &[usize], demand_bps: f64) -> Wish {
    Wish {
        links: links.into(),
        demand_bps,
    }
}

fn greedy(links: &[usize]) -> Wish {
    wish(links, f64::INFINITY)
}

fn shares(capacities: &[f64], wishes: &[Wish]) -> Vec<f64> {
    let shares = Shares::fill(capacities, wishes).bps;
    shares.iter().map(|bps| (bps * 1e6).round() / 1e6).collect()
}

#[test]
fn equals_have_equal_shares() {
    assert_eq!(shares(&[9.0], &vec![greedy(&[0]); 3]), [3.0; 3]);
}

#[test]
fn what_one_does_not_want_is_the_others() {
    let wishes = [wish(&[0], 1.0), greedy(&[0]), greedy(&[0])];
    assert_eq!(shares(&[9.0], &wishes), [1.0, 4.0, 4.0]);
    // A demand above the share is no demand.
    let wishes = [wish(&[0], 5.0), greedy(&[0]), greedy(&[0])];
    assert_eq!(shares(&[9.0], &wishes), [3.0; 3]);
}

#[test]
fn what_one_cannot_have_elsewhere_is_the_others() {
    let wishes = [greedy(&[0, 1]), greedy(&[0]), greedy(&[0])];
    assert_eq!(shares(&[9.0, 1.0], &wishes), [1.0, 4.0, 4.0]);
}

/// The parking lot: one flow crosses both links, and each has one of its own.
#[test]
fn who_crosses_two_links_has_the_share_of_the_narrower() {
    let wishes = [greedy(&[0, 1]), greedy(&[0]), greedy(&[1])];
    assert_eq!(shares(&[10.0, 4.0], &wishes), [2.0, 8.0, 2.0]);
}

#[test]
fn a_link_is_full_only_if_it_is_used_up() {
    let shares = Shares::fill(&[10.0, 4.0, 10.0], &[greedy(&[0, 1]), wish(&[2], 10.0)]);
    let full = [0, 1, 2].map(|link| shares.is_full(link));
    assert_eq!(full, [false, true, true]);
}

#[test]
fn nobody_means_nothing() {
    assert_eq!(shares(&[1.0], &[]), [0.0; 0]);
}
