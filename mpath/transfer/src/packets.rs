//! Payloads by their numbers in the stream, in buffers that are reused.

/// Payloads of a window of the stream. Returned buffers are reused first: they are still in the processor's cache.
#[derive(Debug)]
pub struct Packets {
    /// The payload of number n is at n modulo the length.
    places: Vec<Option<Vec<u8>>>,
    free: Vec<Vec<u8>>,
}

impl Packets {
    /// Room for `capacity` consecutive numbers.
    pub fn new(capacity: usize) -> Self {
        Self {
            places: vec![None; capacity],
            free: Vec::new(),
        }
    }

    fn place(&self, number: u64) -> usize {
        (number % self.places.len() as u64) as usize
    }

    /// An empty buffer to fill.
    pub fn buffer(&mut self) -> Vec<u8> {
        self.free.pop().unwrap_or_default()
    }

    /// Stores a payload.
    pub fn put(&mut self, number: u64, payload: Vec<u8>) {
        let place = self.place(number);
        self.places[place] = Some(payload);
    }

    /// The payload of this number; none: it is empty.
    pub fn get(&self, number: u64) -> &[u8] {
        self.places[self.place(number)].as_deref().unwrap_or(&[])
    }

    /// Takes out a payload.
    pub fn take(&mut self, number: u64) -> Vec<u8> {
        let place = self.place(number);
        self.places[place].take().unwrap_or_default()
    }

    /// Returns a buffer.
    pub fn give_back(&mut self, mut buffer: Vec<u8>) {
        buffer.clear();
        if buffer.capacity() > 0 {
            self.free.push(buffer);
        }
    }
}
