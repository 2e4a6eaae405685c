//! Pins the agent's programs, so that they outlive the process.

use super::Agent;
use crate::AgentError;
use crate::pin::{self, make_folder, pin};
use libbpf_rs::MapCore;
use libbpf_rs::skel::Skel;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::{Path, PathBuf};

/// Names of programs and maps; removed when dropped.
pub struct Pins(PathBuf);

impl Drop for Pins {
    fn drop(&mut self) {
        // They may have been removed already.
        let _ = pin::clear(&self.0);
    }
}

impl Agent {
    /// Gives programs, maps and links names in the BPF file system: they stay if the process is killed.
    /// Dropped in order, the agent takes the names back.
    pub fn pin(&mut self) -> Result<(), AgentError> {
        let folder = make_folder()?;
        let pins = self.pins.get_or_insert_with(|| Pins(folder));
        let folder = &pins.0;
        for program in self.skeleton.object().progs() {
            let name = program.name().to_string_lossy().into_owned();
            pin_once(program.as_fd(), &folder.join(format!("program-{name}")))?;
        }
        for map in self.skeleton.object().maps() {
            // The file system does not take the dots of ".data" and the like.
            let name = map.name().to_string_lossy().replace('.', "-");
            pin_once(map.as_fd(), &folder.join(format!("map-{name}")))?;
        }
        for (place, attachment) in &mut self.attachments {
            attachment.pin(*place, folder)?;
        }
        Ok(())
    }

    /// Ends, and leaves the programs attached: pinned before, or the kernel detaches tcx links.
    pub fn leave(mut self) {
        std::mem::forget(self.pins.take());
        for (_, attachment) in self.attachments.drain(..) {
            attachment.leave();
        }
    }
}

fn pin_once(fd: BorrowedFd<'_>, path: &Path) -> Result<(), AgentError> {
    if path.exists() { Ok(()) } else { pin(fd, path) }
}
