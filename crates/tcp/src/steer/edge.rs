//! Both directions at a host's edge, as the live agent steers them on an interface.

use super::{Steer, UploadSteer, micros};
use crate::Segment;
use tidegate_laws::{Flow, Params, Path};
use tidegate_time::Instant;

/// The queues in front of a host: the one that its downloads share, and that of its uploads.
#[derive(Clone, Debug, Default)]
pub struct Paths {
    /// Towards the host.
    pub down: Path,
    /// Away from it.
    pub up: Path,
}

/// One connection at a host's edge.
#[derive(Clone, Debug)]
pub struct Edge {
    down: Steer,
    up: Option<UploadSteer>,
}

impl Edge {
    /// Before the handshake, with that many parts where others have one; `uploads`: what the host
    /// sends is steered, too.
    pub fn new(params: Params, weight: u32, uploads: bool) -> Self {
        Self {
            down: Steer::weighted(params, weight),
            up: uploads.then(|| UploadSteer::new(params, weight)),
        }
    }

    /// A segment arrives at the host, which will read the window that it has afterwards.
    pub fn arrives(&mut self, paths: &mut Paths, now: Instant, segment: &mut Segment) {
        let uploading = paths.up.uploading(micros(now));
        self.down.arrives(&mut paths.down, uploading, now, segment);
        if let Some(up) = &mut self.up {
            up.arrives(&mut paths.up, now, segment);
        }
    }

    /// A segment leaves the host, and the peer will read the window that it has afterwards.
    pub fn leaves(&mut self, now: Instant, segment: &mut Segment) {
        self.down.leaves(now, segment);
        if let Some(up) = &mut self.up {
            up.leaves(now, segment);
        }
    }

    /// What the law knows of the data that arrive, and wants.
    pub fn flow(&self) -> &Flow {
        self.down.flow()
    }

    /// The same of those that leave, if they are steered.
    pub fn upload(&self) -> Option<&tidegate_laws::Upload> {
        self.up.as_ref().map(UploadSteer::upload)
    }
}
