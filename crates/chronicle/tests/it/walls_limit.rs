//! The limit on processes behind a wall, which binds root too: by a group of the kernel's own, which is gone with the attempt.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up fails there")]
#![expect(clippy::print_stdout, reason = "what is not tried is told")]

use std::fs;
use std::path::{Path, PathBuf};

use chronicle_runtime::for_tests::process::wall::Group;
use serde_json::Value;

use super::session::{Session, inits, keepers, of_run, until};
use super::walled::{behind, is_gone, kill, with_worker};
use super::walls_yard::Who;

const TRICKS: &str = include_str!("walls_tricks.py");
const LIMITED: &str = "walls: {processes: 20}, ";

/// Whether root can be limited here. Found out by doing, and told if not.
pub(crate) fn has_groups() -> bool {
    let made = Group::here().and_then(|group| {
        let made = group.make(1);
        group.remove();
        made
    });
    if let Err(why) = &made {
        println!("SKIPPED: limits of root are not tried: {why}");
    }
    made.is_ok()
}

/// Everybody who can be limited on this machine.
fn limited() -> Vec<Who> {
    let all = Who::all().into_iter();
    all.filter(|who| *who == Who::Ordinary || has_groups()).collect()
}

/// The folders of the groups that the keepers of a run wrote down.
fn groups(session: &Session) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![session.run_file("")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            if entry.file_type().unwrap().is_dir() {
                folders.push(entry.path());
            } else if entry.path().extension().is_some_and(|it| it == "lock") {
                found.extend(noted(&entry.path()));
            }
        }
    }
    found
}

fn noted(lock: &Path) -> Option<PathBuf> {
    let text = fs::read_to_string(lock).ok()?;
    let mut lines = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    lines.find_map(|line| Some(line["group"]["folder"].as_str()?.into()))
}

fn assert_limited(session: &Session, who: Who) {
    let most: u32 = session.read("started").trim().parse().unwrap();
    assert!((10..=20).contains(&most), "{who:?}: {most}");
}

#[test]
fn needs_namespaces_needs_python3_a_worker_cannot_start_more_processes_than_it_may() {
    for who in limited() {
        let session = with_worker(who, LIMITED, "python3 tricks.py forks 40 > started");
        session.write("tricks.py", TRICKS);
        session.run().exits(0);
        assert_limited(&session, who);
        let groups = groups(&session);
        assert_eq!(groups.len(), usize::from(who == Who::Root), "{groups:?}");
        assert!(groups.iter().all(|group| !group.exists()), "{groups:?}");
        let handover = session.chronicle(&["handover"]).stdout;
        assert!(handover.contains("At most 20 processes and threads can run"), "{handover}");
        let status = session.chronicle(&["status"]).stdout;
        assert!(!status.contains("limit on processes"), "{status}");
    }
}

/// Raising the number, leaving the group, and mounting another view of it, where an agent's own sandbox may mount.
const RAISES: &str = r#"
for name in $(find /sys/fs/cgroup -name pids.max -o -name cgroup.procs -o -name tasks 2> /dev/null); do
    case "$name" in
        *pids.max) (echo max > "$name") 2> /dev/null && echo "$name" >> escaped ;;
        *) (echo $$ > "$name") 2> /dev/null && echo "$name" >> escaped ;;
    esac
done
mkdir -p seen
python3 raise.py 2>&1
python3 tricks.py forks 40 > started
true
"#;

/// Makes namespaces of its own, as a sandbox does, and mounts the groups in them: whoever was root keeps all files of root there. Starts at
/// most forty children.
const REMOUNTS: &str = r#"
import ctypes, os, signal
libc = ctypes.CDLL(None, use_errno=True)
if libc.unshare(0x10000000 | 0x00020000 | 0x02000000) != 0:
    raise SystemExit
first = libc.mount(b"none", b"seen", b"cgroup", 0, b"pids")
if first != 0 and libc.mount(b"none", b"seen", b"cgroup2", 0, None) != 0:
    raise SystemExit
open("mounted", "w").close()

def put(path, text):
    try:
        with open(path, "w") as file:
            file.write(text)
    except OSError:
        pass

def make(path):
    try:
        os.mkdir(path)
    except OSError:
        pass

for folder in [folder for folder, _, _ in os.walk("seen")]:
    make(folder + "/made")
    for here in [folder, folder + "/made"]:
        put(here + "/pids.max", "max")
        put(here + "/cgroup.procs", "0")
children = []
try:
    for _ in range(40):
        child = os.fork()
        if child == 0:
            signal.pause()
            os._exit(0)
        children.append(child)
except BlockingIOError:
    pass
put("started-inside", str(len(children)))
for child in children:
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
"#;

#[test]
fn needs_namespaces_needs_python3_nobody_raises_its_own_limit_or_leaves_it() {
    for who in limited() {
        for sandbox in ["", "own_sandbox: true, paths: [/sys/fs/cgroup], "] {
            let phase = format!("walls: {{{sandbox}processes: 20}}, ");
            let session = with_worker(who, &phase, RAISES);
            session.write("tricks.py", TRICKS);
            session.write("raise.py", REMOUNTS);
            session.run().exits(0);
            let escaped = session.has("escaped").then(|| session.read("escaped"));
            assert_eq!(escaped, None, "{who:?}");
            assert_limited(&session, who);
            // Behind Landlock nobody mounts.
            assert!(!sandbox.is_empty() || !session.has("mounted"), "{who:?}");
            if session.has("mounted") {
                let inside: u32 = session.read("started-inside").trim().parse().unwrap();
                assert!(inside <= 20, "{who:?}: {inside}");
            }
            println!("{who:?} could mount groups: {}", session.has("mounted"));
            assert!(groups(&session).iter().all(|group| !group.exists()));
        }
    }
}

/// Whoever removes a group may be killed. Who comes later does it.
#[test]
fn needs_namespaces_nothing_is_left_of_a_group_whose_keeper_and_supervisor_were_killed() {
    for who in limited() {
        for both in [true, false] {
            let script = "touch ready; while :; do sleep 1; done";
            let session = with_worker(who, LIMITED, script);
            let supervisor = session.spawn_run();
            until("the worker runs", || session.has("ready"));
            let run = session.run_id();
            let all = behind(inits(&run)[0]);
            let left = groups(&session);
            assert!(left.iter().all(|group| group.is_dir()), "{left:?}");
            if both {
                kill(supervisor.pid());
            }
            for keeper in keepers(&run) {
                kill(keeper);
            }
            until("all that was behind the wall is gone", || all.iter().all(|pid| is_gone(*pid)));
            session.write("worker.sh", "true");
            if both {
                supervisor.wait();
                session.chronicle(&["resume"]).exits(0);
            } else {
                supervisor.wait().exits(0);
            }
            until("nothing of the run is left", || of_run(&run).is_empty());
            assert_eq!(left.len(), usize::from(who == Who::Root), "{left:?}");
            let all = left.into_iter().chain(groups(&session));
            assert!(all.into_iter().all(|group| !group.exists()));
        }
    }
}
