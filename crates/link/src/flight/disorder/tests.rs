use super::*;

const N: u64 = 100_000;

impl Packet for u64 {
    fn wire_bytes(&self) -> usize {
        100
    }

    fn duplicate(&self) -> Option<Self> {
        Some(*self)
    }
}

fn ms(ms: u64) -> Instant {
    Instant::from_millis(ms)
}

/// Packets a millisecond apart; number and due time of what comes out.
fn through(disorder: Disorder) -> Vec<(u64, Instant)> {
    let mut jumble = Jumble::new(disorder, 1);
    for n in 0..N {
        jumble.push(Delivery {
            packet: n,
            due: ms(n),
            queued: Duration::ZERO,
        });
    }
    assert_eq!(jumble.next_event(), jumble.on_time.front().map(|d| d.due));
    let out: Vec<_> = std::iter::from_fn(|| jumble.pop(Instant::MAX))
        .map(|d| (d.packet, d.due))
        .collect();
    assert_eq!((jumble.len(), jumble.next_event()), (0, None));
    assert!(out.is_sorted_by_key(|p| p.1));
    out
}

#[test]
fn the_share_asked_for_is_late_by_the_time_asked_for() {
    let out = through(Disorder {
        reorder: 0.1,
        late_by: Duration::from_micros(2500),
        duplicate: 0.0,
    });
    assert_eq!(out.len() as u64, N);
    let late = out.iter().filter(|&&(n, due)| due > ms(n));
    assert!(
        late.clone()
            .all(|&(n, due)| due == ms(n) + Duration::from_micros(2500))
    );
    assert!((9_700..10_300).contains(&late.count()));
    // A late packet is overtaken by the two behind it that are on time.
    let overtaken = out
        .windows(3)
        .filter(|w| w[2].1 > ms(w[2].0) && w[0].0 == w[2].0 + 1 && w[1].0 == w[2].0 + 2);
    // A late packet counts if the two behind it are on time and the one before it is not late as well: 0.9³.
    assert!(overtaken.count() > 7_000);
}

#[test]
fn the_share_asked_for_comes_twice() {
    let out = through(Disorder {
        duplicate: 0.03,
        ..Disorder::default()
    });
    let copies = out.windows(2).filter(|w| w[0] == w[1]).count() as u64;
    assert_eq!(out.len() as u64, N + copies);
    assert!((2_850..3_150).contains(&copies), "{copies}");
}

/// A packet and its copy are late independently: one of them, both or neither.
#[test]
fn either_of_two_may_be_late() {
    let out = through(Disorder {
        reorder: 0.5,
        late_by: Duration::from_millis(10),
        duplicate: 1.0,
    });
    let mut late = vec![0; N as usize];
    for (n, due) in out {
        late[n as usize] += usize::from(due > ms(n));
    }
    for (count, expected) in [(0, 25_000), (1, 50_000), (2, 25_000)] {
        let n = late.iter().filter(|&&l| l == count).count();
        assert!(n.abs_diff(expected) < 500, "{count}: {n}");
    }
}

#[test]
fn nothing_comes_before_it_is_due() {
    let mut jumble = Jumble::new(Disorder::default(), 1);
    jumble.push(Delivery {
        packet: 1,
        due: ms(5),
        queued: Duration::ZERO,
    });
    assert_eq!(jumble.pop(Instant::from_nanos(4_999_999)), None);
    assert!(jumble.pop(ms(5)).is_some());
}
