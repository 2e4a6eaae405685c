//! The segments that RACK watches, in the order of their last transmission (`tcp_tsorted_anchor`): a list
//! whose links are in the entries of the queue.

use super::queue::Queue;
use super::tags::Tags;

/// A segment's neighbours in the list; itself at an end.
#[derive(Clone, Copy, Debug)]
pub(super) struct Links {
    earlier: u32,
    later: u32,
}

impl Links {
    /// The links of entry `number` alone in the list.
    pub(super) fn alone(number: u32) -> Self {
        Self {
            earlier: number,
            later: number,
        }
    }

    /// The one sent before it.
    #[cfg(test)]
    pub(super) fn earlier(self) -> u32 {
        self.earlier
    }
}

/// The list's ends and length. Its members have [`Tags::LINKED`].
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Order {
    oldest: u32,
    newest: u32,
    linked: u32,
}

impl Order {
    /// The segment whose last transmission is longest ago.
    pub(super) fn oldest(&self) -> Option<u32> {
        (self.linked > 0).then_some(self.oldest)
    }

    /// The one sent after `number`.
    pub(super) fn later(&self, queue: &Queue, number: u32) -> Option<u32> {
        (number != self.newest).then(|| queue.get(number).links.later)
    }

    /// Its length, and the segment sent last.
    #[cfg(test)]
    pub(super) fn end(&self) -> (u32, u32) {
        (self.linked, self.newest)
    }

    /// Puts entry `number` at the end.
    pub(super) fn link(&mut self, queue: &mut Queue, number: u32) {
        let newest = self.newest;
        let alone = self.linked == 0;
        let sent = queue.get_mut(number);
        sent.tags = sent.tags.with(Tags::LINKED);
        sent.links = Links {
            earlier: if alone { number } else { newest },
            later: number,
        };
        if alone {
            self.oldest = number;
        } else {
            queue.get_mut(newest).links.later = number;
        }
        self.newest = number;
        self.linked += 1;
    }

    /// Takes entry `number` out; whether it was there.
    pub(super) fn unlink(&mut self, queue: &mut Queue, number: u32) -> bool {
        let sent = queue.get_mut(number);
        if !sent.tags.has(Tags::LINKED) {
            return false;
        }
        sent.tags = sent.tags.without(Tags::LINKED);
        let Links { earlier, later } = sent.links;
        let (is_oldest, is_newest) = (number == self.oldest, number == self.newest);
        self.linked -= 1;
        if is_oldest {
            self.oldest = later;
        } else {
            queue.get_mut(earlier).links.later = if is_newest { earlier } else { later };
        }
        if is_newest {
            self.newest = earlier;
        } else {
            queue.get_mut(later).links.earlier = if is_oldest { later } else { earlier };
        }
        true
    }
}
