//! How everything behind a wall ends: by itself, by a signal, and when one of the processes that hold it is killed.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up fails there")]

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::ChildStdout;

use chronicle_runtime::for_tests::process::wall::{
    Network, WallEnd, WallFiles, WallLayers, WallOrder, Walled, raise,
};
use rustix::process::Signal;

use super::process_yard::{AMPLE, eventually, is_alive, signal, state};
use super::walls_yard::{Site, Who, end};

/// Twenty daemons in sessions of their own, without an environment, that take no notice of SIGTERM; then the program itself waits.
const STUBBORN: &str = "for one in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
        env -i setsid sh -c 'trap \"\" TERM; echo up; while :; do sleep 1000; done' &
    done
    while :; do sleep 1000; done";
const DAEMONS: usize = 20;

/// A wall with something behind it, and the namespace by which all of it is found.
struct Held {
    walled: Walled,
    lines: BufReader<ChildStdout>,
    namespace: PathBuf,
    init: u32,
}

impl Held {
    fn start(site: &Site, layers: WallLayers, script: &str) -> Self {
        Self::order(site, &site.order(site.wall(layers, WallFiles::Write, Network::On), script))
    }

    fn order(site: &Site, order: &WallOrder) -> Self {
        let mut walled = site.start(order).unwrap();
        let lines = BufReader::new(walled.outer.stdout.take().unwrap());
        let init = walled.init.unwrap();
        let namespace = fs::read_link(format!("/proc/{init}/ns/pid")).unwrap();
        Self { walled, lines, namespace, init }
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.lines.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }

    /// With the daemons of [`STUBBORN`] running.
    fn stubborn(site: &Site, layers: WallLayers) -> Self {
        let mut held = Self::start(site, layers, STUBBORN);
        for _ in 0..DAEMONS {
            assert_eq!(held.line(), "up");
        }
        assert!(held.living() > DAEMONS);
        held
    }

    /// How many processes live in its namespace.
    fn living(&self) -> usize {
        living_in(&self.namespace)
    }

    /// Waits until nothing is left, and tells how it ended.
    fn until_gone(self) -> WallEnd {
        eventually(&0, || living_in(&self.namespace));
        self.walled.wait().unwrap()
    }
}

fn living_in(namespace: &PathBuf) -> usize {
    let all = fs::read_dir("/proc").unwrap().flatten();
    let ids = all.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    ids.filter(|id| fs::read_link(format!("/proc/{id}/ns/pid")).is_ok_and(|it| it == *namespace))
        .count()
}

fn ended(code: i32, strays: u32) -> WallEnd {
    WallEnd::Ended { code: Some(code), signal: None, strays }
}

#[test]
fn needs_namespaces_killing_init_ends_everything() {
    for who in Who::all() {
        for layers in [WallLayers::ALL, WallLayers::NAMESPACES] {
            let site = Site::new(who);
            let held = Held::stubborn(&site, layers);
            signal(held.init, Signal::KILL);
            assert_eq!(held.until_gone(), WallEnd::Killed);
        }
    }
}

#[test]
fn needs_namespaces_killing_outer_ends_everything() {
    for who in Who::all() {
        let site = Site::new(who);
        let held = Held::stubborn(&site, WallLayers::ALL);
        signal(held.walled.outer.id(), Signal::KILL);
        assert_eq!(held.until_gone(), WallEnd::Killed);
    }
}

#[test]
fn needs_namespaces_what_stands_still_is_ended_too() {
    for who in Who::all() {
        for of_init in [true, false] {
            let site = Site::new(who);
            let held = Held::stubborn(&site, WallLayers::ALL);
            let stopped = if of_init { held.init } else { held.walled.outer.id() };
            signal(stopped, Signal::STOP);
            eventually(&'T', || state(stopped));
            signal(stopped, Signal::KILL);
            assert_eq!(held.until_gone(), WallEnd::Killed);
        }
    }
}

/// The program ends, its daemons do not: they are ended, and its own end is what counts.
#[test]
fn needs_namespaces_daemons_do_not_outlive_the_program() {
    let script = STUBBORN.replace("while :; do sleep 1000; done", "");
    let script = format!(
        "{}\nread line <../tmp/go; exit 7",
        script.replace("echo up; ", "echo up; sleep 1000; ")
    );
    for who in Who::all() {
        let site = Site::new(who);
        let go = site.path("tmp/go");
        rustix::fs::mkfifoat(rustix::fs::CWD, &go, 0o666.into()).unwrap();
        site.give(&go);
        let mut held = Held::start(&site, WallLayers::ALL, &script);
        for _ in 0..DAEMONS {
            assert_eq!(held.line(), "up");
        }
        fs::write(&go, "go\n").unwrap();
        let end = held.until_gone();
        assert!(
            matches!(end, WallEnd::Ended { code: Some(7), signal: None, strays } if strays >= 20),
            "{end:?}"
        );
    }
}

/// They are asked first, and a grace that they do not need is not waited for.
#[test]
fn needs_namespaces_daemons_are_asked_before_they_are_ended() {
    for who in Who::all() {
        let site = Site::new(who);
        let daemon = "setsid sh -c 'trap \"echo asked >../tmp/asked; exit\" TERM; echo up >../tmp/up; while :; do sleep 0.01; done' &
            while ! test -s ../tmp/up; do sleep 0.01; done; exit 3";
        let mut order = site.order(site.whole(), daemon);
        order.grace_ms = u64::try_from(AMPLE.as_millis()).unwrap();
        let held = Held::order(&site, &order);
        let end = held.until_gone();
        assert!(
            matches!(end, WallEnd::Ended { code: Some(3), strays, .. } if strays >= 1),
            "{end:?}"
        );
        assert_eq!(fs::read_to_string(site.path("tmp/asked")).unwrap(), "asked\n");
    }
}

/// Nobody inside ends or stops PID 1, nor tells it what to do.
#[test]
fn needs_namespaces_nobody_inside_ends_init() {
    // Only if it is ours: the real one is not to be tried. And only once it reads its signals: before that it cannot tell who sent one, and
    // passes it on, to the program alone.
    let script = "grep -q wall-init /proc/1/cmdline || exit 99
        until grep -q '^SigBlk:.*[1-9a-f]' /proc/1/status; do :; done
        for one in KILL STOP TERM HUP USR1; do kill -$one 1; done; kill -TERM 0 2>/dev/null & wait
        echo here; exit 5";
    let Some(who) = Who::ordinary() else { return };
    for layers in [WallLayers::ALL, WallLayers::NAMESPACES] {
        let site = Site::new(who);
        let wall = site.wall(layers, WallFiles::Write, Network::On);
        let out = site.run(wall, &format!("trap : TERM\n{script}")).exits(5);
        assert!(out.ends_with("here\n"), "{out}");
    }
}

#[test]
fn needs_namespaces_signals_reach_the_program() {
    for who in Who::all() {
        let site = Site::new(who);
        let wait = "echo up; while :; do sleep 0.01; done";
        let all = [
            ("TERM", Signal::TERM),
            ("INT", Signal::INT),
            ("HUP", Signal::HUP),
            ("USR1", Signal::USR1),
        ];
        for (name, number) in all {
            let mut held =
                Held::start(&site, WallLayers::ALL, &format!("trap 'exit 9' {name}; {wait}"));
            assert_eq!(held.line(), "up");
            signal(held.walled.outer.id(), number);
            assert!(matches!(held.until_gone(), WallEnd::Ended { code: Some(9), .. }));
        }
        // Without a handler it ends by the signal, which is told as such.
        let mut held = Held::start(&site, WallLayers::ALL, "echo up; exec sleep 1000");
        assert_eq!(held.line(), "up");
        signal(held.walled.outer.id(), Signal::TERM);
        assert_eq!(held.until_gone(), WallEnd::Ended { code: None, signal: Some(15), strays: 0 });
    }
}

/// A signal that comes before the program is started is not lost with PID 1, which takes none by itself.
#[test]
fn needs_namespaces_signals_that_come_early_reach_the_program() {
    for who in Who::all() {
        let site = Site::new(who);
        let order = site.order(site.whole(), "while :; do sleep 1000; done");
        let walled = raise(site.command(), &order, File::open("/dev/null").unwrap()).unwrap();
        signal(walled.init.unwrap(), Signal::TERM);
        walled.go().unwrap();
        let end = end(walled).end;
        assert!(matches!(end, WallEnd::Ended { code: None, signal: Some(15), .. }), "{end:?}");
    }
}

#[test]
fn needs_namespaces_needs_landlock_exit_codes_are_those_of_the_program() {
    let none = WallLayers::default();
    for who in Who::all() {
        for layers in [WallLayers::ALL, WallLayers::NAMESPACES, WallLayers::LANDLOCK, none] {
            let site = Site::new(who);
            let wall = || site.wall(layers, WallFiles::Write, Network::On);
            assert_eq!(site.run(wall(), "exit 7").end, ended(7, 0));
            assert_eq!(site.run(wall(), "exit 125").end, ended(125, 0));
            let by_signal = WallEnd::Ended { code: None, signal: Some(9), strays: 0 };
            assert_eq!(site.run(wall(), "kill -KILL $$").end, by_signal);
            let missing = |program: &str| {
                let argv = vec![program.into()];
                let order = WallOrder { argv, ..site.order(wall(), "") };
                end(site.start(&order).unwrap()).end
            };
            let text = |text: &str| WallEnd::CannotStart { text: text.to_owned() };
            assert_eq!(
                missing("no-such-program"),
                text("cannot start `no-such-program`: no such program in PATH")
            );
            assert_eq!(
                missing("/no/such/program"),
                text("cannot start `/no/such/program`: no such file")
            );
            let denied = missing("/etc/passwd");
            assert!(
                matches!(&denied, WallEnd::CannotStart { text } if text.contains("denied")),
                "{denied:?}"
            );
        }
    }
}

/// The named limit of mounts on single files: a new file in the same place is not the one that was mounted on. Folders stay as they are.
#[test]
fn needs_namespaces_a_file_that_is_replaced_outside_is_no_longer_held() {
    for who in Who::all() {
        let site = Site::new(who);
        let go = site.path("tmp/go");
        rustix::fs::mkfifoat(rustix::fs::CWD, &go, 0o666.into()).unwrap();
        site.give(&go);
        let script = "try() { echo x >>$1 || echo held; }; try .git/config; read line <../tmp/go; try .git/config; try .git/hooks/x";
        let mut held = Held::start(&site, WallLayers::ALL, &format!("exec 2>/dev/null; {script}"));
        assert_eq!(held.line(), "held");
        fs::write(site.path("project/.git/new"), "new\n").unwrap();
        site.give(&site.path("project/.git/new"));
        fs::rename(site.path("project/.git/new"), site.path("project/.git/config")).unwrap();
        fs::write(&go, "go\n").unwrap();
        assert_eq!(held.line(), "held", "the hooks");
        held.until_gone();
        assert_eq!(fs::read_to_string(site.path("project/.git/config")).unwrap(), "new\nx\n");
    }
}

/// The codes by which shells tell an end, for whoever sees only the outer process.
#[test]
fn needs_namespaces_the_outer_process_ends_as_the_program_did() {
    let Some(who) = Who::all().into_iter().next() else { return };
    for (script, code) in [("exit 7", 7), ("kill -TERM $$", 143), ("kill -KILL $$", 137)] {
        let site = Site::new(who);
        let mut walled = site.start(&site.order(site.whole(), script)).unwrap();
        assert_eq!(walled.outer.wait().unwrap().code(), Some(code), "{script}");
    }
}

/// Whoever wanted the wall dies, and everything with it: the chain of death signals.
#[test]
fn needs_namespaces_everything_dies_with_whoever_wanted_it() {
    for who in Who::all() {
        let site = Site::new(who);
        // The death signal follows the thread that started the outer process.
        let held = std::thread::scope(|scope| {
            scope.spawn(|| Held::stubborn(&site, WallLayers::ALL)).join().unwrap()
        });
        let outer = held.walled.outer.id();
        assert_eq!(held.until_gone(), WallEnd::Killed);
        eventually(&false, || is_alive(outer));
    }
}
