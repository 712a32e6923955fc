//! The processes below a keeper, and how all of them are killed.

use std::collections::BTreeSet;
use std::time::Duration;

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions, WaitStatus, kill_process_group, wait};

use super::sweep::{CLEAN_SCANS, ROUND, count};
use super::table::{self, Process};

/// Rounds of killing, each at most [`ROUND`] long. What is left then counts as survivors.
const KILL_ROUNDS_MAX: u32 = 500;

/// What PID 1 of a wall starts first has this process id there.
const FIRST_INSIDE: u32 = 2;

/// Everything below this keeper.
pub(super) struct Tree {
    cookie: String,
    agent: Pid,
    /// PID 1 of the wall around the agent; the kernel ends everything behind it with it. The agent is then below, and `agent` is the
    /// outer side.
    init: Option<Process>,
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
    pub(super) fn new(cookie: String, agent: Pid, init: Option<u32>) -> Self {
        // An unknown start time is 0, so that no process is excluded by it.
        let since = table::read(std::process::id()).map_or(0, |keeper| keeper.started);
        let (asked, strays, servers) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
        let init = init.and_then(table::read);
        Self { cookie, agent, init, since, end: None, asked, strays, servers }
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
    /// continued. `tell` hears before the first signal who gets one.
    pub(super) fn ask_all(&mut self, tell: impl FnOnce(&[Process])) {
        // Only where there is no process table to read (not on Linux). The group is all that can be reached there.
        self.signal_group(Signal::TERM);
        let mut fresh = self.all();
        // A wall passes signals on: its agent would get a second one, which it may take for impatience.
        fresh.retain(|process| !self.asked.contains(process) && !self.is_wall(*process));
        // Before: as soon as the agent has ended, its wall asks whoever has not been asked.
        tell(&fresh);
        for process in fresh {
            // Looked at before: what has ended shows nothing any more.
            self.note_server(process);
            let is_stray = self.is_stray(process);
            if table::signal(process, Signal::TERM) {
                // A stopped process does not handle SIGTERM until it continues.
                table::signal(process, Signal::CONT);
                self.asked.insert(process);
                self.strays.extend(is_stray.then_some(process));
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
            self.kill_wall(&found);
            // Children before parents: a parent that sees its child die could start another one.
            for process in found.iter().rev() {
                self.note_server(*process);
                let is_stray = self.is_stray(*process);
                if table::signal(*process, Signal::KILL) {
                    self.strays.extend(is_stray.then_some(*process));
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

    /// Ends everything behind the wall at once. Counted before: what the kernel ends takes no signal from us any more.
    fn kill_wall(&mut self, found: &[Process]) {
        let Some(init) = self.init.filter(|init| found.contains(init)) else { return };
        for process in found {
            self.note_server(*process);
            let is_stray = self.is_stray(*process);
            self.strays.extend(is_stray.then_some(*process));
        }
        table::signal(init, Signal::KILL);
    }

    fn is_wall(&self, process: Process) -> bool {
        self.init.is_some() && (self.init == Some(process) || self.is_child(process))
    }

    fn is_child(&self, process: Process) -> bool {
        i32::try_from(process.pid) == Ok(self.agent.as_raw_nonzero().get())
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

    /// Whether it is neither the agent nor a part of its wall. Asked before it is signalled: what has ended shows nothing any more.
    fn is_stray(&self, process: Process) -> bool {
        let is_own = self.is_child(process) || self.is_wall(process);
        // The first process that a wall starts is the agent.
        let is_agent = || self.init.is_some() && table::id_inside(process) == Some(FIRST_INSIDE);
        !is_own && !is_agent()
    }

    /// Where processes cannot be listed, only the agent's process group is known.
    fn signal_group(&self, signal: Signal) {
        if cfg!(not(target_os = "linux")) {
            let _ = kill_process_group(self.agent, signal);
        }
    }
}
