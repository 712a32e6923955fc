//! What an agent is given: its order, the files that it reads, its environment.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{DirBuilder, File};
use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use chronicle_core::engine::work::Work;
use chronicle_core::event::input::EndSeen;

use uuid::Uuid;

use super::cannot_start;
use crate::agents::{self, GivenFile, Order};
use crate::effects::Context;
use crate::environment;
use crate::ledger::{ArtifactId, Ledger as _};
use crate::regular::{self, Links};

/// What an agent that Chronicle itself was started from leaves in the environment: another one would take itself for a part of it.
pub(crate) const NOT_FOR_AGENTS: [&str; 4] =
    ["CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SSE_PORT", "CLAUDE_CODE_SESSION_ID"];

/// Names folders in and above which git looks for no repository.
const GIT_CEILING: &str = "GIT_CEILING_DIRECTORIES";

/// What the ledger says that the worker is told. It is worked out anew only where it is not kept: what people and other workers
/// said since is not in it then, or is.
fn handover(context: &Context, work: &Work) -> String {
    let kept = work.intent.handover.as_ref().and_then(|handed| {
        let id: ArtifactId = handed.text.parse().ok()?;
        let is_same = ArtifactId::of(work.handover.as_bytes()) == id;
        let body = || context.folder.ledger().artifact(&id).ok();
        if is_same { None } else { String::from_utf8(body()?).ok() }
    });
    kept.unwrap_or_else(|| work.handover.clone())
}

/// The folder that an attempt works in; without it, the attempt cannot start.
pub(in crate::effects) fn works_in(
    context: &Context,
    work: &Work,
) -> Result<PathBuf, Box<EndSeen>> {
    let found = context.folder.path_of(work.folder);
    found.map_err(|error| cannot_start(error.to_string()))
}

/// `chronicle` is our own program, as the agent reaches it.
pub(super) fn order(context: &Context, work: Work, works_in: &Path, chronicle: PathBuf) -> Order {
    Order {
        handover: handover(context, &work),
        run: context.folder.id.clone(),
        attempt: work.intent.attempt,
        place: work.intent.place,
        try_number: work.intent.try_number,
        session: work.intent.session,
        resume: work.intent.resume,
        task: work.task,
        followup: work.intent.persona,
        persona: work.persona,
        model: work.model,
        thinking: work.thinking,
        tools: work.tools,
        targets: work.targets,
        project: works_in.to_owned(),
        chronicle,
        run_folder: context.folder.path.clone(),
        secret: context.secrets.issue(work.intent.attempt),
        nonce: Uuid::new_v4().to_string(),
        signals: context.signals.clone(),
        home: work.isolated.then(|| context.folder.home()),
        given: context.folder.given(work.intent.attempt),
    }
}

/// Writes what the agent is given to read. Nobody else may read it: a persona may say what is nobody's business.
pub(crate) fn give(folder: &Path, files: &[GivenFile]) -> std::io::Result<()> {
    if files.is_empty() {
        return Ok(());
    }
    private_folder(folder)?;
    for file in files {
        let mut options = File::options();
        let open = options.write(true).create(true).truncate(true).mode(0o600);
        let mut given = regular::open(&folder.join(file.name), open, Links::Refused)?;
        given.write_all(file.text.as_bytes())?;
    }
    Ok(())
}

pub(super) fn private_folder(folder: &Path) -> std::io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

/// Variables of this process that neither an agent nor a command is to have.
pub(in crate::effects) fn withheld(context: &Context, work: &Work) -> Vec<OsString> {
    environment::withheld(&work.intent.agent, &work.env_names, &context.settings)
}

/// What every worker and command finds in its environment beside the user's own.
pub(in crate::effects) fn environment(context: &Context, work: &Work) -> BTreeMap<String, String> {
    // Commands of a workflow are no agent.
    let agent = Some(&work.intent.agent).filter(|_| !work.is_shell());
    let of_agent = agent.map(|agent| context.settings.agent_env(agent)).unwrap_or_default();
    let own = [
        ("CHRONICLE_RUN", context.folder.id.to_string()),
        ("CHRONICLE_ATTEMPT", work.intent.attempt.to_string()),
        ("CHRONICLE_PLACE", work.intent.shown_place().to_string()),
    ];
    let ceiling = git_ceiling(context, work).map(|value| (GIT_CEILING.to_owned(), value));
    let own = own.into_iter().map(|(name, value)| (name.to_owned(), value)).chain(ceiling);
    // The last one wins: the phase's and the workflow's before the agent's, and ours before all of them.
    of_agent.into_iter().chain(work.env.clone()).chain(own).collect()
}

/// A work folder without a repository is not part of one that lies above all of them, such as that of the person's home.
fn git_ceiling(context: &Context, work: &Work) -> Option<String> {
    let number = context.folder.on_disk(work.folder).number()?;
    let above = context.folder.work(number)?.parent()?.to_string_lossy().into_owned();
    let said = std::env::var(GIT_CEILING).ok().filter(|said| !said.is_empty());
    Some(said.map_or_else(|| above.clone(), |said| format!("{above}:{said}")))
}

/// Where a signal server that the agent starts finds the supervisor. What proves that it is the agent's is not among it: every shell that
/// the agent starts inherits this.
pub(super) fn signal_variables(order: &Order) -> BTreeMap<String, String> {
    let folder = order.run_folder.to_string_lossy().into_owned();
    let url = order.signals.clone().map(|url| (agents::SIGNALS, url));
    [(agents::RUN_FOLDER, folder)]
        .into_iter()
        .chain(url)
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
}

/// Every variable that says where a person's own things are, pointed at the run's home.
pub(super) fn private_home(home: &Path) -> Vec<(String, String)> {
    let places = [
        ("XDG_CONFIG_HOME", ".config"),
        ("XDG_DATA_HOME", ".local/share"),
        ("XDG_STATE_HOME", ".local/state"),
        ("XDG_CACHE_HOME", ".cache"),
    ];
    let named = |name: &str, path: &Path| (name.to_owned(), path.to_string_lossy().into_owned());
    let below = places.map(|(name, below)| named(name, &home.join(below)));
    std::iter::once(named("HOME", home)).chain(below).collect()
}
