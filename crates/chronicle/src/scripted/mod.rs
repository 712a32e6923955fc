//! The scripted agent: a real child process that plays a script instead of asking a model.
//!
//! It is the worker of the demo and of the scenario tests, and what people try their workflows with. So it behaves like a
//! real agent: it speaks the agent protocol, asks before each tool, keeps its sessions on disk, may be killed at any instant
//! and goes on after the last completed step. It knows nothing of runs but what its first line says.
//!
//! Start reading at `script.rs` (what may be played), then `play.rs`.

mod calls;
mod files;
mod mischief;
mod play;
mod script;
mod session;
mod step;
mod talk;

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use play::Player;
use script::Script;
use session::{Home, Session};
use talk::{Heard, OpenMessage, Talk};

/// Wrong use or a wrong script, as everywhere in Chronicle.
const WRONG_SCRIPT: u8 = 2;
/// Everything else that ends it early.
const CANNOT_GO_ON: u8 = 1;

/// Why the agent's process ends.
enum Stop {
    /// As it should, or as the script says, with this code.
    Exit(u8),
    /// The script cannot be played: where, and why.
    Script {
        line: u64,
        why: String,
    },
    /// The session to go on in does not exist.
    SessionGone(String),
    Io {
        doing: String,
        source: io::Error,
    },
}

impl Stop {
    /// A mistake in the script, at the step being played.
    fn script(why: String) -> Self {
        Self::Script { line: 0, why }
    }

    fn io(doing: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        let doing = doing.into();
        move |source| Self::Io { doing, source }
    }
}

/// Plays the script named by the arguments: `chronicle scripted-agent SCRIPT`.
pub(crate) fn main(args: &[OsString]) -> ExitCode {
    let [_, _, script] = args else {
        complain("usage: chronicle scripted-agent SCRIPT");
        return ExitCode::from(WRONG_SCRIPT);
    };
    let mut talk = match Talk::new() {
        Ok(talk) => talk,
        Err(error) => {
            complain(&format!("no thread to listen with: {error}"));
            return ExitCode::from(CANNOT_GO_ON);
        }
    };
    let stop = match run(Path::new(script), &mut talk) {
        Ok(never) => match never {},
        Err(stop) => stop,
    };
    ExitCode::from(end(stop, Path::new(script), &mut talk))
}

fn run(path: &Path, talk: &mut Talk) -> Result<std::convert::Infallible, Stop> {
    // The order first: a supervisor that cannot even write it would not know why.
    let open = first(talk)?;
    let text = std::fs::read_to_string(path)
        .map_err(|error| Stop::Script { line: 0, why: format!("cannot be read: {error}") })?;
    let script = Script::parse(&text)?;
    let steps = script.steps(&open.worker(), open.try_number)?;
    let home = Home::from_environment()?;
    let session = session(&home, &open)?;
    let project = open.project.as_ref().map_or_else(|| PathBuf::from("."), PathBuf::from);
    // Known on disk before it is named: whoever knows a session may resume it.
    home.save(&session)?;
    talk.session(&open.session, open.resume)?;
    Player::new(talk, home, session, project, steps).play()
}

/// Waits for the order; anything else before it means nothing yet.
fn first(talk: &mut Talk) -> Result<OpenMessage, Stop> {
    loop {
        match talk.hear() {
            Heard::Open(open) => return Ok(*open),
            Heard::End => return Err(Stop::Exit(CANNOT_GO_ON)),
            _ => {}
        }
    }
}

fn session(home: &Home, open: &OpenMessage) -> Result<Session, Stop> {
    if !open.resume {
        return Ok(Session::new(&open.session, &open.worker(), open.try_number));
    }
    let session =
        home.load(&open.session)?.ok_or_else(|| Stop::SessionGone(open.session.clone()))?;
    Ok(session.at(&open.worker(), open.try_number))
}

/// Says why it ends, to the supervisor and to people, and gives the exit code.
fn end(stop: Stop, script: &Path, talk: &mut Talk) -> u8 {
    let (class, text, code) = match stop {
        Stop::Exit(code) => return code,
        // A script that is wrong stays wrong: nobody is helped by more attempts.
        Stop::Script { line: 0, why } => {
            ("refused", format!("script `{}` {why}", script.display()), WRONG_SCRIPT)
        }
        Stop::Script { line, why } => {
            ("refused", format!("{}:{line}: {why}", script.display()), WRONG_SCRIPT)
        }
        Stop::SessionGone(session) => {
            ("session_gone", format!("no session `{session}` here"), CANNOT_GO_ON)
        }
        Stop::Io { doing, source } => ("other", format!("cannot {doing}: {source}"), CANNOT_GO_ON),
    };
    complain(&text);
    // A supervisor that is gone hears nothing; the exit code still says it.
    let _ = talk.error(class, &text);
    code
}

fn complain(text: &str) {
    // Nobody is left to tell when this fails.
    let _ = writeln!(io::stderr(), "Error: {text}");
}
