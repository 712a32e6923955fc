//! The processes below a keeper, and how all of them are killed.

use std::collections::BTreeSet;
use std::time::Duration;

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions, WaitStatus, kill_process_group, wait};

use super::sweep::{CLEAN_SCANS, ROUND, count};
use super::table::{self, Process};

/// Rounds of killing, each at most [`ROUND`] long. What is left then counts as survivors.
const KILL_ROUNDS_MAX: u32 = 500;

/// Everything below this keeper.
pub(super) struct Tree {
    cookie: String,
    agent: Pid,
    /// Start time of the keeper. Older processes cannot carry its cookie, so their environment is not read; most processes on a
    /// machine are older.
    since: u64,
    end: Option<WaitStatus>,
    asked: BTreeSet<Process>,
    strays: BTreeSet<Process>,
    /// Those of them that the agent started because we told it to: nobody left them behind.
    servers: BTreeSet<Process>,
}

impl Tree {
    pub(super) fn new(cookie: String, agent: Pid) -> Self {
        // An unknown start time is 0, so that no process is excluded by it.
        let since = table::read(std::process::id()).map_or(0, |keeper| keeper.started);
        let (asked, strays, servers) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
        Self { cookie, agent, since, end: None, asked, strays, servers }
    }

    /// Exit status of the agent, once it was reaped.
    pub(super) fn agent_end(&self) -> Option<WaitStatus> {
        self.end
    }

    /// Number of processes besides the agent that were signalled.
    pub(super) fn strays(&self) -> u32 {
        count(self.strays.difference(&self.servers).count())
    }

    /// Reaps ended children. Returns true if any child is left. Every orphan below is adopted by the keeper, so no child means
    /// that nothing is left at all.
    pub(super) fn reap(&mut self) -> bool {
        loop {
            match wait(WaitOptions::NOHANG) {
                Ok(Some((pid, status))) if pid == self.agent => self.end = Some(status),
                // Adopted orphans are reaped too. Left as zombies, they would count as children for ever.
                Ok(Some(_)) | Err(Errno::INTR) => {}
                Ok(None) => return true,
                Err(_) => return false,
            }
        }
    }

    /// Sends SIGTERM to everything that has not got it yet, then SIGCONT: a stopped process handles a signal only when it is
    /// continued.
    pub(super) fn ask_all(&mut self) {
        // Only where there is no process table to read (not on Linux). The group is all that can be reached there.
        self.signal_group(Signal::TERM);
        for process in self.all() {
            if self.asked.contains(&process) {
                continue;
            }
            // Looked at before: what has ended shows nothing any more.
            self.note_server(process);
            if table::signal(process, Signal::TERM) {
                // A stopped process does not handle SIGTERM until it continues.
                table::signal(process, Signal::CONT);
                self.asked.insert(process);
                self.count_stray(process);
            }
        }
    }

    /// Kills everything, round after round. Returns how many would not die. `pause` waits until a child ends, at most for the
    /// given time.
    pub(super) fn kill_all(&mut self, mut pause: impl FnMut(Duration)) -> u32 {
        let mut clean_scans = 0;
        for _ in 0..KILL_ROUNDS_MAX {
            self.signal_group(Signal::KILL);
            // Read again in each round: a process that forks faster than we kill is caught by the next scan.
            let found = self.all();
            // Children before parents: a parent that sees its child die could start another one.
            for process in found.iter().rev() {
                self.note_server(*process);
                if table::signal(*process, Signal::KILL) {
                    self.count_stray(*process);
                }
            }
            // Two clean scans in a row are required: a process in the middle of an exec is invisible to one scan.
            let is_clean = !self.reap() && found.is_empty() && !self.is_stray_left();
            clean_scans = if is_clean { clean_scans + 1 } else { 0 };
            if clean_scans >= CLEAN_SCANS {
                return 0;
            }
            // A clean scan is confirmed at once: there is nothing whose end could be waited for.
            if !is_clean {
                pause(ROUND);
            }
        }
        count(self.all().len())
    }

    /// All processes below this one, and all with the cookie anywhere.
    fn all(&self) -> Vec<Process> {
        let own = std::process::id();
        let table = table::all();
        // Descendants need no cookie: one that cleared its environment is found by its place alone.
        let mut found = table::below(own, &table);
        for process in table.into_iter().map(|row| row.process) {
            let is_other = process.pid != own && !found.contains(&process);
            // A process that started before the keeper cannot have inherited its cookie.
            let is_later = process.started >= self.since;
            if is_other && is_later && table::has_cookie(process, &self.cookie) {
                found.push(process);
            }
        }
        found
    }

    /// A killed process may have no readable cookie any more and still need a moment to go.
    fn is_stray_left(&self) -> bool {
        self.strays.iter().any(|stray| table::read(stray.pid) == Some(*stray))
    }

    fn note_server(&mut self, process: Process) {
        if !self.strays.contains(&process) && table::is_signal_server(process) {
            self.servers.insert(process);
        }
    }

    fn count_stray(&mut self, process: Process) {
        if i32::try_from(process.pid) != Ok(self.agent.as_raw_nonzero().get()) {
            self.strays.insert(process);
        }
    }

    /// Where processes cannot be listed, only the agent's process group is known.
    fn signal_group(&self, signal: Signal) {
        if cfg!(not(target_os = "linux")) {
            let _ = kill_process_group(self.agent, signal);
        }
    }
}
