//! A device, whose flows have its part of the path together.

use crate::sys;

/// What a device has on one path. Kept beside it: of two paths that a device's flows take each has its own.
#[derive(Clone, Debug, Default)]
pub struct Device(sys::tg_device);

impl Device {
    /// One that has that many parts where others have one.
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
