//! Whole runs where a link leads to what a worker may not change or see: nobody starts who could replace it, and who types what is told
//! goes on. Beside each stands ordinary work that looks alike.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up fails there")]

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use super::session::{Said, Session};
use super::walled_links::in_two_phases;
use super::walls_limit::has_groups;
use super::walls_yard::Who;

/// A run with folders of a person beside its project: `real` with something in it.
fn yard(who: Who, first: &str, second: &str) -> (Session, PathBuf) {
    let (session, folder) = in_two_phases(who, first, "", &format!("{second}\necho fine > inside"));
    fs::create_dir_all(folder.join("home/.cache")).unwrap();
    fs::create_dir_all(folder.join("real")).unwrap();
    fs::write(folder.join("real/k"), "secret\n").unwrap();
    fs::remove_dir_all(folder.join("home/.ssh")).unwrap();
    (session, folder)
}

/// Makes links, each by a path in the folder and what it leads to; that begins with `/` if it lies in the folder too.
fn links(folder: &Path, all: &[(&str, &str)]) {
    for (link, target) in all {
        let link = folder.join(link);
        fs::create_dir_all(link.parent().unwrap()).unwrap();
        let target = target.strip_prefix('/').map_or(target.into(), |path| folder.join(path));
        symlink(target, link).unwrap();
    }
}

/// Types what is told, and goes on to the end.
fn typed(session: &Session) {
    let status = session.chronicle(&["status"]).stdout;
    let status = status.split_whitespace().collect::<Vec<_>>().join(" ");
    let at = ["`ln -sfn ", "`rm "].iter().find_map(|it| status.rfind(it));
    let rest = &status[at.unwrap_or_else(|| panic!("{status}")) + 1..];
    let line = rest.split_once('`').unwrap().0.to_owned();
    session.shell(&line).exits(0);
    session.chronicle(&["retry"]).exits(0);
    session.chronicle(&["resume", "--trust"]).exits(0);
    assert_eq!(session.read("inside"), "fine\n", "{line}");
}

fn run_with(session: &Session, variables: &[(&str, PathBuf)]) -> Said {
    let mut command = session.command(env!("CARGO_BIN_EXE_chronicle"));
    command.args(["run", "main", "x", "--trust"]).envs(variables.iter().cloned());
    session.start(command, "").wait()
}

#[test]
fn needs_namespaces_what_is_hidden_is_not_reached_by_a_link_that_a_worker_could_remove() {
    let tries: [&[(&str, &str)]; 4] = [
        &[("project/l", "/real"), ("home/.ssh", "/project/l")],
        &[("home/.cache/l", "/real"), ("home/.aws", ".cache/l")],
        &[("project/l", "/real/k"), ("home/.netrc", "/project/l")],
        &[("tmp/l", "/real"), ("home/.config/gh", "/tmp/l")],
    ];
    for who in Who::all() {
        for made in tries {
            let (session, folder) = yard(who, "rm -f l ~/.cache/l", "cat ../real/k > seen; true");
            links(&folder, made);
            session.run().exits(4).talks("is hidden, and reached by the link");
            assert!(!session.has("seen"));
            typed(&session);
            assert_eq!(session.read("seen"), "", "{made:?}");
        }
        // One that nobody can replace is as good as the thing itself, and so is one to nothing or to a device.
        let (session, folder) = yard(who, "true", "cat ../real/k > seen; true");
        links(&folder, &[("home/.ssh", "/real"), ("home/.aws", "/project/none")]);
        links(&folder, &[("project/n", "/../../dev/null"), ("home/.netrc", "/project/n")]);
        session.run().exits(0);
        assert_eq!(session.read("seen"), "");
    }
}

#[test]
fn needs_namespaces_what_a_person_hides_by_a_link_is_named_where_it_lies() {
    for who in Who::all() {
        for (said, made) in [
            ("~/s", [("home/.cache/h", "/real"), ("home/s", ".cache/h")]),
            ("~/.cache/h", [("home/.cache/h", "/real"), ("home/s", "none")]),
        ] {
            let (session, folder) = yard(who, "rm ~/.cache/h", "cat ../real/k > seen; true");
            links(&folder, &made);
            let config = session.user().join("config.toml");
            let before = fs::read_to_string(&config).unwrap_or_default();
            let hide = |all: &str| fs::write(&config, format!("walls.hide = [{all}]\n{before}"));
            hide(&format!("'{said}'")).unwrap();
            session.run().exits(4).talks("which a worker could remove");
            assert!(!session.has("seen"), "{said}");
            hide(&format!("'{said}', '{}'", folder.join("real").display())).unwrap();
            session.run().exits(0);
            assert_eq!(session.read("seen"), "", "{said}");
        }
        let (session, folder) = yard(who, "rm g", "cat ../real/k > seen; true");
        links(&folder, &[("project/g", "/real")]);
        let named = [("GNUPGHOME", folder.join("project/g"))];
        run_with(&session, &named).exits(4).talks("in `walls.hide` of your settings");
        run_with(&session, &[("GNUPGHOME", folder.join("real"))]).exits(0);
        assert_eq!(session.read("seen"), "");
    }
}

#[test]
fn needs_namespaces_the_record_and_the_hooks_of_a_project_are_not_reached_by_a_workers_link() {
    let tries: [(&str, &[(&str, &str)]); 6] = [
        ("mv .chronicle ../c", &[("project/.chronicle", "/c")]),
        ("mv .chronicle c", &[("project/.chronicle", "c")]),
        (
            "mv .chronicle/workflows ../w",
            &[("project/l", "/w"), ("project/.chronicle/workflows", "../l")],
        ),
        ("mkdir ../r", &[("project/l", "/r"), ("project/.chronicle/runs", "../l")]),
        ("true", &[("project/.chronicle/rules", "../rules")]),
        ("rm -rf .git/hooks; mkdir hk", &[("project/.git/hooks", "../hk")]),
    ];
    for who in Who::all() {
        for (setup, made) in tries {
            let (session, folder) = yard(who, "true", "true");
            session.shell(&format!("git init -q . && {{ {setup}; }}")).exits(0);
            links(&folder, made);
            session.run().exits(4).talks("which a worker could");
            typed(&session);
        }
        // Those that stay in the record, or lead out of reach at once, are a person's own.
        let (session, folder) = yard(who, "true", "rm .git/config .git/hooks; rm -r c; true");
        session.shell("git init -q . && mkdir c ../r && mv .chronicle/workflows c").exits(0);
        links(&folder, &[("project/.chronicle/workflows", "../c/workflows")]);
        links(&folder, &[("project/.chronicle/runs", "/r")]);
        session.run().exits(0);
        assert!(session.has("c/workflows/main.yaml") && session.has(".git/hooks"));
        // A repository by a link stays closed, and a work tree is one.
        let (session, folder) = yard(who, "true", "true");
        session.shell("git init -q . && mv .git ../g").exits(0);
        links(&folder, &[("project/.git", "/g")]);
        session.run().exits(0);
    }
}

#[test]
fn needs_namespaces_a_folder_of_dotfiles_is_a_project_like_others() {
    let script = "echo evil > config/opencode/opencode.json; echo evil > pi/agent/settings.json";
    for who in Who::all() {
        let (session, folder) = yard(who, "true", &format!("{script}; true"));
        fs::rename(folder.join("home/.config"), session.path("config")).unwrap();
        fs::create_dir(session.path("pi")).unwrap();
        links(&folder, &[("home/.config", "/project/config"), ("home/.pi", "/project/pi")]);
        session.run().exits(0);
        assert_eq!(session.read("inside"), "fine\n");
        let made = fs::metadata(session.path("config/opencode")).unwrap();
        assert_eq!(made.permissions().mode() & 0o777, 0o700);
        assert!(!session.has("config/opencode/opencode.json"));
        assert!(!session.has("pi/agent/settings.json"));
    }
}

#[test]
fn needs_namespaces_what_agents_load_is_not_reached_by_a_workers_link() {
    let tries: [&[(&str, &str)]; 7] = [
        &[("project/t", "/real"), ("home/.local/state/chronicle/trust", "/project/t")],
        &[("home/.local/state/chronicle/bin", "/project/none")],
        &[("project/s", "/real/k"), ("home/.claude/settings.json", "/project/s")],
        &[("project/h", "/real"), ("home/.claude/hooks", "/project/h")],
        &[("home/.pi/agent/extensions", "/project/h")],
        &[("home/.config/opencode/opencode.json", "/project/o.json")],
        // Whoever puts a link in the place of `x` leads it elsewhere.
        &[("home/.claude", "/project/x/../y")],
    ];
    for who in Who::all() {
        for made in tries {
            let (session, folder) = yard(who, "true", "true");
            fs::create_dir_all(folder.join("project/x")).unwrap();
            fs::create_dir_all(folder.join("project/y")).unwrap();
            links(&folder, made);
            session.run().exits(4).talks("which a worker could");
            typed(&session);
        }
        // Settings among dotfiles, and an extension that is developed here.
        let (session, folder) = yard(who, "echo evil > s.json; true", "true");
        session.write("s.json", "{}");
        session.write("packages/x/index.ts", "");
        links(
            &folder,
            &[
                ("home/.claude/settings.json", "/project/s.json"),
                ("home/.claude/CLAUDE.md", "/project/none.md"),
                ("project/node_modules/x", "../packages/x"),
                ("home/.pi/agent/extensions/x", "/project/node_modules/x"),
            ],
        );
        session.run().exits(0);
        assert_eq!(session.read("s.json"), "{}");
    }
}

#[test]
fn needs_namespaces_folders_of_agents_that_variables_name_are_kept_in_every_phase() {
    let script = "
        for name in cl/settings.json pi/extensions/x cx/config.toml oc/opencode.json oc.json; do
            mkdir -p $(dirname $name); echo evil > $name
        done
        cat cl/.credentials.json > seen; true";
    for who in Who::all() {
        let (session, folder) = yard(who, script, script);
        session.write("cl/.credentials.json", "login");
        session.write("oc.json", "{}");
        let named = [
            ("CLAUDE_CONFIG_DIR", "cl"),
            ("PI_CODING_AGENT_DIR", "pi"),
            ("CODEX_HOME", "cx"),
            ("OPENCODE_CONFIG_DIR", "oc"),
            ("OPENCODE_CONFIG", "oc.json"),
        ];
        let named = named.map(|(name, path)| (name, folder.join("project").join(path)));
        run_with(&session, &named).exits(0);
        for made in ["cl/settings.json", "pi/extensions/x", "cx/config.toml", "oc/opencode.json"] {
            assert!(!session.has(made), "{made}");
        }
        assert_eq!((session.read("oc.json"), session.read("seen")), ("{}".into(), String::new()));
        // A variable that names the project closes nothing.
        let (session, folder) = yard(who, "true", "true");
        run_with(&session, &[("CODEX_HOME", folder.join("project"))]).exits(0);
        assert_eq!(session.read("inside"), "fine\n");
    }
}

#[test]
fn needs_namespaces_a_temporary_folder_by_a_link_is_one_of_the_runs_own() {
    let script = "mktemp > made && echo \"$TMPDIR\" > told";
    for who in Who::all() {
        for (tmp, made) in [("t", ("t", "/private/t")), ("l/t", ("l", "/private"))] {
            let (session, folder) = yard(who, "true", script);
            fs::create_dir_all(folder.join("private/t")).unwrap();
            links(&folder, &[made]);
            run_with(&session, &[("TMPDIR", folder.join(tmp))]).exits(0);
            let own = folder.join("home/.local/state/chronicle/tmp");
            assert!(Path::new(session.read("told").trim()).starts_with(&own), "{tmp}");
            assert!(session.read("made").starts_with(own.to_str().unwrap()), "{tmp}");
        }
        let (session, folder) = yard(who, "true", script);
        run_with(&session, &[]).exits(0);
        let usual = folder.join("tmp").canonicalize().unwrap();
        assert_eq!(Path::new(session.read("told").trim()).canonicalize().unwrap(), usual);
    }
}

/// Whoever opens the folder of another group starts processes in it (`CLONE_INTO_CGROUP`), whatever is read-only.
#[test]
fn needs_namespaces_needs_python3_root_does_not_see_the_groups_of_processes() {
    let script =
        "ls -A /sys/fs/cgroup > seen; python3 -c 'import os; print(os.cpu_count())' > count; true";
    for who in Who::all().into_iter().filter(|who| *who == Who::Root && has_groups()) {
        let (session, _folder) = yard(who, "true", script);
        session.run().exits(0);
        assert_eq!(session.read("seen"), "");
        assert!(session.read("count").trim().parse::<u32>().unwrap() > 0);
    }
}
