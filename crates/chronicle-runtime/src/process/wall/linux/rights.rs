//! The rights that it takes to put a wall up, and how they are given away.

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

/// Most processes and threads of this user in this user namespace. Returns false for root, whom the kernel does not hold to it.
pub(super) fn limit_processes(most: u64) -> Result<bool, WallRefusal> {
    // One more for init itself.
    let most = most.saturating_add(1);
    let most = getrlimit(Resource::Nproc).maximum.map_or(most, |hard| hard.min(most));
    let limit = Rlimit { current: Some(most), maximum: Some(most) };
    setrlimit(Resource::Nproc, limit).at(WallStep::Processes, "limit on processes")?;
    Ok(!rustix::process::getuid().is_root())
}
