//! Real agents behind walls: a planner that may only read tries every way to change a file, and ordinary work goes on undisturbed.

use serde_json::{Value, json};

use crate::agents_yard::{AgentYard, Kind, talk};

const PLANNER: &str = "name: One\nphases: {work: {walls: {files: read}, next: [done]}}\n";
const ONE: &str = "name: One\nphases: {work: {next: [done]}}\n";

/// Ways of a shell to change a file, each of which guards let pass.
const WAYS: [&str; 18] = [
    "echo new > kept.txt",
    "echo new >> kept.txt",
    "echo new | tee kept.txt",
    "sed -i s/old/new/ kept.txt",
    "cp README.md kept.txt",
    "mv kept.txt moved.txt",
    "rm kept.txt",
    "ln -sf README.md kept.txt",
    "truncate -s 0 kept.txt",
    "dd if=README.md of=kept.txt",
    "install -m 644 README.md kept.txt",
    "python3 write.py",
    "perl -pi -e s/old/new/ kept.txt",
    "mkdir made",
    "touch kept.txt",
    "chmod 600 kept.txt",
    "git add kept.txt",
    "sh write.sh",
];

fn turns(kind: Kind, calls: Vec<Value>) -> Value {
    let mut turns: Vec<Value> = calls.into_iter().map(|call| json!({"calls": [call]})).collect();
    turns.extend([json!({"calls": [kind.leave("done", "did it")]}), json!({"say": "Done."})]);
    json!([talk("main", "`work`: ", &json!(turns))])
}

/// None of twenty ways works, the model is told, and the log has it.
fn cannot_change_what_it_may_only_read(kind: Kind) {
    let mut calls = vec![kind.write("kept.txt", "new\n"), kind.write("made.txt", "new\n")];
    calls.extend(WAYS.iter().map(|way| kind.shell(way)));
    let yard = AgentYard::new(kind, PLANNER, &turns(kind, calls));
    yard.session.write("README.md", "read me\n");
    yard.session.write("kept.txt", "old\n");
    yard.session.write("write.py", "open('kept.txt', 'w').write('new')\n");
    yard.session.write("write.sh", "env -i setsid sh -c 'echo new > kept.txt'\n");
    yard.session.shell("git init -q .").exits(0);
    yard.exits(yard.run(), 0);
    assert_eq!(yard.session.read("kept.txt"), "old\n");
    for made in ["made", "made.txt", "moved.txt"] {
        assert!(!yard.session.has(made), "{made}");
    }
    let hits = yard.session.events_of("wall_hit");
    // Claude's own `Write` reads the file first, and says itself that it did not.
    assert!(hits.len() >= WAYS.len(), "{} hits: {hits:?}", hits.len());
    let asked = yard.server.asked();
    let told: Vec<&str> = asked.iter().flat_map(|it| it.results()).collect();
    let refused = told.iter().filter(|it| it.contains("Read-only file system")).count();
    assert!(refused >= WAYS.len() - 1, "{told:?}");
    let delivered = yard.session.events_of("message_delivered");
    assert!(delivered.iter().any(|it| it["data"]["message"]["is"] == "wall"), "{delivered:?}");
    let handover = yard.session.chronicle(&["handover"]).stdout;
    assert!(handover.contains("You can read the project, but you cannot change it."), "{handover}");
}

#[test]
fn needs_namespaces_needs_git_needs_claude_cannot_change_what_it_may_only_read() {
    cannot_change_what_it_may_only_read(Kind::Claude);
}

#[test]
fn needs_namespaces_needs_git_needs_pi_old_cannot_change_what_it_may_only_read() {
    cannot_change_what_it_may_only_read(Kind::PiOld);
}

#[test]
fn needs_namespaces_needs_git_needs_pi_new_cannot_change_what_it_may_only_read() {
    cannot_change_what_it_may_only_read(Kind::PiNew);
}

/// What developers do all day works as without walls.
fn works_undisturbed(kind: Kind) {
    let ways = [
        "echo 'fn main() {}' > main.rs && mkdir -p src target && mv main.rs src/ && cp src/main.rs target/ && rm -r target",
        "git add -A && git -c user.name=ann -c user.email=ann@example.com commit -qm first && git checkout -qb topic && git log --oneline",
        "mktemp && d=$(mktemp -d) && echo x > \"$d/x\" && rm -r \"$d\"",
        "node -e \"require('fs').writeFileSync('made.js', '1')\" && node made.js",
        "python3 -c \"import multiprocessing as m; q = m.Queue(); q.put(1); print(q.get())\"",
        "python3 terminal.py",
        "(sleep 1000 > /dev/null 2>&1 &) ; echo started",
    ];
    let mut calls = vec![kind.write("greeting.txt", "hello\n")];
    calls.extend(ways.iter().map(|way| kind.shell(way)));
    let yard = AgentYard::new(kind, ONE, &turns(kind, calls));
    yard.session.write("terminal.py", "import pty\nraise SystemExit(pty.spawn(['true']))\n");
    yard.session.shell("git init -q .").exits(0);
    yard.exits(yard.run(), 0);
    assert_eq!(yard.session.read("greeting.txt"), "hello\n");
    assert!(yard.session.has("src/main.rs") && yard.session.has("made.js"));
    assert_eq!(yard.session.shell("git log --oneline topic").exits(0).stdout.lines().count(), 1);
    assert_eq!(yard.session.events_of("wall_hit"), [""; 0]);
    let failed = yard.session.events_of("tool_ended");
    let failed: Vec<&Value> = failed.iter().filter(|it| it["data"]["ok"] == false).collect();
    assert!(failed.is_empty(), "{failed:?}\n{}", yard.transcripts());
}

#[test]
fn needs_namespaces_needs_git_needs_node_needs_python3_needs_claude_works_undisturbed() {
    works_undisturbed(Kind::Claude);
}

#[test]
fn needs_namespaces_needs_git_needs_node_needs_python3_needs_pi_new_works_undisturbed() {
    works_undisturbed(Kind::PiNew);
}

/// What the user's own sessions start, in the agent's folder, cannot be changed; what the agent needs of it can.
fn cannot_change_its_own_settings(kind: Kind, folder: &str, planted: &[&str]) {
    let plant = "for f in $(cat planted); do mkdir -p \"$(dirname \"$f\")\"; echo evil > \"$f\" && echo \"$f\" >> changed; done; true\n";
    let yard = AgentYard::new(kind, ONE, &turns(kind, vec![kind.shell("sh plant.sh")]));
    let home = yard.session.project().parent().unwrap().join(folder);
    let paths: Vec<String> =
        planted.iter().map(|name| home.join(name).display().to_string()).collect();
    yard.session.write("planted", paths.join("\n"));
    yard.session.write("plant.sh", plant);
    yard.exits(yard.run(), 0);
    assert!(!yard.session.has("changed"), "{}", yard.session.read("changed"));
    for path in &paths {
        let text = std::fs::read_to_string(path).unwrap_or_default();
        assert!(!text.contains("evil"), "{path}");
    }
}

#[test]
fn needs_namespaces_needs_claude_cannot_change_its_own_settings() {
    let planted = [
        "settings.json",
        "hooks/h.sh",
        "plugins/p.json",
        "local/claude",
        "agents/a.md",
        "skills/s/SKILL.md",
        "commands/c.md",
        "CLAUDE.md",
        "../.claude.json",
    ];
    cannot_change_its_own_settings(Kind::Claude, "home/.claude", &planted);
}

#[test]
fn needs_namespaces_needs_pi_new_cannot_change_its_own_settings() {
    let planted = [
        "settings.json",
        "extensions/e.ts",
        "bin/fd",
        "npm/x",
        "packages/p",
        "skills/s",
        "AGENTS.md",
    ];
    let home = "pi";
    cannot_change_its_own_settings(Kind::PiNew, home, &planted);
}
