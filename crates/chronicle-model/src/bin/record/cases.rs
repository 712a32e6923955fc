//! One case: an agent in a fresh yard, a script, and what is done with both.

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;

use chronicle_model::real::{Ended, Program, Yard};
use chronicle_model::{Script, Server};
use serde_json::json;

use crate::scrub::Scrub;

/// What a case is made of.
#[derive(Clone, Copy)]
pub(crate) struct Case {
    pub(crate) name: &'static str,
    /// What it shows, for people.
    pub(crate) about: &'static str,
    /// What the model says.
    pub(crate) script: &'static str,
    pub(crate) act: fn(&CaseScene<'_>) -> Result<Ended, String>,
}

/// Where a case is played.
pub(crate) struct CaseScene<'a> {
    pub(crate) yard: &'a Yard,
    pub(crate) server: &'a Server,
    pub(crate) start: Start<'a>,
}

impl CaseScene<'_> {
    pub(crate) fn start(&self, extra: &[&str]) -> Result<Program, String> {
        (self.start)(self.yard, self.server, extra)
    }
}

/// Plays cases and writes them down.
pub(crate) struct Recorder {
    folder: PathBuf,
    /// Only cases whose `agent/name` holds this.
    only: Option<String>,
    pub(crate) good: usize,
    pub(crate) bad: usize,
}

/// How the agent of a case is started, with more arguments.
pub(crate) type Start<'a> = &'a dyn Fn(&Yard, &Server, &[&str]) -> Result<Program, String>;

impl Recorder {
    pub(crate) fn new(folder: PathBuf, only: Option<String>) -> Self {
        Self { folder, only, good: 0, bad: 0 }
    }

    /// Plays all cases of an agent.
    pub(crate) fn play(&mut self, agent: &str, cases: &[Case], start: Start<'_>) {
        for case in cases {
            let name = format!("{agent}/{}", case.name);
            if self.only.as_deref().is_some_and(|only| !name.contains(only)) {
                continue;
            }
            match self.record(agent, case, start) {
                Ok(lines) => {
                    println!("{name}: {lines} lines");
                    self.good += 1;
                }
                Err(why) => {
                    eprintln!("Error: {name}: {why}");
                    self.bad += 1;
                }
            }
        }
    }

    fn record(&self, agent: &str, case: &Case, start: Start<'_>) -> Result<usize, String> {
        let yard = Yard::new().map_err(|it| it.to_string())?;
        let script = Script::parse(case.script).map_err(|it| it.to_string())?;
        let script = script.with("project", yard.project().to_string_lossy());
        let server = Server::start(script).map_err(|it| it.to_string())?;
        let ended = (case.act)(&CaseScene { yard: &yard, server: &server, start })?;
        let leftovers = server.leftovers();
        // A turn that nobody asked for means that the agent did something else than the case is about.
        if !leftovers.is_empty() {
            return Err(leftovers.join("; "));
        }
        // For each case anew: ids are numbered in the order in which they appear in it.
        let mut scrub = Scrub::new(&yard).map_err(|it| it.to_string())?;
        let lines = lines(agent, case, ended, &mut scrub);
        let folder = self.folder.join(agent);
        fs::create_dir_all(&folder).map_err(|it| it.to_string())?;
        let text = lines.iter().flat_map(|line| [line.as_str(), "\n"]).collect::<String>();
        let path = folder.join(format!("{}.jsonl", case.name));
        fs::write(path, text).map_err(|it| it.to_string())?;
        Ok(lines.len())
    }
}

fn lines(agent: &str, case: &Case, ended: Ended, scrub: &mut Scrub) -> Vec<String> {
    let head = json!({"case": {
        "agent": agent, "about": case.about, "arguments": ended.arguments,
    }});
    let mut lines = vec![scrub.line(&head.to_string())];
    for line in ended.talk {
        lines.push(match line {
            Ok(said) => scrub.line(&said),
            Err(sent) => scrub.line(&format!("{{\"sent\":{sent}}}")),
        });
    }
    let (code, signal) = (ended.status.code(), ended.status.signal());
    let end = json!({"ended": {"code": code, "signal": signal, "errors": ended.errors}});
    lines.push(scrub.line(&end.to_string()));
    lines
}
