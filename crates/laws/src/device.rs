//! A device, whose flows share its part of the path.

use crate::sys;

/// A device's state on one path. Keep one for each path that the device's flows take.
#[derive(Clone, Debug, Default)]
pub struct Device(sys::tg_device);

impl Device {
    /// A device that gets `weight` parts where others get one.
    pub fn weighted(weight: u32) -> Self {
        Self(sys::tg_device {
            weight,
            ..sys::tg_device::default()
        })
    }

    pub(crate) fn raw_mut(&mut self) -> *mut sys::tg_device {
        &raw mut self.0
    }
}
