//! `chronicle demo`: the first thing that anybody tries.

use crate::session::Session;

#[test]
fn it_is_killed_goes_on_and_leaves_nothing_behind() {
    let session = Session::new();
    let said = session.chronicle(&["demo"]).exits(0);
    let said = said.talks("kill -9 ").talks("the supervisor is dead, in the middle of a phase");
    let said = said.talks("a2 was lost with its supervisor or keeper").talks("run done");
    let said = said.prints("run done").prints("✓ chain whole").prints("✓ no process of this run");
    assert!(!said.stdout.contains("needs you"), "{}", said.stdout);
    // What it proposes works as it is typed, and leaves nothing once its folder is removed.
    session.distrust();
    let proposed: Vec<&str> = said.stdout.rsplit("  cd ").next().unwrap().lines().collect();
    let project = proposed[0];
    let run = proposed.iter().find(|line| line.contains(" run feature ")).unwrap().trim();
    session.shell(&format!("cd {project} && {run}")).exits(0);
    session.shell(proposed.last().unwrap().trim()).exits(0);
    assert!(!std::path::Path::new(project).exists());
    session.chronicle(&["runs", "--all"]).exits(0).talks("No runs here yet");
    assert_eq!(session.runs(), Vec::<String>::new(), "the project of the person is left alone");
}

#[test]
fn its_json_is_the_run_and_its_folder_can_be_looked_at() {
    let session = Session::new();
    let view = session.json(&["demo"]);
    assert_eq!(view["status"], "done");
    let tmp = session.project().join("../tmp");
    let folders = std::fs::read_dir(tmp).unwrap().map(|entry| entry.unwrap().path());
    let is_demo = |path: &std::path::PathBuf| path.join("project").is_dir();
    let folder = folders.into_iter().find(is_demo).unwrap();
    let project = folder.join("project").display().to_string();
    session.chronicle(&["-C", &project, "status"]).exits(0).prints("done");
    session.chronicle(&["-C", &project, "audit"]).exits(0).prints("✓ chain whole");
    let plan = std::fs::read_to_string(folder.join("project/README.md")).unwrap();
    assert_eq!(plan.matches("In the morning it says so.").count(), 1, "{plan}");
}
