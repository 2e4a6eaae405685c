//! A stream whose reads steer its connection.

use crate::Steer;
use quinn::RecvStream;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, ReadBuf};

/// A stream that tells the [`Steer`] of its connection how much was read from it. When it is dropped, quinn discards
/// unread data.
#[derive(Debug)]
pub struct Reader {
    stream: RecvStream,
    steer: Steer,
}

impl Reader {
    pub(crate) fn new(stream: RecvStream, steer: Steer) -> Self {
        Self { stream, steer }
    }

    /// The stream, for calls that do not read from it.
    pub fn stream(&mut self) -> &mut RecvStream {
        &mut self.stream
    }
}

impl AsyncRead for Reader {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(AsyncRead::poll_read(Pin::new(&mut self.stream), cx, buffer))?;
        self.steer.read(buffer.filled().len() - before);
        Poll::Ready(Ok(()))
    }
}
