//! Runs that are watched from another process: all that happens, in order and typed, and what attempts say meanwhile.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails there")]

use std::fs;
use std::path::PathBuf;

use chronicle_core::base::ids::RunId;
use chronicle_core::state::Standing;
use chronicle_core::view::{RunView, TimelineEntry};
use chronicle_runtime::handle::{self, Asker, Bit, HandleError, News, Project, Watching};

use crate::link_yard::{CHRONICLE, LinkYard, Wire};

const WORKFLOW: &str = "
name: Main
phases:
  work: {next: [done]}
";

/// Tells a copy of the test binary where to ask.
const SOCKET: &str = "LINK_YARD_SOCKET";
/// A token as agents should not have them, and as nobody else may see it.
const TOKEN: &str = concat!("gh", "p_Ab3dEf6hIj9lMn2pQr5tUv8xYz1bCd4fGh7j");

fn watch(yard: &LinkYard, since: u64, activity: bool) -> Result<Option<Watching>, HandleError> {
    let folder = Project::at(yard.at("p")).run(RunId::from(yard.run().as_str()));
    let asker = Asker {
        who: "bob".to_owned(),
        command: "test".to_owned(),
        chronicle: PathBuf::from(CHRONICLE),
        signals: None,
        no_walls: false,
    };
    handle::watch(&folder, &asker, since, activity)
}

/// All that a watcher heard until the run rested.
#[derive(Default)]
struct All {
    entries: Vec<TimelineEntry>,
    seq: u64,
    view: Option<RunView>,
    bits: Vec<Bit>,
}

impl All {
    fn hear(&mut self, news: News) {
        match news {
            News::Update(update) => {
                assert!(update.entries.iter().all(|entry| entry.seq <= update.seq));
                self.seq = update.seq;
                self.entries.extend(update.entries);
                self.view = update.view.map(|view| (*view).clone()).or(self.view.take());
            }
            News::Activity(activity) => {
                assert_eq!((activity.at, activity.dropped), (self.bits.len() as u64, 0));
                self.bits.extend(activity.bits);
            }
        }
    }

    fn until(&mut self, watching: &mut Watching, is_enough: impl Fn(&Self) -> bool) {
        while !is_enough(self) {
            self.hear(watching.next().unwrap().unwrap());
        }
    }

    fn rest(mut self, watching: Watching) -> Self {
        watching.for_each(|news| self.hear(news.unwrap()));
        self
    }
}

#[test]
fn a_watcher_hears_all_from_any_line_on() {
    let script = format!(
        "work: [{{say: 'hello {TOKEN}'}}, {{touch: {{file: here}}}}, {{wait_for: {{file: go}}}}, {{transition: {{to: done, summary: x}}}}]"
    );
    let yard = LinkYard::new(WORKFLOW, &script);
    let mut supervisor = yard.supervisor();
    yard.until_touched("here");
    let mut watching = watch(&yard, 0, true).unwrap().unwrap();
    let mut all = All::default();
    all.until(&mut watching, |all| !all.bits.is_empty() && all.view.is_some());
    assert!(all.view.as_ref().is_some_and(|view| view.status == Standing::Running));
    let seen = all.seq;
    let mut late = watch(&yard, seen, false).unwrap().unwrap();
    let mut rest = All::default();
    rest.until(&mut late, |rest| rest.view.is_some());
    yard.touch("go");
    let (all, rest) = (all.rest(watching), rest.rest(late));
    assert_eq!(supervisor.code(), Some(0), "{}", supervisor.said());

    let log = yard.chronicle("bob", &["log", &yard.run(), "--json"]).good().out;
    let log: Vec<TimelineEntry> =
        log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(all.entries, log, "all of it, once and in order");
    let later: Vec<_> = log.iter().filter(|entry| entry.seq > seen).cloned().collect();
    assert!(!later.is_empty() && rest.entries == later, "what came after line {seen}");
    assert_eq!((all.seq, rest.seq), (log.last().unwrap().seq, all.seq));
    let last = all.view.unwrap();
    assert_eq!((last.status, last.seq), (Standing::Done, all.seq), "how it ended");
    let said: Vec<String> = all.bits.iter().map(|bit| format!("{bit:?}")).collect();
    assert!(said[0].starts_with("Said(\"hello") && !said.concat().contains(TOKEN), "{said:?}");
    assert_eq!(rest.bits, [], "it did not want to hear it");
    assert!(watch(&yard, 0, false).unwrap().is_none(), "nobody drives it any more");
}

#[test]
fn a_watcher_that_never_reads_costs_the_run_nothing() {
    let flood = "yes 'a line that nobody reads' | head -c 3000000";
    let workflow = format!(
        "name: Main\nphases:\n  wait: {{next: [flood]}}\n  flood: {{run: command, commands: [\"{flood}\"], next: [done]}}\n"
    );
    let script = "wait: [{touch: {file: here}}, {wait_for: {file: go}}, {transition: {to: flood, summary: x}}]";
    let yard = LinkYard::new(&workflow, script);
    let mut supervisor = yard.supervisor();
    yard.until_touched("here");
    let mut deaf: Vec<_> = (0..4).map(|_| yard.connect().greeted("bob")).collect();
    for watcher in &mut deaf {
        watcher.say(r#"{"id":1,"ask":{"watch":{"since":0,"activity":true}}}"#);
    }
    let all = watch(&yard, 0, false).unwrap().unwrap();
    yard.touch("go");
    let all = All::default().rest(all);
    assert_eq!(supervisor.code(), Some(0), "{}", supervisor.said());
    assert!(all.view.is_some_and(|view| view.status == Standing::Done), "others hear how it ends");
}

#[test]
fn a_worker_cannot_watch() {
    if let Some(socket) = std::env::var_os(SOCKET) {
        let mut wire = Wire::new(&PathBuf::from(socket)).greeted("eve");
        wire.say(r#"{"id":1,"ask":{"watch":{"since":0,"activity":true}}}"#);
        return fs::write("heard", wire.hear().to_string()).unwrap();
    }
    let test = std::env::current_exe().unwrap();
    let script = format!(
        "work:\n  - shell:\n      command: |\n        {SOCKET}=\"$(cat .chronicle/runs/$CHRONICLE_RUN/link)\" {} --exact {}\n  - transition: {{to: done, summary: x}}\n",
        test.display(),
        "link_watch::a_worker_cannot_watch >said 2>&1"
    );
    let yard = LinkYard::new(WORKFLOW, &script);
    let mut supervisor = yard.supervisor();
    assert_eq!(supervisor.code(), Some(0), "{} {}", supervisor.said(), yard.read("said"));
    assert_eq!(yard.read("heard"), r#"{"refused":{"text":"only a person watches a run"}}"#);
}
