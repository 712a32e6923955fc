//! What of walls holds on this machine.

use chronicle_runtime::handle::machine::{self, WallProbe, WallStep};

use super::{CheckResult, Setting};

/// The version of Landlock from which on nothing outside of its lists can be emptied.
const TRUNCATION_SINCE: u32 = 3;

/// Puts walls up around nothing, and tells which stood.
pub(super) fn look(setting: &Setting) -> CheckResult {
    // Runs do without what the environment names for temporary files, if it is no good.
    match tempfile::tempdir().or_else(|_| tempfile::tempdir_in("/tmp")) {
        Ok(folder) => told(&machine::walls(&setting.asker.chronicle, folder.path())),
        Err(error) => CheckResult {
            what: "walls",
            good: false,
            found: format!("cannot be tried: {error}"),
            more: Vec::new(),
            advice: Some("make room for temporary files"),
        },
    }
}

fn told(probe: &WallProbe) -> CheckResult {
    let layers = probe.stands.layers;
    let is_other_system = probe.refusals.iter().any(|refusal| refusal.step == WallStep::System);
    let found = match (layers.namespaces, layers.landlock) {
        _ if is_other_system => "there are none on this system; guards judge every call".to_owned(),
        (true, true) => format!("namespaces and {} hold", landlock(probe)),
        (true, false) => "namespaces hold, without Landlock".to_owned(),
        (false, true) => format!("{} holds, without namespaces", landlock(probe)),
        (false, false) => "none hold; guards judge every call".to_owned(),
    };
    let mut more: Vec<String> = probe.refusals.iter().map(ToString::to_string).collect();
    more.extend(limits(probe).map(str::to_owned));
    let unreachable = machine::unreachable_program().filter(|_| !layers.is_nothing());
    let is_reachable = unreachable.is_none();
    more.extend(unreachable.map(|why| format!("no agent starts behind them: {why}")));
    let moved = "set `XDG_STATE_HOME` to a folder from which programs can be started";
    let refused = probe.refusals.first().map(machine::WallRefusal::advice);
    let first = if is_reachable { refused } else { Some(moved) };
    let good = is_reachable && !layers.is_nothing() || is_other_system;
    // Shown for what is bad only. Where some hold, it belongs to what else there is to know.
    more.extend(first.filter(|_| good && !is_other_system).map(str::to_owned));
    CheckResult { what: "walls", good, found, more, advice: first }
}

fn landlock(probe: &WallProbe) -> String {
    format!("Landlock {}", probe.stands.landlock_abi.unwrap_or_default())
}

/// What does not hold although the walls stand.
fn limits(probe: &WallProbe) -> impl Iterator<Item = &'static str> {
    let stands = &probe.stands;
    let alone = stands.layers.landlock && !stands.layers.namespaces;
    let old = stands.landlock_abi.is_some_and(|version| version < TRUNCATION_SINCE);
    let all = [
        (
            alone,
            "Landlock alone cannot hide files, protect those in a writable folder, or end what a worker leaves",
        ),
        (alone && old, "this version of Landlock lets files elsewhere be emptied"),
        (
            stands.layers.namespaces && !stands.layers.own_proc,
            "workers see other processes, but cannot reach them",
        ),
        (stands.layers.namespaces && !stands.network, "the network cannot be turned off"),
    ];
    all.into_iter().filter(|(holds, _)| *holds).map(|(_, text)| text)
}
