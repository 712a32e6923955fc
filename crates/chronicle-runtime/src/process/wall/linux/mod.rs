//! How walls are put up on Linux.

mod group;
mod init;
mod landlocked;
mod line;
mod links;
mod loopback;
mod mountinfo;
mod mounts;
mod outer;
mod rights;
mod signals;
mod start;

use std::io;

pub use group::Group;
pub use init::main as init;
pub use outer::main as outer;
pub use start::{Walled, probe, raise, wall_command};

use super::{WallRefusal, WallStep};

/// Says at which step the system refused.
trait At<T> {
    fn at(self, step: WallStep, what: &str) -> Result<T, WallRefusal>;
}

impl<T, E: Into<io::Error>> At<T> for Result<T, E> {
    fn at(self, step: WallStep, what: &str) -> Result<T, WallRefusal> {
        self.map_err(|error| WallRefusal::new(step, what, &error.into()))
    }
}
