use super::Credit;
use proptest::prelude::*;

/// The same account as quinn-proto 0.11 keeps it (`StreamsState`).
struct Quinn {
    max_data: u64,
    window: u64,
    debt: u64,
}

impl Quinn {
    fn set_receive_window(&mut self, window: u64) {
        if window > self.window {
            self.max_data += window - self.window;
        } else {
            self.debt += self.window - window;
        }
        self.window = window;
    }

    fn read(&mut self, bytes: u64) {
        self.max_data += bytes.saturating_sub(self.debt);
        self.debt = self.debt.saturating_sub(bytes);
    }
}

const INITIAL: u32 = 65_536;

proptest! {
    /// For any reads and wanted windows, both accounts agree; the promise never falls, and never exceeds the largest
    /// edge wanted so far; and a reader that has read everything may be sent at least an eighth of the wanted window.
    #[test]
    fn promises_are_what_was_wanted(steps in prop::collection::vec((0u64..100_000, 2_400u32..1 << 20), 1..200)) {
        let mut quinn = Quinn { max_data: INITIAL.into(), window: INITIAL.into(), debt: 0 };
        let mut credit = Credit::new(INITIAL);
        let (mut read, mut furthest, mut last) = (0, u64::from(INITIAL), u64::from(INITIAL));
        for (bytes, wanted) in steps {
            let before = quinn.max_data;
            // No more than was promised can have come.
            let bytes = bytes.min(before - read);
            read += bytes;
            quinn.read(bytes);
            credit.read(bytes);
            if let Some(window) = credit.want(wanted) {
                quinn.set_receive_window(window.into());
            }
            // quinn gives credit for a read before the window that follows from it is known.
            furthest = furthest.max(read + last.max(wanted.into()));
            last = wanted.into();
            prop_assert_eq!(credit.outstanding(), quinn.max_data - read);
            prop_assert!(quinn.max_data >= before);
            prop_assert!(quinn.max_data <= furthest);
            prop_assert!(credit.outstanding() >= u64::from(wanted - wanted / 8));
        }
    }
}

/// A window that falls and rises again without a read gives nothing.
#[test]
fn a_window_that_swings_gives_no_credit() {
    let mut credit = Credit::new(INITIAL);
    for _ in 0..100 {
        credit.want(INITIAL / 2);
        credit.want(INITIAL);
    }
    assert_eq!(credit.outstanding(), INITIAL.into());
}

/// Reading pays for a smaller window.
#[test]
fn a_smaller_window_is_paid_by_reads() {
    let mut credit = Credit::new(INITIAL);
    assert_eq!(credit.want(INITIAL / 4), Some(INITIAL / 4));
    credit.read(u64::from(INITIAL) / 2);
    assert_eq!(credit.outstanding(), u64::from(INITIAL) / 2);
    credit.read(u64::from(INITIAL) / 2);
    assert_eq!(credit.outstanding(), u64::from(INITIAL) / 4);
}
