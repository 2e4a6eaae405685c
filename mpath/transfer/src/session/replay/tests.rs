use super::*;
use proptest::collection::vec;
use proptest::prelude::*;
use std::collections::HashSet;

/// The model of the window: a set, and the newest number.
#[derive(Default)]
struct Plain {
    come: HashSet<u64>,
    newest: Option<u64>,
}

impl Plain {
    fn insert(&mut self, number: u64) -> bool {
        let too_old = self
            .newest
            .is_some_and(|newest| newest >= number && newest - number >= ReplayWindow::SIZE);
        if too_old || number == u64::MAX {
            return false;
        }
        self.newest = self.newest.max(Some(number));
        self.come.insert(number)
    }
}

/// Numbers near each other, near the window's edges, and far away.
fn numbers() -> impl Strategy<Value = Vec<u64>> {
    let near = 0..200u64;
    let edge = ReplayWindow::SIZE - 100..ReplayWindow::SIZE + 200;
    let far = 3 * ReplayWindow::SIZE..5 * ReplayWindow::SIZE;
    let last = u64::MAX - 100..=u64::MAX;
    let few = vec(prop_oneof![8 => near, 8 => edge, 2 => far.clone()], 0..400);
    let all = vec(prop_oneof![9 => far, 1 => last], 0..30);
    (few, all).prop_map(|(few, all)| [few, all].concat())
}

proptest! {
    #[test]
    fn it_says_what_a_set_says(numbers in numbers()) {
        let (mut window, mut plain) = (ReplayWindow::default(), Plain::default());
        for number in numbers {
            let before = window.is_new(number);
            let new = window.insert(number);
            prop_assert_eq!(before, new);
            prop_assert_eq!(new, plain.insert(number), "{}", number);
            prop_assert_eq!(window.newest(), plain.newest);
        }
    }

    /// Each number passes once, in whatever order and however often they come.
    #[test]
    fn each_passes_once(seed in any::<u64>(), step in 1..2000u64) {
        let mut window = ReplayWindow::default();
        let mut passed = HashSet::new();
        let mut random = seed;
        for n in 0..5_000u64 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(n | 1);
            let number = (n * step).saturating_sub(random >> 48);
            if window.insert(number) {
                prop_assert!(passed.insert(number));
            }
        }
    }
}
