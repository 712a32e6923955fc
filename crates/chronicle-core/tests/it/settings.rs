//! Settings: text in, what holds and what is wrong out.

use chronicle_core::base::limits::{Limits, LoopCount, LoopLimit};
use chronicle_core::definition::settings::{KEYS, Layer, Settings, Value, Whose, commented, read};
use chronicle_core::definition::walls::{WallFiles, WallNetwork, Walls};
use chronicle_core::definition::workflow::Source;
use expect_test::{Expect, expect};

fn source(name: &str, text: &str) -> Source {
    Source { file: None, name: name.to_owned(), key: "settings".to_owned(), text: text.to_owned() }
}

/// Every setting that a file says, with its origin, then every problem.
fn told(user: &str, project: &str) -> String {
    let files = [
        (Layer::User, source("user.toml", user)),
        (Layer::Project, source("project.toml", project)),
    ];
    let (settings, problems) = read(&files);
    let said = settings.rows().into_iter().filter_map(|row| {
        let said = row.said?;
        Some(format!("{} = {} ({}:{})", row.name, said.value, said.file, said.line))
    });
    let problems = problems.iter().map(ToString::to_string);
    said.chain(problems).collect::<Vec<_>>().join("\n")
}

fn check(user: &str, project: &str, expected: &Expect) {
    expected.assert_eq(&told(user, project));
}

fn settings(project: &str) -> Settings {
    let (settings, problems) = read(&[(Layer::Project, source("p", project))]);
    assert_eq!(problems, []);
    settings
}

#[test]
fn the_project_has_the_last_word_but_secrets_add_up() {
    check(
        "agent = \"pi\"\nmodel = \"small\"\n[redact]\nvariables = [\"DB_URL\"]\n[trust]\nfolders = [\"/home/ann/work\"]\n",
        "# ours\nagent = \"claude\"\nverify = \"make test\"\nredact.variables = [\"STRIPE\"]\n\n[agents.mine]\ncommand = \"python3 a.py\"\n",
        &expect![[r#"
            agent = "claude" (project.toml:2)
            model = "small" (user.toml:2)
            verify = ["make test"] (project.toml:3)
            redact.variables = ["STRIPE", "DB_URL"] (project.toml:4)
            agents.mine.command = "python3 a.py" (project.toml:7)
            trust.folders = ["/home/ann/work"] (user.toml:6)"#]],
    );
}

#[test]
fn every_form_is_read() {
    check(
        "",
        "on_gate = 'wait'\n[limits]\nloop = {count = 'edge', max = 5}\nretries = 0x1\nidle = 'none'\ntimeout = 90\n\
         [budget]\nusd = 2.50\ntokens = 1_000\ntime = '1.5h'\n[notify]\nbell = true\n",
        &expect![[r#"
            on_gate = "wait" (project.toml:1)
            limits.loop = { count = "edge", max = 5 } (project.toml:3)
            limits.retries = 1 (project.toml:4)
            limits.idle = "none" (project.toml:5)
            limits.timeout = "90s" (project.toml:6)
            budget.usd = 2.5 (project.toml:8)
            budget.tokens = 1000 (project.toml:9)
            budget.time = "90m" (project.toml:10)
            notify.bell = true (project.toml:12)"#]],
    );
}

#[test]
fn an_unknown_setting_is_reported_with_its_place_and_a_suggestion() {
    check(
        "",
        "agnet = \"x\"\nretries = 3\nlimits = 3\n[limitz]\nidle = 1\n[budget]\ncolour = 1\n[agents.mine]\ncomand = \"x\"\n[agents]\nplain = 1\n",
        &expect![[r#"
            error[unknown-setting] project.toml:1:1: there is no setting `agnet` (hint: did you mean `agent`?)
            error[unknown-setting] project.toml:2:1: there is no setting `retries` (hint: did you mean `limits.retries`?)
            error[wrong-type] project.toml:3:10: `limits` must be a table, not the number `3` (hint: write `[limits]` on a line of its own)
            error[unknown-setting] project.toml:4:2: there is no setting `limitz` (hint: did you mean `limits`?)
            error[unknown-setting] project.toml:7:1: there is no setting `budget.colour` (hint: `chronicle config` lists the settings)
            error[unknown-setting] project.toml:9:1: there is no setting `agents.mine.comand` (hint: did you mean `agents.mine.command`?)
            error[wrong-type] project.toml:11:9: `agents.plain` must be a table, not the number `1` (hint: write `[agents.plain]` on a line of its own)"#]],
    );
}

#[test]
fn a_value_of_the_wrong_kind_is_told_where_it_stands() {
    check(
        "",
        "agent = 3\nmodel = \"  \"\non_gate = \"wiat\"\nverify = [1]\n[limits]\nloop = 0\nretries = \"2\"\nnudges = -1\n\
         losses = 99999999999\nidle = \"soon\"\ntimeout = 0\n[budget]\nusd = 0\ntokens = 1.5\n[notify]\nbell = \"yes\"\n",
        &expect![[r#"
            error[wrong-type] project.toml:1:9: `agent` must be a text that says something, not the number `3`
            error[wrong-type] project.toml:2:9: `model` must be a text that says something, not an empty text
            error[wrong-type] project.toml:3:11: `on_gate` must be one of `rest`, `wait`, not the text `wiat` (hint: did you mean `wait`?)
            error[wrong-type] project.toml:4:10: `verify` must be a list of texts that say something, not a list
            error[wrong-type] project.toml:6:8: `limits.loop` must be a whole number above 0 or `{ count = "edge", max = 3 }`, not the number `0`
            error[wrong-type] project.toml:7:11: `limits.retries` must be a whole number, not the text `2`
            error[wrong-type] project.toml:8:10: `limits.nudges` must be a whole number, not the number `-1`
            error[wrong-type] project.toml:9:10: `limits.losses` must be a whole number, not the number `99999999999`
            error[wrong-type] project.toml:10:8: `limits.idle` must be a time like `"90s"`, `"10m"` or `"1h"`, or `"none"`, not the text `soon`
            error[wrong-type] project.toml:11:11: `limits.timeout` must be a time like `"90s"`, `"10m"` or `"1h"`, or `"none"`, not the number `0`
            error[wrong-type] project.toml:13:7: `budget.usd` must be an amount of dollars above 0, like `2.50`, not the number `0`
            error[wrong-type] project.toml:14:10: `budget.tokens` must be a whole number above 0, not the number `1.5`
            error[wrong-type] project.toml:16:8: `notify.bell` must be `true` or `false`, not the text `yes`"#]],
    );
}

#[test]
fn a_project_cannot_trust_itself_or_weaken_guards() {
    check(
        "",
        "[trust]\nfolders = [\"/\"]\n[guards]\nbuiltin = false\nproof = \"best-effort\"\n[notify]\ncommand = \"curl me\"\n",
        &expect![[r#"
            error[only-the-users] project.toml:2:1: only the user's own settings may say `trust.folders` (hint: move it to the file that `chronicle config path` names as the user's)
            error[only-the-users] project.toml:4:1: only the user's own settings may say `guards.builtin` (hint: move it to the file that `chronicle config path` names as the user's)
            error[only-the-users] project.toml:5:1: only the user's own settings may say `guards.proof` (hint: move it to the file that `chronicle config path` names as the user's)
            error[only-the-users] project.toml:7:1: only the user's own settings may say `notify.command` (hint: move it to the file that `chronicle config path` names as the user's)"#]],
    );
    let user_only = KEYS.iter().filter(|key| key.whose == Whose::User);
    let names: Vec<&str> = user_only.map(|key| key.name).collect();
    assert_eq!(
        names,
        [
            "notify.command",
            "notify.webhook",
            "walls.paths",
            "walls.open",
            "walls.own_sandbox",
            "prices.*",
            "trust.folders",
            "guards.builtin",
            "guards.proof"
        ]
    );
}

#[test]
fn a_person_has_prices_of_their_own() {
    let file = "[prices]\n\"gpt-5.5\" = { input = 3, output = 15, cache_read = 0.3 }\nhome = { input = 0, output = 0 }\n\
        [prices.half]\ninput = 1\n[prices.odd]\ninput = 1\noutput = 2\ncolour = 3\n";
    check(
        file,
        "",
        &expect![[r#"
        prices.gpt-5.5 = { input = 3, output = 15, cache_read = 0.3, cache_write = 3 } (user.toml:2)
        prices.home = { input = 0, output = 0, cache_read = 0, cache_write = 0 } (user.toml:3)
        error[wrong-type] user.toml:4:1: `prices.half` must be prices like `{ input = 3, output = 15, cache_read = 0.3, cache_write = 3.75 }`, not a table
        error[wrong-type] user.toml:6:1: `prices.odd` must be prices like `{ input = 3, output = 15, cache_read = 0.3, cache_write = 3.75 }`, not a table"#]],
    );
}

#[test]
fn invalid_toml_is_reported_and_other_files_still_count() {
    check(
        "\u{feff}agent = \"x\"\n",
        "model = \"m\"\nagent = \nverify = [\"a\"\n",
        &expect![[r#"
            agent = "x" (user.toml:1)
            model = "m" (project.toml:1)
            verify = ["a"] (project.toml:3)
            error[not-toml] project.toml:2:9: string values must be quoted, expected literal string
            error[not-toml] project.toml:3:14: unclosed array, expected `]`"#]],
    );
}

#[test]
fn no_text_breaks_it() {
    let deep = format!("a = {}", "[".repeat(100_000));
    let long = "# ".repeat(1_000_000);
    for text in [deep.as_str(), &long, "\0", "=", "[[limits]]\n", "\"\" = 1", "é = 1\nagent=\u{7f}"]
    {
        let (_, problems) = read(&[(Layer::User, source("u", text))]);
        assert!(!problems.is_empty(), "{text:.20}");
        assert!(problems.iter().all(|problem| problem.message.len() < 500), "{problems:?}");
    }
}

#[test]
fn limits_are_those_said_upon_the_defaults() {
    assert_eq!(settings("").limits(), Limits::default());
    let said = settings(
        "[limits]\nloop = {count = \"edge\", max = 7}\nretries = 0\nidle = \"none\"\ntimeout = \"30m\"\n",
    );
    let expected = Limits {
        loops: LoopLimit { count: LoopCount::Edge, max: 7, progress: None },
        retries: 0,
        idle_ms: None,
        timeout_ms: Some(30 * 60 * 1_000),
        untimed: false,
        ..Limits::default()
    };
    assert_eq!(said.limits(), expected);
    assert_eq!(settings("").budget(), None);
    assert_eq!(settings("budget.usd = 1").budget().unwrap().usd_micros, Some(1_000_000));
}

#[test]
fn the_defaults_in_the_table_are_those_that_hold() {
    let defaults = KEYS.iter().filter(|key| !key.default.is_empty());
    let text: Vec<String> = defaults.map(|key| format!("{} = {}", key.name, key.default)).collect();
    let text = text.join("\n");
    let (said, problems) = read(&[(Layer::User, source("u", &text))]);
    assert_eq!(problems, []);
    assert_eq!(said.limits(), Limits::default());
    assert!(!said.waits_at_gates());
}

#[test]
fn the_commented_file_is_sound_as_it_is_and_with_everything_said() {
    let text = commented(&[("verify", Value::Texts(vec!["cargo test".to_owned()]))]);
    assert_eq!(settings(&text).texts("verify"), ["cargo test"]);
    assert!(text.lines().all(|line| line.chars().count() <= 110), "{text}");
    let all: Vec<&str> = text
        .lines()
        .map(|line| match line.strip_prefix("# ") {
            Some(said) if said.starts_with('[') || said.contains(" = ") && !said.contains('.') => {
                said
            }
            Some(said) if said.split(" = ").next().is_some_and(is_name) && said.contains(" = ") => {
                said
            }
            _ => line,
        })
        .collect();
    let said = settings(&all.join("\n"));
    let unsaid: Vec<&str> = KEYS
        .iter()
        .filter(|key| {
            key.whose == Whose::Both && !key.name.contains('*') && said.said(key.name).is_none()
        })
        .map(|key| key.name)
        .collect();
    assert_eq!(unsaid, Vec::<&str>::new());
    assert_eq!(said.agents().collect::<Vec<_>>(), ["mine"]);
}

fn is_name(text: &str) -> bool {
    text.chars().all(|letter| letter.is_ascii_lowercase() || letter == '_')
}

#[test]
fn a_project_can_ask_for_more_walls_and_open_none() {
    check(
        "[walls]\nfiles = 'read'\nhide = ['~/private']\nopen = 'ssh'\npaths = ['~/exports']\nrequire = false\nown_sandbox = true\n",
        "[walls]\nhide = ['secrets']\nnetwork = 'off'\nprocesses = 200\nrequire = true\nopen = ['docker']\npaths = ['/srv']\nown_sandbox = true\n",
        &expect![[r#"
            walls.files = "read" (user.toml:2)
            walls.paths = ["~/exports"] (user.toml:5)
            walls.hide = ["secrets", "~/private"] (project.toml:2)
            walls.open = ["ssh"] (user.toml:4)
            walls.network = "off" (project.toml:3)
            walls.processes = 200 (project.toml:4)
            walls.require = true (project.toml:5)
            walls.own_sandbox = true (user.toml:7)
            error[only-the-users] project.toml:6:1: only the user's own settings may say `walls.open` (hint: move it to the file that `chronicle config path` names as the user's)
            error[only-the-users] project.toml:7:1: only the user's own settings may say `walls.paths` (hint: move it to the file that `chronicle config path` names as the user's)
            error[only-the-users] project.toml:8:1: only the user's own settings may say `walls.own_sandbox` (hint: move it to the file that `chronicle config path` names as the user's)"#]],
    );
    check(
        "[walls]\nrequire = true\n",
        "[walls]\nrequire = false\n",
        &expect![[r#"
        walls.require = true (user.toml:2)
        error[only-the-users] project.toml:2:1: only the user's own settings may say `walls.require = false` (hint: move it to the file that `chronicle config path` names as the user's)"#]],
    );
    check(
        "[walls]\nfiles = 'reed'\nhide = ['.']\nopen = ['dokcer']\npaths = ['/']\nprocesses = 0\nnetwork = false\n",
        "[walls]\nhide = 7\n",
        &expect![[r#"
            error[wrong-type] user.toml:2:9: `walls.files` must be one of `read`, `write`, not the text `reed` (hint: did you mean `read`?)
            error[wrong-type] user.toml:3:8: `walls.hide` must be a list of paths that a wall can hide, not a list (hint: `.` is needed by the agent and cannot be hidden)
            error[wrong-type] user.toml:4:8: `walls.open` must be a list of some of `ssh`, `gpg`, `docker`, `podman`, `containerd`, `dbus`, `tmux`, `screen`, `x11`, `emacs`, `libvirt`, `lxd`, `snap`, `watchman`, `keyring`, `pass`, `aws`, `azure`, `gcloud`, `kube`, `gh`, `glab`, `git`, `netrc`, `cargo`, `pypi`, `gem`, `databases`, `clouds`, `models`, `age`, `history`, `terraform`, `vault`, `op`, `sops`, `rclone`, `browser`, `claude`, `pi`, `codex`, `gemini`, `opencode`, not a list (hint: did you mean `docker`?)
            error[wrong-type] user.toml:5:9: `walls.paths` must be a list of paths that a wall can open, not a list (hint: `/` would open everything that the wall is for)
            error[wrong-type] user.toml:6:13: `walls.processes` must be a whole number from 1 to 1000000, not the number `0`
            error[wrong-type] user.toml:7:11: `walls.network` must be one of `on`, `off`, not `false`
            error[wrong-type] project.toml:2:8: `walls.hide` must be a list of paths that a wall can hide, not the number `7`"#]],
    );
}

#[test]
fn settings_become_walls() {
    let user = "[walls]\nfiles = 'read'\nhide = ['~/private']\nopen = 'ssh'\npaths = ['~/exports']\nown_sandbox = false\n";
    let project = "[walls]\nhide = ['secrets']\nnetwork = 'off'\nprocesses = 200\nrequire = true\n";
    let files = [(Layer::User, source("u", user)), (Layer::Project, source("p", project))];
    let (said, problems) = read(&files);
    assert_eq!(problems, []);
    let expected = Walls {
        files: Some(WallFiles::Read),
        paths: vec!["~/exports".into()],
        hide: vec!["secrets".into(), "~/private".into()],
        open: vec!["ssh".into()],
        network: Some(WallNetwork::Off),
        processes: Some(200),
        require: true,
        own_sandbox: Some(false),
    };
    assert_eq!(said.walls(), expected);
    assert!(settings("").walls().is_empty());
}

#[test]
fn a_project_lets_fewer_agents_work_and_never_more() {
    let both = |user: &str, project: &str| {
        let files = [(Layer::User, source("u", user)), (Layer::Project, source("p", project))];
        let (said, problems) = read(&files);
        assert_eq!(problems, []);
        let own = said.agents_at_once("scripted:a.yaml").first().map(|(_, most)| *most);
        (said.machine_agents(), own)
    };
    let says = |all, own| format!("machine.agents = {all}\nagents.scripted.at_once = {own}\n");
    assert_eq!(both("", ""), (8, None));
    assert_eq!(both(&says(20, 5), ""), (20, Some(5)));
    assert_eq!(both(&says(20, 5), &says(21, 6)), (20, Some(5)));
    assert_eq!(both(&says(20, 5), &says(19, 4)), (19, Some(4)));
    // More than the default is the user's to say. A limit where there was none lets less work.
    assert_eq!(both("", &says(9, 4)), (8, Some(4)));
    assert_eq!(both("", &says(2, 4)), (2, Some(4)));
}

#[test]
fn the_guide_has_every_setting_as_it_is() {
    let guide = include_str!("../../../../docs/guide/settings.md");
    let rows: Vec<String> = KEYS
        .iter()
        .map(|key| {
            let name = key.name.replace('*', "NAME");
            let default =
                if key.default.is_empty() { String::new() } else { format!("`{}`", key.default) };
            format!("| `{name}` | {default} | {} |", key.about)
        })
        .collect();
    let missing: Vec<&String> = rows.iter().filter(|row| !guide.contains(row.as_str())).collect();
    assert!(missing.is_empty(), "docs/guide/settings.md lacks:\n{}", rows.join("\n"));
}
