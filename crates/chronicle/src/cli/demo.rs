//! `chronicle demo`: runs a workflow, kills its supervisor, and resumes.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::time::{Duration, Instant};

use chronicle_core::event::Event;
use chronicle_runtime::handle::programs::{ShowOutput, beside};
use chronicle_runtime::handle::{self, Project, RunFolder, machine};
use clap::Args;

use super::{Setting, audit, json, log, only_for_people};
use crate::demo;
use crate::exit_code::Exit;
use crate::failure::Failure;
use crate::terminal::{self, Ink, Paint};

/// How long to wait for the moment to kill, before something must be wrong.
const PATIENCE: Duration = Duration::from_mins(1);
/// How often the ledger is looked at for that moment.
const LOOK: Duration = Duration::from_millis(10);

/// Watch a workflow run, its supervisor get killed, and the run resume
///
/// Creates a throw-away project in the temporary folder and runs a three-phase workflow there with the scripted agent, which
/// needs no model and no network. Its edits and processes are real.
#[derive(Debug, Args)]
#[command(after_help = "Example:  chronicle demo")]
pub(super) struct DemoArgs {}

pub(super) fn cmd_demo(setting: &Setting, _: &DemoArgs) -> Result<Exit, Failure> {
    // It starts and answers runs, as a person does.
    only_for_people()?;
    let stage = DemoProject::set(setting)?;
    stage.title("A three-phase workflow starts on the scripted agent:");
    let mut supervisor = stage.chronicle(&[
        "run",
        demo::WORKFLOW,
        demo::TASK,
        "--agent",
        &format!("scripted:{}", demo::SCRIPT),
        "--trust",
    ])?;
    let folder = stage.wait_for_first_edit(&mut supervisor)?;
    stage.kill(&mut supervisor)?;
    stage
        .title("No supervisor drives the run now. Its ledger has every fact, so it continues where it was:");
    let status = stage
        .chronicle(&["resume"])?
        .wait()
        .map_err(|error| Failure::internal("the resumed run cannot be waited for", &error))?;
    stage.show(setting, &folder)?;
    Ok(if status.success() { Exit::Done } else { Exit::RunFailed })
}

/// The throw-away project, and what is said about it.
struct DemoProject {
    project: PathBuf,
    agent_home: PathBuf,
    chronicle: PathBuf,
    paint: Paint,
    show: ShowOutput,
}

impl DemoProject {
    fn set(setting: &Setting) -> Result<Self, Failure> {
        let folder = tempfile::Builder::new()
            .prefix("chronicle-demo-")
            .tempdir()
            .map_err(|error| Failure::internal("no temporary folder can be made", &error))?
            // Kept: the last thing that the demo says is how to look at it.
            .keep();
        let (project, agent_home) = (folder.join("project"), folder.join("agent-home"));
        demo::write_project(&project)
            .map_err(|error| Failure::internal("the demo's files cannot be written", &error))?;
        // A demo without git is a demo all the same.
        for argv in [&["git", "init", "--quiet"][..], &["git", "add", "--all"]] {
            let _ = machine::run(argv, &project);
        }
        let chronicle = setting.asker.chronicle.clone();
        let show = if setting.json { ShowOutput::Talk } else { ShowOutput::Both };
        Ok(Self { project, agent_home, chronicle, paint: Paint::stderr(), show })
    }

    fn title(&self, text: &str) {
        terminal::talk(&format!("\n{}\n", self.paint.ink(Ink::Strong, text)));
    }

    fn chronicle(&self, args: &[&str]) -> Result<Child, Failure> {
        let program = self.chronicle.as_os_str();
        let words: Vec<&OsStr> =
            std::iter::once(program).chain(args.iter().map(OsStr::new)).collect();
        // Sessions of the scripted agent outlive the kill here, as those of a real agent do in its own home: the second
        // supervisor resumes one.
        let env = [("CHRONICLE_SCRIPTED_HOME", self.agent_home.as_os_str())];
        beside(&words, &self.project, &env, self.show)
            .map_err(|error| Failure::internal("a supervisor cannot be started", &error))
    }

    /// Until the worker of the second phase has changed a file, and is in the middle of its work.
    fn wait_for_first_edit(&self, supervisor: &mut Child) -> Result<RunFolder, Failure> {
        let project = Project::at(&self.project);
        let deadline = Instant::now() + PATIENCE;
        let mut follow = None;
        while Instant::now() < deadline {
            // Looked at in each round: waiting out the deadline for a process that is gone would look like a demo that
            // hangs.
            if let Ok(Some(status)) = supervisor.try_wait() {
                return Err(Failure::new(
                    Exit::Internal,
                    format!("the demo's run ended early: {status}"),
                ));
            }
            if follow.is_none() {
                let folder = project.runs().into_iter().next();
                follow = folder.map(|folder| (handle::follow(&folder), folder, false));
            }
            if let Some((follow, folder, second)) = &mut follow {
                // A ledger that is not there yet is looked for again.
                for entry in follow.poll().unwrap_or_default() {
                    match &entry.event {
                        Some(Event::PhaseEntered { place }) => {
                            *second = place.as_str() == "implementation";
                        }
                        Some(Event::FileChanged { .. }) if *second => return Ok(folder.clone()),
                        _ => {}
                    }
                }
            }
            std::thread::sleep(LOOK);
        }
        Err(Failure::new(Exit::Internal, "the demo's run made no progress"))
    }

    fn kill(&self, supervisor: &mut Child) -> Result<(), Failure> {
        let pid = supervisor.id();
        supervisor
            .kill()
            .and_then(|()| supervisor.wait())
            .map_err(|error| Failure::internal("the demo's supervisor cannot be killed", &error))?;
        terminal::erase_left_line();
        let text = format!("kill -9 {pid}: the supervisor is dead, in the middle of a phase.");
        terminal::talk(&format!("\n{}", self.paint.ink(Ink::Bad, &text)));
        Ok(())
    }

    fn show(&self, setting: &Setting, folder: &RunFolder) -> Result<(), Failure> {
        if setting.json {
            return json::say_view(&handle::view(folder)?.0);
        }
        self.title("What happened, as the ledger tells it (chronicle log):");
        log::say_all(setting, folder)?;
        self.title("Is the record whole, is anything left behind? (chronicle audit):");
        audit::say(&handle::audit(folder)?, folder.id.short());
        self.title("Look at it yourself:");
        // Not wrapped: a command that is broken cannot be copied as one.
        terminal::say(&next_steps(&self.project, folder));
        Ok(())
    }
}

fn next_steps(project: &Path, folder: &RunFolder) -> String {
    let (run, me) = (folder.id.short(), my_name());
    let folder = project.parent().unwrap_or(project).display();
    let project = project.display();
    format!(
        "  cd {project}\n  {me} status {run}\n  {me} log {run} --tools\n  \
         cat .chronicle/workflows/feature.yaml demo-script.yaml\n  \
         {me} run feature \"your own task\" --agent scripted:demo-script.yaml --trust\n\n\
         All of it is in one folder. To remove it:\n  rm -r {folder}"
    )
}

/// How this program can be called from anywhere: by its name when that was enough, else by its path.
fn my_name() -> String {
    let called = std::env::args().next().unwrap_or_default();
    let path = std::env::current_exe().ok().filter(|_| called.contains('/'));
    path.map_or_else(|| "chronicle".to_owned(), |path| path.display().to_string())
}
