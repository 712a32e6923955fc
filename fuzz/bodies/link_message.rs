//! Any bytes at the link of a run that is driven in this very process: each request is answered once and in its turn, and
//! the run does not change. Whoever asks from inside of the supervisor counts as a worker, so nothing may be accepted.

use std::fs;
use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::Duration;

use chronicle_core::base::ids::{GateId, RunId};
use chronicle_core::definition::workflow::{Source, load};
use chronicle_core::event::RunStarted;
use chronicle_core::event::input::{Answer, Command};
use chronicle_runtime::handle::{
    self, Asker, Driven, Project, Remote, Rest, RunFolder, UPDATES_MAX, Update,
};
use serde_json::Value;
use tempfile::TempDir;

/// Longer than any answer takes; only a failing case waits for it.
const PATIENCE: Duration = Duration::from_mins(1);

/// A run that waits at its first gate, and whoever drives it.
pub(crate) struct Supervisor {
    driven: Driven,
    remote: Remote,
    folder: RunFolder,
    socket: PathBuf,
    ledger: Vec<u8>,
    _news: Mutex<Receiver<Update>>,
    _home: TempDir,
}

impl Supervisor {
    pub(crate) fn start() -> Self {
        let home = tempfile::tempdir().unwrap_or_else(|error| panic!("{error}"));
        let folder =
            Project::at(home.path()).run(RunId::from("01997f3a-0000-7000-8000-00f0220f0220"));
        for path in [folder.transcripts(), folder.keepers()] {
            fs::create_dir_all(path).unwrap_or_else(|error| panic!("{error}"));
        }
        let asker = Asker {
            who: "ann".to_owned(),
            command: "fuzz".to_owned(),
            chronicle: PathBuf::from("nobody-starts-anything"),
            signals: None,
            no_walls: false,
        };
        let (updates, news) = sync_channel(UPDATES_MAX);
        let command = Command::Start(Box::new(first(&folder)));
        let (driven, _) = handle::drive(&folder, &asker, command, Rest::WhenOver, updates)
            .unwrap_or_else(|error| panic!("{error}"));
        let note = fs::read_to_string(folder.path.join("link"));
        let socket = PathBuf::from(note.unwrap_or_else(|error| panic!("no link: {error}")));
        let remote = driven.remote();
        let mut it = Self {
            driven,
            remote,
            folder,
            socket,
            ledger: Vec::new(),
            _news: Mutex::new(news),
            _home: home,
        };
        // Once this is answered, all that comes at the start is on disk.
        it.check_alive();
        it.ledger = it.read_ledger();
        it
    }

    fn read_ledger(&self) -> Vec<u8> {
        fs::read(self.folder.path.join("ledger.jsonl")).unwrap_or_default()
    }

    /// Whoever drives still answers, and still waits at its gate.
    fn check_alive(&self) {
        let gate = Some(GateId(999));
        let answer =
            self.remote.submit(Command::Approve { gate, note: String::new(), scope: None });
        let Some(Answer::Refused(why)) = &answer else { panic!("{answer:?}") };
        assert!(why.starts_with("there is no gate g999"), "{why}");
    }

    pub(crate) fn client(&self) -> UnixStream {
        let stream = UnixStream::connect(&self.socket).unwrap_or_else(|error| panic!("{error}"));
        let limits = stream
            .set_read_timeout(Some(PATIENCE))
            .and_then(|()| stream.set_write_timeout(Some(PATIENCE)));
        limits.unwrap_or_else(|error| panic!("{error}"));
        stream
    }

    /// Says the bytes after a greeting, or instead of one, and hears all that comes.
    pub(crate) fn check(&self, bytes: &[u8]) {
        for greeting in [&b"{\"link\":2,\"who\":\"eve\"}\n"[..], b""] {
            let mut stream = self.client();
            // It may hang up at any byte.
            let _ = stream.write_all(&[greeting, bytes].concat());
            let _ = stream.shutdown(Shutdown::Write);
            let mut heard = Vec::new();
            let _ = stream.read_to_end(&mut heard);
            check_replies(bytes, &heard);
        }
        self.check_alive();
        assert_eq!(self.read_ledger(), self.ledger, "somebody changed the run");
    }

    pub(crate) fn stop(self) {
        self.remote.quit();
        let ended = self.driven.join();
        assert!(ended.is_ok(), "{ended:?}");
        assert!(!self.socket.exists(), "the socket goes with the supervisor");
    }
}

fn first(folder: &RunFolder) -> RunStarted {
    let text = "phases: {plan: {approval: before}}".to_owned();
    let source = Source { file: None, name: "w.yaml".to_owned(), key: "w".to_owned(), text };
    RunStarted {
        run: folder.id.clone(),
        task: "task".to_owned(),
        who: "ann".to_owned(),
        project: folder.project.display().to_string(),
        agent: "command:nobody".to_owned(),
        model: None,
        workflows: load(source, &mut |_| None).workflows,
        source: "w.yaml".to_owned(),
        personas: Vec::new(),
        unenforced: Vec::new(),
        version: "fuzz".to_owned(),
        on_gate: None,
        isolated: false,
        keep_folders: false,
        apart: false,
        inputs: true,
        rules: None,
        walls: None,
        carried: None,
    }
}

fn check_replies(said: &[u8], heard: &[u8]) {
    let asked = said.split(|byte| *byte == b'\n').count();
    let lines = heard.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    let replies: Vec<Value> =
        lines.map(|line| serde_json::from_slice(line).unwrap_or_default()).collect();
    for (index, reply) in replies.iter().enumerate() {
        let is_hello = index == 0 && reply["link"] == 2;
        let answer = &reply["answer"]["answer"];
        let is_ping = answer["is"] == "accepted" && answer["data"] == "here";
        let is_refused = answer["is"] == "refused" && answer["data"].is_string();
        let hangs_up = reply["refused"]["text"].is_string();
        assert!(is_hello || is_ping || is_refused || hangs_up, "heard {reply}");
        assert!(!hangs_up || index + 1 == replies.len(), "talks on: {reply}");
    }
    assert!(replies.len() <= asked + 1, "{} answers to {asked} requests", replies.len());
}
