//! A store in Redis or Valkey: it outlives the registry, and several registries share it.

use super::{Put, RECEIVERS, Receiver, Store, StoreError, quotas};
use crate::api::ReceiverId;
use data_encoding::HEXLOWER;
use redis::{Client, Cmd, Connection, FromRedisValue, RedisResult, Script, cmd};
use std::net::SocketAddr;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// The beginning of all names.
const PREFIX: &str = "tidegate:mpath:";

/// How long to wait for the server's answer.
const TIMEOUT: Duration = Duration::from_secs(2);

/// Remembers a receiver (ARGV: key, address, seconds, name, now, limit of each quota) unless the name has another key
/// (1), or a quota of it is full (2; if it is the last quota, 3). The quotas' names, from KEYS[2] on, are sorted by the
/// second in which they end.
const PUT_RECEIVER: &str = "
local held = redis.call('HGET', KEYS[1], 'key')
if held and held ~= ARGV[1] then return 1 end
for quota = 2, #KEYS do
    redis.call('ZREMRANGEBYSCORE', KEYS[quota], '-inf', ARGV[5])
    redis.call('ZREM', KEYS[quota], ARGV[4])
    if redis.call('ZCARD', KEYS[quota]) >= tonumber(ARGV[4 + quota]) then
        if quota == #KEYS then return 3 end
        return 2
    end
end
for quota = 2, #KEYS do
    redis.call('ZADD', KEYS[quota], ARGV[5] + ARGV[3], ARGV[4])
    redis.call('EXPIRE', KEYS[quota], ARGV[3])
end
redis.call('HSET', KEYS[1], 'key', ARGV[1], 'address', ARGV[2])
redis.call('EXPIRE', KEYS[1], ARGV[3])
return 0";

/// Forgets a receiver (ARGV: key, name) if the key is right.
const REMOVE_RECEIVER: &str = "
if redis.call('HGET', KEYS[1], 'key') == ARGV[1] then
    redis.call('DEL', KEYS[1])
    for quota = 2, #KEYS do redis.call('ZREM', KEYS[quota], ARGV[2]) end
end
return 0";

/// An existing server. Proxies are a sorted set by the second in which they end; receivers and nonces
/// have a key each, which ends by itself.
pub struct Redis {
    client: Client,
    /// None until it is needed, and after a failure.
    connection: Mutex<Option<Connection>>,
    put_receiver: Script,
    remove_receiver: Script,
}

impl Redis {
    /// The server at `redis://HOST:PORT/DB` or `redis+unix:///PATH`. It is asked once, as a test.
    ///
    /// # Errors
    /// If that is no such address, or no server answers there.
    pub fn open(url: &str) -> Result<Self, StoreError> {
        let store = Self {
            client: Client::open(url)?,
            connection: Mutex::new(None),
            put_receiver: Script::new(PUT_RECEIVER),
            remove_receiver: Script::new(REMOVE_RECEIVER),
        };
        store.ask::<()>(&cmd("PING"))?;
        Ok(store)
    }

    fn ask<T: FromRedisValue>(&self, command: &Cmd) -> Result<T, StoreError> {
        self.with(|connection| command.query(connection))
    }

    /// Calls `ask` with the existing connection; if that has ended, with a new one.
    fn with<T>(&self, ask: impl Fn(&mut Connection) -> RedisResult<T>) -> Result<T, StoreError> {
        let mut place = self
            .connection
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(mut connection) = place.take() {
            match ask(&mut connection) {
                Err(error) if error.is_io_error() => {}
                done => {
                    *place = Some(connection);
                    return Ok(done?);
                }
            }
        }
        let mut connection = self.client.get_connection_with_timeout(TIMEOUT)?;
        connection.set_read_timeout(Some(TIMEOUT))?;
        connection.set_write_timeout(Some(TIMEOUT))?;
        let answer = ask(&mut connection)?;
        *place = Some(connection);
        Ok(answer)
    }
}

impl Store for Redis {
    fn put_proxy(&self, proxy: SocketAddr, seconds: u64, unix_s: u64) -> Result<(), StoreError> {
        let name = proxies();
        self.with(|connection| {
            redis::pipe()
                .cmd("ZADD")
                .arg(&name)
                .arg(unix_s + seconds)
                .arg(proxy.to_string())
                .ignore()
                .cmd("ZREMRANGEBYSCORE")
                .arg(&name)
                .arg("-inf")
                .arg(unix_s)
                .ignore()
                .cmd("EXPIRE")
                .arg(&name)
                .arg(seconds)
                .ignore()
                .query::<()>(connection)
        })
    }

    fn remove_proxy(&self, proxy: SocketAddr) -> Result<(), StoreError> {
        self.ask(cmd("ZREM").arg(proxies()).arg(proxy.to_string()))
    }

    fn proxies(&self, unix_s: u64) -> Result<Vec<SocketAddr>, StoreError> {
        let mut range = cmd("ZRANGEBYSCORE");
        range.arg(proxies()).arg(format!("({unix_s}")).arg("+inf");
        let members: Vec<String> = self.ask(&range)?;
        // Other members, which do not parse, are not listed.
        Ok(members
            .iter()
            .filter_map(|text| text.parse().ok())
            .collect())
    }

    fn put_receiver(
        &self,
        name: ReceiverId,
        receiver: Receiver,
        seconds: u64,
        unix_s: u64,
    ) -> Result<Put, StoreError> {
        let mut put = self
            .put_receiver
            .key(entry(name, receiver.address.is_ipv6()));
        put.arg(HEXLOWER.encode(&receiver.key))
            .arg(receiver.address.to_string())
            .arg(seconds)
            .arg(name.to_string())
            .arg(unix_s);
        for (quota, most) in all_quotas(receiver.address) {
            put.key(quota).arg(most);
        }
        let done: u8 = self.with(|connection| put.invoke(connection))?;
        Ok(match done {
            0 => Put::Done,
            1 => Put::Taken,
            2 => Put::OverQuota,
            _ => return Err(StoreError::Full),
        })
    }

    fn remove_receiver(&self, name: ReceiverId, receiver: Receiver) -> Result<(), StoreError> {
        let entry = entry(name, receiver.address.is_ipv6());
        let mut remove = self.remove_receiver.key(entry);
        remove
            .arg(HEXLOWER.encode(&receiver.key))
            .arg(name.to_string());
        for (quota, _) in all_quotas(receiver.address) {
            remove.key(quota);
        }
        self.with(|connection| remove.invoke(connection))
    }

    fn receiver(
        &self,
        name: ReceiverId,
        ipv6: bool,
        _unix_s: u64,
    ) -> Result<Option<SocketAddr>, StoreError> {
        let address: Option<String> =
            self.ask(cmd("HGET").arg(entry(name, ipv6)).arg("address"))?;
        Ok(address.and_then(|text| text.parse().ok()))
    }

    fn is_new(&self, nonce: &str, seconds: u64, _unix_s: u64) -> Result<bool, StoreError> {
        let mut set = cmd("SET");
        let name = format!("{PREFIX}nonce:{nonce}");
        set.arg(name).arg(1).arg("NX").arg("EX").arg(seconds);
        let set: Option<String> = self.ask(&set)?;
        Ok(set.is_some())
    }
}

fn proxies() -> String {
    format!("{PREFIX}proxies")
}

/// The keys of a receiver's quotas, and the limit of each; the quota of all receivers comes last.
fn all_quotas(receiver: SocketAddr) -> impl Iterator<Item = (String, usize)> {
    let quotas = quotas(receiver.ip()).into_iter();
    let everybody = (String::from("all"), RECEIVERS);
    let named = |(quota, most)| (format!("{PREFIX}receivers:{quota}"), most);
    quotas.chain([everybody]).map(named)
}

fn entry(name: ReceiverId, ipv6: bool) -> String {
    let family = if ipv6 { 6 } else { 4 };
    format!("{PREFIX}receiver:{name}:{family}")
}
