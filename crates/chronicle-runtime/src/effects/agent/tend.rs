//! The threads that tend an agent.

use std::io::{self, Write};
use std::process::{ChildStderr, ChildStdin, ChildStdout};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::Duration;

use chronicle_core::event::input::AttemptReport;

use super::AgentShared;
use super::reading::AgentReader;
use crate::effects::STOP_GRACE;
use crate::effects::voice::Message;
use crate::effects::watchdog::{Bark, INTERRUPT_PATIENCE};
use crate::effects::worked::Worked;
use crate::process::{Control, Kept};
use crate::threads::spawn_waiting;

/// How long to wait for the last output after the agent is gone: an escaped process may hold the pipe.
const LAST_WORDS: Duration = Duration::from_secs(5);

/// Lines for the agent: those that it begins with, and those that come later.
pub(super) struct Outgoing {
    pub(super) opening: Vec<String>,
    pub(super) outbox: Receiver<Message>,
}

/// Threads that wait for an agent. They exist before it does: an agent that nobody can tend must not have begun to work.
pub(super) struct Tenders {
    write: SyncSender<(Option<ChildStdin>, Outgoing)>,
    read: SyncSender<(Arc<AgentShared>, ChildStdout, Control)>,
    stderr: SyncSender<(Arc<AgentShared>, ChildStderr)>,
    watch: SyncSender<(Arc<AgentShared>, Control)>,
    wait: SyncSender<(Arc<AgentShared>, Control)>,
}

impl Tenders {
    pub(super) fn start(idle: Option<Duration>) -> io::Result<Self> {
        let (done, all_read) = sync_channel::<()>(2);
        let said = done.clone();
        Ok(Self {
            // One thread per pipe: an agent that writes a lot before it reads would otherwise block, and so would we.
            write: spawn_waiting("write", |(stdin, lines)| write(stdin, &lines))?,
            read: spawn_waiting("read", move |(it, stdout, control)| {
                read(&it, stdout, &control);
                let _ = said.send(());
            })?,
            stderr: spawn_waiting("stderr", move |(it, stderr): (Arc<AgentShared>, _)| {
                it.read_stderr(stderr);
                let _ = done.send(());
            })?,
            watch: spawn_waiting("watch", move |(it, control)| watch(&it, &control, idle))?,
            wait: spawn_waiting("wait", move |(it, control)| wait(&it, &control, &all_read))?,
        })
    }

    /// Hands the agent over to them.
    pub(super) fn tend(self, shared: &Arc<AgentShared>, kept: Kept, lines: Outgoing) {
        let it = || Arc::clone(shared);
        let control = kept.control;
        // None of these fails or blocks: each thread waits for just this.
        let _ = self.write.send((kept.stdin, lines));
        let _ = self.read.send((it(), kept.stdout, control.clone()));
        let _ = self.stderr.send((it(), kept.stderr));
        let _ = self.watch.send((it(), control.clone()));
        let _ = self.wait.send((it(), control));
    }
}

/// Writes until nobody has more to say; then the agent's standard input ends.
fn write(stdin: Option<ChildStdin>, lines: &Outgoing) {
    let Some(mut stdin) = stdin else { return };
    let mut say = |line: &str| stdin.write_all(format!("{line}\n").as_bytes()).is_ok();
    if lines.opening.iter().all(|line| say(line)) {
        while let Ok(message) = lines.outbox.recv() {
            // One that came to nothing has no lines.
            let message = message.recv().unwrap_or_default();
            if !message.iter().all(|line| say(line)) {
                return;
            }
        }
    }
}

fn read(it: &Arc<AgentShared>, stdout: ChildStdout, control: &Control) {
    AgentReader::of(it).all(stdout, control);
    // The agent has closed its output. Closing its input as well makes it exit instead of waiting for another turn.
    it.voice.close();
}

fn watch(it: &Arc<AgentShared>, control: &Control, idle: Option<Duration>) {
    let mut worked = Worked::new(it.context.folder.worked(it.attempt));
    it.watchdog.watch(idle, |bark| match bark {
        Bark::Idle => it.reporter.tell(AttemptReport::Idle),
        Bark::Lingers => control.stop(STOP_GRACE),
        Bark::Deaf => control.stop(STOP_GRACE.saturating_sub(INTERRUPT_PATIENCE)),
        Bark::TimedOut(request) => it.withdrew(&request),
        Bark::Unproven => it.waited_in_vain(control),
        Bark::Moment => worked.keep(it.reporter.active_ms()),
    });
}

fn wait(it: &Arc<AgentShared>, control: &Control, all_read: &Receiver<()>) {
    let end = control.wait();
    // The watchdog ends before the last output is read: silence of a dead agent is no reason to stop it.
    it.watchdog.over();
    for _ in 0..2 {
        let _ = all_read.recv_timeout(LAST_WORDS);
    }
    // The last report of the attempt, after everything that it printed: later reports about it would be ignored.
    it.time.over();
    it.reporter.tell(AttemptReport::Ended(it.seen(end)));
}
