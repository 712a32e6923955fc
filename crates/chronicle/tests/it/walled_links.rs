//! Links in whole runs behind walls: those that a worker leaves open nothing, and what those of a person lead to is kept.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up fails there")]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use super::session::Session;
use super::walls_yard::Who;

/// Names that a wall protects in every project.
const PROTECTED: [&str; 6] = [
    ".mcp.json",
    ".claude/settings.json",
    ".claude/settings.local.json",
    ".claude/hooks",
    ".pi/settings.json",
    ".pi/extensions",
];

/// A run of two phases of commands, in a folder with a home and something outside.
pub(crate) fn in_two_phases(
    who: Who,
    first: &str,
    walls: &str,
    second: &str,
) -> (Session, PathBuf) {
    let session = Session::of(who);
    session.write(
        ".chronicle/workflows/main.yaml",
        format!(
            "name: W\nphases:\n  - {{id: one, commands: 'sh ./one.sh'}}\n  - {{id: two, commands: 'sh ./two.sh', walls: {{{walls}}}}}\n"
        ),
    );
    session.write("one.sh", first);
    session.write("two.sh", second);
    session.write("script.yaml", "");
    let folder = session.project().parent().unwrap().canonicalize().unwrap();
    fs::create_dir_all(folder.join("home/.ssh")).unwrap();
    fs::write(folder.join("home/.ssh/id"), "key").unwrap();
    (session, folder)
}

#[test]
fn needs_namespaces_a_link_under_a_protected_name_brings_nothing_back() {
    for who in Who::all() {
        for name in PROTECTED {
            let first = format!(
                "mkdir -p .claude .pi private; echo hidden > private/x; ln -s ~/.ssh/id {name}; echo made > made"
            );
            let second = "cat ~/.ssh/id > stolen; cat private/x > seen; echo fine > inside; true";
            let (session, _folder) = in_two_phases(who, &first, "hide: [private]", second);
            session.run().exits(0);
            assert_eq!(session.read("inside"), "fine\n", "{name}");
            assert_eq!(session.read("stolen"), "", "{name}");
            assert_eq!(session.read("seen"), "", "{name}");
        }
    }
}

#[test]
fn needs_namespaces_a_link_does_not_undo_what_a_phase_hides() {
    for link in ["ln -s private/x .mcp.json", "ln -s private target"] {
        let first = format!("mkdir private; echo hidden > private/x; {link}");
        let walls = "hide: [private], paths: [target]";
        let second = "cat private/x > seen; cat target/x >> seen; true";
        let (session, _folder) = in_two_phases(Who::all()[0], &first, walls, second);
        session.run();
        assert!(!session.has("seen") || session.read("seen").is_empty(), "{link}");
    }
}

#[test]
fn needs_namespaces_a_link_to_itself_or_to_the_project_stops_no_later_phase() {
    for link in
        [".mcp.json .mcp.json", ". .mcp.json", "$PWD .claude/hooks", ".. .claude/settings.json"]
    {
        let first = format!("mkdir -p .claude; ln -s {link}");
        let (session, _folder) = in_two_phases(Who::all()[0], &first, "", "echo fine > inside");
        session.run().exits(0);
        assert_eq!(session.read("inside"), "fine\n", "{link}");
    }
}

#[test]
fn needs_namespaces_what_links_of_a_person_lead_to_is_kept() {
    let script = "
        echo x > ../disk/runs/x; for run in ../disk/runs/*; do echo x >> $run/ledger.jsonl; done
        mv ../disk/runs ../disk/moved
        echo x >> dotfiles/config.toml; echo x >> dotfiles/mine.yaml; rm -f dotfiles/config.toml; mv dotfiles gone
        echo fine > inside; true";
    let (session, folder) = in_two_phases(Who::all()[0], "true", "paths: [../disk]", script);
    // Outside of the project only what is named can be written, so that only the record's own protection holds it here.
    let disk = session.path("disk/runs");
    fs::create_dir_all(&disk).unwrap();
    session.write("two.sh", script.replace("../disk", "disk"));
    session.write(
        ".chronicle/workflows/main.yaml",
        "name: W\nphases:\n  - {id: one, commands: 'sh ./one.sh'}\n  - {id: two, commands: 'sh ./two.sh'}\n",
    );
    symlink("../disk/runs", session.path(".chronicle/runs")).unwrap();
    let config = folder.join("home/.config/chronicle");
    fs::create_dir_all(config.join("workflows")).unwrap();
    fs::create_dir_all(session.path("dotfiles")).unwrap();
    let before = config.join("config.toml");
    let text = fs::read_to_string(&before).unwrap_or_default();
    let _ = fs::remove_file(&before);
    fs::write(session.path("dotfiles/config.toml"), &text).unwrap();
    fs::write(session.path("dotfiles/mine.yaml"), "name: M\nphases: [{id: a, commands: 'true'}]\n")
        .unwrap();
    symlink(session.path("dotfiles/config.toml"), &before).unwrap();
    symlink(session.path("dotfiles/mine.yaml"), config.join("workflows/mine.yaml")).unwrap();
    session.run().exits(0);
    assert_eq!(session.read("inside"), "fine\n");
    assert_eq!(session.read("dotfiles/config.toml"), text);
    assert!(!session.read("dotfiles/mine.yaml").contains('x'));
    assert!(!disk.join("x").exists() && !session.has("disk/moved"));
    session.chronicle(&["audit"]).exits(0);
}

/// A link of a person that leads through a folder of workers may be led on by one of them.
#[test]
fn needs_namespaces_a_persons_link_that_a_worker_led_on_opens_nothing() {
    for who in Who::all() {
        let first = "rmdir ~/.cache/npm; ln -s ~ ~/.cache/npm";
        let second = "echo evil >> ~/.bashrc; true";
        let (session, folder) = in_two_phases(who, first, "", second);
        let home = folder.join("home");
        fs::create_dir_all(home.join(".cache/npm")).unwrap();
        symlink(".cache/npm", home.join(".npm")).unwrap();
        fs::write(home.join(".bashrc"), "mine\n").unwrap();
        let said = session.run();
        assert_eq!(fs::read_to_string(home.join(".bashrc")).unwrap(), "mine\n");
        said.exits(4).talks("leads elsewhere");
    }
}

/// Where a link leads out of the project, nothing is read: it may have no end.
#[test]
fn needs_namespaces_links_and_large_files_under_names_that_agents_load_stop_nothing() {
    let first = "mkdir -p .pi .claude; ln -s / .pi/extensions; ln -s /proc .claude/hooks; truncate -s 1T .mcp.json";
    let (session, _folder) = in_two_phases(Who::all()[0], first, "", "echo fine > inside");
    session.run().exits(0);
    assert_eq!(session.read("inside"), "fine\n");
    // They are what a worker left for the next agent, all the same.
    session.write("script.yaml", "work: [{complete: {}}]");
    session.write(".chronicle/workflows/main.yaml", "{name: W, phases: {work: {next: [done]}}}");
    let said = session.chronicle(&["run", "main", "again", "--agent", "scripted:script.yaml"]);
    said.exits(4).talks(".pi/extensions").talks(".claude/hooks").talks(".mcp.json");
}

/// The user's own settings cannot be made by a worker where there are none yet.
#[test]
fn needs_namespaces_settings_that_do_not_exist_yet_cannot_be_made() {
    let script = "mkdir -p config/chronicle; cp evil.toml config/chronicle/config.toml; echo fine > inside; true";
    let (session, _folder) = in_two_phases(Who::all()[0], "true", "", script);
    session.write("evil.toml", "[notify]\ncommand = 'touch pwned'\n");
    let mut command = session.command(env!("CARGO_BIN_EXE_chronicle"));
    command.args(["run", "main", "x", "--trust"]).env("XDG_CONFIG_HOME", session.path("config"));
    session.start(command, "").wait().exits(0);
    assert_eq!(session.read("inside"), "fine\n");
    assert!(!session.has("config/chronicle/config.toml"));
}

/// What a link in the project leads to is hidden by its own name, or a worker could take the link away.
#[test]
fn needs_namespaces_what_is_hidden_is_not_named_by_a_link_of_the_project() {
    let (session, folder) = in_two_phases(Who::all()[0], "true", "hide: [private]", "true");
    fs::create_dir_all(folder.join("kept")).unwrap();
    symlink(folder.join("kept"), session.path("private")).unwrap();
    session.run().exits(4).talks("`private` in `hide` is a link that a worker could remove");
}

/// A worker that could replace a link on the way to what is the person's would put its own settings in their place.
#[test]
fn needs_namespaces_nobody_starts_where_a_link_in_the_project_leads_to_the_persons_own() {
    for who in Who::all() {
        let (session, folder) = in_two_phases(who, "true", "", "echo fine > inside");
        let home = folder.join("home");
        let (config, elsewhere) = (home.join(".config/chronicle"), folder.join("elsewhere"));
        fs::rename(&config, &elsewhere).unwrap();
        symlink(&elsewhere, session.path("cc")).unwrap();
        symlink(session.path("cc"), &config).unwrap();
        session.run().exits(4);
        let status = session.chronicle(&["status"]).stdout;
        let status = status.split_whitespace().collect::<Vec<_>>().join(" ");
        let project = session.project().canonicalize().unwrap();
        let why = format!("is reached by the link `{}`", project.join("cc").display());
        assert!(status.contains(&why) && !session.has("inside"), "{status}");
        // The person types what was told.
        let typed = format!("ln -sfn {} {}", elsewhere.display(), config.display());
        assert!(status.contains(&format!("`{typed}`")), "{status}");
        session.shell(&typed).exits(0);
        session.chronicle(&["retry"]).exits(0);
        session.chronicle(&["resume"]).exits(0);
        assert_eq!(session.read("inside"), "fine\n");
        // One that leads to nothing, where a worker could make something.
        symlink(session.path("claude"), home.join(".claude")).unwrap();
        session.run().exits(4).talks("which a worker could make").talks("`rm ");
        fs::create_dir(session.path("claude")).unwrap();
        who.own(&session.path("claude"));
        session.run().exits(0);
    }
}

/// What `claude` loads everywhere is in the home, which may be a project itself.
#[test]
fn needs_namespaces_what_agents_load_everywhere_cannot_be_made_in_a_home_that_is_the_project() {
    let script = "echo evil > .claude.json; mv .claude.json moved; echo fine > inside; true";
    let (session, _folder) = in_two_phases(Who::all()[0], "true", "", script);
    let mut command = session.command(env!("CARGO_BIN_EXE_chronicle"));
    command.args(["run", "main", "x", "--trust"]).env("HOME", session.project());
    session.start(command, "").wait().exits(0);
    assert_eq!(session.read("inside"), "fine\n");
    assert_eq!(session.read(".claude.json"), "{}\n");
}

/// `opencode` starts the servers and plugins that its settings name.
#[test]
fn needs_namespaces_no_agent_starts_with_settings_of_opencode_that_a_worker_left() {
    for name in ["opencode.json", ".opencode/tool/x.ts", ".opencode/opencode.jsonc"] {
        let first = format!("mkdir -p .opencode/tool; echo x > {name}");
        let (session, _folder) = in_two_phases(Who::all()[0], &first, "", "true");
        session.run().exits(0);
        session.write("script.yaml", "work: [{complete: {}}]");
        session
            .write(".chronicle/workflows/main.yaml", "{name: W, phases: {work: {next: [done]}}}");
        let said = session.chronicle(&["run", "main", "again", "--agent", "scripted:script.yaml"]);
        said.exits(4).talks(name);
    }
}
