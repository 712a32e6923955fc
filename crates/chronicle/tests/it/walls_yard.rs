//! Where walls are put up in tests: real processes behind real walls, in a folder with a project, a home and something outside.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up fails there")]
#![expect(clippy::print_stdout, reason = "what is not tried is told")]

use std::fs::{self, File};
use std::io::Read as _;
use std::os::unix::fs::{PermissionsExt as _, chown, lchown};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use chronicle_runtime::for_tests::process::shell_argv;
use chronicle_runtime::for_tests::process::wall::{
    Network, Wall, WallEnd, WallError, WallFiles, WallLayers, WallOrder, WallPlan, Walled, raise,
    usual, wall_command,
};
use tempfile::TempDir;

pub(crate) const CHRONICLE: &str = env!("CARGO_BIN_EXE_chronicle");
const TRICKS: &str = include_str!("walls_tricks.py");
/// A user that owns nothing on any machine.
const ORDINARY: u32 = 20077;
/// Where programs are that every user can start.
const SYSTEM_PATH: &str = "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin";

/// Starts a program with a file and a folder open that it does not know of, as shells and build tools do.
const CARELESS: &str = "exec 9>>\"$T/outside/file\" 8<\"$T/outside\" && exec \"$@\"";

/// Who puts a wall up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Who {
    Root,
    Ordinary,
}

impl Who {
    /// Everybody that this machine lets us be. What is left out is told.
    pub(crate) fn all() -> Vec<Self> {
        if !rustix::process::getuid().is_root() {
            println!("SKIPPED: walls of root are not tried, since this is another user");
            return vec![Self::Ordinary];
        }
        if can_be_ordinary() {
            return vec![Self::Root, Self::Ordinary];
        }
        println!(
            "SKIPPED: walls of an ordinary user are not tried: `setpriv` does not start {CHRONICLE}"
        );
        vec![Self::Root]
    }

    /// Whoever runs the tests.
    pub(crate) fn ours() -> Self {
        if rustix::process::getuid().is_root() { Self::Root } else { Self::Ordinary }
    }

    /// Gives a folder and everything in it to this user, if it is another one.
    pub(crate) fn own(self, path: &Path) {
        if self == Self::ours() {
            return;
        }
        lchown(path, Some(self.uid()), Some(self.uid())).unwrap();
        if path.is_dir() && !path.is_symlink() {
            for entry in fs::read_dir(path).unwrap() {
                self.own(&entry.unwrap().path());
            }
        }
    }

    /// An ordinary user, if there can be one. What only that shows is skipped, and told, where there is none.
    pub(crate) fn ordinary() -> Option<Self> {
        Self::all().into_iter().find(|who| *who == Self::Ordinary)
    }

    fn uid(self) -> u32 {
        let own = rustix::process::getuid().as_raw();
        if self == Self::Ordinary && own == 0 { ORDINARY } else { own }
    }

    /// A program, started as this user.
    pub(crate) fn program(self, program: &str) -> Command {
        if self.uid() == rustix::process::getuid().as_raw() {
            return Command::new(program);
        }
        let mut command = Command::new("setpriv");
        command.args([format!("--reuid={ORDINARY}"), format!("--regid={ORDINARY}")]);
        command.args(["--clear-groups", program]);
        command
    }
}

fn can_be_ordinary() -> bool {
    let mut command = Who::Ordinary.program(CHRONICLE);
    command.arg("--version").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.current_dir("/").status().is_ok_and(|status| status.success())
}

/// A folder with everything that a wall is about.
pub(crate) struct Site {
    folder: TempDir,
    pub(crate) who: Who,
}

/// How a program behind a wall ended, and what it said.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) end: WallEnd,
    pub(crate) out: String,
}

impl Ran {
    pub(crate) fn exits(self, code: i32) -> String {
        let Self { end, out } = self;
        assert!(
            matches!(end, WallEnd::Ended { code: Some(it), .. } if it == code),
            "{end:?}: {out}"
        );
        out
    }
}

impl Site {
    pub(crate) fn new(who: Who) -> Self {
        let folder = tempfile::Builder::new().prefix("walls").tempdir().unwrap();
        let site = Self { folder, who };
        for made in [
            "project/.chronicle",
            "project/.git/hooks",
            "project/empty",
            "outside",
            "home/.ssh",
            "tmp",
            "session",
        ] {
            fs::create_dir_all(site.path(made)).unwrap();
        }
        for written in [
            "project/note",
            "project/other",
            "project/.chronicle/ledger",
            "project/.chronicle/old",
            "project/.git/config",
            "outside/file",
            "outside/wanted",
            "outside/long",
            "outside/removed",
            "home/.ssh/id",
        ] {
            fs::write(site.path(written), "as it was\n").unwrap();
        }
        fs::write(site.path("project/tricks.py"), TRICKS).unwrap();
        site.give(site.folder.path());
        site
    }

    pub(crate) fn path(&self, below: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(below)
    }

    /// Gives all of it to whoever puts the wall up.
    pub(crate) fn give(&self, path: &Path) {
        if self.who.uid() != rustix::process::getuid().as_raw() {
            chown(path, Some(self.who.uid()), Some(self.who.uid())).unwrap();
        }
        if path.is_dir() {
            fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
            for entry in fs::read_dir(path).unwrap() {
                self.give(&entry.unwrap().path());
            }
        }
    }

    /// The usual wall around the project.
    pub(crate) fn wall(&self, layers: WallLayers, files: WallFiles, network: Network) -> Wall {
        let (project, home, tmp, session) =
            (self.path("project"), self.path("home"), self.path("tmp"), self.path("session"));
        let hidden = self.path("hidden.sock");
        let plan = WallPlan {
            uid: self.who.uid(),
            tmp: &[tmp],
            session: Some(&session),
            files,
            hide: &[hidden.to_str().unwrap().to_owned()],
            network,
            layers,
            ..WallPlan::plain(&project, &home)
        };
        usual(&plan).unwrap()
    }

    /// The wall of everything that this kernel has, with a project that can be written.
    pub(crate) fn whole(&self) -> Wall {
        self.wall(WallLayers::ALL, WallFiles::Write, Network::On)
    }

    pub(crate) fn command(&self) -> Command {
        let plain = wall_command(Path::new(CHRONICLE));
        let mut command = self.who.program("sh");
        command.args(["-c", CARELESS, "sh", CHRONICLE]).args(plain.get_args());
        command.stdout(Stdio::piped()).current_dir(self.path("project"));
        self.environment(&mut command);
        command
    }

    /// A private environment: nothing of whoever runs the tests.
    pub(crate) fn environment(&self, command: &mut Command) {
        command.env_clear().env("PATH", SYSTEM_PATH).env("T", self.path("").components().as_path());
        command.env("HOME", self.path("home")).env("TMPDIR", self.path("tmp"));
        command.env("XDG_RUNTIME_DIR", self.path("session")).env("GIT_CONFIG_NOSYSTEM", "1");
    }

    pub(crate) fn order(&self, wall: Wall, script: &str) -> WallOrder {
        let argv = shell_argv(&format!("exec 2>&1\n{script}"));
        WallOrder { wall, cwd: self.path("project").into(), argv, grace_ms: 0, group: None }
    }

    /// Puts a wall up and starts a script behind it.
    pub(crate) fn start(&self, order: &WallOrder) -> Result<Walled, WallError> {
        let walled = raise(self.command(), order, File::open("/dev/null").unwrap())?;
        walled.go().unwrap();
        Ok(walled)
    }

    /// Runs a script behind a wall to its end.
    pub(crate) fn run(&self, wall: Wall, script: &str) -> Ran {
        self.run_order(&self.order(wall, script), |_| ())
    }

    /// The same, with something changed about how it is started.
    pub(crate) fn run_order(&self, order: &WallOrder, change: impl FnOnce(&mut Command)) -> Ran {
        let mut command = self.command();
        change(&mut command);
        let walled = raise(command, order, File::open("/dev/null").unwrap()).unwrap();
        walled.go().unwrap();
        end(walled)
    }
}

/// Reads everything that is said behind a wall, and waits for the end.
pub(crate) fn end(mut walled: Walled) -> Ran {
    let mut out = String::new();
    let stdout = walled.outer.stdout.take();
    stdout.map(|mut from| from.read_to_string(&mut out).unwrap());
    Ran { end: walled.wait().unwrap(), out }
}

/// A process of the same user outside of every wall, for those inside to find.
pub(crate) struct Victim(Child);

impl Victim {
    pub(crate) fn new(site: &Site) -> Self {
        let mut command = site.who.program("sh");
        command.args(["-c", "echo up; exec sleep 1000"]).env_clear().env("PATH", SYSTEM_PATH);
        command.env("SECRET", "1").stdin(Stdio::null()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        // By then it is whoever it is to be.
        let mut up = [0; 3];
        child.stdout.take().unwrap().read_exact(&mut up).unwrap();
        Self(child)
    }

    pub(crate) fn id(&self) -> u32 {
        self.0.id()
    }

    pub(crate) fn is_alive(&mut self) -> bool {
        self.0.try_wait().unwrap().is_none()
    }

    /// Waits for its end, which must be near.
    pub(crate) fn ends(&mut self) {
        self.0.wait().unwrap();
    }
}

impl Drop for Victim {
    fn drop(&mut self) {
        let _ = (self.0.kill(), self.0.wait());
    }
}

/// A daemon that everybody may speak to.
pub(crate) fn listen(path: &Path) -> UnixListener {
    let listener = UnixListener::bind(path).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o777)).unwrap();
    listener
}

/// Everything about a folder that a worker could change: names, kinds, rights, times and contents.
pub(crate) fn seen(folder: &Path) -> Vec<String> {
    use std::os::unix::fs::MetadataExt as _;
    let mut all = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let about = fs::symlink_metadata(&path).unwrap();
        let content =
            if about.is_file() { fs::read_to_string(&path).unwrap() } else { String::new() };
        let (mode, owner, links) = (about.mode(), about.uid(), about.nlink());
        all.push(format!(
            "{} {mode:o} {owner} {links} {} {content}",
            path.display(),
            about.mtime()
        ));
        if about.is_dir() {
            all.extend(seen(&path));
        }
    }
    all.sort();
    all
}
