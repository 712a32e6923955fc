//! What must be the same, however often a run died on its way, and what may never be.

#![expect(clippy::unwrap_used, reason = "a test that cannot look has failed")]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::{Map, Value};

use crate::crash_site::Site;

/// Differs from one time to the next, deaths or not.
const CHANGING: [&str; 9] =
    ["run", "short", "started_at", "updated_at", "seq", "active_ms", "attempts", "spent", "next"];
/// Whose a change is becomes unclear when its keeper dies; the files themselves are compared byte for byte.
const UNCLEAR: [&str; 4] = ["added", "removed", "files", "more_files"];

/// What a run came to.
#[derive(Debug, PartialEq)]
pub(crate) struct Ended {
    /// What `status` says, without what changes.
    view: Value,
    /// Every file of the project.
    files: BTreeMap<String, String>,
    /// Leaving signals and commands, each with its place and try, in order.
    works: Vec<String>,
    tokens: u64,
    /// How many attempts got other walls than they were decided for.
    pub(crate) rewalled: usize,
}

impl Ended {
    /// Looks at a run that is over, and finds what may never be.
    pub(crate) fn of(site: &Site, view: &Value) -> Result<Self, String> {
        let lines = lines(&site.ledger());
        let (mut works, tokens) = (works(&lines), tokens(&lines));
        if view["spent"]["tokens"] != tokens {
            return Err(format!("{} tokens count, {tokens} are in the ledger", view["spent"]));
        }
        past_stands(site)?;
        cache_is_right(site, view)?;
        nothing_is_left(site)?;
        nobody_is_told_twice(site)?;
        let rewalled = walls_are_the_starters(&lines)?;
        let mut files = BTreeMap::new();
        collect(&site.project(), "", &mut files);
        let mut view = without_changing(view);
        if site.changes_walls() {
            view["walls"].take();
        }
        if site.works_apart {
            works.sort_unstable();
            view = in_one_order(view);
        }
        Ok(Self { view, files, works, tokens, rewalled })
    }

    /// Says what differs from the run that nobody harmed.
    pub(crate) fn compare(&self, unharmed: &Self) -> Result<(), String> {
        let differ = |what: &str, one: String, other: String| {
            Err(format!("{what} differ:\n  unharmed: {other}\n  harmed:   {one}"))
        };
        if self.view != unharmed.view {
            return differ("views", self.view.to_string(), unharmed.view.to_string());
        }
        if self.files != unharmed.files {
            return differ("files", format!("{:?}", self.files), format!("{:?}", unharmed.files));
        }
        if self.works != unharmed.works {
            return differ("works", format!("{:?}", self.works), format!("{:?}", unharmed.works));
        }
        // What an agent had said and nobody had read yet is lost with its supervisor; nothing counts twice.
        if self.tokens > unharmed.tokens {
            return differ("tokens", self.tokens.to_string(), unharmed.tokens.to_string());
        }
        Ok(())
    }
}

/// Whole lines that were there after a death are there at the end. A run that never began was begun anew.
fn past_stands(site: &Site) -> Result<(), String> {
    let now = site.ledger();
    for then in &site.at_deaths {
        let whole = then.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        if !now.starts_with(&then[..whole]) {
            return Err("the ledger is other than it was left by the dead".to_owned());
        }
    }
    Ok(())
}

fn cache_is_right(site: &Site, view: &Value) -> Result<(), String> {
    let cache = site.run_folder().unwrap().join("state.cache");
    fs::remove_file(cache).map_err(|error| format!("no cache: {error}"))?;
    let folded = site.view();
    if folded.as_ref() == Some(view) { Ok(()) } else { Err(format!("cached {view}: {folded:?}")) }
}

fn nobody_is_told_twice(site: &Site) -> Result<(), String> {
    let mut told = site.told();
    told.sort_unstable();
    let twice = told.windows(2).find(|pair| pair[0] == pair[1]);
    twice.map_or(Ok(()), |pair| Err(format!("people were told twice: {}", pair[0])))
}

/// No process, no unfinished file, and a whole chain.
fn nothing_is_left(site: &Site) -> Result<(), String> {
    let left = processes(&site.short());
    if !left.is_empty() {
        return Err(format!("processes are left: {left:?}"));
    }
    let names = fs::read_dir(site.run_folder().unwrap()).unwrap().flatten();
    let mut names = names.map(|entry| entry.file_name().to_string_lossy().into_owned());
    // Whoever opens the run tidies up; nobody opens one that was over when its supervisor died.
    let was_opened = site.at_deaths.last().is_none_or(|then| *then != site.ledger());
    let merges = site.left_of_merges();
    if was_opened && !merges.is_empty() {
        return Err(format!("{merges:?} are left"));
    }
    if let Some(name) = names.find(|name| was_opened && name.ends_with(".unfinished")) {
        return Err(format!("`{name}` is left"));
    }
    site.ask(&["audit"]).map(drop)
}

/// Living processes with a cookie of the run.
fn processes(short: &str) -> Vec<String> {
    let mark = format!("CHRONICLE_COOKIE={short}-");
    let is_marked = |folder: &Path| {
        let environment = fs::read(folder.join("environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|word| word.starts_with(mark.as_bytes()))
    };
    let entries = fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path());
    let marked = entries.filter(|folder| is_marked(folder));
    marked.map(|it| fs::read_to_string(it.join("stat")).unwrap_or_default()).collect()
}

fn without_changing(value: &Value) -> Value {
    match value {
        Value::Array(all) => all.iter().map(without_changing).collect(),
        Value::Object(fields) => {
            let stays = fields
                .iter()
                .filter(|(name, _)| !CHANGING.iter().chain(&UNCLEAR).any(|it| it == name));
            let stays = stays.map(|(name, value)| (name.clone(), without_changing(value)));
            Value::Object(stays.collect::<Map<_, _>>())
        }
        other => other.clone(),
    }
}

/// Lists in an order that does not tell what came first.
fn in_one_order(value: Value) -> Value {
    match value {
        Value::Array(all) => {
            let mut all: Vec<Value> = all.into_iter().map(in_one_order).collect();
            all.sort_by_key(ToString::to_string);
            Value::Array(all)
        }
        Value::Object(fields) => {
            fields.into_iter().map(|(name, value)| (name, in_one_order(value))).collect()
        }
        other => other,
    }
}

/// Every file below, but for Chronicle's own and git's.
fn collect(folder: &Path, prefix: &str, files: &mut BTreeMap<String, String>) {
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let name = entry.file_name().into_string().unwrap();
        let path = format!("{prefix}{name}");
        if entry.path().is_dir() {
            if name != ".chronicle" && name != ".git" {
                collect(&entry.path(), &format!("{path}/"), files);
            }
        } else {
            files.insert(path, fs::read_to_string(entry.path()).unwrap());
        }
    }
}

fn lines(ledger: &[u8]) -> Vec<Value> {
    let lines = ledger.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    let lines = lines.map(|line| serde_json::from_slice::<Value>(line).unwrap());
    lines.flat_map(|line| line["events"].as_array().unwrap().clone()).collect()
}

/// A field of the attempt that an event is about.
fn attempts(events: &[Value]) -> BTreeMap<String, &Value> {
    let started = events.iter().filter(|event| event["kind"] == "attempt_started");
    let started = started.map(|event| &event["data"]);
    started.map(|data| (data["attempt"].to_string(), data)).collect()
}

fn works(events: &[Value]) -> Vec<String> {
    let attempts = attempts(events);
    let work = |event: &Value| {
        let data = &event["data"];
        let what = match event["kind"].as_str()? {
            "signal_accepted" => format!("left {}", data["leave"]),
            "command_ended" => format!("command {} {}", data["index"], data["code"]),
            _ => return None,
        };
        let intent = attempts[&data["attempt"].to_string()];
        Some(format!("{} {} {what}", intent["place"], intent["try"]))
    };
    events.iter().filter_map(work).collect()
}

/// Whoever works is behind the walls of the supervisor that drives the run. How many got them after all.
fn walls_are_the_starters(events: &[Value]) -> Result<usize, String> {
    let (mut walled, mut off, mut rewalled) = (BTreeMap::new(), false, 0);
    for event in events {
        let data = &event["data"];
        let attempt = data["attempt"].to_string();
        match event["kind"].as_str().unwrap() {
            "supervisor_started" => off = data["walls"]["off"] == true,
            "attempt_started" => drop(walled.insert(attempt, !data["walls"].is_null())),
            "attempt_rewalled" => {
                rewalled += 1;
                walled.insert(attempt, !data["walls"].is_null());
            }
            "session_opened" | "command_ended" if walled.get(&attempt) != Some(&!off) => {
                return Err(format!("{attempt} works behind walls of somebody else"));
            }
            _ => {}
        }
    }
    Ok(rewalled)
}

/// Each message of each session once.
fn tokens(events: &[Value]) -> u64 {
    let attempts = attempts(events);
    let mut messages: BTreeMap<String, u64> = BTreeMap::new();
    for data in events.iter().filter(|it| it["kind"] == "usage_reported").map(|it| &it["data"]) {
        let session = &attempts[&data["attempt"].to_string()]["session"];
        let parts = ["input", "output", "cache_read", "cache_write"];
        let sum = parts.iter().filter_map(|part| data["usage"][part].as_u64()).sum();
        messages.insert(format!("{session} {}", data["scope"]), sum);
    }
    messages.values().sum()
}
