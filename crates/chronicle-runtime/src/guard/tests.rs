//! Calls of a step, judged in its work folder on a real disk.

use std::fs;
use std::os::unix::fs::symlink;

use chronicle_core::base::tools::ToolKind;
use chronicle_core::definition::guard::read_rules;
use chronicle_core::definition::workflow::Source;
use serde_json::json;

use super::*;

const RULES: &str = "zeroAccessPaths: ['./secrets/', 'ROOT/home/p/hidden/']\n";

/// A project, two work folders of it, and the guard of the first one.
fn step() -> (tempfile::TempDir, PathBuf, Guard) {
    let folder = tempfile::tempdir().unwrap();
    let root = fs::canonicalize(folder.path()).unwrap();
    for path in [
        "home/p/src/main.rs",
        "home/p/secrets/key",
        "home/p/hidden/key",
        "home/p/.chronicle/rules.yaml",
        "state/work/r/w1/p/src/main.rs",
        "state/work/r/w1/p/secrets/key",
        "state/work/r/w1/p/hidden/key",
        "state/work/r/w1/p/.chronicle/rules.yaml",
        "state/work/r/w1/made",
        "state/work/r/w2/p/src/main.rs",
        "state/trust.json",
    ] {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "x").unwrap();
    }
    let at = |below: &str| text(&root.join(below));
    symlink(at("home/p"), root.join("state/work/r/w1/p/out")).unwrap();
    symlink("../../w2", root.join("state/work/r/w1/p/beside")).unwrap();
    let place = Whereabouts {
        project: at("state/work/r/w1/p"),
        folder: at("state/work/r/w1/p"),
        homes: vec![at("home")],
        own: vec![at("state"), at("config")],
        origin: vec![at("home/p")],
        others: vec![at("state/work")],
        seen: Vec::new(),
    };
    let (name, text) = ("rules.yaml".to_owned(), RULES.replace("ROOT", root.to_str().unwrap()));
    let read = read_rules(&Source { file: None, name, key: String::new(), text });
    let rules = Compiled::new(&[read.rules, built_in()], &place).unwrap();
    (folder, root, Guard { rules })
}

fn judged(guard: &Guard, tool: &str, input: &serde_json::Value) -> Judgement {
    let kind = ToolKind::Unknown;
    let call = AskedCall { tool, kind, input, by_sub_agent: false, is_signal: false };
    guard.judge(&call, None, None)
}

fn word(judged: &Judgement) -> &'static str {
    match judged {
        Judgement::Clear => "allow",
        Judgement::Ask { .. } => "ask",
        Judgement::Deny { .. } => "deny",
    }
}

/// What a step runs, and what is said to it.
const CASES: &[(&str, &str)] = &[
    // Its own folder, by the rules of a project.
    ("allow", "echo x > src/new.rs"),
    ("allow", "rm -rf src"),
    ("allow", "cd src && echo x >> main.rs"),
    ("allow", "git add -A && git commit -qm x && git checkout -qb side"),
    ("allow", "echo x > {own}/../../w1/p/src/new.rs"),
    ("deny", "echo x > .chronicle/rules.yaml"),
    ("deny", "echo x > .git/hooks/pre-commit"),
    ("deny", "echo '{}' > .claude/settings.json"),
    ("deny", "rm -rf {own}"),
    ("deny", "rm -rf .."),
    // The project's own folder.
    ("allow", "cat {project}/src/main.rs"),
    ("allow", "ls -la {project} && diff {project}/src/main.rs src/main.rs"),
    ("allow", "git -C {project} log --oneline"),
    ("allow", "git -C {project} branch"),
    ("allow", "cp {project}/src/main.rs src/other.rs"),
    ("deny", "echo x > {project}/src/new.rs"),
    ("deny", "cp src/main.rs {project}/src/main.rs"),
    ("deny", "rm -rf {project}/src"),
    ("deny", "rm -rf {project}"),
    ("deny", "cd {project} && echo x > new"),
    ("deny", "cd ~/p && touch new"),
    ("deny", "sed -i s/x/y/ ../../../../../home/p/src/main.rs"),
    ("deny", "echo x > out/src/main.rs"),
    ("deny", "ln -s {project}/src/main.rs there && echo x > there"),
    ("deny", "git -C {project} commit -qam x"),
    ("deny", "cd {project} && git commit -qam x"),
    ("deny", "git -C out commit -qam x"),
    ("deny", "git --git-dir={project}/.git branch -D main"),
    ("deny", "git -C ../../../../../home/p reset --soft HEAD"),
    ("deny", "git push {project} HEAD:main"),
    ("deny", "git push file://{project} HEAD:main"),
    ("deny", "git remote add back {project}"),
    ("deny", "echo x > {project}/.chronicle/rules.yaml"),
    // What the rules hide, in both folders.
    ("deny", "cat secrets/key"),
    ("deny", "cat {project}/secrets/key"),
    ("deny", "cat hidden/key"),
    ("deny", "cat {project}/hidden/key"),
    // Others, and the rest of the state.
    ("deny", "cat {state}/work/r/w2/p/src/main.rs"),
    ("deny", "cat ../../w2/p/src/main.rs"),
    ("deny", "cd ../../w2/p && cat src/main.rs"),
    ("deny", "ls ../../w2"),
    ("deny", "cat beside/p/src/main.rs"),
    ("deny", "echo x > beside/p/src/main.rs"),
    ("deny", "git -C ../../w2/p commit -qam x"),
    ("deny", "echo x > ../made"),
    ("ask", "grep -r x ../.."),
    ("deny", "rm -rf ../../w2"),
    ("deny", "echo x > {state}/trust.json"),
    ("allow", "ls .."),
];

#[test]
fn a_step_changes_its_own_folder_reads_the_project_and_sees_no_other() {
    let (_folder, root, guard) = step();
    let at = |below: &str| text(&root.join(below));
    let told = |command: &str| {
        let own = at("state/work/r/w1/p");
        let command = command.replace("{own}", &own).replace("{project}", &at("home/p"));
        command.replace("{state}", &at("state"))
    };
    let wrong: Vec<String> = CASES
        .iter()
        .filter_map(|(expected, command)| {
            let judged = judged(&guard, "bash", &json!({ "command": told(command) }));
            let is_right = word(&judged) == *expected;
            (!is_right).then(|| format!("{command}: {expected} expected, {judged:?}"))
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_step_that_writes_to_the_project_is_told_where_to_work() {
    let (_folder, root, guard) = step();
    let file = text(&root.join("home/p/src/main.rs"));
    let input = json!({ "file_path": file, "content": "y" });
    let Judgement::Deny { rule, why } = judged(&guard, "Write", &input) else {
        panic!("it may write there")
    };
    assert_eq!(rule.text, "the project's own folder");
    let own = text(&root.join("state/work/r/w1/p"));
    assert!(why.contains(&format!("work in `{own}`, your own folder")), "{why}");
    let input = json!({ "file_path": format!("{own}/src/main.rs"), "content": "y" });
    assert_eq!(judged(&guard, "Write", &input), Judgement::Clear);
}

#[test]
fn changes_of_a_step_are_held_against_the_rules_in_its_own_folder() {
    let (_folder, _, guard) = step();
    let own = ["src/main.rs", ".chronicle/rules.yaml", "secrets/key", "hidden/key"];
    let own = own.map(|path| (path.to_owned(), false));
    let (many, files) = guard.forbidden(&own, &[]);
    let paths: Vec<&str> = files.iter().map(|file| file.path.as_str()).collect();
    assert_eq!((many, paths), (3, vec![".chronicle/rules.yaml", "secrets/key", "hidden/key"]));
}
