//! Those who mean no good at the link: workers who would be people, and clients who would stop the run.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails there")]

use std::fs;
use std::io::Write;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use chronicle_core::event::input::Answer;
use chronicle_runtime::for_tests::link::{Ask, Client};
use rustix::process::{Pid, Signal, kill_process};

use crate::link_yard::{CHRONICLE, LinkYard, hear, run_args, until};

const WORKFLOW: &str = "
name: Main
phases:
  work: {next: [done]}
";

const WAITS: &str =
    "work: [{touch: {file: here}}, {wait_for: {file: go}}, {transition: {to: done, summary: x}}]";

/// As many as a supervisor listens to at once.
const CLIENTS_MAX: usize = 64;
/// As many of them as may watch.
const WATCHERS_MAX: usize = 16;
/// Tells a copy of the test binary where to say its piece.
const SOCKET: &str = "LINK_YARD_SOCKET";

/// A run whose worker is at work, and does no harm.
fn at_work() -> (LinkYard, crate::link_yard::Live) {
    let yard = LinkYard::new(WORKFLOW, WAITS);
    let supervisor = yard.supervisor();
    yard.until_touched("here");
    (yard, supervisor)
}

fn signal(pid: u32, signal: Signal) {
    kill_process(Pid::from_raw(pid.cast_signed()).unwrap(), signal).unwrap();
}

#[test]
fn a_worker_gives_no_persons_commands() {
    let bare = "env -i PATH=\"$PATH\" HOME=\"$HOME\" XDG_RUNTIME_DIR=\"$XDG_RUNTIME_DIR\"";
    let ask = |how: &str, name: &str, end: &str| {
        let asked = format!("{CHRONICLE} cancel $RUN");
        format!(
            "{{ {how} {asked} >{name} 2>&1; echo code $? >>{name}; mv {name} {name}.told; }} {end}"
        )
    };
    let tricks = [
        "RUN=$CHRONICLE_RUN".to_owned(),
        ask("", "plain", ""),
        ask("env -u CHRONICLE_ATTEMPT", "unnamed", ""),
        ask(bare, "bare", ""),
        ask(&format!("setsid {bare}"), "session", ""),
        format!("( ( {} ) & )", ask(&format!("setsid -w {bare}"), "orphan", "")),
    ];
    let script = format!(
        "work:\n  - shell:\n      command: |\n        {}\n  - wait_for: {{file: orphan.told}}\n  - transition: {{to: done, summary: x}}\n",
        tricks.join("\n        ")
    );
    let yard = LinkYard::new(WORKFLOW, &script);
    let mut supervisor = yard.supervisor();
    assert_eq!(supervisor.code(), Some(0), "{}", supervisor.said());
    for name in ["plain", "unnamed", "bare", "session", "orphan"] {
        let told = yard.read(&format!("{name}.told"));
        assert!(told.contains("a person's command") && !told.contains("code 0"), "{name}: {told}");
    }
    assert!(!yard.ledger().contains("run_cancelled"));
}

/// In a user namespace the environment of the processes above cannot be read: whoever is in one is nobody.
#[test]
fn who_hides_in_a_user_namespace_is_no_person() {
    let probe = std::process::Command::new("unshare").args(["-Ur", "true"]).output();
    if !probe.is_ok_and(|ran| ran.status.success()) {
        println!("SKIPPED: this machine allows no user namespaces");
        return;
    }
    let script = "work: [{complete: {summary: worked}}]";
    let session = crate::session::Session::with(
        "{name: Gate, phases: {work: {approval: after, next: [done]}}}",
        script,
    );
    session.run().exits(4);
    let run = session.short();
    let said = session.shell(&format!("unshare -Ur chronicle approve {run}")).exits(2);
    assert!(said.stderr.contains("person"), "{}", said.stderr);
    assert!(session.events_of("gate_answered").is_empty());
    session.chronicle(&["approve", &run]).exits(0);
}

/// A worker's process may say its piece, leave the connection to another and be gone before anybody looks who it was.
#[test]
#[expect(clippy::zombie_processes, reason = "the heir is left behind on purpose")]
fn a_process_that_is_gone_is_not_taken_for_a_person() {
    if let Some(socket) = std::env::var_os(SOCKET) {
        let mut stream = UnixStream::connect(socket).unwrap();
        let asks = concat!(
            "{\"link\":2,\"who\":\"ann\"}\n",
            r#"{"id":1,"ask":{"command":{"is":"cancel","data":{"reason":""}}}}"#,
            "\n"
        );
        stream.write_all(asks.as_bytes()).unwrap();
        let mut heir = std::process::Command::new("cat");
        heir.stdin(OwnedFd::from(stream)).stdout(fs::File::create("heard").unwrap());
        heir.spawn().unwrap();
        return;
    }
    let test = std::env::current_exe().unwrap();
    let say = format!(
        "env -i PATH=\"$PATH\" {SOCKET}=\"$(cat .chronicle/runs/$CHRONICLE_RUN/link)\" setsid -w {} --exact {}",
        test.display(),
        "link_hostile::a_process_that_is_gone_is_not_taken_for_a_person"
    );
    let script = format!(
        "work:\n  - shell:\n      command: |\n        : >here; read x <say; {say} >said 2>&1; : >gone\n  - wait_for: {{file: go}}\n  - transition: {{to: done, summary: x}}\n"
    );
    let yard = LinkYard::new(WORKFLOW, &script);
    hear(yard.command("mkfifo", "ann").arg("say")).good();
    let mut supervisor = yard.supervisor();
    yard.until_touched("here");
    signal(supervisor.pid(), Signal::STOP);
    fs::write(yard.at("p/say"), "now\n").unwrap();
    yard.until_touched("gone");
    signal(supervisor.pid(), Signal::CONT);
    until("it was answered", || yard.read("heard").lines().count() == 2);
    assert!(yard.read("heard").contains("and a worker gave it"), "{}", yard.read("heard"));
    yard.touch("go");
    assert_eq!(supervisor.code(), Some(0), "{} {}", supervisor.said(), yard.read("said"));
    assert!(yard.read("said").contains("1 passed"), "it has said its piece: {}", yard.read("said"));
    assert!(!yard.ledger().contains("run_cancelled"));
}

/// However many connections a worker holds, a person is heard.
#[test]
fn a_worker_cannot_take_all_the_room() {
    if let Some(socket) = std::env::var_os(SOCKET) {
        let held: Vec<UnixStream> =
            (0..CLIENTS_MAX).map(|_| UnixStream::connect(&socket).unwrap()).collect();
        let mut kept = 0;
        for mut stream in &held {
            stream.set_read_timeout(Some(Duration::from_mins(1))).unwrap();
            let mut first = [0; 8];
            std::io::Read::read_exact(&mut stream, &mut first).unwrap();
            let greeted = stream.write_all(b"{\"link\":2,\"who\":\"eve\"}\n");
            kept += usize::from(first == *b"{\"link\":" && greeted.is_ok());
        }
        assert!((1..CLIENTS_MAX).contains(&kept), "{kept} were let in");
        fs::write("held", "").unwrap();
        until("the person is done", || fs::exists("go").unwrap());
        return;
    }
    let test = std::env::current_exe().unwrap();
    let script = format!(
        "work:\n  - shell:\n      command: |\n        {SOCKET}=\"$(cat .chronicle/runs/$CHRONICLE_RUN/link)\" {} --exact {}\n",
        test.display(),
        "link_hostile::a_worker_cannot_take_all_the_room >said 2>&1"
    );
    let yard = LinkYard::new(WORKFLOW, &script);
    let mut supervisor = yard.supervisor();
    until("it holds what it can", || {
        yard.at("p/held").exists() || yard.read("said").contains("FAILED")
    });
    yard.chronicle("bob", &["pause", &yard.run()]).good();
    yard.touch("go");
    assert_eq!(supervisor.code(), Some(130), "{} {}", supervisor.said(), yard.read("said"));
}

#[test]
fn a_person_is_served_however_many_idle_clients_there_are() {
    let (yard, mut supervisor) = at_work();
    let mut clients: Vec<_> = (0..CLIENTS_MAX).map(|_| yard.connect().greeted("bob")).collect();
    // Those who set the scene may not be gone yet: the first few make way for them.
    for client in &mut clients[8..] {
        assert_eq!(client.ping(), "here");
    }
    let mut newest = yard.connect().greeted("cy");
    assert_eq!(newest.ping(), "here");
    assert_eq!(clients[0].hear(), serde_json::Value::Null, "the longest silent one made way");
    assert_eq!(clients[8].ping(), "here");
    yard.chronicle("bob", &["pause", &yard.run()]).good();
    assert_eq!(supervisor.code(), Some(130), "{}", supervisor.said());
}

#[test]
fn watchers_leave_room_for_others() {
    let (yard, mut supervisor) = at_work();
    let mut watchers: Vec<_> = (0..=WATCHERS_MAX).map(|_| yard.connect().greeted("bob")).collect();
    for watcher in &mut watchers {
        watcher.say(r#"{"id":2,"ask":{"watch":{"since":0,"activity":true}}}"#);
    }
    let turned_away = |watcher: &mut crate::link_yard::Wire| {
        let heard = watcher.hear();
        heard["refused"]["text"] == "too many watch this run"
    };
    yard.chronicle("bob", &["pause", &yard.run()]).good();
    let count = watchers.iter_mut().map(turned_away).filter(|it| *it).count();
    assert_eq!(count, 1, "all others see the run pause");
    assert_eq!(supervisor.code(), Some(130), "{}", supervisor.said());
}

/// A copied run folder carries the note of the run that it was copied from.
#[test]
fn a_copy_of_a_run_does_not_reach_the_original() {
    let (yard, mut supervisor) = at_work();
    let original = yard.at("p/.chronicle/runs").join(yard.run());
    let other_name = yard.at("p/.chronicle/runs/01997f3a-0000-7000-8000-0000c0ffee99");
    let other_place = yard.at("home").join(yard.run());
    for copy in [other_name, other_place] {
        fs::create_dir(&copy).unwrap();
        for name in ["ledger.jsonl", "link"] {
            fs::copy(original.join(name), copy.join(name)).unwrap();
        }
        assert!(Client::connect(&copy, "bob").unwrap().is_none(), "{}", copy.display());
    }
    let mut client = Client::connect(&original, "bob").unwrap().unwrap();
    assert!(matches!(client.ask(Ask::Ping).unwrap(), Some(Answer::Accepted(_))));
    yard.touch("go");
    assert_eq!(supervisor.code(), Some(0), "{}", supervisor.said());
}

#[test]
fn a_client_that_never_reads_stops_nobody() {
    let (yard, mut supervisor) = at_work();
    let mut deaf = yard.connect().greeted("bob");
    let stream = deaf.stream.get_mut();
    stream.set_write_timeout(Some(Duration::from_millis(20))).unwrap();
    let flood = "{\"id\":1,\"ask\":\"ping\"}\n".repeat(1_000);
    while stream.write_all(flood.as_bytes()).is_ok() {}
    let mut watcher = yard.connect().greeted("cy");
    watcher.say(r#"{"id":2,"ask":{"watch":{"since":0,"activity":true}}}"#);
    assert_eq!(yard.connect().greeted("eve").ping(), "here");
    yard.touch("go");
    assert_eq!(supervisor.code(), Some(0), "{}", supervisor.said());
}

#[test]
fn a_line_without_an_end_is_cut_off() {
    let (yard, mut supervisor) = at_work();
    for greeted in [false, true] {
        let mut wire = yard.connect();
        if greeted {
            wire = wire.greeted("bob");
        }
        let chunk = vec![b'x'; 1 << 20];
        let sent = (0..100).take_while(|_| wire.stream.get_mut().write_all(&chunk).is_ok()).count();
        assert!(sent < 100, "it took all of it");
    }
    let memory = fs::read_to_string(format!("/proc/{}/status", supervisor.pid())).unwrap();
    let most = memory.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    let most: u64 = most.trim().trim_end_matches(" kB").parse().unwrap();
    assert!(most < 80_000, "it kept {most} kB");
    yard.touch("go");
    assert_eq!(supervisor.code(), Some(0), "{}", supervisor.said());
}

#[test]
fn nonsense_is_refused_and_changes_nothing() {
    let (yard, mut supervisor) = at_work();
    for nonsense in [
        "",
        "{}",
        "null",
        "[1]",
        "{\"id\":1}",
        "{\"id\":-1,\"ask\":\"ping\"}",
        "\u{0}",
        "{\"id\":1,\"ask\":\"start\"}",
        "{\"id\":1,\"ask\":{\"command\":{\"is\":\"fly\"}}}",
        "{\"id\":1,\"ask\":{\"command\":{\"is\":\"start\",\"data\":{}}}}",
        "{\"id\":1,\"ask\":{\"watch\":{\"since\":-1,\"activity\":false}}}",
    ] {
        let mut wire = yard.connect().greeted("bob");
        wire.say(nonsense);
        let heard = wire.hear();
        let text = heard["refused"]["text"].as_str().unwrap_or_default();
        assert!(text.starts_with("not understood"), "{nonsense:?}: {heard}");
    }
    let mut wire = yard.connect().greeted("bob");
    for (ask, why) in [
        (
            r#"{"signal":{"request":"r","tool":"workflow_transition","arguments":{"target_state":"done"}}}"#,
            "only a worker of this run can signal",
        ),
        (
            r#"{"command":{"is":"signal","data":{"attempt":"a1","request":"r","signal":{"is":"status"}}}}"#,
            "only a worker of this run can signal, with its own secret",
        ),
        (
            r#"{"command":{"is":"undo","data":{"what":"it","from":"0a","to":"0b"}}}"#,
            "files can be restored only while the run is not being driven: pause it first",
        ),
        (
            r#"{"report":{"is":"supervisor_leaves"}}"#,
            "only the host that performs an attempt can report about it, and none does",
        ),
    ] {
        assert_eq!(wire.ask(ask), why, "{ask}");
    }
    let mut named = yard.connect().greeted(&format!("b\\u001b[31m{}", "o".repeat(100_000)));
    assert_eq!(named.ask(r#"{"command":{"is":"pause","data":{"reason":"x"}}}"#), "paused");
    assert_eq!(supervisor.code(), Some(130), "{}", supervisor.said());
    let ledger = yard.ledger();
    assert!(!ledger.contains("u001b") && ledger.len() < 50_000, "names are kept short and plain");
}

#[test]
fn sockets_live_where_nobody_else_can_go() {
    let (yard, _supervisor) = at_work();
    let folder = yard.at("run/chronicle");
    assert_eq!(fs::metadata(&folder).unwrap().mode() & 0o777, 0o700);
    assert_eq!(yard.socket().unwrap().parent(), Some(folder.as_path()));
}

/// Answers everybody as the supervisor of the newest run would, and counts what it was asked.
fn impostor(yard: &LinkYard, answered: &std::sync::Arc<std::sync::atomic::AtomicUsize>) {
    use std::io::BufRead;
    let socket = yard.at("run/impostor.sock");
    let folder = yard.at("p/.chronicle/runs").join(yard.run()).canonicalize().unwrap();
    let hello =
        serde_json::json!({"link": 2, "chronicle": "0.1.0", "run": yard.run(), "folder": folder});
    let listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    fs::write(yard.run_file("link"), socket.as_os_str().as_encoded_bytes()).unwrap();
    let answered = std::sync::Arc::clone(answered);
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let _ = writeln!(stream, "{hello}");
            let asks = std::io::BufReader::new(stream.try_clone().unwrap()).lines().skip(1);
            for _ in asks.map_while(Result::ok) {
                answered.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
                let _ = writeln!(
                    stream,
                    r#"{{"answer":{{"id":1,"answer":{{"is":"accepted","data":"cancelled"}}}}}}"#
                );
            }
        }
    });
}

/// The note that says where the supervisor listens is in the project, where a worker can write.
#[test]
fn only_the_process_that_holds_the_lock_is_believed() {
    let (yard, mut supervisor) = at_work();
    let answered = std::sync::Arc::default();
    let note = fs::read(yard.run_file("link")).unwrap();
    impostor(&yard, &answered);
    let pid = std::process::id();
    for command in ["cancel", "pause"] {
        let heard = yard.chronicle("bob", &[command, &yard.run()]);
        heard.refused(&format!("process {pid} answers for this run, and is not its supervisor"));
        heard.refused(&format!("`kill -TERM {}` pauses the run", supervisor.pid()));
        assert_eq!(heard.code, Some(6), "{heard:?}");
    }
    // What the lock's file says is in the project too.
    let lock = fs::read_to_string(yard.run_file("lock")).unwrap();
    let forged = lock.replace(&format!("\"pid\":{}", supervisor.pid()), &format!("\"pid\":{pid}"));
    assert_ne!(lock, forged);
    fs::write(yard.run_file("lock"), &forged).unwrap();
    let heard = yard.chronicle("bob", &["cancel", &yard.run()]);
    assert_ne!(heard.code, Some(0), "{heard:?}");
    fs::write(yard.run_file("lock"), lock).unwrap();
    assert_eq!(
        answered.load(std::sync::atomic::Ordering::SeqCst),
        0,
        "nobody asked it for anything"
    );
    // A signal to the process itself pauses it all the same; what was forged makes it stop at the latest.
    fs::write(yard.run_file("link"), note).unwrap();
    yard.chronicle("bob", &["cancel", &yard.run()]).good();
    assert_eq!(supervisor.code(), Some(1), "{}", supervisor.said());
    assert!(yard.ledger().contains("run_cancelled"));
}

#[test]
fn a_folder_of_ones_own_is_closed_to_others() {
    let yard = LinkYard::new(WORKFLOW, WAITS);
    let folder = yard.at("run/chronicle");
    fs::create_dir(&folder).unwrap();
    for mode in [0o755, 0o777] {
        fs::set_permissions(&folder, fs::Permissions::from_mode(mode)).unwrap();
        let mut supervisor = yard.supervisor();
        assert_eq!(fs::metadata(&folder).unwrap().mode() & 0o777, 0o700);
        yard.until_touched("here");
        yard.chronicle("bob", &["cancel", &yard.run()]).good();
        assert_eq!(supervisor.code(), Some(1), "{}", supervisor.said());
        fs::remove_file(yard.at("p/here")).unwrap();
    }
}

#[test]
fn a_folder_that_others_can_enter_is_not_used() {
    let spoilers: [fn(&LinkYard); 2] = [
        |yard| std::os::unix::fs::symlink(yard.at("home"), yard.at("run/chronicle")).unwrap(),
        |yard| {
            let folder = yard.at("run/chronicle");
            fs::DirBuilder::new().mode(0o700).create(&folder).unwrap();
            // Only root may give a folder away; for others it is spoiled otherwise.
            if std::os::unix::fs::chown(&folder, Some(1), None).is_err() {
                fs::remove_dir(&folder).unwrap();
                fs::write(&folder, "").unwrap();
            }
        },
    ];
    for spoil in spoilers {
        let yard = LinkYard::new(WORKFLOW, WAITS);
        spoil(&yard);
        let mut supervisor = yard.start("supervisor", &run_args(&[]));
        yard.until_touched("here");
        assert!(yard.socket().is_none(), "there is no link");
        let said = supervisor.said();
        assert!(said.contains("no other command can reach this run while it works"), "{said}");
        let heard = yard.chronicle("bob", &["pause", &yard.run()]);
        assert_eq!(heard.code, Some(5), "{heard:?}");
        heard.refused("which has no link");
        heard.refused(&format!("`kill -TERM {}` pauses it", supervisor.pid()));
        let looked = yard.chronicle("bob", &["doctor"]);
        assert!(looked.out.contains("✗ link"), "{looked:?}");
        yard.touch("go");
        assert_eq!(supervisor.code(), Some(0), "{}", supervisor.said());
    }
}
