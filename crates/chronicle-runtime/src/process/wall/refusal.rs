//! Why a wall does not stand, in words that say what to do.

use std::fmt;
use std::io;

use serde::{Deserialize, Serialize};

/// The step at which a wall was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WallStep {
    /// This system has nothing to make walls of.
    System,
    /// The order did not come whole.
    Order,
    /// A standard stream leads around the wall.
    Streams,
    /// A link that leads out of a folder where workers write.
    Links,
    /// New namespaces, all at once.
    Namespaces,
    /// One kind of namespaces, where those of users are allowed.
    Kinds,
    /// Who is who in the new user namespace.
    Users,
    /// The rights that are needed to put it up, and giving them away afterwards.
    Rights,
    /// The process inside that puts it up.
    Init,
    /// Mounts that nobody outside sees.
    Mounts,
    /// A `/proc` that shows nobody else.
    Proc,
    /// Hiding what is not to be seen.
    Hidden,
    /// Making the rest read-only.
    ReadOnly,
    /// The loopback of its own.
    Loopback,
    /// The limit on processes.
    Processes,
    /// The limit on processes that binds root.
    Group,
    /// The second layer, which comes last.
    Landlock,
    /// The folder of the program.
    Folder,
}

/// A wall that was not put up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WallRefusal {
    /// The step that failed.
    pub step: WallStep,
    /// The system's number of the error, if it was the system's.
    pub errno: Option<i32>,
    /// What failed, and the system's words.
    pub text: String,
}

/// Numbers of errors that have a meaning here; the same on all kinds of machines that Linux runs on.
const EPERM: i32 = 1;
const EACCES: i32 = 13;
const EINVAL: i32 = 22;
const ENOSPC: i32 = 28;
const EROFS: i32 = 30;
const ENOSYS: i32 = 38;
const E2BIG: i32 = 7;

impl WallRefusal {
    pub(in crate::process) fn new(step: WallStep, what: &str, error: &io::Error) -> Self {
        Self { step, errno: error.raw_os_error(), text: format!("{what}: {error}") }
    }

    pub(super) fn plain(step: WallStep, text: impl Into<String>) -> Self {
        Self { step, errno: None, text: text.into() }
    }

    /// What it most likely means. The machine's settings alone do not tell: only trying does.
    pub fn meaning(&self) -> &'static str {
        match (self.step, self.errno) {
            (WallStep::Namespaces, Some(ENOSPC)) => "this machine allows no user namespaces",
            (WallStep::Namespaces, Some(EPERM)) => {
                "a container or a security setting forbids new namespaces"
            }
            (WallStep::Namespaces, Some(EINVAL | ENOSYS)) => "this kernel has no user namespaces",
            (WallStep::Kinds, _) => "this machine allows no namespaces of one kind",
            (WallStep::Processes, _) => "a limit on processes is refused",
            (WallStep::Group, _) => "no limit on processes holds for root",
            (WallStep::Loopback, Some(EPERM | EACCES)) => "AppArmor restricts user namespaces",
            (WallStep::Users | WallStep::Mounts, Some(EPERM | EACCES | EROFS)) => {
                "this runs behind another wall, or AppArmor restricts user namespaces"
            }
            (WallStep::Proc, Some(EPERM | EACCES)) => "a container hides parts of its `/proc`",
            (WallStep::Landlock, Some(E2BIG)) => "this runs behind too many other walls",
            (WallStep::Landlock, _) => "this kernel has no Landlock, or it is turned off",
            (WallStep::System, _) => "this system has no walls",
            (WallStep::Links, _) => "a link would open what it leads to",
            _ => "the wall could not be put up",
        }
    }

    /// One thing to do about it.
    pub fn advice(&self) -> &'static str {
        match (self.step, self.errno) {
            (WallStep::Namespaces, Some(ENOSPC)) => {
                "an administrator can raise it: `sysctl user.max_user_namespaces=15000`"
            }
            (WallStep::Kinds, _) => "an administrator can raise that number by `sysctl`",
            (WallStep::Processes, _) => {
                "in a container, start it with a seccomp profile that allows `prlimit64`"
            }
            (WallStep::Group, _) => {
                "start Chronicle as an ordinary user, or where cgroups with `pids` can be made"
            }
            (WallStep::Namespaces, Some(EPERM)) => {
                "in Docker, start the container with a seccomp profile that allows `unshare` and `mount`; on Debian, `sysctl kernel.unprivileged_userns_clone=1`"
            }
            (
                WallStep::Users | WallStep::Loopback | WallStep::Mounts,
                Some(EPERM | EACCES | EROFS),
            ) => {
                "on Ubuntu, give this program an AppArmor profile with `userns,`, or `sysctl kernel.apparmor_restrict_unprivileged_userns=0`"
            }
            (WallStep::Proc, _) => {
                "in Docker, start the container with `--security-opt systempaths=unconfined`"
            }
            (WallStep::Landlock, Some(E2BIG)) => "start Chronicle outside of them",
            (WallStep::Links, _) => "remove the link, or name the folder that it leads to",
            (WallStep::Landlock | WallStep::Namespaces, _) => {
                "use a kernel from 5.13 on, with `landlock` among its `lsm=`"
            }
            _ => "guards still judge every call",
        }
    }
}

impl fmt::Display for WallRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.meaning(), self.text)
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    fn told(step: WallStep, errno: i32) -> String {
        let refusal = WallRefusal::new(step, "unshare", &io::Error::from_raw_os_error(errno));
        format!("{refusal}\n{}\n", refusal.advice())
    }

    #[test]
    fn each_known_refusal_says_what_it_means_and_what_to_do() {
        let known = [
            (WallStep::Namespaces, ENOSPC),
            (WallStep::Namespaces, EPERM),
            (WallStep::Namespaces, ENOSYS),
            (WallStep::Kinds, ENOSPC),
            (WallStep::Processes, EPERM),
            (WallStep::Group, EROFS),
            (WallStep::Users, EPERM),
            (WallStep::Mounts, EPERM),
            (WallStep::Proc, EPERM),
            (WallStep::Landlock, E2BIG),
            (WallStep::Folder, 2),
        ];
        let all: String = known.map(|(step, errno)| told(step, errno)).concat();
        expect![[r#"
            this machine allows no user namespaces (unshare: No space left on device (os error 28))
            an administrator can raise it: `sysctl user.max_user_namespaces=15000`
            a container or a security setting forbids new namespaces (unshare: Operation not permitted (os error 1))
            in Docker, start the container with a seccomp profile that allows `unshare` and `mount`; on Debian, `sysctl kernel.unprivileged_userns_clone=1`
            this kernel has no user namespaces (unshare: Function not implemented (os error 38))
            use a kernel from 5.13 on, with `landlock` among its `lsm=`
            this machine allows no namespaces of one kind (unshare: No space left on device (os error 28))
            an administrator can raise that number by `sysctl`
            a limit on processes is refused (unshare: Operation not permitted (os error 1))
            in a container, start it with a seccomp profile that allows `prlimit64`
            no limit on processes holds for root (unshare: Read-only file system (os error 30))
            start Chronicle as an ordinary user, or where cgroups with `pids` can be made
            this runs behind another wall, or AppArmor restricts user namespaces (unshare: Operation not permitted (os error 1))
            on Ubuntu, give this program an AppArmor profile with `userns,`, or `sysctl kernel.apparmor_restrict_unprivileged_userns=0`
            this runs behind another wall, or AppArmor restricts user namespaces (unshare: Operation not permitted (os error 1))
            on Ubuntu, give this program an AppArmor profile with `userns,`, or `sysctl kernel.apparmor_restrict_unprivileged_userns=0`
            a container hides parts of its `/proc` (unshare: Operation not permitted (os error 1))
            in Docker, start the container with `--security-opt systempaths=unconfined`
            this runs behind too many other walls (unshare: Argument list too long (os error 7))
            start Chronicle outside of them
            the wall could not be put up (unshare: No such file or directory (os error 2))
            guards still judge every call
        "#]].assert_eq(&all);
    }
}
