//! Both directions at a host's edge, as the live agent steers them on an interface.

use super::{Steer, UploadSteer, micros};
use crate::Segment;
use std::collections::BTreeMap;
use tidegate_basics::time::Instant;
use tidegate_laws::{Device, Flow, Params, Path};

/// The queues in front of a host: the one that its downloads share, and that of its uploads.
#[derive(Clone, Debug, Default)]
pub struct Paths {
    /// Towards the host.
    pub down: Path,
    /// Away from it.
    pub up: Path,
    /// The state of the devices behind the host, for downloads and for uploads, by number.
    devices: BTreeMap<u32, [Device; 2]>,
}

/// How the flows' common window is divided.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Shares {
    /// Among the flows.
    #[default]
    ByFlow,
    /// Among devices; each divides its part among its flows. The connection belongs to the device with this
    /// number. `None`: the connection is a device by itself.
    ByDevice(Option<u32>),
}

/// One connection at a host's edge.
#[derive(Clone, Debug)]
pub struct Edge {
    down: Steer,
    up: Option<UploadSteer>,
    shares: Shares,
}

impl Edge {
    /// Before the handshake; the flow gets `weight` parts where others get one. `uploads`: the host's own data are
    /// steered, too.
    pub fn new(params: Params, weight: u32, uploads: bool, shares: Shares) -> Self {
        Self {
            down: Steer::weighted(params, weight),
            up: uploads.then(|| UploadSteer::new(params, weight)),
            shares,
        }
    }

    /// On a connection that exists already, whose windows the host shifts by `scale`.
    pub fn joining(params: Params, scale: u8) -> Self {
        Self {
            down: Steer::joining(params, 1, scale),
            up: None,
            shares: Shares::ByFlow,
        }
    }

    /// Asks for a window of `bytes` for arriving data, in place of the law; see [`Steer::tell`].
    pub fn tell(&mut self, bytes: Option<u32>) {
        self.down.tell(bytes);
    }

    /// The window that the caller's own law wants after this arrival; see [`Steer::want`].
    pub fn want(&mut self, bytes: Option<u32>) {
        self.down.want(bytes);
    }

    /// A segment arrives at the host, which will read the window that it has afterwards.
    pub fn arrives(&mut self, paths: &mut Paths, now: Instant, segment: &mut Segment) {
        if let Shares::ByDevice(device) = self.shares {
            self.of_device(paths, device);
        }
        let uploading = paths.up.uploading(micros(now));
        self.down.arrives(&mut paths.down, uploading, now, segment);
        if let Some(up) = &mut self.up {
            up.arrives(&mut paths.up, now, segment);
        }
    }

    fn of_device(&mut self, paths: &mut Paths, device: Option<u32>) {
        let device = device.map(|number| paths.devices.entry(number).or_default());
        let [down, up] = device.map_or([None, None], |both| both.each_mut().map(Some));
        self.down.of_device(&mut paths.down, down);
        if let Some(upload) = &mut self.up {
            upload.of_device(&mut paths.up, up);
        }
    }

    /// A segment leaves the host, and the peer will read the window that it has afterwards.
    pub fn leaves(&mut self, now: Instant, segment: &mut Segment) {
        self.down.leaves(now, segment);
        if let Some(up) = &mut self.up {
            up.leaves(now, segment);
        }
    }

    /// The law's state for arriving data.
    pub fn flow(&self) -> &Flow {
        self.down.flow()
    }

    /// The law's state for leaving data, if they are steered.
    pub fn upload(&self) -> Option<&tidegate_laws::Upload> {
        self.up.as_ref().map(UploadSteer::upload)
    }
}
