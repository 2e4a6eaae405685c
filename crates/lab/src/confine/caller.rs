//! The user that the command runs as: the caller of sudo, doas or pkexec.

use anyhow::{Context, Result, anyhow};
use nix::unistd::{Gid, Uid, User, getgrouplist, setgroups, setresgid, setresuid};
use std::ffi::{CString, OsString};
use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// A user other than root, with all groups.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caller {
    uid: Uid,
    gid: Gid,
    groups: Vec<Gid>,
    /// The entry in the user database.
    account: Option<User>,
}

impl Caller {
    /// The user that sudo, doas or pkexec name in the environment; none if root itself called.
    ///
    /// # Errors
    /// When the environment names an unknown user.
    pub fn find(variable: impl Fn(&str) -> Option<OsString>) -> Result<Option<Self>> {
        let number = |name| numbered(name, variable(name));
        let caller = if let Some(uid) = number("SUDO_UID")? {
            Self::of(Uid::from_raw(uid), number("SUDO_GID")?.map(Gid::from_raw))?
        } else if let Some(uid) = number("PKEXEC_UID")? {
            Self::of(Uid::from_raw(uid), None)?
        } else if let Some(name) = variable("DOAS_USER") {
            let name = name.to_string_lossy();
            let user = User::from_name(&name).context("look for a user")?;
            let user =
                user.with_context(|| format!("DOAS_USER={name}: expected a user of this machine"))?;
            Self::of(user.uid, None)?
        } else {
            return Ok(None);
        };
        Ok((!caller.uid.is_root()).then_some(caller))
    }

    fn of(uid: Uid, gid: Option<Gid>) -> Result<Self> {
        let account = User::from_uid(uid).context("look for a user")?;
        let gid = gid.or(account.as_ref().map(|user| user.gid));
        let gid =
            gid.with_context(|| format!("user {uid} is not known, expected a group in SUDO_GID"))?;
        let groups = match &account {
            Some(user) => getgrouplist(&CString::new(user.name.as_str())?, gid)?,
            None => vec![gid],
        };
        Ok(Self {
            uid,
            gid,
            groups,
            account,
        })
    }

    /// Runs the command as this user, without any of root's capabilities. Hooks (`pre_exec`) that need root have to be
    /// added before this call.
    pub fn take(&self, command: &mut Command) {
        if let Some(user) = &self.account {
            command.env("HOME", &user.dir);
            command.env("USER", &user.name).env("LOGNAME", &user.name);
        }
        let Self {
            uid, gid, groups, ..
        } = self.clone();
        let become_user = move || {
            setgroups(&groups)?;
            setresgid(gid, gid, gid)?;
            setresuid(uid, uid, uid).map_err(io::Error::from)
        };
        // SAFETY: the closure runs between fork and exec and makes three system calls, without allocating.
        unsafe { command.pre_exec(become_user) };
    }
}

fn numbered(name: &str, value: Option<OsString>) -> Result<Option<u32>> {
    let Some(value) = value else { return Ok(None) };
    let value = value.to_string_lossy();
    // The largest number means "unchanged" in the system calls.
    let number = value.parse().ok().filter(|&number| number != u32::MAX);
    number
        .map(Some)
        .ok_or_else(|| anyhow!("{name}={value}: expected the number of a user or group"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(variables: &[(&str, &str)]) -> Result<Option<Caller>> {
        Caller::find(|name| {
            let (_, value) = variables.iter().find(|(known, _)| *known == name)?;
            Some(value.into())
        })
    }

    #[test]
    fn who_called_is_found() {
        assert_eq!(find(&[]).unwrap(), None);
        assert_eq!(find(&[("SUDO_UID", "0"), ("SUDO_GID", "0")]).unwrap(), None);
        assert_eq!(find(&[("DOAS_USER", "root")]).unwrap(), None);
        assert_eq!(find(&[("PKEXEC_UID", "0")]).unwrap(), None);
        // No machine has this user.
        let unknown = ("SUDO_UID", "3999999999");
        let caller = find(&[unknown, ("SUDO_GID", "7")]).unwrap().unwrap();
        assert_eq!(caller.uid, Uid::from_raw(3_999_999_999));
        assert_eq!(caller.groups, [Gid::from_raw(7)]);
    }

    #[test]
    fn whom_nobody_knows_is_refused() {
        let refused = |variables: &[_], words: &str| {
            let error = find(variables).unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
        };
        refused(&[("SUDO_UID", "me")], "SUDO_UID=me: expected the number");
        refused(&[("SUDO_UID", "-1")], "SUDO_UID=-1");
        refused(&[("SUDO_UID", "4294967295")], "SUDO_UID=4294967295");
        refused(&[("SUDO_UID", "3999999999")], "is not known");
        refused(&[("DOAS_USER", "no one")], "DOAS_USER=no one");
    }
}
