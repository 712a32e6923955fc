//! The table of live processes, and signals that cannot hit the wrong one.

use rustix::process::{Pid, Signal};

/// One process. Its start time makes it unique: process ids are reused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Process {
    /// May be reused after the process has ended.
    pub pid: u32,
    /// When it started, in the kernel's ticks since boot.
    pub started: u64,
}

/// A process and its parent, which changes when the parent ends.
#[derive(Debug, Clone, Copy)]
pub(super) struct ProcessRow {
    pub(super) process: Process,
    parent: u32,
}

impl Process {
    fn raw(self) -> Option<Pid> {
        Pid::from_raw(i32::try_from(self.pid).ok()?)
    }
}

/// Those of `all` that descend from `root`, parents before their children.
pub(super) fn below(root: u32, all: &[ProcessRow]) -> Vec<Process> {
    let mut found: Vec<Process> = children(root, all).collect();
    let mut next = 0;
    while next < found.len() {
        // The table is not read atomically, so it may contain a cycle.
        let fresh: Vec<_> =
            children(found[next].pid, all).filter(|child| !found.contains(child)).collect();
        found.extend(fresh);
        next += 1;
    }
    found
}

fn children(parent: u32, all: &[ProcessRow]) -> impl Iterator<Item = Process> {
    all.iter().filter(move |row| row.parent == parent).map(|row| row.process)
}

/// Start time of that process; `None` if it does not live.
pub(crate) fn started(pid: u32) -> Option<u64> {
    read(pid).map(|process| process.started)
}

pub(super) use system::{
    all, boot, has_cookie, id_inside, is_signal_server, read, signal, stands_still, wait_gone,
    waits_for_pipe,
};

#[cfg(target_os = "linux")]
mod system {
    use std::fs::{self, File};
    use std::io::Read;
    use std::path::PathBuf;
    use std::time::Instant;

    use rustix::event::{PollFd, PollFlags};
    use rustix::io::Errno;
    use rustix::process::{PidfdFlags, kill_process, pidfd_open, pidfd_send_signal};

    use super::super::image;
    use super::super::order::COOKIE_VARIABLE;
    use super::super::wire;
    use super::{Process, ProcessRow, Signal};

    /// Most bytes of an environment that are searched; the kernel allows no more.
    const ENVIRON_MAX: u64 = 8 * 1024 * 1024;
    /// Enough for most environments and for every line of the table. Such files do not report their size, and reading them in
    /// small pieces took most of the time of a short run.
    const USUAL_BYTES: usize = 8 * 1024;
    /// Where the kernel lets a process wait that opens a named pipe.
    const PIPE_WAITS: [&str; 2] = ["wait_for_partner", "fifo_open"];

    /// Reads every live process from the kernel.
    pub(in super::super) fn all() -> Vec<ProcessRow> {
        let Ok(folder) = fs::read_dir("/proc") else { return Vec::new() };
        folder
            .flatten()
            .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
            .filter_map(read_row)
            .collect()
    }

    /// One process, if it lives.
    pub(in super::super) fn read(pid: u32) -> Option<Process> {
        read_row(pid).map(|row| row.process)
    }

    /// A leader that ended while its threads run still counts as live.
    fn read_row(pid: u32) -> Option<ProcessRow> {
        let stat = whole(pid, "stat")?;
        let stat = String::from_utf8_lossy(&stat);
        // The name is in parentheses and may contain any character, so the split is at the last one.
        let fields: Vec<&str> = stat.rsplit_once(") ")?.1.split(' ').collect();
        // Counted from the state, which is field 3 in `proc(5)`: the threads are field 20, the start is field 22.
        let threads: u32 = fields.get(17)?.parse().ok()?;
        let is_over = matches!(*fields.first()?, "Z" | "X") && threads <= 1;
        let started = fields.get(19)?.parse().ok()?;
        let parent = fields.get(1)?.parse().ok()?;
        (!is_over).then_some(ProcessRow { process: Process { pid, started }, parent })
    }

    fn whole(pid: u32, name: &str) -> Option<Vec<u8>> {
        let file = File::open(format!("/proc/{pid}/{name}")).ok()?;
        let mut bytes = Vec::with_capacity(USUAL_BYTES);
        file.take(ENVIRON_MAX).read_to_end(&mut bytes).ok()?;
        Some(bytes)
    }

    /// True if somebody stopped it by a signal. Whoever traces it has a reason to, and is let be.
    pub(in super::super) fn stands_still(pid: u32) -> bool {
        let stat = whole(pid, "stat").unwrap_or_default();
        let stat = String::from_utf8_lossy(&stat);
        stat.rsplit_once(") ").is_some_and(|(_, fields)| fields.starts_with('T'))
    }

    /// True if the environment that a process was started with has the cookie.
    pub(in super::super) fn has_cookie(process: Process, cookie: &str) -> bool {
        let Some(environ) = whole(process.pid, "environ") else { return false };
        environ.split(|byte| *byte == 0).any(|variable| {
            variable
                .strip_prefix(COOKIE_VARIABLE.as_bytes())
                .and_then(|rest| rest.strip_prefix(b"="))
                == Some(cookie.as_bytes())
        })
    }

    /// Whether it is our own program, as an agent starts it for its signals.
    pub(in super::super) fn is_signal_server(process: Process) -> bool {
        let words = whole(process.pid, "cmdline").unwrap_or_default();
        // By its file as well as its words: anybody can call a program so, and what a worker left behind must be counted.
        let is_server = words.split(|byte| *byte == 0).nth(1) == Some(b"mcp");
        let exe = |of: &str| PathBuf::from(format!("/proc/{of}/exe"));
        is_server && image::is_same(&exe("self"), &exe(&process.pid.to_string()))
    }

    /// The process id that it has in the namespace below ours, behind the wall of an agent. It may have more of them in deeper ones.
    pub(in super::super) fn id_inside(process: Process) -> Option<u32> {
        let status = String::from_utf8(whole(process.pid, "status")?).ok()?;
        let ids = status.lines().find_map(|line| line.strip_prefix("NSpid:"))?;
        ids.split_ascii_whitespace().nth(1)?.parse().ok()
    }

    /// Names this boot of the machine; empty if it has no name.
    pub(in super::super) fn boot() -> String {
        let name = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
        name.trim().to_owned()
    }

    /// True if one of its threads waits for the other end of a named pipe to be opened. False where the kernel does not tell.
    pub(in super::super) fn waits_for_pipe(process: Process) -> bool {
        let threads = fs::read_dir(format!("/proc/{}/task", process.pid)).into_iter().flatten();
        let waits = |thread: fs::DirEntry| {
            let at = fs::read_to_string(thread.path().join("wchan")).unwrap_or_default();
            PIPE_WAITS.contains(&at.trim())
        };
        threads.flatten().any(waits)
    }

    /// Sends a signal to this exact process. Returns true if it was sent.
    pub(in super::super) fn signal(process: Process, signal: Signal) -> bool {
        let Some(pid) = process.raw() else { return false };
        match pidfd_open(pid, PidfdFlags::empty()) {
            // The descriptor refers to one process for good, so the check after it stays true.
            Ok(pidfd) => is_same(process) && pidfd_send_signal(pidfd, signal).is_ok(),
            Err(Errno::SRCH) => false,
            // An old kernel without pidfds: the gap between check and signal is as small as possible.
            Err(_) => is_same(process) && kill_process(pid, signal).is_ok(),
        }
    }

    /// Waits until this process has ended or the time is over.
    pub(in super::super) fn wait_gone(process: Process, until: Instant) {
        let pidfd = process.raw().map(|pid| pidfd_open(pid, PidfdFlags::empty()));
        match pidfd {
            // Compared after it was opened: before that, the id could still pass to another process.
            Some(Ok(pidfd)) if is_same(process) => {
                let _ = wire::wait_until(&mut [PollFd::new(&pidfd, PollFlags::IN)], Some(until));
            }
            Some(Ok(_) | Err(Errno::SRCH)) | None => {}
            Some(Err(_)) => std::thread::sleep(until.saturating_duration_since(Instant::now())),
        }
    }

    fn is_same(process: Process) -> bool {
        read(process.pid).is_some_and(|now| now.started == process.started)
    }
}

/// Without `/proc`, processes are only found by their id.
#[cfg(not(target_os = "linux"))]
mod system {
    use std::time::Instant;

    use rustix::process::{kill_process, test_kill_process};

    use super::{Process, ProcessRow, Signal};

    pub(in super::super) fn all() -> Vec<ProcessRow> {
        Vec::new()
    }

    pub(in super::super) fn read(pid: u32) -> Option<Process> {
        let process = Process { pid, started: 0 };
        test_kill_process(process.raw()?).is_ok().then_some(process)
    }

    pub(in super::super) fn stands_still(_pid: u32) -> bool {
        false
    }

    pub(in super::super) fn has_cookie(_process: Process, _cookie: &str) -> bool {
        false
    }

    pub(in super::super) fn is_signal_server(_process: Process) -> bool {
        false
    }

    pub(in super::super) fn id_inside(_process: Process) -> Option<u32> {
        None
    }

    pub(in super::super) fn boot() -> String {
        String::new()
    }

    pub(in super::super) fn waits_for_pipe(_process: Process) -> bool {
        false
    }

    pub(in super::super) fn signal(process: Process, signal: Signal) -> bool {
        process.raw().is_some_and(|pid| kill_process(pid, signal).is_ok())
    }

    pub(in super::super) fn wait_gone(_process: Process, until: Instant) {
        std::thread::sleep(until.saturating_duration_since(Instant::now()));
    }
}
