//! Walls as people write them: what `check` and `run` refuse, and what a person is asked before a project opens something.

use crate::session::{RUN, Session, until};
use crate::terminal::Terminal;

fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn check_names_agents_that_could_not_reach_their_model() {
    let workflow = "
name: Main
limits: {timeout: 1h}
walls: {network: off}
phases:
  - {id: test, commands: 'true'}
  - {id: mine, agent: mine}
  - {id: build, agent: claude}
  - {id: talk, agent: claude, walls: {network: on}}
  - {id: look, agent: claude, walls: {network: off}}
";
    let session = Session::with(workflow, "");
    session.write(".chronicle/config.toml", "[agents.mine]\ncommand = 'true'\n");
    let said = session.chronicle(&["check", "main"]).exits(3);
    let text = words(&said.stdout);
    let build = "error[needs-network]: `build` has no network, and the agent `claude` cannot work without its model";
    assert!(text.contains(build), "{text}");
    assert!(text.contains("main.yaml:4:1") && text.contains("main.yaml:10:31"), "{text}");
    assert!(text.contains("take `network: off` out of `look`"), "{text}");
    assert_eq!(text.matches("needs-network").count(), 2, "{text}");
}

#[test]
fn check_and_run_name_paths_that_would_open_everything_here() {
    let session = Session::with("{name: Main, phases: {work: {commands: 'true'}}}", "");
    let root = session.project().parent().unwrap().canonicalize().unwrap();
    let (home, linked) = (root.join("home"), root.join("linked"));
    std::os::unix::fs::symlink(&root, &linked).unwrap();
    let (root, linked) = (root.display(), linked.display());
    for path in [home.display().to_string(), root.to_string(), linked.to_string()] {
        let workflow = format!(
            "name: Main\nlimits: {{timeout: 1h}}\nphases:\n  - {{id: work, commands: 'true',\n     walls: {{paths: [target, '{path}']}}}}\n"
        );
        session.write(".chronicle/workflows/main.yaml", workflow);
        let said = session.chronicle(&["check", "main"]).exits(3);
        let text = words(&said.stdout);
        assert!(
            text.contains("error[bad-wall]") && text.contains("would open everything"),
            "{text}"
        );
        assert!(text.contains("main.yaml:5:6"), "{text}");
        session.run().exits(3).talks("would open everything");
    }
    let plain = "{name: Main, limits: {timeout: 1h}, phases: {work: {commands: 'true', walls: {paths: [target, ~/exports]}}}}";
    session.write(".chronicle/workflows/main.yaml", plain);
    session.chronicle(&["check", "main"]).exits(0);
    // What the user's own settings say is told in the same way.
    let config = session.user().join("config.toml");
    let before = std::fs::read_to_string(&config).unwrap_or_default();
    std::fs::create_dir_all(config.parent().unwrap()).unwrap();
    std::fs::write(&config, format!("{before}\n[walls]\npaths = ['{root}']\n")).unwrap();
    let said = session.chronicle(&["check", "main"]).exits(3);
    let text = words(&said.stdout);
    assert!(text.contains("config.toml") && text.contains("`walls.paths`: "), "{text}");
    session.run().exits(3).talks("`walls.paths` of your settings");
}

#[test]
fn run_refuses_a_model_without_a_network_whoever_chose_the_agent() {
    let workflow = "
name: Main
phases:
  - {id: work, walls: {network: off}}
";
    let session = Session::with(workflow, "work: [{next: {summary: worked}}]");
    session.chronicle(&["check", "main"]).exits(0);
    let run = ["run", "main", "x", "--agent", "claude"];
    let said = session.chronicle(&run).exits(3);
    said.talks("`work` has no network").talks("the agent `claude` cannot work without its model");
    assert_eq!(session.runs(), Vec::<String>::new());
    session.write(".chronicle/config.toml", "agent = 'pi'\n");
    let said = session.chronicle(&["check", "main"]).exits(3);
    assert!(words(&said.stdout).contains("the agent `pi` cannot"), "{}", said.stdout);
    let said = session.chronicle(&["run", "main", "x", "--dry-run"]).exits(3);
    said.talks("the agent `pi` cannot work without its model");
}

#[test]
fn settings_can_turn_the_network_off_for_commands_alone() {
    let session = Session::with("{name: Main, phases: {work: {limits: {timeout: 1h}}}}", "");
    session.write(".chronicle/config.toml", "[walls]\nnetwork = 'off'\n");
    session.chronicle(&["check", "main"]).exits(0);
    let said = session.chronicle(&["run", "main", "x", "--agent", "claude"]).exits(3);
    said.talks("`walls: {network: on}` at `work`");
}

#[test]
fn a_project_cannot_open_anything_by_its_settings() {
    let session = Session::with("{name: Main, phases: {work: {commands: 'true'}}}", "");
    for said in ["open = ['ssh']", "paths = ['~/x']", "own_sandbox = true", "require = false"] {
        session.write(".chronicle/config.toml", format!("[walls]\n{said}\n"));
        session.run().exits(3).talks("only the user's own settings may say `walls.");
    }
    session.write(".chronicle/config.toml", "[walls]\nrequire = true\nhide = ['secrets']\n");
    let said = session.chronicle(&["config"]).exits(0);
    assert!(
        words(&said.stdout).contains("walls.hide [\"secrets\"] .chronicle/config.toml:3"),
        "{}",
        said.stdout
    );
}

#[test]
fn needs_tmux_the_question_about_trust_names_what_is_opened() {
    let workflow = "
name: Main
walls: {open: [ssh, docker]}
phases:
  - {id: look, commands: 'true', walls: {paths: [~/exports, target, .git/config, .claude], open: ssh}}
  - {id: work, commands: 'true', walls: {paths: [/srv/data], own_sandbox: true}}
";
    let session = Session::with(workflow, "");
    session.distrust();
    let typed: Vec<String> = RUN.iter().map(|word| format!("'{word}'")).collect();
    let terminal = Terminal::new(&session, &format!("chronicle {}", typed.join(" ")));
    until("it asks", || terminal.screen().contains("Trust this project as it is now? [y/N]"));
    let screen = words(&terminal.screen());
    for line in [
        "They open to workers what walls hide otherwise: `ssh`, `docker`",
        "They let workers change outside of the project, or beside what guards them: `~/exports`, `.git/config`, `.claude`, `/srv/data`",
        "They leave out a part of the wall, for a sandbox of the agent's own.",
    ] {
        assert!(screen.contains(line), "{screen}");
    }
    terminal.tmux(&["send-keys", "n", "Enter"]);
    until("it is not started", || terminal.screen().contains("ended with 2"));
}
