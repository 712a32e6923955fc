//! What cannot be done behind a wall, in each set-up that a machine may allow: namespaces with and without Landlock, Landlock alone,
//! and neither. Every trick is really tried, by a real process.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up fails there")]

use std::fs::{self, File};
use std::io;
use std::net::{TcpListener, UdpSocket};
use std::os::fd::OwnedFd;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::fs::symlink;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::process::Stdio;

use chronicle_runtime::for_tests::process::wall::{
    Network, Wall, WallEnd, WallError, WallFiles, WallLayers, WallStep, raise,
};
use expect_test::{Expect, expect};

use super::session::Session;
use super::walls_limit::has_groups;
use super::walls_yard::{CHRONICLE, Site, Victim, Who, end, listen, seen};

/// Each set-up by its letter in the tables: everything without a network, both layers, namespaces, Landlock, the same without TCP, nothing.
const SETUPS: [(char, WallLayers, Network); 6] = [
    ('F', WallLayers::ALL, Network::Off),
    ('B', WallLayers::ALL, Network::On),
    ('N', WallLayers::NAMESPACES, Network::On),
    ('L', WallLayers::LANDLOCK, Network::On),
    ('l', WallLayers::LANDLOCK, Network::Off),
    ('0', WallLayers { namespaces: false, own_proc: false, landlock: false }, Network::On),
];

/// Tricks that only touch the test's own folder and processes: they are tried without any wall too.
const TRICKS: &[&str] = &[
    "write",
    "create",
    "folder",
    "rename_out",
    "rename_in",
    "link_in",
    "symlink",
    "truncate",
    "remove",
    "chmod",
    "utime",
    "proc_root",
    "proc_cwd",
    "inherited",
    "inherited_folder",
    "record_write",
    "record_create",
    "record_remove",
    "record_link",
    "record_move",
    "plant_hook",
    "plant_setting",
    "plant_setting_anew",
    "plant_repository",
    "plant_commondir",
    "nested",
    "secret",
    "see",
    "environment",
    "memory",
    "other_root",
    "end_other",
    "named_socket",
    "hidden_socket",
    "session_socket",
    "abstract_socket",
    "loopback",
    "loopback_udp",
];
/// Those that would reach the machine itself if a wall did not hold: with a wall only.
const OF_ROOT: &[&str] = &["disk", "core_pattern", "sysrq", "make_disk"];

/// Runs the tricks and returns what escaped.
fn escaped(who: Who, layers: WallLayers, network: Network, tricks: &[&str]) -> Vec<String> {
    let site = Site::new(who);
    let wall = site.wall(layers, WallFiles::Write, network);
    let mut victim = Victim::new(&site);
    let _daemons =
        ["daemon.sock", "hidden.sock", "session/bus"].map(|name| listen(&site.path(name)));
    let (hidden, name) = (site.path("hidden.sock"), format!("walls-{}", site.path("").display()));
    assert!(wall.hidden.contains(&hidden));
    let _named = UnixListener::bind_addr(&SocketAddr::from_abstract_name(&name).unwrap()).unwrap();
    let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
    let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
    let (port, udp_port) = (tcp.local_addr().unwrap().port(), udp.local_addr().unwrap().port());
    // Answers as long as the test runs.
    std::thread::spawn(move || {
        let mut bytes = [0; 16];
        while let Ok((count, from)) = udp.recv_from(&mut bytes) {
            let _ = udp.send_to(&bytes[..count], from);
        }
    });
    let before = seen(&site.path("outside"));
    let script = format!("exec python3 tricks.py {}", tricks.join(" "));
    let ran = site.run_order(&site.order(wall, &script), |command| {
        command.env("VICTIM", victim.id().to_string()).env("ABSTRACT", &name);
        command.env("PORT", port.to_string()).env("UDP_PORT", udp_port.to_string());
    });
    let out = ran.exits(0);
    let escaped: Vec<String> =
        out.lines().filter_map(|line| Some(line.strip_suffix(" escaped")?.to_owned())).collect();
    assert_eq!(
        out.lines().filter(|line| line.ends_with(" held")).count() + escaped.len(),
        tricks.len(),
        "{out}"
    );
    // Not only what was said: nothing outside has changed where no trick says so.
    let files = TRICKS.iter().take_while(|trick| **trick != "record_write");
    let says_so = files.chain(&["other_root"]).any(|trick| escaped.iter().any(|it| it == trick));
    assert_eq!(seen(&site.path("outside")) != before, says_so, "{out}");
    if escaped.iter().any(|it| it == "end_other") {
        victim.ends();
    } else {
        assert!(victim.is_alive(), "{out}");
    }
    escaped
}

/// One line per trick with the letters of the set-ups that it escaped from.
fn table(who: Who, setups: &[(char, WallLayers, Network)], tricks: &[&str]) -> String {
    let all: Vec<_> = setups
        .iter()
        .map(|(letter, layers, network)| (letter, escaped(who, *layers, *network, tricks)))
        .collect();
    let line = |trick: &&str| {
        let letters: String = all
            .iter()
            .map(
                |(letter, escaped)| {
                    if escaped.iter().any(|it| it == trick) { **letter } else { '-' }
                },
            )
            .collect();
        format!("{letters} {trick}\n")
    };
    tricks.iter().map(line).collect()
}

fn expect_table(who: Who, expected: &Expect) {
    if Who::all().contains(&who) {
        expected.assert_eq(&table(who, &SETUPS, TRICKS));
    }
}

#[test]
fn needs_namespaces_needs_landlock_needs_python3_escapes_of_an_ordinary_user() {
    expect_table(
        Who::Ordinary,
        &expect![[r#"
            -----0 write
            -----0 create
            -----0 folder
            -----0 rename_out
            -----0 rename_in
            -----0 link_in
            -----0 symlink
            -----0 truncate
            -----0 remove
            ---Ll0 chmod
            ---Ll0 utime
            -----0 proc_root
            -----0 proc_cwd
            ------ inherited
            ------ inherited_folder
            ---Ll0 record_write
            ---Ll0 record_create
            ---Ll0 record_remove
            ---Ll0 record_link
            ---Ll0 record_move
            ---Ll0 plant_hook
            ---Ll0 plant_setting
            ---Ll0 plant_setting_anew
            ---Ll0 plant_repository
            FBNLl0 plant_commondir
            -----0 nested
            ---Ll0 secret
            ---Ll0 see
            -----0 environment
            -----0 memory
            -----0 other_root
            -----0 end_other
            FBNLl0 named_socket
            ---Ll0 hidden_socket
            ---Ll0 session_socket
            --N--0 abstract_socket
            -BNL-0 loopback
            -BNLl0 loopback_udp
        "#]],
    );
}

#[test]
fn needs_namespaces_needs_landlock_needs_python3_escapes_of_root() {
    expect_table(
        Who::Root,
        &expect![[r#"
            -----0 write
            -----0 create
            -----0 folder
            -----0 rename_out
            -----0 rename_in
            -----0 link_in
            -----0 symlink
            -----0 truncate
            -----0 remove
            ---Ll0 chmod
            ---Ll0 utime
            -----0 proc_root
            -----0 proc_cwd
            ------ inherited
            ------ inherited_folder
            ---Ll0 record_write
            ---Ll0 record_create
            ---Ll0 record_remove
            ---Ll0 record_link
            ---Ll0 record_move
            ---Ll0 plant_hook
            ---Ll0 plant_setting
            ---Ll0 plant_setting_anew
            ---Ll0 plant_repository
            FBNLl0 plant_commondir
            -----0 nested
            ---Ll0 secret
            ---Ll0 see
            -----0 environment
            -----0 memory
            -----0 other_root
            -----0 end_other
            FBNLl0 named_socket
            ---Ll0 hidden_socket
            ---Ll0 session_socket
            --N--0 abstract_socket
            -BNL-0 loopback
            -BNLl0 loopback_udp
        "#]],
    );
}

/// The kernel's settings and the disk belong to root, and owning them is enough to open them.
#[test]
fn needs_namespaces_needs_landlock_needs_python3_root_does_not_reach_the_machine() {
    for who in Who::all() {
        for (letter, layers, network) in
            SETUPS.into_iter().filter(|(_, layers, _)| !layers.is_nothing())
        {
            assert_eq!(escaped(who, layers, network, OF_ROOT), [""; 0], "{who:?} {letter}");
        }
    }
}

#[test]
fn needs_namespaces_needs_python3_nobody_speaks_for_init() {
    for who in Who::all() {
        for layers in [WallLayers::NAMESPACES, WallLayers::ALL] {
            let tricks = ["init_memory", "init_descriptors"];
            assert_eq!(escaped(who, layers, Network::On, &tricks), [""; 0], "{who:?}");
        }
    }
}

/// A project that can only be read, against everything that could change a file of it.
#[test]
fn needs_namespaces_needs_landlock_needs_python3_a_project_that_is_read_only_stays_as_it_is() {
    for who in Who::all() {
        for (letter, layers) in
            [('B', WallLayers::ALL), ('N', WallLayers::NAMESPACES), ('L', WallLayers::LANDLOCK)]
        {
            let site = Site::new(who);
            let before = seen(&site.path("project"));
            let wall = site.wall(layers, WallFiles::Read, Network::On);
            let out = site.run(wall, "exec python3 tricks.py changes").exits(0);
            let escaped: Vec<&str> = out.lines().filter(|line| line.ends_with("escaped")).collect();
            assert!(out.lines().filter(|line| line.ends_with("held")).count() >= 20, "{out}");
            if letter == 'L' {
                // The named limit of Landlock alone. Contents and names are held.
                let rights = ["change_attribute", "change_chmod", "change_chown", "change_utime"];
                let is_right = |line: &&str| rights.iter().any(|name| line.starts_with(name));
                assert!(escaped.iter().all(is_right), "{who:?}: {escaped:?}\n{out}");
                continue;
            }
            assert_eq!(escaped, [""; 0], "{who:?} {letter}: {out}");
            assert_eq!(seen(&site.path("project")), before, "{who:?} {letter}: {out}");
        }
    }
}

/// What our own parent left open without knowing is not handed on.
#[test]
fn needs_namespaces_needs_landlock_nothing_is_inherited_but_three_streams() {
    for who in Who::all() {
        for (letter, layers, network) in SETUPS {
            let site = Site::new(who);
            let wall = site.wall(layers, WallFiles::Write, network);
            let out = site
                .run(
                    wall,
                    "for one in /proc/self/fd/*; do test -e $one && echo ${one##*/}; done; true",
                )
                .exits(0);
            // The shell opens one for itself while it looks.
            let beyond: Vec<&str> =
                out.lines().filter(|line| !["0", "1", "2", "3"].contains(line)).collect();
            assert_eq!(beyond, [""; 0], "{who:?} {letter}: {out}");
        }
    }
}

#[test]
fn needs_namespaces_a_folder_as_a_stream_is_refused() {
    for who in Who::all() {
        let site = Site::new(who);
        let order = site.order(site.whole(), "true");
        let outside = File::open(site.path("outside")).unwrap();
        let refused = raise(site.command(), &order, &outside).unwrap_err();
        assert!(matches!(refused, WallError::Refused(it) if it.step == WallStep::Streams));
        let mut command = site.command();
        command.stdout(Stdio::from(OwnedFd::from(outside)));
        let refused = raise(command, &order, File::open("/dev/null").unwrap()).unwrap_err();
        assert!(matches!(refused, WallError::Refused(it) if it.step == WallStep::Streams));
    }
}

/// A wall stands as it was asked for or not at all.
#[test]
fn needs_namespaces_what_cannot_stand_is_refused_and_nothing_runs() {
    for who in Who::all() {
        let site = Site::new(who);
        let mut order = site.order(site.whole(), "echo ran >ran");
        order.cwd = site.path("nowhere").into();
        let refused = site.start(&order).unwrap_err();
        assert!(
            matches!(&refused, WallError::Refused(it) if it.step == WallStep::Folder),
            "{refused:?}"
        );
        assert!(!site.path("project/ran").exists());
        // What is writable and does not exist is told.
        let mut wall = site.whole();
        wall.writable = vec![site.path("project"), site.path("nowhere")];
        let walled = site.start(&site.order(wall, "true")).unwrap();
        assert_eq!(walled.stands.missing, [site.path("nowhere")]);
        assert!(walled.stands.layers == WallLayers::ALL && walled.stands.landlock_abi.is_some());
        end(walled).exits(0);
    }
}

/// A worker of an earlier phase put a link to something else in the place of a folder that a later phase may write.
#[test]
fn needs_namespaces_needs_landlock_a_link_opens_nothing_elsewhere() {
    for who in Who::all() {
        for layers in [WallLayers::ALL, WallLayers::LANDLOCK] {
            let site = Site::new(who);
            symlink("../outside", site.path("project/target")).unwrap();
            let mut wall = site.wall(layers, WallFiles::Read, Network::On);
            wall.writable.push(site.path("project/target"));
            let refused = site.start(&site.order(wall, "true")).unwrap_err();
            assert!(matches!(&refused, WallError::Refused(it) if it.step == WallStep::Links));
            // One that stays in the project is no harm.
            symlink("empty", site.path("project/inside")).unwrap();
            let mut wall = site.wall(layers, WallFiles::Read, Network::On);
            wall.writable.push(site.path("project/inside"));
            site.run(wall, "echo x >inside/new && test -s empty/new").exits(0);
        }
    }
}

/// What is protected through a link is held where it lies, but the link can be replaced. That is told.
#[test]
fn needs_namespaces_a_link_that_can_be_replaced_is_told() {
    for who in Who::all() {
        let site = Site::new(who);
        symlink("../outside", site.path("project/.claude")).unwrap();
        fs::write(site.path("outside/settings.json"), "{}").unwrap();
        let walled = site
            .start(&site.order(site.whole(), "echo x >>.claude/settings.json || echo held"))
            .unwrap();
        let told = &walled.stands.replaceable;
        assert!(told.contains(&site.path("project/.claude/settings.json")), "{told:?}");
        assert!(told.iter().all(|path| path.starts_with(site.path("project/.claude"))), "{told:?}");
        assert!(end(walled).exits(0).ends_with("held\n"));
    }
}

/// Hidden folders are empty, what is listed in them stays, and nothing else can be made there.
#[test]
fn needs_namespaces_what_is_hidden_is_empty_except_for_what_is_listed() {
    for who in Who::all() {
        let site = Site::new(who);
        fs::create_dir_all(site.path("session/chronicle/inner")).unwrap();
        fs::write(site.path("session/chronicle/inner/file"), "seen\n").unwrap();
        fs::write(site.path("session/secret"), "secret\n").unwrap();
        site.give(&site.path("session"));
        let mut wall = site.whole();
        wall.read_only.push(site.path("session/chronicle"));
        // The project lies in it: it must stay, with what is protected in it.
        wall.hidden.push(site.path(""));
        let script =
            "ls -A .. ../session; cat ../session/chronicle/inner/file; echo x >new && cat new
            echo x 2>/dev/null >../session/chronicle/new || echo held
            echo x 2>/dev/null >../session/new || echo held
            echo x 2>/dev/null >.chronicle/new || echo held";
        let out = site.run(wall, script).exits(0);
        let expected = "..:\nhome\nproject\nsession\ntmp\n\n../session:\nchronicle\nseen\nx\nheld\nheld\nheld\n";
        // Caches in the home are writable, so that it is there with them alone.
        assert_eq!(out, expected, "{who:?}");
    }
}

/// Without a network there is still a loopback, for tests that talk to themselves.
#[test]
fn needs_namespaces_needs_python3_without_a_network_there_is_a_loopback() {
    let script = "exec python3 -c \"
import socket
server = socket.create_server(('127.0.0.1', 0))
client = socket.create_connection(server.getsockname())
client.sendall(b'x')
print(server.accept()[0].recv(1))
print([name for _, name in socket.if_nameindex()])\"";
    for who in Who::all() {
        let site = Site::new(who);
        let wall = site.wall(WallLayers::ALL, WallFiles::Write, Network::Off);
        assert_eq!(site.run(wall, script).exits(0), "b'x'\n['lo']\n");
    }
}

/// Threads count too. Root is not held to it without a group, which is told.
#[test]
fn needs_namespaces_needs_python3_processes_are_limited() {
    for who in Who::all() {
        let site = Site::new(who);
        let wall = Wall { processes: Some(20), ..site.whole() };
        let walled = site.start(&site.order(wall, "exec python3 tricks.py forks 40")).unwrap();
        assert_eq!(walled.stands.processes, who == Who::Ordinary);
        let out = end(walled).exits(0);
        let most: u32 = out.trim().parse().unwrap();
        assert!(
            if who == Who::Ordinary { (10..20).contains(&most) } else { most == 40 },
            "{who:?}: {out}"
        );
    }
}

/// What `doctor` says of walls when it is started by a command.
fn told(site: &Site, program: &str, arguments: &[&str]) -> (bool, String) {
    let mut command = site.who.program(program);
    site.environment(&mut command);
    command.args(arguments).args([CHRONICLE, "doctor", "--json"]).current_dir(site.path("project"));
    let output = command.stdin(Stdio::null()).output().unwrap();
    walls_of(&output.stdout).unwrap_or_else(|| panic!("{output:?}"))
}

fn walls_of(json: &[u8]) -> Option<(bool, String)> {
    let found: serde_json::Value = serde_json::from_slice(json).ok()?;
    let walls = found["findings"].as_array()?.iter().find(|row| row["what"] == "walls")?;
    let more = walls["more"].as_array().cloned().unwrap_or_default();
    let lines = std::iter::once(&walls["found"]).chain(&more).filter_map(|line| line.as_str());
    Some((walls["good"] == true, lines.collect::<Vec<_>>().join("\n")))
}

#[test]
fn needs_namespaces_needs_landlock_the_doctor_says_what_holds() {
    for who in Who::all() {
        let (good, text) = told(&Site::new(who), "env", &[]);
        assert!(good && text.starts_with("namespaces and Landlock "), "{text}");
        let is_unlimited = who == Who::Root && !has_groups();
        assert_eq!(text.contains("no limit on processes holds for root"), is_unlimited, "{text}");
    }
}

/// As in a container: the call itself is refused.
#[test]
fn needs_namespaces_needs_landlock_needs_python3_refused_namespaces_leave_landlock() {
    for who in Who::all() {
        let site = Site::new(who);
        let tricks = site.path("project/tricks.py");
        let (good, text) = told(&site, "python3", &[tricks.to_str().unwrap(), "refuse"]);
        assert!(good && text.contains("holds, without namespaces\na container or a security setting forbids new namespaces (unshare: "), "{text}");
        assert!(text.contains("in Docker, start the container"), "{text}");
    }
}

/// As with `user.max_user_namespaces=0`, which each user namespace has for itself.
#[test]
fn needs_namespaces_needs_landlock_forbidden_namespaces_are_told_apart() {
    let Some(who) = Who::ordinary() else { return };
    let site = Site::new(who);
    let forbid = "echo 0 >/proc/sys/user/max_user_namespaces && exec \"$@\"";
    let (good, text) = told(&site, "unshare", &["-Ur", "sh", "-c", forbid, "sh"]);
    assert!(good && text.contains("this machine allows no user namespaces (unshare: "), "{text}");
}

/// The same for the other kinds: each has a number of its own.
#[test]
fn needs_namespaces_needs_landlock_each_kind_of_namespaces_that_is_forbidden_is_named() {
    let Some(who) = Who::ordinary() else { return };
    for kind in ["mnt", "pid", "ipc", "net"] {
        let site = Site::new(who);
        let forbid = format!("echo 0 >/proc/sys/user/max_{kind}_namespaces && exec \"$@\"");
        let (good, text) = told(&site, "unshare", &["-Ur", "sh", "-c", &forbid, "sh"]);
        let why = format!(
            "this machine allows no namespaces of one kind (unshare with `user.max_{kind}_namespaces=0`: "
        );
        assert!(good && text.contains(&why), "{kind}: {text}");
        let stands = if kind == "net" { "namespaces and Landlock" } else { "Landlock" };
        assert!(text.starts_with(stands), "{kind}: {text}");
        assert_eq!(text.contains("the network cannot be turned off"), kind == "net", "{text}");
    }
}

/// As behind a filter that lets nobody set limits: attempts then have none, and start.
#[test]
fn needs_namespaces_needs_landlock_needs_python3_refused_limits_are_told_and_done_without() {
    for who in Who::all() {
        let site = Site::new(who);
        let tricks = site.path("project/tricks.py");
        let (good, text) = told(&site, "python3", &[tricks.to_str().unwrap(), "refuse_limits"]);
        assert!(good && text.starts_with("namespaces and Landlock"), "{text}");
        // A group of the kernel's own needs no such limit.
        let is_refused = who == Who::Ordinary || !has_groups();
        let why = "a limit on processes is refused (limit on processes: ";
        assert_eq!(text.contains(why), is_refused, "{text}");
        assert_eq!(text.contains("allows `prlimit64`"), is_refused, "{text}");
        let session = Session::of(who);
        session.write(
            ".chronicle/workflows/main.yaml",
            "{name: W, phases: {work: {run: command, commands: ['touch done.txt'], next: [done]}}}",
        );
        session.write("tricks.py", fs::read(&tricks).unwrap());
        let mut command = session.command("python3");
        // Not what a version manager of whoever runs the tests puts before it.
        command.env("PATH", "/usr/local/bin:/usr/bin:/bin");
        command.args(["tricks.py", "refuse_limits", CHRONICLE, "run", "main", "x"]);
        session.start(command, "").wait().exits(0);
        assert!(session.has("done.txt"));
        let status = session.chronicle(&["status"]).stdout;
        let why = "Landlock, but a limit on processes is refused";
        assert_eq!(status.contains(why), who == Who::Ordinary, "{status}");
    }
}

/// A server of the worker's own is behind its wall. That of the person is not there.
#[test]
fn needs_namespaces_needs_tmux_a_worker_has_a_tmux_of_its_own_and_not_that_of_the_person() {
    for who in Who::all() {
        let site = Site::new(who);
        let name = format!("walls-{}", std::process::id());
        let tmux = |arguments: &[&str]| {
            let mut command = who.program("tmux");
            site.environment(&mut command);
            command.args(["-f", "/dev/null", "-L", &name]).args(arguments);
            command.current_dir(site.path("project")).stdin(Stdio::null()).output().unwrap()
        };
        let started = tmux(&["new-session", "-d", "sleep 1000"]);
        assert!(started.status.success(), "{started:?}");
        let script = format!(
            "tmux -f /dev/null -L {name} list-sessions >/dev/null 2>&1 && echo reached
            tmux -f /dev/null new-session -d 'echo up >up; tmux wait-for -S up; sleep 1000' || exit 1
            tmux wait-for up; cat up; tmux kill-server; ls /tmp/tmux-* 2>/dev/null | grep -c {name}; true"
        );
        let ran = site.run(site.whole(), &script);
        let ended = tmux(&["kill-server"]);
        assert_eq!(ran.exits(0), "up\n0\n", "{who:?}");
        assert!(ended.status.success(), "the person's own still ran: {ended:?}");
    }
}

/// As in a container that covers parts of its `/proc`: no new one may show what it hides.
#[test]
fn needs_namespaces_needs_landlock_a_masked_proc_is_kept_and_told() {
    let Some(who) = Who::ordinary() else { return };
    let site = Site::new(who);
    let mask = "mount -t tmpfs tmpfs /proc/sys/vm && exec \"$@\"";
    let (good, text) = told(&site, "unshare", &["-Urm", "sh", "-c", mask, "sh"]);
    assert!(good && text.starts_with("namespaces and Landlock"), "{text}");
    assert!(text.contains("a container hides parts of its `/proc` (mounting /proc: "), "{text}");
    assert!(text.contains("workers see other processes, but cannot reach them"), "{text}");
}

/// Where it is not its own, a user namespace still keeps everybody inside from whoever is outside.
#[test]
fn needs_namespaces_needs_python3_who_is_seen_in_a_shared_proc_is_not_reached() {
    let layers = WallLayers { own_proc: false, ..WallLayers::NAMESPACES };
    let tricks = ["see", "environment", "memory", "other_root", "end_other"];
    for who in Who::all() {
        assert_eq!(escaped(who, layers, Network::On, &tricks), ["see"], "{who:?}");
    }
}

/// Chronicle in Chronicle: behind Landlock nobody mounts, behind namespaces alone everything nests.
#[test]
fn needs_namespaces_needs_landlock_walls_nest_as_far_as_they_can() {
    let script = format!("exec {CHRONICLE} doctor --json 2>/dev/null");
    for who in Who::all() {
        let nested = |layers: WallLayers| {
            let site = Site::new(who);
            let wall = site.wall(layers, WallFiles::Write, Network::On);
            walls_of(site.run(wall, &script).out.as_bytes()).unwrap()
        };
        let (good, text) = nested(WallLayers::LANDLOCK);
        assert!(good && text.contains("this runs behind another wall"), "{who:?}: {text}");
        let (good, text) = nested(WallLayers::NAMESPACES);
        // Root behind a wall may not say who it is in another one.
        let expected =
            if who == Who::Root { "Landlock 7 holds" } else { "namespaces and Landlock" };
        assert!(good && text.starts_with(&expected[..9]), "{who:?}: {text}");
    }
}

/// Nobody but Chronicle starts these, and nothing comes of it if somebody does.
#[test]
fn nobody_else_puts_walls_up() {
    for (arguments, code) in [(vec!["wall"], 2), (vec!["wall-init"], 2), (vec!["wall", "1"], 125)] {
        let mut command = std::process::Command::new(CHRONICLE);
        let output = command.args(&arguments).stdin(Stdio::null()).output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {output:?}");
    }
}

/// An end that is not one: whoever wanted the wall goes away before it says the word.
#[test]
fn needs_namespaces_nothing_starts_without_the_word() -> io::Result<()> {
    for who in Who::all() {
        for (_, layers, network) in SETUPS {
            let site = Site::new(who);
            let order = site.order(site.wall(layers, WallFiles::Write, network), "echo ran >ran");
            let walled = raise(site.command(), &order, File::open("/dev/null")?).unwrap();
            let end = walled.give_up()?;
            assert!(
                matches!(end, WallEnd::Ended { code: Some(125), .. } | WallEnd::Killed),
                "{end:?}"
            );
            assert!(!site.path("project/ran").exists());
        }
    }
    Ok(())
}
