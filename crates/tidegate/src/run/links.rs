//! Interfaces that vanish and return: a modem that is pulled out, a tunnel that is set up anew.

use crate::run::log::Log;
use crate::run::wake::Bell;
use crate::snapshot::{Place, Shared, Watched};
use anyhow::{Context, Result};
use netlink_sys::{Socket, SocketAddr, protocols::NETLINK_ROUTE};
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use tidegate_agent::Interface;

/// `RTNLGRP_LINK` (linux/rtnetlink.h): interfaces come, go and change.
const LINK_GROUP: u32 = 1;

/// Keeps the agent on the interfaces of these names, whatever their indices.
pub struct Links {
    /// Of the interfaces.
    pub names: Vec<String>,
    changed: Arc<AtomicBool>,
}

impl Links {
    /// Rings when an interface of the calling thread's namespace comes, goes or changes.
    pub fn watch(names: Vec<String>, bell: Bell) -> Result<Self> {
        let mut socket = Socket::new(NETLINK_ROUTE).context("open a netlink socket")?;
        socket
            .bind(&SocketAddr::new(0, 0))
            .and_then(|()| socket.add_membership(LINK_GROUP))
            .context("listen to changes of interfaces")?;
        // One may have gone since it was attached to.
        let changed = Arc::new(AtomicBool::new(true));
        let seen = Arc::clone(&changed);
        thread::Builder::new()
            .name("links".into())
            .spawn(move || listen(&socket, &seen, &bell))
            .context("start a thread")?;
        Ok(Self { names, changed })
    }

    /// Follows what has changed since the last call.
    pub fn follow(&self, shared: &Shared, log: Log) {
        if self.changed.swap(false, Ordering::Relaxed) {
            shared.with(|watched| {
                for name in &self.names {
                    follow(watched, name, log);
                }
            });
        }
    }
}

fn listen(socket: &Socket, changed: &AtomicBool, bell: &Bell) {
    let mut ignored = Vec::with_capacity(1 << 16);
    loop {
        ignored.clear();
        match socket.recv(&mut ignored, 0) {
            Ok(_) => {}
            // Messages were lost for want of room; what they told of is looked for all the same.
            Err(e) if e.raw_os_error() == Some(libc::ENOBUFS) => {}
            Err(e) if e.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(_) => return,
        }
        changed.store(true, Ordering::Relaxed);
        bell.ring();
    }
}

fn follow(watched: &mut Watched, name: &str, log: Log) {
    let was = watched.about.interfaces.iter().find(|i| i.name == name);
    let was = was.map(|place| place.ifindex);
    let is = Interface::find(name).ok();
    if was == is.as_ref().map(|i| i.index) {
        return;
    }
    if let Some(index) = was {
        watched.agent.release(index);
        watched.about.interfaces.retain(|i| i.ifindex != index);
        if let Err(error) = watched.windowless.release(index) {
            let message = format!("what has no window is not let go on {name}: {error:#}");
            log.warn(
                "hold_refused",
                &message,
                json!({ "interface": name, "ifindex": index }),
            );
        }
        let message = format!("interface {name} is gone; waiting for it to return");
        log.warn(
            "interface_gone",
            &message,
            json!({ "interface": name, "ifindex": index }),
        );
    }
    let Some(interface) = is else { return };
    let fields = json!({ "interface": name, "ifindex": interface.index });
    match watched.agent.attach(&interface) {
        Ok(()) => {
            watched.about.interfaces.push(Place {
                name: name.to_owned(),
                ifindex: interface.index,
            });
            if let Err(error) = watched.windowless.attach(&interface) {
                let message = format!("on {name} what has no window is left alone: {error:#}");
                log.warn("hold_refused", &message, fields.clone());
            }
            log.info(
                "interface_came",
                &format!("interface {name} has returned; attached"),
                fields,
            );
        }
        Err(error) => {
            watched.agent.release(interface.index);
            let error = anyhow::Error::from(error);
            let message = format!("interface {name} has returned, but: {error:#}");
            log.warn("interface_refused", &message, fields);
        }
    }
}
