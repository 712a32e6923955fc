//! What tending agents costs: memory for each that works, and how fast their lines get through.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::sync_channel;
use std::time::Duration;

use chronicle_core::base::ids::RunId;
use chronicle_core::event::Event;
use chronicle_runtime::handle::{self, Asker, Driven, Project as Place, Rest, Update};

use crate::measure::{Row, Target, median, own_memory_kib, rate, seconds, time};
use crate::program::{self, Project};
use crate::scene;

const LINES: usize = 200_000;
const LINE_BYTES: usize = 300;
const TURNS: usize = 7;
/// Agents that work at the same time.
const LIVE: u32 = 64;
const PATIENCE: Duration = Duration::from_mins(1);
/// The word that makes this program a child which supervises many and says how much memory that took.
pub(crate) const CHILD: &str = "supervise-and-tell";

pub(crate) fn rows(folder: &Path) -> Vec<Row> {
    vec![memory(&folder.join("live")), flood(&folder.join("flood"))]
}

/// A flood of text: through keeper, pipe, redaction, transcript and adapter, against reading the same child's lines. What a
/// run or a start costs by itself is taken off on both sides.
fn flood(folder: &Path) -> Row {
    let project = Project::new(folder);
    let steps = format!("  - flood: {{lines: {LINES}, bytes: {LINE_BYTES}}}\n");
    let (short, long) = (project.script("short.yaml", ""), project.script("long.yaml", &steps));
    let mut turns = Vec::new();
    for _ in 0..TURNS {
        let empty = (time(|| project.run(&short)).0, time(|| read_bare(&project, &short)).0);
        let full = (time(|| project.run(&long)).0, time(|| read_bare(&project, &long)).0);
        turns.push((full.0.saturating_sub(empty.0), full.1.saturating_sub(empty.1)));
    }
    let seconds_of = |pick: fn(&(Duration, Duration)) -> Duration| {
        median(turns.iter().map(|turn| pick(turn).as_secs_f64()).collect())
    };
    let (ours, bare) = (seconds_of(|turn| turn.0), seconds_of(|turn| turn.1));
    let what = format!("lines of {LINE_BYTES} bytes from one agent, against a bare reader");
    let figures = (rate(LINES, ours), rate(LINES, bare));
    Row::judged(what, figures, bare / ours, Target::None)
}

/// Reads what the agent says until it wants to leave, and forgets it.
fn read_bare(project: &Project, script: &Path) -> usize {
    let words = ["scripted-agent".to_owned(), script.display().to_string()];
    let mut command = project.command(&words.each_ref().map(String::as_str));
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let session = handle::new_run_id();
    let open = format!(
        r#"{{"type":"start","protocol":1,"place":"work","try":1,"session":"{session}","task":"t","handover":"h"}}"#
    );
    let mut stdin = child.stdin.take().unwrap();
    writeln!(stdin, "{open}").unwrap();
    let mut out = BufReader::with_capacity(64 * 1024, child.stdout.take().unwrap());
    let (mut line, mut count) = (Vec::new(), 0);
    while out.read_until(b'\n', &mut line).unwrap() > 0 {
        if line.starts_with(b"{\"type\":\"signal\"")
            || line.windows(15).any(|at| at == b"\"type\":\"signal\"")
        {
            break;
        }
        count += 1;
        line.clear();
    }
    child.kill().unwrap();
    child.wait().unwrap();
    count
}

fn memory(folder: &Path) -> Row {
    let own = std::env::current_exe().unwrap();
    let mut command = Command::new(own);
    command.arg(CHILD).arg(folder).env("CHRONICLE_SCRIPTED_HOME", folder.join("agent-home"));
    // On this machine, all of them may work.
    let config = folder.join("config");
    std::fs::create_dir_all(config.join("chronicle")).unwrap();
    let settings = format!("machine.agents = {LIVE}\n");
    std::fs::write(config.join("chronicle/config.toml"), settings).unwrap();
    command.env("XDG_CONFIG_HOME", config).env("XDG_STATE_HOME", folder.join("state"));
    let output = command.stderr(Stdio::inherit()).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    Row::told(format!("memory of one process that supervises {LIVE} runs, a live agent each"), said)
}

/// What the child does: it drives many runs, each with a live agent that does nothing, and looks at itself.
pub(crate) fn child(folder: &Path) {
    std::fs::create_dir_all(folder).unwrap();
    let script = folder.join("hang.yaml");
    std::fs::write(&script, "plan:\n  - hang\n").unwrap();
    let before = own_memory_kib("VmRSS");
    let (elapsed, driven) = time(|| {
        let drive = |number: u32| drive(&folder.join(number.to_string()), &script);
        (0..LIVE).map(drive).collect::<Vec<Driven>>()
    });
    let after = own_memory_kib("VmRSS");
    let each = after.saturating_sub(before) / u64::from(LIVE);
    let start = seconds(elapsed.as_secs_f64() / f64::from(LIVE));
    println!(
        "{} MiB ({} before): {each} KiB each; {start} from start to session",
        after >> 10,
        before >> 10
    );
    // The keepers find their pipes closed and end what they hold.
    drop(driven);
}

/// Starts a run and waits until its agent has named its session.
fn drive(root: &Path, script: &Path) -> Driven {
    std::fs::create_dir_all(root).unwrap();
    let id = RunId::new(handle::new_run_id());
    let folder = handle::new_run(&Place::at(root), id.clone()).unwrap();
    let chronicle: PathBuf = program::chronicle();
    let asker = Asker {
        who: "ann".to_owned(),
        command: "bench".to_owned(),
        chronicle,
        signals: None,
        no_walls: false,
    };
    let (updates, news) = sync_channel(handle::UPDATES_MAX);
    let command = scene::start_command(id, root, &format!("scripted:{}", script.display()));
    let (driven, _) = handle::drive(&folder, &asker, command, Rest::AtGates, updates).unwrap();
    loop {
        if let Update::Happened(entries) = news.recv_timeout(PATIENCE).unwrap() {
            let is_session = |event: &Event| matches!(event, Event::SessionOpened { .. });
            if entries.iter().any(|entry| entry.event.as_ref().is_some_and(is_session)) {
                return driven;
            }
        }
    }
}
