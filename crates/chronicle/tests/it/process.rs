//! How agents end, and that nothing of them is left.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up fails there")]

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io::{Read, Write};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::PermissionsExt as _;
use std::time::Duration;

use chronicle_runtime::for_tests::process::{KeeperEnd, SpawnError, start};
use rustix::process::{Signal, WaitOptions};

use super::process_yard::{
    AMPLE, Running, Yard, alone, ended, eventually, is_alive, killed, signal,
    with_and_without_walls,
};

with_and_without_walls! {
    an_exit_code_is_told
    the_end_is_told_to_everybody_who_waits
    a_deadly_signal_is_told
    the_agent_gets_its_own_folder_environment_and_arguments
    the_agent_inherits_its_streams_and_nothing_of_the_keeper
    a_stray_grandchild_is_ended_with_the_agent
    a_child_in_a_session_of_its_own_is_ended
    a_daemon_is_ended
    a_child_without_the_cookie_is_ended_as_long_as_it_is_below
    what_bears_the_cookie_beside_the_keeper_is_ended
    stop_lets_an_agent_end_in_its_own_way
    a_tree_that_ignores_term_is_killed
    a_stopped_child_hears_the_stop
    a_stopped_agent_that_ignores_term_is_killed
    the_keeper_takes_term_as_a_stop_and_no_notice_of_a_terminal
    a_dropped_agent_is_ended
    a_program_that_is_not_there_cannot_start
    an_agent_that_exits_as_if_it_were_not_there_has_ended
    streams_are_the_agents_alone
    many_keepers_at_once_leave_nothing
    everybody_hears_a_stop_once_and_has_time_to_tidy_up
    an_agent_that_had_ended_was_not_stopped
    a_killed_agent_leaves_nothing
}

fn an_exit_code_is_told(yard: &Yard) {
    assert_eq!(yard.start("exit 7").end(), ended(7, 0));
    yard.assert_empty();
}

fn the_end_is_told_to_everybody_who_waits(yard: &Yard) {
    let mut running = yard.start("read line; exit 3");
    let waiters: Vec<_> = (0..3)
        .map(|_| {
            let control = running.control.clone();
            std::thread::spawn(move || control.wait())
        })
        .collect();
    drop(running.stdin.take());
    for waiter in waiters {
        assert_eq!(waiter.join().unwrap(), ended(3, 0));
    }
}

fn a_deadly_signal_is_told(yard: &Yard) {
    let end = yard.start("kill -SEGV $$").end();
    let signal = Some(Signal::SEGV.as_raw());
    let wanted = KeeperEnd::Ended { code: None, signal, strays: 0, survivors: 0, stopped: false };
    assert_eq!(end, wanted);
}

fn the_agent_gets_its_own_folder_environment_and_arguments(yard: &Yard) {
    let mut order = yard.order(
        r#"pwd; echo "$ADDED-$CARGO_MANIFEST_DIR-$CHRONICLE_COOKIE"; printf %s "$0" | od -An -tx1"#,
    );
    order.env_set.insert("ADDED".into(), "yes".into());
    order.env_set.insert("CHRONICLE_COOKIE".into(), "stolen".into());
    order.env_remove.push("CARGO_MANIFEST_DIR".into());
    order.argv.push(OsString::from_vec(b"a\xffb c".to_vec()));
    let mut running = Running::start(&order);
    assert_eq!(running.line(), yard.folder.path().canonicalize().unwrap().display().to_string());
    assert_eq!(running.line(), format!("yes--{}", yard.cookie));
    assert_eq!(running.line(), " 61 ff 62 20 63");
    assert_eq!(running.end(), ended(0, 0));
}

fn the_agent_inherits_its_streams_and_nothing_of_the_keeper(yard: &Yard) {
    let script = "ls /proc/self/fd | sort -n | tr '\\n' ' '; echo; grep SigIgn /proc/self/status";
    let mut running = yard.start(script);
    // A wall closes what others left open.
    let mut numbers = if yard.is_walled { BTreeSet::new() } else { inheritable_files() };
    numbers.extend([0, 1, 2]);
    // The folder that `ls` reads.
    let lowest_free = (0..1_000).find(|number| !numbers.contains(number)).unwrap();
    numbers.insert(lowest_free);
    let wanted: Vec<_> = numbers.iter().map(ToString::to_string).collect();
    assert_eq!(running.line().trim(), wanted.join(" "));
    let line = running.line();
    let ignored = u64::from_str_radix(line.trim_start_matches("SigIgn:").trim(), 16).unwrap();
    for signal in [Signal::PIPE, Signal::TERM, Signal::CHILD] {
        assert_eq!(ignored & (1 << (signal.as_raw() - 1)), 0, "{signal:?} is ignored");
    }
}

/// Files that whoever started the tests left open for all below.
fn inheritable_files() -> BTreeSet<u32> {
    let is_inheritable = |number: &u32| {
        let info = std::fs::read_to_string(format!("/proc/self/fdinfo/{number}"));
        let flags = info.unwrap_or_default();
        let flags = flags.lines().find_map(|line| line.strip_prefix("flags:")).map(str::trim);
        flags.is_some_and(|flags| u32::from_str_radix(flags, 8).unwrap() & 0o2_000_000 == 0)
    };
    let files = std::fs::read_dir("/proc/self/fd").unwrap().flatten();
    let numbers = files.map(|file| file.file_name().to_str().unwrap().parse().unwrap());
    numbers.filter(is_inheritable).collect()
}

fn a_stray_grandchild_is_ended_with_the_agent(yard: &Yard) {
    let mut running = yard.start("sh -c 'sleep 1000 & echo $!' ; exit 5");
    let stray = running.pid();
    assert_eq!(running.end(), ended(5, 1));
    assert!(!is_alive(stray));
    yard.assert_empty();
}

fn a_child_in_a_session_of_its_own_is_ended(yard: &Yard) {
    let mut running = yard.start("setsid sh -c 'echo $$; exec sleep 1000' & read line");
    let stray = running.pid();
    drop(running.stdin.take());
    // `read` at the end of its input fails, and so does the shell.
    assert_eq!(running.end(), ended(1, 1));
    assert!(!is_alive(stray));
    yard.assert_empty();
}

fn a_daemon_is_ended(yard: &Yard) {
    let mut running =
        yard.start("(setsid sh -c '(echo up; exec sleep 1000) &' &); read line; exit 0");
    assert_eq!(running.line(), "up");
    drop(running.stdin.take());
    assert_eq!(running.end(), ended(0, 1));
    yard.assert_empty();
}

fn a_child_without_the_cookie_is_ended_as_long_as_it_is_below(yard: &Yard) {
    let mut running = yard.start(
        "(env -i /usr/bin/setsid /bin/sh -c 'echo $$; exec sleep 1000' &); read line; exit 0",
    );
    let stray = running.pid();
    drop(running.stdin.take());
    assert_eq!(running.end(), ended(0, 1));
    assert!(!is_alive(stray));
}

/// What somebody else started for the agent, as the server of a terminal does, is found by the cookie alone.
fn what_bears_the_cookie_beside_the_keeper_is_ended(yard: &Yard) {
    let mut running = yard.start("echo up; read line; exit 0");
    assert_eq!(running.line(), "up");
    let mut beside = std::process::Command::new("sleep")
        .arg("1000")
        .env("CHRONICLE_COOKIE", &yard.cookie)
        .spawn()
        .unwrap();
    drop(running.stdin.take());
    assert_eq!(running.end(), ended(0, 1));
    assert_eq!(beside.wait().unwrap().code(), None);
    yard.assert_empty();
}

fn stop_lets_an_agent_end_in_its_own_way(yard: &Yard) {
    let mut running = yard.start("trap 'echo bye; exit 9' TERM; echo up; while :; do read line || wait; sleep 1000 & wait; done");
    assert_eq!(running.line(), "up");
    let end = running.stop(AMPLE);
    assert_eq!(running.line(), "bye");
    let KeeperEnd::Ended { code: Some(9), stopped: true, .. } = end else { panic!("{end:?}") };
    yard.assert_empty();
}

/// The agent goes at once, its child needs some time. Whoever asks it a second time is heard by its trap.
fn everybody_hears_a_stop_once_and_has_time_to_tidy_up(yard: &Yard) {
    let script = r#"sh -c '
            trap "echo term >>child" TERM
            echo up
            while ! test -s child; do sleep 0.01; done
            sleep 0.3; sleep 0.3
            echo tidy >>child' &
        trap 'echo term >>agent; exit 9' TERM
        read line
        echo up
        while :; do sleep 0.01; done"#;
    let mut running = yard.start(script);
    assert_eq!(running.line(), "up");
    drop(running.stdin.take());
    assert_eq!(running.line(), "up");
    let end = running.stop(AMPLE);
    let KeeperEnd::Ended { code: Some(9), strays: 1.., survivors: 0, stopped: true, .. } = end
    else {
        panic!("{end:?}")
    };
    let read = |name: &str| std::fs::read_to_string(yard.folder.path().join(name)).unwrap();
    assert_eq!((read("agent").as_str(), read("child").as_str()), ("term\n", "term\ntidy\n"));
    yard.assert_empty();
}

/// A stop that comes while what the agent left has its time to end.
fn an_agent_that_had_ended_was_not_stopped(yard: &Yard) {
    let script = "sh -c 'trap \"echo asked >>asked\" TERM; echo up; while :; do :; done' &
        read line; exit 5";
    let mut running = yard.start(script);
    assert_eq!(running.line(), "up");
    drop(running.stdin.take());
    let asked = yard.folder.path().join("asked");
    eventually(&true, || asked.exists());
    assert_eq!(running.stop(Duration::ZERO), ended(5, 1));
    assert_eq!(std::fs::read_to_string(asked).unwrap(), "asked\n");
    yard.assert_empty();
}

fn a_killed_agent_leaves_nothing(yard: &Yard) {
    let mut running = yard.start("setsid sleep 1000 & echo $!; echo $$; wait");
    let (stray, agent) = (running.pid(), running.pid());
    signal(agent, Signal::KILL);
    let wanted = KeeperEnd::Ended {
        code: None,
        signal: Some(Signal::KILL.as_raw()),
        strays: 1,
        survivors: 0,
        stopped: false,
    };
    assert_eq!(running.end(), wanted);
    assert!(!is_alive(stray));
    yard.assert_empty();
}

fn a_tree_that_ignores_term_is_killed(yard: &Yard) {
    let script = r#"trap '' TERM HUP INT
        sh -c 'echo $$; sh -c "echo \$\$; sleep 1000; :"; :' &
        echo $$; wait; read line"#;
    let mut running = yard.start(script);
    let pids = [running.pid(), running.pid(), running.pid()];
    let end = running.stop(Duration::from_millis(50));
    let KeeperEnd::Ended { signal: Some(9), strays: 2.., survivors: 0, stopped: true, .. } = end
    else {
        panic!("{end:?}")
    };
    assert_eq!(pids.map(is_alive), [false; 3]);
    yard.assert_empty();
}

fn a_stopped_child_hears_the_stop(yard: &Yard) {
    let mut running = yard.start("sh -c 'echo $$; kill -STOP $$; sleep 1000' & echo $$; wait");
    running.pid();
    running.pid();
    let end = running.stop(AMPLE);
    let KeeperEnd::Ended { signal: Some(15), survivors: 0, stopped: true, .. } = end else {
        panic!("{end:?}")
    };
    yard.assert_empty();
}

fn a_stopped_agent_that_ignores_term_is_killed(yard: &Yard) {
    let mut running = yard.start("trap '' TERM; echo up; kill -STOP $$; read line");
    assert_eq!(running.line(), "up");
    assert_eq!(running.stop(Duration::from_millis(50)), killed(Signal::KILL, 0));
    yard.assert_empty();
}

fn the_keeper_takes_term_as_a_stop_and_no_notice_of_a_terminal(yard: &Yard) {
    let mut running = yard.start("echo up; exec sleep 1000");
    assert_eq!(running.line(), "up");
    let keeper = running.control.keeper_id();
    for harmless in [Signal::INT, Signal::HUP, Signal::QUIT] {
        signal(keeper, harmless);
    }
    signal(keeper, Signal::TERM);
    assert_eq!(running.end(), killed(Signal::TERM, 0));
}

fn a_dropped_agent_is_ended(yard: &Yard) {
    let mut running = yard.start("trap '' TERM; setsid sleep 1000 & echo up; read line; wait");
    assert_eq!(running.line(), "up");
    drop(running);
    yard.assert_empty();
}

fn a_program_that_is_not_there_cannot_start(yard: &Yard) {
    let cannot = |argv: &[&str], cwd: Option<&str>| {
        let mut order = yard.order("");
        order.argv = argv.iter().map(OsString::from).collect();
        order.cwd = cwd.map_or(order.cwd, Into::into);
        match Running::start(&order).end() {
            KeeperEnd::CannotStart { text } => text,
            end => panic!("{end:?}"),
        }
    };
    assert_eq!(
        cannot(&["no-such-agent"], None),
        "cannot start `no-such-agent`: no such program in PATH"
    );
    assert_eq!(cannot(&["./gone"], None), "cannot start `./gone`: no such file");
    assert_eq!(
        cannot(&["/etc/passwd"], None),
        "cannot start `/etc/passwd`: Permission denied (os error 13)"
    );
    assert_eq!(
        cannot(&["true"], Some("/no/such/folder")),
        "cannot enter the folder `/no/such/folder`: No such file or directory (os error 2)"
    );
    let bad = yard.folder.path().join("bad");
    std::fs::write(&bad, "#!/no/such/interpreter\n").unwrap();
    assert_eq!(cannot(&["./bad"], None), "cannot start `./bad`: Permission denied (os error 13)");
    std::fs::set_permissions(&bad, std::fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(
        cannot(&["./bad"], None),
        "cannot start `./bad`: the interpreter that it names does not exist"
    );
    let huge = "x".repeat(200_000);
    assert_eq!(
        cannot(&["echo", &huge], None),
        "cannot start `echo`: Argument list too long (os error 7)"
    );
}

fn an_agent_that_exits_as_if_it_were_not_there_has_ended(yard: &Yard) {
    assert_eq!(yard.start("exit 127").end(), ended(127, 0));
}

#[test]
fn a_keeper_that_cannot_keep_is_an_error() {
    let yard = Yard::new();
    let _first = yard.start("read line");
    let error = start(&yard.order("exit 0")).unwrap_err().to_string();
    let lock_file = yard.lock_file();
    let lock_file = lock_file.display();
    assert_eq!(
        error,
        format!("the keeper refused: cannot lock `{lock_file}`: another keeper holds it")
    );

    let mut order = yard.order("exit 0");
    order.chronicle = "/bin/false".into();
    let error = start(&order).unwrap_err();
    assert_eq!(error.to_string(), "the keeper `/bin/false` did not become ready");
    order.chronicle = "/no/such/chronicle".into();
    assert!(matches!(start(&order), Err(SpawnError::Keeper { .. })));
    order.argv.clear();
    assert!(matches!(start(&order), Err(SpawnError::NoProgram)));
}

fn streams_are_the_agents_alone(yard: &Yard) {
    let mut running = yard.start("exec 0<&- 1>&-; echo closed >&2; exec sleep 1000");
    let mut word = [0; 7];
    running.stderr.read_exact(&mut word).unwrap();
    assert_eq!(&word, b"closed\n");
    assert!(running.lines.next().is_none(), "stdout is closed while the agent lives");
    let error = running.stdin.as_mut().unwrap().write_all(b"anybody?").unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::BrokenPipe);
    assert_eq!(running.stop(AMPLE), killed(Signal::TERM, 0));
}

fn many_keepers_at_once_leave_nothing(yard: &Yard) {
    alone(&yard.test("process", "many_keepers_at_once_leave_nothing"), || {
        // The first one starts what stays: the thread that renews the leases.
        yard.another().start("exit 0").end();
        let before = open_files();
        let start = || {
            let yard = yard.another();
            std::thread::spawn(move || start_and_stop(&yard))
        };
        let threads: Vec<_> = (0..20).map(|_| start()).collect();
        for thread in threads {
            thread.join().unwrap();
        }
        assert_eq!(open_files(), before);
        let children = rustix::process::wait(WaitOptions::NOHANG);
        assert_eq!(children.unwrap_err(), rustix::io::Errno::CHILD, "none is left to be reaped");
    });
}

fn start_and_stop(yard: &Yard) {
    let mut running = yard.start("setsid sleep 1000 & echo up; wait");
    assert_eq!(running.line(), "up");
    let end = running.stop(AMPLE);
    assert!(matches!(end, KeeperEnd::Ended { survivors: 0, stopped: true, .. }), "{end:?}");
    yard.assert_empty();
}

fn open_files() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}
