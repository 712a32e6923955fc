//! Whole runs behind walls: what a worker cannot do, whatever its shell is told, and what is left of it when it ends or is killed.
//!
//! Their names say that they need namespaces; where a machine has none, the test command says so.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up fails there")]

use std::fs;
use std::io::Read as _;
use std::net::TcpListener;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use super::session::{Session, inits, keepers, of_run, outers, until, workers};
use super::walls_yard::Who;

/// A run of one phase, with nothing but commands.
fn with_commands(who: Who, workflow: &str) -> Session {
    let session = Session::of(who);
    session.write(".chronicle/workflows/main.yaml", workflow);
    session.write("script.yaml", "");
    session
}

/// A run of one phase whose worker runs a script of the project.
pub(crate) fn with_worker(who: Who, phase: &str, script: &str) -> Session {
    let session = Session::of(who);
    session.write(
        ".chronicle/workflows/main.yaml",
        format!("{{name: Walled, phases: {{work: {{{phase}next: [done]}}}}}}"),
    );
    session.write("worker.sh", script);
    session.write("script.yaml", "work: [{shell: {command: sh ./worker.sh}}, {complete: {}}]");
    session
}

fn hits(session: &Session) -> Vec<Value> {
    session.events_of("wall_hit")
}

/// Twenty ways to change a file of a project that a phase may only read.
const WAYS: &str = r#"
say() { echo "$1 changed it" >> "$TMPDIR/changed"; }
echo x > kept.txt && say redirect
echo x >> kept.txt && say append
printf x | tee kept.txt > /dev/null && say tee
sed -i s/as/not/ kept.txt && say sed
cp /etc/hostname kept.txt && say cp
mv kept.txt other.txt && say mv
rm -f kept.txt && say rm
ln -sf /etc/hostname kept.txt && say link
ln kept.txt "$TMPDIR/second" && echo x > "$TMPDIR/second" && say hard
dd if=/dev/zero of=kept.txt bs=1 count=1 2> /dev/null && say dd
truncate -s 0 kept.txt && say truncate
touch kept.txt && say touch
chmod 600 kept.txt && say chmod
mkdir made && say mkdir
python3 -c "open('kept.txt', 'w').write('x')" && say python
perl -e 'open(F, ">", "kept.txt") or exit 1; print F "x"' && say perl
git -c core.editor=true commit -q --allow-empty -m x && say git
(cd / && echo x > "$OLDPWD/kept.txt") && say cd
sh -c 'exec 3<> kept.txt && echo x >&3' && say descriptor
env -i PATH="$PATH" setsid sh -c 'echo x > kept.txt' && say session
mount --bind /tmp . 2> /dev/null && say mount
unshare -Urm sh -c 'mount -o remount,rw . && echo x > kept.txt' 2> /dev/null && say unshare
nsenter -t 1 -m sh -c 'echo x > kept.txt' 2> /dev/null && say nsenter
true
"#;

#[test]
fn needs_namespaces_needs_git_needs_python3_a_phase_that_may_only_read_cannot_write_whatever_its_shell_is_told()
 {
    for who in Who::all() {
        let session = with_worker(who, "walls: {files: read}, ", WAYS);
        session.write("kept.txt", "as it was\n");
        for line in
            ["git init -q .", "git add -A", "git -c user.name=a -c user.email=a@b commit -qm x"]
        {
            session.shell(line).exits(0);
        }
        let head = session.shell("git rev-parse HEAD").stdout;
        session.run().exits(0);
        assert_eq!(session.read("kept.txt"), "as it was\n");
        assert!(!session.has("other.txt") && !session.has("made"));
        assert_eq!(session.shell("git rev-parse HEAD").stdout, head);
        let status = session.chronicle(&["status"]).stdout;
        assert!(status.contains("walls: namespaces"), "{status}");
    }
}

#[test]
fn needs_namespaces_a_command_that_a_wall_stops_is_told_and_counted() {
    for who in Who::all() {
        let session = with_commands(
            who,
            "{name: W, phases: {work: {run: command, walls: {files: read, paths: [target]}, \
             commands: ['mkdir -p target && touch target/ok && touch kept.txt'], next: [done]}}}",
        );
        session.write("target/.keep", "");
        session.run().exits(4);
        assert!(session.has("target/ok") && !session.has("kept.txt"));
        let hits = hits(&session);
        assert!(
            hits[0]["data"]["said"].as_str().unwrap().contains("Read-only file system"),
            "{hits:?}"
        );
        let log = session.chronicle(&["log"]).stdout;
        assert!(log.contains("a wall stopped a1: touch: cannot touch 'kept.txt'"), "{log}");
        let status = session.chronicle(&["status"]).stdout;
        assert!(status.contains("which stopped a worker once"), "{status}");
        session.chronicle(&["audit", "--replay"]).exits(0);
    }
}

#[test]
fn needs_namespaces_keys_are_hidden_and_what_guards_the_run_cannot_be_written() {
    for who in Who::all() {
        let session = with_worker(
            who,
            "",
            "cat ~/.ssh/id && cp ~/.ssh/id stolen
            echo x >> .chronicle/rules.yaml && echo rules >> escaped
            echo x > .chronicle/runs/x && echo record >> escaped
            echo x > ../outside/file && echo outside >> escaped
            ls /proc | grep -c '^[0-9]' > processes
            echo fine > inside
            true",
        );
        let folder = session.project().parent().unwrap().to_owned();
        fs::create_dir_all(folder.join("home/.ssh")).unwrap();
        fs::create_dir_all(folder.join("outside")).unwrap();
        fs::write(folder.join("home/.ssh/id"), "key").unwrap();
        session.run().exits(0);
        assert!(!session.has("stolen") && !session.has("escaped"));
        assert!(!folder.join("outside/file").exists());
        assert_eq!(session.read("inside"), "fine\n");
        let seen: u32 = session.read("processes").trim().parse().unwrap();
        assert!(seen < 10, "a worker sees {seen} processes");
        // The same run without walls does all of it: the test can fail.
        let unwalled = session.chronicle(&[
            "run",
            "main",
            "again",
            "--agent",
            "scripted:script.yaml",
            "--no-walls",
        ]);
        unwalled.exits(0);
        assert!(session.has("stolen"));
        assert!(session.read("escaped").contains("outside"));
        let status = session.chronicle(&["status"]).stdout;
        assert!(status.contains("walls: none, as asked (`--no-walls`)"), "{status}");
    }
}

/// A worker that leaves a process with a cleared environment in a session of its own, and stays.
const STRAYS: &str =
    "for i in 1 2 3 4 5; do (env -i setsid sh -c 'while :; do sleep 1; done' &); done
    (setsid sh -c 'trap \"\" TERM; while :; do sleep 1; done' &)
    touch ready
    while :; do sleep 1; done";

/// Processes of the machine that are in the same PID namespace as the wall whose first process this is.
pub(crate) fn behind(init: u32) -> Vec<u32> {
    let own = fs::read_link(format!("/proc/{init}/ns/pid")).unwrap();
    let ids = fs::read_dir("/proc").unwrap().flatten();
    let ids = ids.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let is_behind =
        |pid: &u32| fs::read_link(format!("/proc/{pid}/ns/pid")).is_ok_and(|ns| ns == own);
    ids.filter(is_behind).collect()
}

pub(crate) fn is_gone(pid: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_none_or(|(_, rest)| rest.starts_with(['Z', 'X']))
}

pub(crate) fn kill(pid: u32) {
    kill_process(Pid::from_raw(i32::try_from(pid).unwrap()).unwrap(), Signal::KILL).unwrap();
}

/// Who of a run is killed.
#[derive(Debug, Clone, Copy)]
enum Killed {
    Supervisor,
    Keeper,
    Outer,
    Init,
    Agent,
}

/// Kills one of them while strays of every kind run. All of them must be gone, and the run must go on.
fn nothing_is_left_after(killed: Killed) {
    for who in Who::all() {
        nothing_is_left_of(who, killed);
    }
}

fn nothing_is_left_of(who: Who, killed: Killed) {
    let session = with_worker(who, "", STRAYS);
    let supervisor = session.spawn_run();
    until("the strays run", || session.has("ready"));
    let run = session.run_id();
    let init = inits(&run)[0];
    let all = behind(init);
    assert!(all.len() >= 8, "{all:?}");
    kill(match killed {
        Killed::Supervisor => supervisor.pid(),
        Killed::Keeper => keepers(&run)[0],
        Killed::Outer => outers(&run)[0],
        Killed::Init => init,
        Killed::Agent => workers(&run)[0],
    });
    until("all that was behind the wall is gone", || all.iter().all(|pid| is_gone(*pid)));
    // What the worker tries next ends at once.
    session.write("worker.sh", "true");
    if matches!(killed, Killed::Supervisor) {
        supervisor.wait();
        session.chronicle(&["resume"]).exits(0);
    } else {
        supervisor.wait().exits(0);
    }
    until("nothing of the run is left", || of_run(&run).is_empty());
    session.chronicle(&["audit", "--replay"]).exits(0);
}

#[test]
fn needs_namespaces_nothing_is_left_after_the_supervisor_was_killed() {
    nothing_is_left_after(Killed::Supervisor);
}

#[test]
fn needs_namespaces_nothing_is_left_after_the_keeper_was_killed() {
    nothing_is_left_after(Killed::Keeper);
}

#[test]
fn needs_namespaces_nothing_is_left_after_the_outer_side_of_the_wall_was_killed() {
    nothing_is_left_after(Killed::Outer);
}

#[test]
fn needs_namespaces_nothing_is_left_after_the_first_process_of_the_wall_was_killed() {
    nothing_is_left_after(Killed::Init);
}

#[test]
fn needs_namespaces_nothing_is_left_after_the_agent_was_killed() {
    nothing_is_left_after(Killed::Agent);
}

#[test]
fn needs_namespaces_needs_python3_without_a_network_nobody_of_this_machine_can_be_reached() {
    for who in Who::all() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let port = listener.local_addr().unwrap().port();
        let session = with_commands(
            who,
            &format!(
                "{{name: W, phases: {{work: {{run: command, walls: {{network: off}}, \
                 commands: ['python3 reach.py {port}'], next: [done]}}}}}}"
            ),
        );
        session.write(
            "reach.py",
            "import socket, sys\ntry:\n  socket.create_connection(('127.0.0.1', int(sys.argv[1])), 5)\n  print('reached')\nexcept OSError as e:\n  print('refused', e)\n",
        );
        session.run().exits(0);
        let ended = session.events_of("command_ended");
        assert!(ended[0]["data"]["output"].as_str().unwrap().starts_with("refused"), "{ended:?}");
        assert!(listener.accept().is_err());
        // With a network it is reached: the test can fail.
        session.write(
            ".chronicle/workflows/main.yaml",
            format!("{{name: W, phases: {{work: {{run: command, commands: ['python3 reach.py {port}'], next: [done]}}}}}}"),
        );
        session.run().exits(0);
        let mut reached = String::new();
        let (mut stream, _) = listener.accept().unwrap();
        stream.set_nonblocking(true).unwrap();
        let _ = stream.read_to_string(&mut reached);
    }
}

#[test]
fn walls_that_are_required_are_not_done_without() {
    let session = with_worker(Who::ours(), "walls: {require: true}, ", "true");
    let said =
        session.chronicle(&["run", "main", "x", "--agent", "scripted:script.yaml", "--no-walls"]);
    assert_eq!(said.code, Some(2), "{}", said.stderr);
    assert!(said.stderr.contains("walls are required"), "{}", said.stderr);
    assert!(said.stderr.contains("leave `--no-walls` out"), "{}", said.stderr);
}

/// A command that decides on the next attempt while nobody drives the run decides nothing about its walls: whoever drives it does.
#[test]
fn needs_namespaces_walls_are_those_of_the_supervisor_that_starts_an_attempt() {
    for who in Who::all() {
        let session = Session::of(who);
        let outside = session.project().parent().unwrap().join("outside");
        fs::create_dir_all(&outside).unwrap();
        let tries = "echo x > ../outside/$(ls ../outside | wc -l); false";
        let walls = |walls: &str| {
            format!(
                "{{name: W, {walls}phases: {{work: {{run: command, commands: ['{tries}'], next: [done]}}}}}}"
            )
        };
        session.write(".chronicle/workflows/main.yaml", walls(""));
        session.write(".chronicle/workflows/strict.yaml", walls("walls: {require: true}, "));
        let written = || fs::read_dir(&outside).unwrap().count();
        session.chronicle(&["run", "main", "x"]);
        assert_eq!(written(), 0);
        // Decided while walls stood, and started without them, as asked; then the other way round.
        for (resume, expected) in [
            (&["resume", "--no-walls"][..], 1),
            (&["resume"], 1),
            (&["resume", "--no-walls"], 2),
            (&["resume"], 2),
        ] {
            session.chronicle(&["retry"]).exits(0);
            session.chronicle(resume);
            assert_eq!(written(), expected, "{resume:?}");
        }
        session.chronicle(&["retry"]).exits(0);
        session.chronicle(&["resume", "--no-walls"]);
        session.chronicle(&["cancel"]).exits(0);
        let before = written();
        // What is required is not given up by a flag of a later command.
        session.chronicle(&["run", "strict", "x"]);
        for _ in 0..2 {
            session.chronicle(&["retry"]).exits(0);
            session.chronicle(&["resume", "--no-walls"]);
        }
        assert_eq!(written(), before);
        let log = session.chronicle(&["log"]).stdout;
        assert!(log.contains("walls are required here"), "{log}");
    }
}

#[test]
fn needs_namespaces_a_worker_is_told_its_walls_and_cannot_pose_as_a_person() {
    for who in Who::all() {
        let session = with_worker(
            who,
            "approval: after, walls: {files: read, paths: [out]}, ",
            "env -i PATH=\"$PATH\" HOME=\"$HOME\" setsid chronicle approve > out/said 2>&1; echo $? >> out/said",
        );
        session.write("out/.keep", "");
        session.run().exits(4);
        let said = session.read("out/said");
        assert!(!said.ends_with("\n0\n") && !said.starts_with("0\n"), "{said}");
        let handover = session.chronicle(&["handover"]).stdout;
        assert!(handover.contains("## Walls"), "{handover}");
        assert!(handover.contains("you cannot change it, except for `out`"), "{handover}");
    }
}

/// What is shown as told is what came with the walls that stood.
#[test]
fn needs_namespaces_the_handover_of_an_attempt_with_other_walls_is_the_one_it_got() {
    for who in Who::all() {
        let session = with_worker(who, "approval: before, ", "true");
        session.run().exits(4);
        session.chronicle(&["approve"]).exits(0);
        assert!(session.chronicle(&["handover"]).stdout.contains("## Walls"));
        session.chronicle(&["resume", "--no-walls"]).exits(0);
        let told = session.chronicle(&["handover"]).stdout;
        assert!(!told.contains("## Walls") && told.contains("## Task"), "{told}");
        let log = session.chronicle(&["log"]).stdout;
        assert!(log.contains("a1 gets this supervisor's walls: none\n"), "{log}");
    }
}

/// A worker puts a link to somebody's folder in the place of a build folder that the next phase may write.
#[test]
fn needs_namespaces_a_link_in_the_place_of_a_folder_opens_nothing_and_asks_a_person() {
    for who in Who::all() {
        let session = Session::of(who);
        session.write(
            ".chronicle/workflows/main.yaml",
            "{name: Planted, phases: {work: {next: [build]}, \
             build: {run: command, walls: {files: read, paths: [target]}, \
             commands: ['echo x > target/planted'], next: [done]}}}",
        );
        session.write("target/.keep", "");
        session.write("worker.sh", "rm -r target && ln -s ../outside target");
        session.write(
            "script.yaml",
            "work: [{shell: {command: sh ./worker.sh}}, {transition: {to: build, summary: s}}]",
        );
        let outside = session.project().parent().unwrap().join("outside");
        fs::create_dir_all(&outside).unwrap();
        session.run().exits(4);
        assert!(session.path("target").is_symlink(), "the worker did it");
        assert_eq!(fs::read_dir(&outside).unwrap().count(), 0);
        let status = session.chronicle(&["status"]).stdout;
        let why = format!(
            "cannot start `/bin/sh`: no wall stands around it: a link would open what it leads to \
             (`{}` leads elsewhere): remove the link, or name the folder that it leads to",
            session.path("target").display()
        );
        assert!(status.contains(&why) && status.contains("Next: chronicle retry"), "{status}");
        // The person looks, removes it and lets the run go on.
        fs::remove_file(session.path("target")).unwrap();
        session.write("target/.keep", "");
        session.chronicle(&["retry"]).exits(0);
        session.chronicle(&["resume"]).exits(0);
        assert_eq!(session.read("target/planted"), "x\n");
        assert_eq!(fs::read_dir(&outside).unwrap().count(), 0);
    }
}

#[test]
fn needs_namespaces_what_the_environment_names_for_temporary_files_opens_nothing() {
    let commands = "echo x > ../home/.local/state/chronicle/escaped; echo x > ../outside/file; \
        echo x > .chronicle/escaped; echo x > inside";
    let workflow = format!(
        "{{name: W, phases: {{work: {{run: command, commands: ['{commands}'], next: [done]}}}}}}"
    );
    let session = with_commands(Who::all()[0], &workflow);
    let folder = session.project().parent().unwrap().canonicalize().unwrap();
    let state = folder.join("home/.local/state/chronicle");
    fs::create_dir_all(&state).unwrap();
    fs::create_dir_all(folder.join("outside")).unwrap();
    // A folder that a worker replaced by a link, one that is gone, a file, nothing, no whole path, and some around everything.
    std::os::unix::fs::symlink(&state, folder.join("linked")).unwrap();
    let linked = folder.join("linked").display().to_string();
    let around = folder.join("home/.local").display().to_string();
    for tmp in [&linked, "/nonexistent/tmp", "/etc/passwd", "", "relative", &around, "/"] {
        let mut command = session.command(env!("CARGO_BIN_EXE_chronicle"));
        command.args(["run", "main", "x"]).env("TMPDIR", tmp);
        session.start(command, "").wait().exits(0);
        assert_eq!(session.read("inside"), "x\n", "{tmp}");
        assert!(!state.join("escaped").exists(), "{tmp}");
        assert!(!folder.join("outside/file").exists(), "{tmp}");
        assert!(!session.has(".chronicle/escaped"), "{tmp}");
        let walls = session.json(&["status"])["walls"].clone();
        assert_eq!(walls["namespaces"], true, "{tmp}: {walls}");
        fs::remove_file(session.path("inside")).unwrap();
    }
}

#[test]
fn needs_namespaces_chronicles_own_folders_are_kept_wherever_they_lie() {
    // The home lies in the project, and so do the user's settings and what Chronicle remembers.
    let session = with_worker(
        Who::all()[0],
        "",
        "echo x > home/.local/state/chronicle/trust
        echo x > home/.config/chronicle/config.toml
        mv home/.local home/moved; mv home/.config home/moved2
        echo fine > inside; true",
    );
    let own = session.path("home");
    for name in [".local/state/chronicle", ".config/chronicle"] {
        fs::create_dir_all(own.join(name)).unwrap();
    }
    let config = own.join(".config/chronicle/config.toml");
    let project = session.project().canonicalize().unwrap();
    let trusted = format!("trust.folders = ['{}']\n", project.display());
    fs::write(&config, &trusted).unwrap();
    let mut command = session.command(env!("CARGO_BIN_EXE_chronicle"));
    command.args(["run", "main", "x", "--agent", "scripted:script.yaml"]).env("HOME", &own);
    session.start(command, "").wait().exits(0);
    assert_eq!(session.read("inside"), "fine\n");
    assert_eq!(fs::read_to_string(&config).unwrap(), trusted);
    assert!(!own.join("moved").exists() && !own.join("moved2").exists());
    assert!(!own.join(".local/state/chronicle/trust").is_file());
}

#[test]
fn needs_namespaces_a_terminal_of_the_person_cannot_be_opened() {
    let session = with_worker(
        Who::ordinary().unwrap_or(Who::Root),
        "",
        "ls /dev/pts > seen; for t in /dev/pts/[0-9]*; do cat < /dev/null > \"$t\" && echo \"$t\" >> opened; done; true",
    );
    session.run().exits(0);
    // One of its own is there to be made, and nobody else's.
    assert_eq!(session.read("seen"), "ptmx\n");
    assert!(!session.has("opened"));
}

/// A worker whose script leaves what the agent of the next phase would load and run.
const PLANTS: &str = "mkdir -p .claude .pi/extensions
    echo '{}' > .mcp.json; echo '{}' > .claude/settings.local.json; echo x > .pi/extensions/x.ts
    echo x > .claude/notes.md; echo '{}' > other.json";

fn with_planter(who: Who) -> Session {
    let session = Session::of(who);
    session.write(
        ".chronicle/workflows/main.yaml",
        "{name: Plants, phases: {work: {next: [more]}, more: {next: [done]}}}",
    );
    session.write("worker.sh", PLANTS);
    session.write(
        "script.yaml",
        "work: [{shell: {command: sh ./worker.sh}}, {transition: {to: more, summary: s}}]\n\
         more: [{shell: {command: touch loaded}}, {complete: {}}]",
    );
    session
}

#[test]
fn needs_namespaces_no_agent_starts_with_what_a_worker_left_for_it_to_load() {
    for who in Who::all() {
        let session = with_planter(who);
        session.run().exits(4);
        let status = session.chronicle(&["status"]).stdout;
        let names = "`.claude/settings.local.json`, `.mcp.json`, `.pi/extensions/x.ts` came or changed while a worker ran";
        assert!(words(&status).contains(names), "{status}");
        assert!(status.contains("Next: chronicle retry") && !session.has("loaded"), "{status}");
        // Trying again does not help, and neither does another run.
        session.chronicle(&["retry"]).exits(0);
        session.chronicle(&["resume"]).exits(4);
        assert!(!session.has("loaded"));
        // The person looks, removes them, and the run goes on.
        for name in [".mcp.json", ".claude/settings.local.json", ".pi/extensions/x.ts"] {
            fs::remove_file(session.path(name)).unwrap();
        }
        session.chronicle(&["retry"]).exits(0);
        session.chronicle(&["resume"]).exits(0);
        assert!(session.has("loaded"));
        session.chronicle(&["audit", "--replay"]).exits(0);
    }
}

#[test]
fn needs_namespaces_what_a_worker_left_is_loaded_once_a_person_has_agreed() {
    let session = with_planter(Who::all()[0]);
    session.run().exits(4);
    session.chronicle(&["cancel"]).exits(0);
    // A later run does not take it for something that was always there.
    session.write("worker.sh", "true");
    session.run().exits(4);
    session.chronicle(&["trust"]).exits(0).prints(".mcp.json");
    session.chronicle(&["retry"]).exits(0);
    session.chronicle(&["resume"]).exits(0);
    assert!(session.has("loaded"));
    // What a person changes between two runs is theirs.
    session.write(".mcp.json", "{\"mcpServers\": {}}");
    session.run().exits(0);
}

#[test]
fn needs_namespaces_what_a_killed_supervisor_did_not_compare_is_compared_later() {
    let session = with_planter(Who::all()[0]);
    session.write("worker.sh", format!("{PLANTS}\ntouch ready; while :; do sleep 1; done"));
    let supervisor = session.spawn_run();
    until("the worker has left them", || session.has("ready"));
    kill(supervisor.pid());
    supervisor.wait();
    session.chronicle(&["resume"]).exits(4);
    let status = session.chronicle(&["status"]).stdout;
    assert!(
        words(&status).contains("`.mcp.json`, `.pi/extensions/x.ts` came or changed"),
        "{status}"
    );
}

fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn needs_namespaces_a_hit_is_what_names_something_that_the_wall_holds() {
    for who in Who::all() {
        let session = with_commands(
            who,
            "{name: W, phases: {work: {run: command, \
             commands: ['touch .chronicle/x; true', 'echo Read-only file system', \
             'echo cp: other.txt: Read-only file system; true'], next: [done]}}}",
        );
        session.run().exits(0);
        let hits = hits(&session);
        assert_eq!(hits.len(), 1, "{hits:?}");
        assert!(hits[0]["data"]["said"].as_str().unwrap().contains(".chronicle/x"), "{hits:?}");
    }
}
