//! A project of one scenario, and the people in it: they run, approve and resume until the run is over, with whatever
//! deaths are in store for the processes that they start.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

use crate::crash::POOL;

/// Longer than anything here takes on a busy machine; only a failing test waits for it.
const PATIENCE: Duration = Duration::from_mins(2);
const LOOK: Duration = Duration::from_millis(5);
/// More commands than any scenario needs, deaths included: a run that needs more comes to no end.
const TURNS_MAX: usize = 24;
const CHRONICLE: &str = env!("CARGO_BIN_EXE_chronicle");

/// Whether supervisors stay while a person is needed, so that the person's word comes by the link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Stay {
    Leave,
    Wait,
    /// They leave, and people are told when they are needed.
    Tell,
    /// They leave, and every other one that resumes puts up no walls. Only who resumes dies.
    Unwalled,
}

/// One project with one run in it.
pub(crate) struct Site {
    folder: TempDir,
    stay: Stay,
    /// What is in store: as `CHRONICLE_FAILPOINT` says it, one after the other.
    arms: Vec<String>,
    /// Those that have struck.
    struck: usize,
    /// Whether steps work beside each other, so that what happens in one may come before or after another.
    pub(crate) works_apart: bool,
    /// How often somebody has resumed it.
    resumed: usize,
    /// The ledger as it was after each of them.
    pub(crate) at_deaths: Vec<Vec<u8>>,
}

impl Site {
    pub(crate) fn new(scenario: &str, stay: Stay, arms: Vec<String>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (at_deaths, works_apart) = (Vec::new(), scenario == POOL);
        let site = Self { folder, stay, arms, struck: 0, works_apart, resumed: 0, at_deaths };
        for name in ["project/.chronicle/workflows", "home", "sessions", "tmp", "out"] {
            fs::create_dir_all(site.folder.path().join(name)).unwrap();
        }
        let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/crash").join(scenario);
        for entry in fs::read_dir(data).unwrap() {
            let name = entry.as_ref().unwrap().file_name();
            let to = if name == "script.yaml" { "." } else { ".chronicle/workflows" };
            fs::copy(entry.unwrap().path(), site.project().join(to).join(name)).unwrap();
        }
        if works_apart {
            site.make_repository();
        }
        if stay == Stay::Tell {
            let config = site.folder.path().join("home/.config/chronicle");
            fs::create_dir_all(&config).unwrap();
            let told = site.folder.path().join("told");
            let command = format!("notify.command = 'cat >> {}'\n", told.display());
            fs::write(config.join("config.toml"), command).unwrap();
        }
        site
    }

    /// A repository with a file that steps change, and one that git does not know.
    fn make_repository(&self) {
        let files = [
            ("lines", "one\ntwo\nthree\n"),
            (".env", "key\n"),
            (".gitignore", "script.yaml\n.env\nready\n"),
        ];
        for (name, text) in files {
            fs::write(self.project().join(name), text).unwrap();
        }
        let who = ["-c", "user.name=a", "-c", "user.email=a@example.org"];
        for words in [&["init", "-q"][..], &["add", "-A"], &["commit", "-qm", "first"]] {
            let mut git = Command::new("git");
            git.current_dir(self.project()).env("HOME", self.folder.path().join("home"));
            assert!(git.args(who).args(words).status().unwrap().success(), "git {words:?}");
        }
    }

    /// Work folders and half merged files that are left.
    pub(crate) fn left_of_merges(&self) -> Vec<PathBuf> {
        let works = self.folder.path().join("home/.local/state/chronicle/work");
        let below = [works, self.project().join(".chronicle/merge")];
        let entries = below.iter().flat_map(fs::read_dir).flatten().flatten();
        entries.map(|entry| entry.path()).collect()
    }

    /// What people were told, each as `event gate`.
    pub(crate) fn told(&self) -> Vec<String> {
        let told = fs::read_to_string(self.folder.path().join("told")).unwrap_or_default();
        let notices = told.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        notices.map(|notice| format!("{} {}", notice["event"], notice["gate"]["gate"])).collect()
    }

    /// Whether the walls that it ends with are those of whoever came last.
    pub(crate) fn changes_walls(&self) -> bool {
        self.stay == Stay::Unwalled
    }

    pub(crate) fn project(&self) -> PathBuf {
        self.folder.path().join("project")
    }

    /// Whether everything in store has struck.
    pub(crate) fn is_all_over(&self) -> bool {
        self.struck == self.arms.len()
    }

    /// Lets people do what they would until the run is over.
    pub(crate) fn play(&mut self) -> Result<Value, String> {
        for _ in 0..TURNS_MAX {
            let view = self.view();
            let status = view.as_ref().map(|view| view["status"].as_str().unwrap().to_owned());
            let mut words: Vec<String> = match status.as_deref() {
                None => ["run", "main", "the task", "--agent", "scripted:script.yaml", "--trust"]
                    .map(str::to_owned)
                    .to_vec(),
                Some("done") => return Ok(view.unwrap()),
                Some("waiting") => approval(view.as_ref().unwrap())?,
                Some("running" | "ending" | "ready" | "interrupted" | "paused") => {
                    self.resumed += 1;
                    let is_open = self.stay == Stay::Unwalled && !self.resumed.is_multiple_of(2);
                    let open = is_open.then(|| "--no-walls".to_owned());
                    ["resume".to_owned(), self.short()].into_iter().chain(open).collect()
                }
                Some(other) => return Err(format!("the run is {other}")),
            };
            if self.stay == Stay::Wait && words[0] != "approve" {
                words.push("--wait".to_owned());
            }
            self.turn(&words)?;
        }
        Err(format!("after {TURNS_MAX} commands the run is not over: {:?}", self.view()))
    }

    /// One command, and while it stays, the approvals that it waits for.
    fn turn(&mut self, words: &[String]) -> Result<(), String> {
        let mut started = self.spawn(words);
        let mut asked = String::new();
        let mut failure = Ok(());
        until("a command ended", || {
            if started.try_wait().unwrap().is_some() || failure.is_err() {
                return true;
            }
            if self.stay == Stay::Wait
                && let Some(view) = self.view().filter(|view| view["supervised"] == true)
                && let Some(gate) = view["needs_you"].get(0)
                && gate["gate"].as_str() != Some(&asked)
            {
                gate["gate"].as_str().unwrap().clone_into(&mut asked);
                match approval(&view) {
                    Ok(words) => drop(self.spawn(&words).wait()),
                    Err(why) => failure = Err(why),
                }
            }
            false
        });
        failure?;
        let status = started.wait().unwrap();
        self.look_for_death(status, words)
    }

    /// Only what was told to die may end badly.
    fn look_for_death(&mut self, status: ExitStatus, words: &[String]) -> Result<(), String> {
        let hits = fs::read_to_string(self.hits()).unwrap_or_default();
        if self.struck < self.arms.len() && hits.lines().any(|line| line.starts_with('!')) {
            self.struck += 1;
            self.at_deaths.push(self.ledger());
            return Ok(());
        }
        match status.code() {
            Some(0 | 4) => Ok(()),
            _ => Err(format!("`{}` ended with {status}: {}", words.join(" "), self.said())),
        }
    }

    /// How often each point was hit since the last death.
    pub(crate) fn counts(&self) -> BTreeMap<String, usize> {
        let mut counts = BTreeMap::new();
        for line in fs::read_to_string(self.hits()).unwrap_or_default().lines() {
            *counts.entry(line.to_owned()).or_default() += 1;
        }
        counts
    }

    fn hits(&self) -> PathBuf {
        self.folder.path().join(format!("hits-{}", self.struck))
    }

    /// How the run stands; none while there is none that began.
    pub(crate) fn view(&self) -> Option<Value> {
        let output = self.command(&["status".to_owned(), "--json".to_owned()]).output().unwrap();
        output.status.success().then(|| serde_json::from_slice(&output.stdout).unwrap())
    }

    /// What a command says, which must end well.
    pub(crate) fn ask(&self, words: &[&str]) -> Result<String, String> {
        let words: Vec<String> = words.iter().map(ToString::to_string).collect();
        let output = self.command(&words).output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        if output.status.success() {
            return Ok(text(&output.stdout));
        }
        let said = (text(&output.stdout), text(&output.stderr));
        Err(format!("`{}` ended with {}: {}{}", words.join(" "), output.status, said.0, said.1))
    }

    fn spawn(&self, words: &[String]) -> Child {
        let out = |name| File::create(self.folder.path().join("out").join(name)).unwrap();
        let mut command = self.command(words);
        command.stdout(out("stdout")).stderr(out("stderr"));
        let is_spared = self.stay == Stay::Unwalled && words[0] != "resume";
        if let Some(arm) = self.arms.get(self.struck).filter(|_| !is_spared) {
            command.env("CHRONICLE_FAILPOINT", arm).env("CHRONICLE_FAILPOINT_HITS", self.hits());
        }
        command.spawn().unwrap()
    }

    fn said(&self) -> String {
        fs::read_to_string(self.folder.path().join("out/stderr")).unwrap()
    }

    /// With nothing of the outer environment but `PATH`.
    fn command(&self, words: &[String]) -> Command {
        let folder = self.folder.path();
        let mut command = Command::new(CHRONICLE);
        command.env_clear().current_dir(self.project()).args(words).stdin(Stdio::null());
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.env("HOME", folder.join("home")).env("TMPDIR", folder.join("tmp"));
        command.env("CHRONICLE_SCRIPTED_HOME", folder.join("sessions")).env("USER", "ann");
        command
    }

    /// The folder of the newest run.
    pub(crate) fn run_folder(&self) -> Option<PathBuf> {
        let entries = fs::read_dir(self.project().join(".chronicle/runs")).ok()?;
        entries.flatten().map(|entry| entry.path()).filter(|path| path.is_dir()).max()
    }

    /// How people write the run's id.
    pub(crate) fn short(&self) -> String {
        let folder = self.run_folder().unwrap();
        let name = folder.file_name().unwrap().to_str().unwrap();
        name[name.len() - 8..].to_owned()
    }

    /// The bytes of its ledger.
    pub(crate) fn ledger(&self) -> Vec<u8> {
        let file = self.run_folder().map(|folder| folder.join("ledger.jsonl"));
        file.and_then(|file| fs::read(file).ok()).unwrap_or_default()
    }
}

fn approval(view: &Value) -> Result<Vec<String>, String> {
    let gate = &view["needs_you"][0];
    if !gate["kind"].as_str().is_some_and(|kind| kind.starts_with("approval")) {
        return Err(format!("a person is needed for {gate}"));
    }
    let [run, gate] = [&view["short"], &gate["gate"]].map(|it| it.as_str().unwrap().to_owned());
    Ok(vec!["approve".to_owned(), run, gate])
}

/// Looks until it is so; the only place that polls.
fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !is_so() {
        assert!(Instant::now() < deadline, "waited in vain until {what}");
        std::thread::park_timeout(LOOK);
    }
}
