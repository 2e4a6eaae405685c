//! A store in the process. It is lost with the process; proxies and receivers register again by themselves.

use super::{Put, RECEIVERS, Receiver, Store, StoreError, quotas};
use crate::api::ReceiverId;
use std::collections::HashMap;
use std::hash::Hash;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The most entries of one kind.
const MOST: usize = RECEIVERS;

/// For a single registry.
#[derive(Debug, Default)]
pub struct Memory {
    tables: Mutex<Tables>,
}

#[derive(Debug, Default)]
struct Tables {
    proxies: Table<SocketAddr, ()>,
    receivers: Table<(ReceiverId, bool), Receiver>,
    /// The receivers that count against each quota, with the second in which each ends.
    quotas: HashMap<String, HashMap<ReceiverId, u64>>,
    nonces: Table<String, ()>,
}

impl Tables {
    /// To be called whenever old receivers are removed, before that.
    fn expire_quotas(&mut self, unix_s: u64) {
        if self.receivers.cleaned_s != unix_s {
            self.quotas.retain(|_, names| {
                names.retain(|_, end_s| unix_s < *end_s);
                !names.is_empty()
            });
        }
    }

    fn is_over_quota(&self, name: ReceiverId, address: IpAddr) -> bool {
        quotas(address).iter().any(|(quota, most)| {
            let names = self.quotas.get(quota);
            names.is_some_and(|names| names.len() >= *most && !names.contains_key(&name))
        })
    }

    fn release_quotas(&mut self, name: ReceiverId, address: IpAddr) {
        for (quota, _) in quotas(address) {
            if let Some(names) = self.quotas.get_mut(&quota) {
                names.remove(&name);
            }
        }
    }
}

impl Memory {
    fn tables(&self) -> MutexGuard<'_, Tables> {
        self.tables.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Store for Memory {
    fn put_proxy(&self, proxy: SocketAddr, seconds: u64, unix_s: u64) -> Result<(), StoreError> {
        self.tables().proxies.put(proxy, (), seconds, unix_s)
    }

    fn remove_proxy(&self, proxy: SocketAddr) -> Result<(), StoreError> {
        self.tables().proxies.entries.remove(&proxy);
        Ok(())
    }

    fn proxies(&self, unix_s: u64) -> Result<Vec<SocketAddr>, StoreError> {
        let mut tables = self.tables();
        tables.proxies.forget_old(unix_s);
        Ok(tables.proxies.entries.keys().copied().collect())
    }

    fn put_receiver(
        &self,
        name: ReceiverId,
        receiver: Receiver,
        seconds: u64,
        unix_s: u64,
    ) -> Result<Put, StoreError> {
        let tables = &mut *self.tables();
        let place = (name, receiver.address.is_ipv6());
        let held = tables.receivers.get(&place, unix_s);
        if held.is_some_and(|held| held.key != receiver.key) {
            return Ok(Put::Taken);
        }
        tables.expire_quotas(unix_s);
        let address = receiver.address.ip();
        if tables.is_over_quota(name, address) {
            return Ok(Put::OverQuota);
        }
        if let Some(held) = held {
            tables.release_quotas(name, held.address.ip());
        }
        tables.receivers.put(place, receiver, seconds, unix_s)?;
        for (quota, _) in quotas(address) {
            let names = tables.quotas.entry(quota).or_default();
            names.insert(name, unix_s + seconds);
        }
        Ok(Put::Done)
    }

    fn remove_receiver(&self, name: ReceiverId, receiver: Receiver) -> Result<(), StoreError> {
        let tables = &mut *self.tables();
        let place = (name, receiver.address.is_ipv6());
        let held = tables.receivers.entries.get(&place).map(|(held, _)| *held);
        if let Some(held) = held.filter(|held| held.key == receiver.key) {
            tables.receivers.entries.remove(&place);
            tables.release_quotas(name, held.address.ip());
        }
        Ok(())
    }

    fn receiver(
        &self,
        name: ReceiverId,
        ipv6: bool,
        unix_s: u64,
    ) -> Result<Option<SocketAddr>, StoreError> {
        let tables = self.tables();
        let receiver = tables.receivers.get(&(name, ipv6), unix_s);
        Ok(receiver.map(|receiver| receiver.address))
    }

    fn is_new(&self, nonce: &str, seconds: u64, unix_s: u64) -> Result<bool, StoreError> {
        let nonces = &mut self.tables().nonces;
        if nonces.get(nonce, unix_s).is_some() {
            return Ok(false);
        }
        nonces.put(nonce.to_owned(), (), seconds, unix_s)?;
        Ok(true)
    }
}

/// Entries with the second in which each ends.
#[derive(Debug)]
struct Table<K, V> {
    entries: HashMap<K, (V, u64)>,
    /// When old entries were last removed.
    cleaned_s: u64,
}

impl<K, V> Default for Table<K, V> {
    fn default() -> Self {
        Self {
            entries: HashMap::new(),
            cleaned_s: 0,
        }
    }
}

impl<K: Hash + Eq, V: Copy> Table<K, V> {
    fn put(&mut self, key: K, value: V, seconds: u64, unix_s: u64) -> Result<(), StoreError> {
        // Once a second, since it looks at every entry.
        if self.cleaned_s != unix_s {
            self.cleaned_s = unix_s;
            self.forget_old(unix_s);
        }
        if self.entries.len() >= MOST && !self.entries.contains_key(&key) {
            return Err(StoreError::Full);
        }
        self.entries.insert(key, (value, unix_s + seconds));
        Ok(())
    }

    fn get<Q: Hash + Eq + ?Sized>(&self, key: &Q, unix_s: u64) -> Option<V>
    where
        K: std::borrow::Borrow<Q>,
    {
        let (value, end_s) = self.entries.get(key)?;
        (unix_s < *end_s).then_some(*value)
    }

    fn forget_old(&mut self, unix_s: u64) {
        self.entries.retain(|_, (_, end_s)| unix_s < *end_s);
    }
}
