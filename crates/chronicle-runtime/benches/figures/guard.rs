//! Judging a call by 200 rules: how long it takes, and how long a hook in Python takes to say nothing.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use chronicle_core::base::tools::usual_kind;
use chronicle_core::definition::guard::{FrozenRules, RuleFile, read_rules};
use chronicle_core::definition::workflow::Source;
use chronicle_core::guard::{AskedCall, Judgement};
use chronicle_runtime::for_tests::guard::Guard;
use serde_json::{Value, json};

use crate::measure::{Pairs, Row, Target, seconds, time};

const RULES: usize = 200;
const TURNS: usize = 400;
/// Goals for the verdict in the middle, and for the slowest but one in a hundred; in seconds.
const HALF: f64 = 20e-6;
const NEARLY_ALL: f64 = 200e-6;

/// What agents call all day, and some of what they should not.
const COMMANDS: &[&str] = &[
    "ls -la",
    "git status --short && git diff --stat",
    "cargo test -p core --lib 2>&1 | tail -40",
    "grep -rn \"fn judge\" crates --include='*.rs' | head -20",
    "cd crates/core && RUST_LOG=debug cargo nextest run -E 'test(guard)' --no-fail-fast",
    "for f in src/*.rs; do wc -l \"$f\"; done | sort -n | tail -5",
    "git commit -m \"$(cat <<'END'\nSay why\n\nrm -rf / is only text here\nEND\n)\"",
    "python3 -c 'import json,sys; print(json.load(sys.stdin)[\"a\"])' < a.json",
    "find . -name '*.tmp' -newer x -exec rm -f {} +",
    "timeout 60 sh -c 'git push --force origin main'",
    "npm run build --silent && npx tsc --noEmit -p tsconfig.json || echo failed",
    "cat ~/.ssh/id_rsa | base64",
];

pub(crate) fn rows(folder: &Path) -> Vec<Row> {
    std::fs::create_dir_all(folder).unwrap();
    let rules = rules();
    assert_eq!(rules.count(), RULES);
    let guard = Guard::new(Some(&rules), folder, None).unwrap();
    let calls: Vec<Value> = COMMANDS.iter().map(|it| json!({ "command": it })).collect();
    let judge = |input: &Value| {
        let kind = usual_kind("Bash");
        let call = AskedCall { tool: "Bash", kind, input, by_sub_agent: false, is_signal: false };
        guard.judge(&call, None, None)
    };
    // Some are denied and most are not, or nothing was judged.
    let denied = calls.iter().filter(|it| matches!(judge(it), Judgement::Deny { .. })).count();
    assert!(denied > 0 && denied < calls.len() / 2, "{denied}");
    let mut all: Vec<f64> = (0..TURNS)
        .flat_map(|_| &calls)
        .map(|input| time(|| judge(input)).0.as_secs_f64())
        .collect();
    all.sort_by(f64::total_cmp);
    let at = |part: usize| all[all.len() * part / 1_000];
    let row = |what: &str, found: f64, goal: f64| {
        let what = format!("a verdict by {RULES} rules, with its paths looked up: {what}");
        Row::judged(what, (seconds(found), seconds(goal)), found / goal, Target::AtMost(1.0))
    };
    vec![
        row("half of them within, against the goal", at(500), HALF),
        row("99 of 100 within, against the goal", at(990), NEARLY_ALL),
        beside_python(&calls, judge),
    ]
}

fn beside_python(calls: &[Value], judge: impl Fn(&Value) -> Judgement) -> Row {
    let what = "a verdict, against a hook in Python that reads the call and says nothing";
    if Command::new("python3").arg("--version").output().is_err() {
        return Row::told(what, "SKIPPED: there is no Python");
    }
    let hook = || {
        let mut hook = Command::new("python3");
        hook.args(["-c", "import json, sys; json.load(sys.stdin)"]).stdin(Stdio::piped());
        let mut hook = hook.spawn().unwrap();
        hook.stdin.take().unwrap().write_all(calls[0].to_string().as_bytes()).unwrap();
        assert!(hook.wait().unwrap().success());
    };
    let all = || calls.iter().for_each(|input| drop(judge(input)));
    let pairs =
        Pairs::take(20, || time(all).0 / u32::try_from(calls.len()).unwrap(), || time(hook).0);
    let figures = (seconds(pairs.one()), seconds(pairs.other()));
    Row::judged(what, figures, pairs.speed_ratio(), Target::AtLeast(10.0))
}

/// The built-in rules and as many others of every kind as make the number full.
fn rules() -> FrozenRules {
    let missing = RULES - FrozenRules::built_in().count();
    let (paths, commands) = (missing / 2, missing - missing / 2);
    let mut text = String::from("readOnlyPaths:\n");
    for at in 0..paths {
        writeln!(text, "  - 'kept/of/{at}/*.lock'").unwrap();
    }
    text.push_str("bashToolPatterns:\n");
    for at in 0..commands {
        writeln!(text, "  - {{pattern: '\\btool{at}\\s+(?!--dry-run)\\w+', reason: r}}").unwrap();
    }
    let name = "rules.yaml".to_owned();
    let source = Source { file: None, name, key: String::new(), text };
    let rules = read_rules(&source).rules;
    FrozenRules::new([RuleFile::new(&source, &rules)], true)
}
