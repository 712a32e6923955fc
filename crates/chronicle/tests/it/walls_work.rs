//! Ordinary work behind the usual walls: it must not notice them.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up fails there")]

use std::fs;
use std::path::Path;

use chronicle_runtime::for_tests::process::wall::{Network, Wall, WallFiles, WallLayers};

use super::walls_yard::{Site, Who};

/// Everything that stands anywhere. Agents with a sandbox of their own have the second one.
const STANDING: [WallLayers; 3] = [WallLayers::ALL, WallLayers::NAMESPACES, WallLayers::LANDLOCK];

fn works(script: &str, expected: &str) {
    for who in Who::all() {
        for layers in STANDING {
            let site = Site::new(who);
            fs::remove_dir_all(site.path("project/.git")).unwrap();
            let out = site.run(site.wall(layers, WallFiles::Write, Network::On), script).exits(0);
            assert!(out.ends_with(expected), "{who:?} {layers:?}: {out}");
        }
    }
}

#[test]
fn needs_namespaces_needs_landlock_files_are_written_moved_and_removed() {
    works(
        "set -e; mkdir -p a/b; echo one >a/b/c; mv a/b/c d; ln d e; ln -s d f; chmod 600 d; cp d ../tmp/g; mv ../tmp/g a
        mktemp >/dev/null; rm -r a; echo x >/dev/null; echo x >/dev/shm/walls-$$; rm /dev/shm/walls-$$; cat f",
        "one\n",
    );
}

#[test]
fn needs_namespaces_needs_landlock_needs_git_a_repository_is_made_and_used() {
    // Made outside, as a person does; used inside, where its settings are read-only.
    let work = "set -e; git add note; git commit -qm one; git checkout -qb side; echo x >>note; git commit -qam two
        git checkout -q -; git merge -q side; git stash list; git branch -D side >/dev/null; git gc -q; git status --short note; git log --format=%s";
    for who in Who::all() {
        for layers in STANDING {
            let site = Site::new(who);
            fs::remove_dir_all(site.path("project/.git")).unwrap();
            let prepare = "git init -q . && git config user.name Ann && git config user.email ann@example.invalid";
            site.run(
                Wall { read_only: Vec::new(), ..site.wall(layers, WallFiles::Write, Network::On) },
                prepare,
            )
            .exits(0);
            let out = site.run(site.wall(layers, WallFiles::Write, Network::On), work).exits(0);
            assert!(out.ends_with("two\none\n"), "{who:?} {layers:?}: {out}");
            let refused = site.run(
                site.wall(layers, WallFiles::Write, Network::On),
                "git config user.name Bob; git config user.name",
            );
            let expected = if layers.namespaces { "Ann\n" } else { "Bob\n" };
            assert!(refused.out.ends_with(expected), "{who:?} {layers:?}: {}", refused.out);
        }
    }
}

#[test]
fn needs_namespaces_needs_landlock_needs_python3_terminals_sockets_and_pools() {
    let script = "exec python3 -c \"
import multiprocessing, os, pty, socket, sqlite3, tempfile
master, slave = pty.openpty()
os.write(slave, b'p')
print(os.read(master, 1), os.ttyname(slave).startswith('/dev/pts/'))
one = socket.socket(socket.AF_UNIX); one.bind('here.sock'); one.listen()
two = socket.socket(socket.AF_UNIX); two.connect('here.sock')
sqlite3.connect('here.db').execute('create table t (c)')
tempfile.NamedTemporaryFile().write(b'x')
pool = multiprocessing.get_context('fork').Pool(2)
print(pool.map(abs, [-1, -2]))
pool.close(); pool.join()
print(open('/proc/self/comm').read().strip(), len(open('/proc/meminfo').read()) > 100)\"";
    works(script, "b'p' True\n[1, 2]\npython3 True\n");
}

/// A program that is compiled and run. Behind the walls of whoever runs the tests: the compiler is theirs.
#[test]
fn needs_namespaces_needs_landlock_cargo_builds_without_a_network() {
    let who = if rustix::process::getuid().is_root() { Who::Root } else { Who::Ordinary };
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| env!("CARGO").into());
    let tools = Path::new(&cargo).parent().unwrap().to_owned();
    for layers in STANDING {
        let site = Site::new(who);
        let project = site.path("project");
        fs::create_dir(project.join("src")).unwrap();
        fs::create_dir(site.path("home/.cargo")).unwrap();
        let package =
            "[package]\nname = \"tiny\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[workspace]\n";
        fs::write(project.join("Cargo.toml"), package).unwrap();
        fs::write(project.join("src/main.rs"), "fn main() { println!(\"built\"); }").unwrap();
        let network = if layers.namespaces { Network::Off } else { Network::On };
        let order =
            site.order(site.wall(layers, WallFiles::Write, network), "cargo run --offline --quiet");
        let ran = site.run_order(&order, |command| {
            let path = format!("{}:/usr/local/bin:/usr/bin:/bin", tools.display());
            command.env("PATH", path);
        });
        assert!(ran.exits(0).ends_with("built\n"));
    }
}

#[test]
fn needs_namespaces_needs_landlock_needs_node_a_script_of_node_runs() {
    let script = "exec node -e \"
const fs = require('fs'), { execFileSync } = require('child_process');
fs.writeFileSync('new.tmp', 'written'); fs.renameSync('new.tmp', 'new');
console.log(execFileSync('cat', ['new']).toString(), fs.mkdtempSync(require('os').tmpdir() + '/x').length > 3)\"";
    works(script, "written true\n");
}

/// A sandbox of the agent's own, where Landlock is left out for it. Root behind a wall cannot make one.
#[test]
fn needs_namespaces_a_sandbox_of_its_own_stands_inside() {
    let Some(who) = Who::ordinary() else { return };
    let site = Site::new(who);
    let script = "unshare --user --map-root-user --mount --pid --fork --mount-proc sh -c 'mount -t tmpfs tmpfs ../tmp && echo $$'";
    let inside = |layers| site.run(site.wall(layers, WallFiles::Write, Network::On), script).out;
    assert_eq!(inside(WallLayers::NAMESPACES), "1\n");
}

/// A folder that can only be read, with one that builds may write.
#[test]
fn needs_namespaces_needs_landlock_a_build_folder_stays_writable_in_a_project_that_does_not() {
    for who in Who::all() {
        for layers in STANDING {
            let site = Site::new(who);
            let mut wall = site.wall(layers, WallFiles::Read, Network::On);
            wall.writable.push(site.path("project/empty"));
            let script = "echo x >empty/built && cat empty/built; echo x 2>/dev/null >new || echo held; cat note";
            assert_eq!(
                site.run(wall, script).exits(0),
                "x\nheld\nas it was\n",
                "{who:?} {layers:?}"
            );
        }
    }
}
