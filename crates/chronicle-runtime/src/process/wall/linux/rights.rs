//! The rights that it takes to put a wall up, and how they are given away.

use std::io;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};

use rustix::io::Errno;
use rustix::process::{
    DumpableBehavior, Resource, Rlimit, getrlimit, set_dumpable_behavior, setrlimit,
};
use rustix::thread::{
    CapabilitySet, CapabilitySets, capabilities, capability_is_in_bounding_set,
    clear_ambient_capability_set, configure_capability_in_ambient_set,
    remove_capability_from_bounding_set, set_capabilities, set_no_new_privs,
};

use super::At as _;
use crate::process::order::own_executable;
use crate::process::wall::{WallRefusal, WallStep};

/// Mounts, the loopback, and giving rights away.
const NEEDED: CapabilitySet =
    CapabilitySet::SYS_ADMIN.union(CapabilitySet::NET_ADMIN).union(CapabilitySet::SETPCAP);
/// More than any kernel has.
const CAPABILITIES: u32 = 64;

/// Lets *init* keep what it needs: an exec takes all capabilities from whoever is not root, except for ambient ones.
pub(super) fn hand_down() -> Result<(), WallRefusal> {
    let what = "capabilities for init";
    let mut sets = capabilities(None).at(WallStep::Rights, what)?;
    sets.inheritable |= NEEDED;
    set_capabilities(None, sets).at(WallStep::Rights, what)?;
    for capability in NEEDED.iter() {
        configure_capability_in_ambient_set(capability, true).at(WallStep::Rights, what)?;
    }
    Ok(())
}

/// Gives everything away for good, the bounding set included: root would get it all back by its next exec, and remount. Only for who
/// has rights at all: in a namespace of its own, or as root.
pub(super) fn give_up_all() -> Result<(), WallRefusal> {
    let what = "giving up capabilities";
    for number in 0..CAPABILITIES {
        let capability = CapabilitySet::from_bits_retain(1 << number);
        match capability_is_in_bounding_set(capability) {
            // The first number that this kernel does not know.
            Err(Errno::INVAL) => break,
            // Behind another wall there is nothing left to give, and no right to give it.
            Ok(false) => {}
            _ => remove_capability_from_bounding_set(capability).at(WallStep::Rights, what)?,
        }
    }
    give_up_own()?;
    no_new().at(WallStep::Rights, "no new privileges")
}

/// Gives away what this process has; what it starts may have its own.
pub(super) fn give_up_own() -> Result<(), WallRefusal> {
    let none = CapabilitySet::empty();
    let sets = CapabilitySets { effective: none, permitted: none, inheritable: none };
    clear_ambient_capability_set().at(WallStep::Rights, "giving up capabilities")?;
    set_capabilities(None, sets).at(WallStep::Rights, "giving up capabilities")
}

/// From now on no program gives more rights than its user has, whatever its owner and bits are.
pub(super) fn no_new() -> rustix::io::Result<()> {
    set_no_new_privs(true)
}

/// Nobody of this user may read, trace or speak for this process: it has the line to whoever wanted the wall.
pub(super) fn keep_to_itself() -> Result<(), WallRefusal> {
    set_dumpable_behavior(DumpableBehavior::NotDumpable)
        .at(WallStep::Rights, "closing init to others")
}

/// Most processes and threads of this user in this user namespace. Returns whether the kernel holds this user to it;
/// true if a group limits them anyway.
pub(super) fn limit_processes(most: u64, is_grouped: bool) -> Result<bool, WallRefusal> {
    if is_grouped {
        return Ok(true);
    }
    // One more for init itself.
    let most = most.saturating_add(1);
    let most = getrlimit(Resource::Nproc).maximum.map_or(most, |hard| hard.min(most));
    let limit = Rlimit { current: Some(most), maximum: Some(most) };
    setrlimit(Resource::Nproc, limit).at(WallStep::Processes, "limit on processes")?;
    if !rustix::process::getuid().is_root() {
        return Ok(true);
    }
    binds(limit).at(WallStep::Processes, "limit on processes")
}

/// Whether a limit binds root, found by doing. It does not bind the machine's own, but it does bind one who is somebody else outside of
/// a container.
fn binds(limit: Rlimit) -> io::Result<bool> {
    setrlimit(Resource::Nproc, Rlimit { current: Some(0), ..limit })?;
    let mut command = Command::new(own_executable());
    // It has nothing to do, and says so by its end alone.
    command.arg0("chronicle").arg("wall-init").arg("nothing").stdin(Stdio::null());
    let started = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    setrlimit(Resource::Nproc, limit)?;
    match started {
        Ok(mut child) => child.wait().map(|_| false),
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(true),
        Err(error) => Err(error),
    }
}
