//! The half of Chronicle that touches the world: ledger, processes, agents, driver.
//!
//! `driver.rs` is the step and the loop; `effects/` performs what is due; `handle/` is the only door for faces, so every other
//! module is private.
//!
//! Modules import downwards only. From the lowest layer up:
//! `activity bell clock cookie fail home regular requests room threads` < `ledger process` < `project` < `anchor index trees agents` < `work` < `discover` <
//! `environment trust walls secrets projections guard` < `inbox patience` < `driver link` < `effects` < `handle`.

mod activity;
mod agents;
mod anchor;
mod bell;
mod clock;
mod cookie;
mod discover;
mod driver;
mod effects;
mod environment;
mod fail;
mod guard;
pub mod handle;
mod home;
mod inbox;
mod index;
mod ledger;
mod link;
mod loaded;
mod patience;
mod process;
mod project;
mod projections;
mod regular;
mod requests;
mod room;
mod secrets;
mod threads;
mod trees;
mod trust;
mod walls;
mod work;

/// The internals that this workspace's own tests, benches and fuzz targets reach: they are other crates, so that they cannot
/// see private modules. No face may use it.
#[doc(hidden)]
pub mod for_tests {
    pub mod agents {
        pub use crate::agents::{
            Adapter, FROM_AGENT, LINE_MAX, NAME_MAX, Order, PATH_MAX, Seen, TO_AGENT, find,
        };
    }
    pub mod clock {
        pub use crate::clock::now;
    }
    pub mod discover {
        pub use crate::discover::{
            Builtin, Catalog, DiscoverError, Places, builtin, find, find_in, known,
            verify_commands, workflow,
        };
    }
    pub mod driver {
        pub use crate::driver::{Finish, Run, Watch, World, drive};
        pub use crate::inbox::{INBOX_MAX, InboxMessage, Rest, asked, reported};
        pub use crate::patience::Patience;
    }
    pub mod effects {
        pub use crate::effects::Both;
    }
    pub mod fail {
        pub use crate::fail::{Cut, Fate, Point, at, on_this_thread};
    }
    pub mod guard {
        pub use crate::guard::Guard;
    }
    // All of it: tests bring ledgers of their own, which need whatever a ledger is made of.
    pub mod ledger {
        pub use crate::ledger::*;
    }
    pub mod link {
        pub use crate::link::{Ask, Client, LINE_MAX, LinkError};
    }
    pub mod process {
        pub use crate::process::{
            Control, KeeperEnd, KeeperOrder, Kept, LINE_MAX, OutputLines, ReadLine, SpawnError,
            TOO_LONG_START, Tool, shell_argv, start, sweep, wall,
        };
    }
    pub mod trees {
        pub use crate::trees::{DiffForm, FilesWritten, Planned, Trees, TreesError};
    }
    pub mod work {
        pub use crate::process::Leash;
        pub use crate::work::{
            Leftover, Made, WorkError, drop_folder, leftovers, make, remove, write,
        };
    }
}
