//! Notifies people: through a command of the user's, or a POST to an address. Only the end of a drive waits for it.
//!
//! At most once: a notice that was due when a supervisor died may have been sent, so it is reported as unknown and never sent
//! again.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io::{Read, Write};
use std::sync::Arc;
use std::sync::mpsc::sync_channel;
use std::time::Duration;

use chronicle_core::definition::settings::Settings;
use chronicle_core::event::input::{Input, Report};
use chronicle_core::event::notice::{About, Failed, Missed, NoticeGiven, Way};
use chronicle_core::state::State;
use chronicle_core::state::effect::{Action, Effect};
use chronicle_core::view;

use super::Context;
use crate::fail::{self, Point};
use crate::inbox::{InboxMessage, reported};
use crate::process::{
    self, KeeperEnd, KeeperOrder, Kept, OutputLines, ReadLine, Ring, shell_argv, sweep,
};
use crate::threads;

/// Time limit of one way to notify.
const TIME_MAX: Duration = Duration::from_secs(10);
/// How much of what a way says about its failure is kept.
const SAID_LINES: usize = 3;
const SAID_BYTES: usize = 300;

/// Notices that are being sent here.
pub(super) struct Notices {
    context: Arc<Context>,
    /// Notices that were due before this supervisor started.
    unknown: BTreeSet<About>,
    running: BTreeSet<About>,
}

/// A way to notify people: a program and its input.
struct Teller {
    way: Way,
    argv: Vec<OsString>,
    input: String,
}

/// True if these settings configure a way to notify people.
pub(crate) fn notifies(settings: &Settings) -> bool {
    settings.text(COMMAND).or_else(|| settings.text(WEBHOOK)).is_some()
}

const COMMAND: &str = "notify.command";
const WEBHOOK: &str = "notify.webhook";

impl Notices {
    pub(super) fn new(context: Arc<Context>, state: &State) -> Self {
        // Owed when this supervisor started, so an earlier one may have sent it.
        let unknown = state.notices.owed.iter().map(|owed| owed.about).collect();
        Self { context, unknown, running: BTreeSet::new() }
    }

    /// Drops notices that are no longer due.
    pub(super) fn keep(&mut self, due: &[Effect]) {
        let is_due = |about: &About| due.iter().any(|it| it.action == Action::Notify(*about));
        self.running.retain(is_due);
    }

    pub(super) fn is_idle(&self) -> bool {
        self.running.is_empty()
    }

    /// Sends it on a thread of its own, unless it is being sent or may have been.
    pub(super) fn perform(&mut self, state: &State, about: About) -> Option<Input> {
        let cookie = self.context.cookies.notice(about);
        // Already being sent: the effect stays due until its report is decided.
        if !self.running.insert(about) {
            return None;
        }
        if self.unknown.contains(&about) {
            // An earlier supervisor may have died while sending. Its process is killed, and because the notice may have gone
            // out, it is not sent again.
            sweep::sweep(&cookie);
            return Some(given(NoticeGiven::missed(about, Missed::Unknown)));
        }
        let nothing = NoticeGiven { about, given: Vec::new(), failed: Vec::new(), missed: None };
        let told = nothing.clone();
        // Made from this state, before the thread begins: the run goes on meanwhile, and the notice is about now.
        let body = view::notice(state, about).and_then(|it| serde_json::to_string(&it).ok());
        let context = Arc::clone(&self.context);
        let tellers = body.map_or_else(Vec::new, |body| tellers(&context.settings, &body));
        let tell = move || {
            fail::at(Point::BeforeNotice);
            let told = tellers.into_iter().fold(told, |told, teller| {
                let way = teller.way;
                with(told, way, teller.tell(&context, about, &cookie))
            });
            fail::at(Point::AfterNotice);
            // If the driver is gone, the report is not needed: the next supervisor treats the notice as unknown.
            let _ = context.inbox.send(InboxMessage::Input(Box::new(given(told)), None));
        };
        let thread = threads::spawn("notice", tell);
        let failed = || with(nothing, Way::Command, Err("no thread to tend it".to_owned()));
        thread.is_err().then(|| given(failed()))
    }
}

fn given(notice: NoticeGiven) -> Input {
    reported(Report::NoticeGiven(notice))
}

fn with(mut told: NoticeGiven, way: Way, how: Result<(), String>) -> NoticeGiven {
    match how {
        Ok(()) => told.given.push(way),
        Err(why) => told.failed.push(Failed { way, why }),
    }
    told
}

fn tellers(settings: &Settings, body: &str) -> Vec<Teller> {
    let command = settings.text(COMMAND).map(|command| Teller {
        way: Way::Command,
        argv: shell_argv(command),
        input: format!("{body}\n"),
    });
    let webhook = settings.text(WEBHOOK).map(|url| Teller {
        way: Way::Webhook,
        // The address may contain a secret, and arguments are visible in the process list. So it is passed on stdin.
        argv: vec!["curl".into(), "--config".into(), "-".into()],
        input: curl_config(url, body),
    });
    command.into_iter().chain(webhook).collect()
}

/// Configuration for `curl`, in its own file format.
fn curl_config(url: &str, body: &str) -> String {
    // curl's own limit, beside ours: it then reports which part took too long.
    let seconds = TIME_MAX.as_secs();
    // Only these protocols: an address such as `file:` must not make curl read a file. Without `globoff` it would take brackets
    // in an address for a pattern.
    format!(
        "url = {}\ndata-raw = {}\nheader = \"Content-Type: application/json\"\nheader = \"User-Agent: chronicle\"\n\
         proto = \"=http,https\"\noutput = \"/dev/null\"\nmax-time = {seconds}\nsilent\nshow-error\nfail\ngloboff\n",
        quoted(url),
        quoted(body)
    )
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

impl Teller {
    /// Runs it to its end under a keeper, so that it dies with us.
    fn tell(self, context: &Context, about: About, cookie: &str) -> Result<(), String> {
        let folder = &context.folder;
        // A lock of its own for each notice: several may be sent at the same time.
        let lock = folder.keepers().join(format!("notice-{about}.lock"));
        let mut order =
            KeeperOrder::new(cookie.to_owned(), lock, folder.project.clone(), self.argv);
        order.chronicle.clone_from(&context.chronicle);
        order.env_set.insert("CHRONICLE_RUN".to_owned(), folder.id.to_string());
        // Under a keeper, although it is no agent: a notifier that hangs must not outlive the supervisor.
        let kept = process::start(&order).map_err(|error| error.to_string())?;
        let (end, said) = followed(kept, self.input).map_err(|error| error.to_string())?;
        let text = |what: String| {
            let said = said.trim();
            if said.is_empty() { what } else { format!("{what}: {said}") }
        };
        let why = match end {
            KeeperEnd::Ended { code: Some(0), stopped: false, .. } => return Ok(()),
            KeeperEnd::Ended { stopped: true, .. } => {
                text(format!("it took longer than {} seconds", TIME_MAX.as_secs()))
            }
            KeeperEnd::Ended { code: Some(code), .. } => text(format!("exit code {code}")),
            KeeperEnd::Ended { signal, .. } => text(format!("signal {}", signal.unwrap_or(0))),
            KeeperEnd::CannotStart { text } => text,
            KeeperEnd::LeaseRanOut { .. } | KeeperEnd::KeeperDied => {
                "its keeper died; it is unknown whether the notice was sent".to_owned()
            }
        };
        let why = match context.settings.text(WEBHOOK) {
            // The error text goes to the ledger, and may quote the address.
            // Before the redactor, which cannot know that this address is secret.
            Some(url) => why.replace(url, "the address"),
            None => why,
        };
        Err(context.redactor.redact(&why).into_owned())
    }
}

/// Writes its input, reads its output, and kills it when its time is over.
fn followed(mut kept: Kept, input: String) -> std::io::Result<(KeeperEnd, String)> {
    let stdin = kept.stdin.take();
    // On a thread of its own: a program that does not read its input would keep us beyond its time.
    threads::spawn("notice-input", move || {
        if let Some(mut stdin) = stdin {
            let _ = stdin.write_all(input.as_bytes());
        }
    })?;
    let mut stdout = kept.stdout;
    // Read and dropped, so that a talkative notifier does not block on a full pipe.
    let discard = move || std::io::copy(&mut stdout.by_ref(), &mut std::io::sink());
    threads::spawn("notice-output", discard)?;
    let (told, heard) = sync_channel(1);
    let stderr = kept.stderr;
    threads::spawn("notice-talk", move || {
        let mut ring = Ring::new(SAID_LINES, SAID_BYTES);
        for line in OutputLines::new(stderr).map_while(Result::ok) {
            if let ReadLine::Line(text) | ReadLine::NotUtf8 { text } = line {
                ring.push(text);
            }
        }
        let _ = told.send(ring.text());
    })?;
    let control = kept.control.clone();
    let (ended, end) = sync_channel(1);
    threads::spawn("notice-end", move || ended.send(control.wait()))?;
    let end = end.recv_timeout(TIME_MAX).unwrap_or_else(|_| {
        kept.control.stop(Duration::ZERO);
        // The thread above still waits for the same end. Whoever comes second gets the one that is kept.
        kept.control.wait()
    });
    // The keeper has killed everything that could hold its output open.
    Ok((end, heard.recv_timeout(TIME_MAX).unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_curl_reads_is_the_address_and_the_words_themselves() {
        let config = curl_config("https://host/a\"b\\c", r#"{"text":"say \"no\""}"#);
        let lines: Vec<&str> = config.lines().collect();
        assert_eq!(lines[0], r#"url = "https://host/a\"b\\c""#);
        assert_eq!(lines[1], r#"data-raw = "{\"text\":\"say \\\"no\\\"\"}""#);
    }
}
