//! Landlock: the second layer, and the only one where namespaces are refused.
//!
//! Only changes are restricted. A list of what may be read would have to name everything that every tool needs, and a hole cannot be
//! cut into it. It does not reach chmod, sockets with a name, UDP and what was opened before: mounts and namespaces do.

use std::error::Error;
use std::io;
use std::path::Path;

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, LandlockStatus,
    PathBeneath, Ruleset, RulesetAttr, RulesetCreatedAttr, RulesetError, RulesetStatus, Scope,
};

use super::links::{open_exactly, path_of, place};
use crate::process::wall::{Network, Wall, WallRefusal, WallStep};

/// The newest that this was tried with. What an older kernel lacks of it is left out, and the kernel's own version is told.
const NEWEST: ABI = ABI::V7;

/// Restricts this process and all below it. Returns the kernel's version. `alone` says that no namespace holds the network.
pub(super) fn restrict(wall: &Wall, alone: bool) -> Result<u32, WallRefusal> {
    let status = ruleset(wall, alone).map_err(|error| refusal(&error))?;
    match (status.ruleset, status.landlock) {
        (RulesetStatus::NotEnforced, _) => {
            Err(WallRefusal::plain(WallStep::Landlock, "the kernel did not enforce any rule"))
        }
        (_, LandlockStatus::Available { effective_abi, kernel_abi }) => {
            let version = kernel_abi.unwrap_or(effective_abi as i32);
            Ok(u32::try_from(version).unwrap_or_default())
        }
        _ => Err(WallRefusal::plain(WallStep::Landlock, "the kernel has no Landlock")),
    }
}

fn ruleset(wall: &Wall, alone: bool) -> Result<landlock::RestrictionStatus, RulesetError> {
    let handled = AccessFs::from_write(NEWEST);
    let mut ruleset = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(handled)?
        .scope(Scope::from_all(NEWEST))?;
    if alone && wall.network == Network::Off {
        ruleset = ruleset.handle_access(AccessNet::from_all(NEWEST))?;
    }
    let mut created = ruleset.create()?;
    for path in wall.writable.iter().chain(&wall.fresh).filter(|path| !is_kept_from_root(path)) {
        // Missing ones are told by whoever looked for them first. What was exchanged since stays closed.
        let Ok(Some(placed)) = place(wall, path) else { continue };
        let Ok(opened) = open_exactly(&placed.real) else { continue };
        if placed.leaves {
            continue;
        }
        let granted = granted(&path_of(&opened), handled);
        created = created.add_rule(PathBeneath::new(opened, granted))?;
    }
    created.restrict_self()
}

/// Never devices: root could make one of the disk itself, in any folder that it may write.
fn granted(path: &Path, handled: BitFlags<AccessFs>) -> BitFlags<AccessFs> {
    let granted = handled & !(AccessFs::MakeBlock | AccessFs::MakeChar);
    if path.is_dir() { granted } else { granted & AccessFs::from_file(NEWEST) }
}

/// The kernel's own settings are files of root: behind a wall it has no more rights than others, but it still owns them.
pub(super) fn is_kept_from_root(path: &Path) -> bool {
    let is_kernels = path.starts_with("/proc") || path.starts_with("/sys");
    is_kernels && rustix::process::getuid().is_root()
}

/// The error of the system is at the end of the chain.
fn refusal(error: &RulesetError) -> WallRefusal {
    let mut cause: Option<&(dyn Error + 'static)> = Some(error);
    let mut errno = None;
    while let Some(one) = cause {
        errno = one.downcast_ref::<io::Error>().and_then(io::Error::raw_os_error).or(errno);
        cause = one.source();
    }
    WallRefusal { step: WallStep::Landlock, errno, text: error.to_string() }
}
