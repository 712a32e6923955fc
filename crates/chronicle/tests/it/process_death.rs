//! Supervisors and keepers that are killed or stand still.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up fails there")]

use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Stdio};
use std::time::Duration;

use chronicle_runtime::for_tests::process::sweep::{Swept, await_keeper, by_cookie, sweep};
use chronicle_runtime::for_tests::process::{KeeperEnd, OutputLines, start};
use rustix::process::Signal;

use super::process_yard::{
    PATIENCE, Running, Yard, copy_of_tests, eventually, init_of, is_alive, order, signal, state,
    with_and_without_walls,
};

/// A stubborn tree: ignores TERM, a session of its own, and one without the cookie. Says the ids.
const TREE: &str = "trap '' TERM
    (setsid sh -c 'echo $$; read line; sleep 1000' &)
    (env -i /bin/sh -c 'echo $$; exec sleep 1000' &)
    echo $$; read line; sleep 1000";
const TREE_SIZE: usize = 3;
const COOKIE: &str = "YARD_COOKIE";
const FOLDER: &str = "YARD_FOLDER";
const LEASE: &str = "YARD_LEASE_MS";
const WALLED: &str = "YARD_WALLED";

with_and_without_walls! {
    a_killed_supervisor_takes_everything_with_it
    a_keeper_that_stands_still_goes_on_when_its_supervisor_is_killed
    a_keeper_that_stands_still_is_killed_with_all_below
    a_keeper_that_was_stopped_goes_on_by_itself
    a_frozen_supervisor_loses_its_lease
    a_lease_is_renewed
    the_agent_of_a_killed_keeper_dies_at_once
    a_keeper_that_does_not_obey_is_killed_with_all_below
    strays_of_a_killed_keeper_are_swept
}

/// Not a test by itself: the copy of this binary that is killed in the tests below.
#[test]
fn supervisor() {
    let (Ok(cookie), Some(folder)) = (std::env::var(COOKIE), std::env::var_os(FOLDER)) else {
        return;
    };
    let is_walled = std::env::var_os(WALLED).is_some();
    let mut order = order(&cookie, &PathBuf::from(folder), is_walled, TREE);
    order.lease = Duration::from_millis(std::env::var(LEASE).unwrap().parse().unwrap());
    let kept = start(&order).unwrap();
    println!("\nkeeper {}", kept.control.keeper_id());
    for line in OutputLines::new(kept.stdout).take(TREE_SIZE) {
        println!("tree {line:?}");
    }
    println!("end {:?}", kept.control.wait());
}

/// A supervisor in a process of its own.
struct Supervisor {
    child: Child,
    said: BufReader<ChildStdout>,
    keeper: u32,
    tree: Vec<u32>,
}

impl Supervisor {
    fn start(yard: &Yard, lease: Duration) -> Self {
        let mut command = copy_of_tests("process_death::supervisor");
        command.env(COOKIE, &yard.cookie).env(FOLDER, yard.folder.path());
        command.env(LEASE, lease.as_millis().to_string()).stdout(Stdio::piped());
        if yard.is_walled {
            command.env(WALLED, "1");
        }
        let mut child = command.spawn().unwrap();
        let mut said = BufReader::new(child.stdout.take().unwrap());
        let keeper = number(&after(&mut said, "keeper "));
        let mut named = || yard.named(number(&after(&mut said, "tree ")));
        let tree = (0..TREE_SIZE).map(|_| named()).collect();
        Self { child, said, keeper, tree }
    }

    fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    fn living(&self) -> Vec<u32> {
        let all = self.tree.iter().chain([&self.keeper]);
        all.copied().filter(|pid| is_alive(*pid)).collect()
    }
}

/// The rest of the next line that starts so; the test harness says things of its own.
fn after(said: &mut impl BufRead, start: &str) -> String {
    loop {
        let mut line = String::new();
        assert!(said.read_line(&mut line).unwrap() > 0, "no line starts with `{start}`");
        if let Some(rest) = line.strip_prefix(start) {
            return rest.trim().to_owned();
        }
    }
}

fn number(text: &str) -> u32 {
    let digits: String = text.chars().filter(char::is_ascii_digit).collect();
    digits.parse().unwrap_or_else(|_| panic!("no number in `{text}`"))
}

fn a_killed_supervisor_takes_everything_with_it(yard: &Yard) {
    let mut supervisor = Supervisor::start(yard, PATIENCE);
    assert_eq!(supervisor.living().len(), TREE_SIZE + 1);
    supervisor.kill();
    let swept = await_keeper(&yard.lock_file(), &yard.cookie, PATIENCE).unwrap();
    assert_eq!(swept, Swept::default(), "the keeper did it all");
    assert_eq!(supervisor.living(), Vec::<u32>::new());
    yard.assert_empty();
}

fn a_keeper_that_stands_still_goes_on_when_its_supervisor_is_killed(yard: &Yard) {
    let mut supervisor = Supervisor::start(yard, PATIENCE);
    signal(supervisor.keeper, Signal::STOP);
    eventually(&'T', || state(supervisor.keeper));
    supervisor.kill();
    // The kernel continues a stopped process group that has become an orphan.
    let swept = await_keeper(&yard.lock_file(), &yard.cookie, PATIENCE).unwrap();
    assert_eq!(swept, Swept::default());
    assert_eq!(supervisor.living(), Vec::<u32>::new());
}

fn a_keeper_that_stands_still_is_killed_with_all_below(yard: &Yard) {
    let mut supervisor = Supervisor::start(yard, PATIENCE);
    signal(supervisor.keeper, Signal::STOP);
    let swept = await_keeper(&yard.lock_file(), &yard.cookie, Duration::from_millis(50)).unwrap();
    assert!(swept.ended as usize > TREE_SIZE && swept.survivors == 0, "{swept:?}");
    assert_eq!(after(&mut supervisor.said, "end "), "KeeperDied");
    supervisor.child.wait().unwrap();
    assert_eq!(supervisor.living(), Vec::<u32>::new());
    yard.assert_empty();
}

/// Otherwise nobody would ever hear how the agent ended.
fn a_keeper_that_was_stopped_goes_on_by_itself(yard: &Yard) {
    let mut running = yard.start("echo up; read line; exit 3");
    assert_eq!(running.line(), "up");
    signal(running.control.keeper_id(), Signal::STOP);
    drop(running.stdin.take());
    assert_eq!(running.end(), super::process_yard::ended(3, 0));
}

/// The same for each of the two processes that hold a wall.
fn a_wall_goes_on_by_itself(pick: impl Fn(&Yard) -> u32) {
    let yard = Yard::walled();
    let mut running = yard.start("echo up; read line; exit 3");
    assert_eq!(running.line(), "up");
    signal(pick(&yard), Signal::STOP);
    drop(running.stdin.take());
    assert_eq!(running.end(), super::process_yard::ended(3, 0));
}

fn outer_of(yard: &Yard) -> u32 {
    let text = std::fs::read_to_string(yard.lock_file()).unwrap();
    let outer = text.lines().find(|line| line.starts_with(r#"{"agent""#));
    number(outer.unwrap_or_else(|| panic!("{text}")))
}

#[test]
fn needs_namespaces_a_wall_whose_first_process_was_stopped_goes_on_by_itself() {
    a_wall_goes_on_by_itself(|yard| init_of(&yard.lock_file()));
}

#[test]
fn needs_namespaces_a_wall_whose_outer_side_was_stopped_goes_on_by_itself() {
    a_wall_goes_on_by_itself(outer_of);
}

fn a_frozen_supervisor_loses_its_lease(yard: &Yard) {
    let mut supervisor = Supervisor::start(yard, Duration::from_millis(1500));
    signal(supervisor.child.id(), Signal::STOP);
    eventually(&Vec::new(), || by_cookie(&yard.cookie));
    let tree_lives = supervisor.tree.iter().any(|pid| is_alive(*pid));
    assert!(!tree_lives);
    signal(supervisor.child.id(), Signal::CONT);
    let end = after(&mut supervisor.said, "end ");
    assert!(end.starts_with("LeaseRanOut"), "{end}");
    supervisor.child.wait().unwrap();
}

fn a_lease_is_renewed(yard: &Yard) {
    let mut order = yard.order("sleep 3; exit 4");
    order.lease = Duration::from_secs(1);
    assert_eq!(Running::start(&order).end(), super::process_yard::ended(4, 0));
}

fn the_agent_of_a_killed_keeper_dies_at_once(yard: &Yard) {
    let mut running = yard.start("trap '' TERM; echo $$; read line");
    let agent = running.pid();
    signal(running.control.keeper_id(), Signal::KILL);
    // Nobody has swept: only the kernel can have done it.
    eventually(&false, || is_alive(agent));
    assert_eq!(running.end(), KeeperEnd::KeeperDied);
}

fn a_keeper_that_does_not_obey_is_killed_with_all_below(yard: &Yard) {
    let mut running = yard.start(TREE);
    let tree = [running.pid(), running.pid(), running.pid()];
    signal(running.control.keeper_id(), Signal::STOP);
    running.control.stop(Duration::ZERO);
    assert_eq!(running.end(), KeeperEnd::KeeperDied);
    eventually(&[false; TREE_SIZE], || tree.map(is_alive));
    yard.assert_empty();
}

fn strays_of_a_killed_keeper_are_swept(yard: &Yard) {
    let mut running = yard.start(
        "trap '' TERM; setsid sh -c 'echo $$; read line; sleep 1000; :' & echo $$; read line; wait",
    );
    let pids = [running.pid(), running.pid()];
    signal(running.control.keeper_id(), Signal::KILL);
    assert_eq!(running.end(), KeeperEnd::KeeperDied);
    assert_eq!(pids.map(is_alive), [false; 2]);
    yard.assert_empty();
}

/// Kills one of the two processes that hold the wall around a stubborn tree.
fn nothing_is_left_without(pick: impl Fn(&Yard) -> u32) {
    let yard = Yard::walled();
    let mut running = yard.start(TREE);
    let tree = [running.pid(), running.pid(), running.pid()];
    assert_eq!(tree.map(is_alive), [true; TREE_SIZE]);
    signal(pick(&yard), Signal::KILL);
    // How many the keeper still found depends on how fast the kernel was.
    let end = running.end();
    let KeeperEnd::Ended { code: None, signal: Some(9), survivors: 0, stopped: false, .. } = end
    else {
        panic!("{end:?}")
    };
    assert_eq!(tree.map(is_alive), [false; TREE_SIZE]);
    yard.assert_empty();
}

#[test]
fn needs_namespaces_a_wall_whose_first_process_is_killed_ends_the_agent() {
    nothing_is_left_without(|yard| init_of(&yard.lock_file()));
}

#[test]
fn needs_namespaces_a_wall_whose_outer_side_is_killed_ends_the_agent() {
    nothing_is_left_without(outer_of);
}

/// A process that stands for the first one behind a wall, and a lock file that somebody's keeper left.
fn left_by_a_keeper(
    yard: &Yard,
    cookie: &str,
    change: impl Fn(u64, &str) -> (u64, String),
) -> Child {
    let child = std::process::Command::new("sleep").arg("1000").spawn().unwrap();
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", child.id())).unwrap();
    let started = stat.rsplit_once(") ").unwrap().1.split(' ').nth(19).unwrap().parse().unwrap();
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap();
    let (started, boot) = change(started, boot.trim());
    let keeper = format!(r#"{{"keeper":{{"pid":{},"started":1,"cookie":"{cookie}"}}}}"#, u32::MAX);
    let init =
        format!(r#"{{"init":{{"pid":{},"started":{started},"boot":"{boot}"}}}}"#, child.id());
    std::fs::write(yard.lock_file(), format!("{keeper}\n{init}\n")).unwrap();
    child
}

/// Another supervisor comes later, when only the lock file tells of the wall. Nothing of it has the cookie any more.
#[test]
fn what_a_dead_keeper_noted_of_its_wall_is_ended() {
    let yard = Yard::new();
    let as_it_is = |started, boot: &str| (started, boot.to_owned());
    let mut init = left_by_a_keeper(&yard, &yard.cookie, as_it_is);
    let swept = await_keeper(&yard.lock_file(), &yard.cookie, PATIENCE).unwrap();
    assert_eq!(swept, Swept { ended: 1, survivors: 0 });
    assert_eq!(init.wait().unwrap().code(), None);
}

#[test]
fn a_stranger_that_has_the_id_of_a_wall_lives() {
    type Change = fn(u64, &str) -> (u64, String);
    let others: [(&str, Change); 3] = [
        ("another start", |started, boot| (started + 1, boot.to_owned())),
        ("another boot", |started, _| (started, "another".to_owned())),
        ("another attempt", |started, boot| (started, boot.to_owned())),
    ];
    for (what, change) in others {
        let yard = Yard::new();
        let cookie = if what == "another attempt" { "theirs" } else { yard.cookie.as_str() };
        let mut stranger = left_by_a_keeper(&yard, cookie, change);
        let swept = await_keeper(&yard.lock_file(), &yard.cookie, PATIENCE).unwrap();
        assert_eq!(swept, Swept::default(), "{what}");
        assert!(is_alive(stranger.id()), "{what}");
        stranger.kill().unwrap();
        stranger.wait().unwrap();
    }
}

#[test]
fn a_supervisor_that_dies_before_the_word_starts_nothing() {
    let yard = Yard::new();
    let (ours, theirs) = std::os::unix::net::UnixStream::pair().unwrap();
    let keeper = std::process::Command::new(env!("CARGO_BIN_EXE_chronicle"))
        .args(["keeper", "by-hand"])
        .stdin(std::os::fd::OwnedFd::from(theirs))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let folder = os(yard.folder.path().to_str().unwrap());
    let lock = os(yard.lock_file().to_str().unwrap());
    let touch = format!("[{},{},{}]", os("touch"), os("started"), os("too"));
    let order = format!(
        r#"{{"cookie":"{}","lock_file":{lock},"lease_ms":60000,"cwd":{folder},"argv":{touch},"env_set":{{}},"stdin":{}}}"#,
        yard.cookie,
        os("/dev/null"),
    );
    writeln!(&ours, "{order}").unwrap();
    let mut answer = String::new();
    BufReader::new(&ours).read_line(&mut answer).unwrap();
    assert_eq!(answer, "\"ready\"\n");
    drop(ours);
    let output = keeper.wait_with_output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert!(!yard.folder.path().join("started").exists());
    yard.assert_empty();
}

fn os(text: &str) -> String {
    format!(r#"{{"Unix":{:?}}}"#, text.as_bytes())
}

#[test]
fn nothing_to_wait_for_is_no_error() {
    let yard = Yard::new();
    let swept = await_keeper(&yard.lock_file(), &yard.cookie, Duration::ZERO).unwrap();
    assert_eq!(swept, Swept::default());
}

#[test]
fn a_lock_that_a_stranger_holds_is_an_error_and_the_stranger_lives() {
    let yard = Yard::new();
    let file = std::fs::File::create(yard.lock_file()).unwrap();
    file.lock().unwrap();
    // A reused process id: ours, but with another start time.
    let holder = format!(
        r#"{{"keeper":{{"pid":{},"started":1,"cookie":"{}"}}}}"#,
        std::process::id(),
        yard.cookie
    );
    std::fs::write(yard.lock_file(), holder).unwrap();
    let error = await_keeper(&yard.lock_file(), &yard.cookie, Duration::ZERO).unwrap_err();
    let wanted = format!(
        "`{}` is still locked, and not by the keeper that it names",
        yard.lock_file().display()
    );
    assert_eq!(error.to_string(), wanted);
}

#[test]
fn a_sweep_spares_other_cookies_and_takes_what_is_below() {
    let (mine, other) = (Yard::new(), Yard::new());
    let mut bystander = other.start("echo up; read line; exit 0");
    assert_eq!(bystander.line(), "up");
    let mut loose = std::process::Command::new("/bin/sh")
        .args(["-c", "env -i sleep 1000 & echo $!; wait; read line"])
        .env("CHRONICLE_COOKIE", &mine.cookie)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(loose.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let without_cookie = number(&line);
    assert_eq!(sweep(&mine.cookie), Swept { ended: 2, survivors: 0 });
    loose.wait().unwrap();
    assert!(!is_alive(without_cookie));
    assert!(is_alive(bystander.control.keeper_id()));
    assert_eq!(sweep(&mine.cookie), Swept::default());
    drop(bystander.stdin.take());
    assert_eq!(bystander.end(), super::process_yard::ended(0, 0));
}
