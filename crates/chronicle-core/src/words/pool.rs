//! Words about pools: steps, slots, work folders and merges.

use std::fmt::Write as _;

use super::apart;
use super::quote::{because, quote, saying};
use super::trees::changes;
use crate::base::ids::{FolderId, Place};
use crate::base::quote::{cited, plain};
use crate::definition::workflow::{Phase, StepItem};
use crate::event::pool::{
    ConflictFile, FolderMade, MergeBegan, MergePlanned, MergeWritten, PlanMade, PlanOrigin,
    PoolPlanned, Side, SlotFreed, SlotTaken, StepAsked, StepEnd, StepSettled,
};
use crate::state::{MergeStage, Merging, OWN_FOLDER, Pool, PoolStep, StepStage};

/// Most steps or files that a sentence names.
const NAMES_MAX: usize = 12;

/// How much of a tree's id is shown: enough for git to find it.
const TREE_SHOWN: usize = 12;

/// What a move of a person waits for.
pub(crate) const ONCE_MERGED: &str = "once the merge is finished";

/// The same for steps whose cleanup has not run.
pub(crate) const ONCE_PUT_AWAY: &str = "once the cleanup of its steps has run";

pub(super) fn planned(planned: &PoolPlanned) -> String {
    let from = match &planned.from {
        PlanOrigin::Workflow => String::new(),
        PlanOrigin::Worker => ", as planned".to_owned(),
        PlanOrigin::File(file) => format!(", from `{file}`"),
    };
    let many = planned.steps.len();
    let count = if planned.race { format!("{many} workers") } else { steps(many) };
    let place = &planned.place;
    format!("`{place}` has {count}{from}: {}", names(planned.steps.iter().map(|it| &it.id)))
}

/// What a phase with steps is called.
pub(crate) fn kind(race: bool) -> &'static str {
    if race { "race" } else { "pool" }
}

pub(super) fn plan_made(made: &PlanMade) -> String {
    let PlanMade { attempt, version, .. } = made;
    let names = names(made.steps.iter().map(|it| &it.id));
    match &made.pool {
        Some(place) => {
            format!("{attempt} changed the plan of `{place}` (version {version}): {names}")
        }
        None => format!("{attempt} planned {}: {names}", steps(made.steps.len())),
    }
}

pub(super) fn slot_taken(taken: &SlotTaken) -> String {
    let place = taken.place.of_step(&taken.step);
    let folder = match taken.folder {
        FolderId::Project => String::new(),
        FolderId::Work(number) => format!(", in work folder {number}"),
    };
    format!("`{place}` works in slot {}{folder}", taken.slot)
}

pub(super) fn slot_freed(freed: &SlotFreed) -> String {
    format!("`{}` waits for a person, and others use its slot", freed.place.of_step(&freed.step))
}

pub(super) fn step_asked(asked: &StepAsked) -> String {
    let (place, who) = (asked.place.of_step(&asked.step), &asked.who);
    format!("{who} {} `{place}`{}", done_to(asked.how), saying(&asked.note))
}

fn done_to(how: StepEnd) -> &'static str {
    match how {
        StepEnd::Failed => "fails",
        StepEnd::Skipped => "skips",
        StepEnd::Dropped => "gives up",
        StepEnd::Done => "ends",
        StepEnd::Again => "starts again",
        StepEnd::Lost => "takes another one than",
    }
}

pub(super) fn step_settled(settled: &StepSettled) -> String {
    let place = settled.place.of_step(&settled.step);
    let why = because(&settled.why);
    match settled.how {
        StepEnd::Failed => format!("`{place}` failed{why}"),
        StepEnd::Skipped => format!("`{place}` is skipped, and {}{why}", left_of(settled)),
        StepEnd::Dropped => format!("`{place}` is given up, and {}{why}", left_of(settled)),
        StepEnd::Done => format!("`{place}` is done"),
        StepEnd::Again => format!("`{place}` begins again{}", saying(&settled.why)),
        StepEnd::Lost => match &settled.tree {
            Some(tree) => {
                let id = tree.as_str();
                let id = id.get(..TREE_SHOWN).unwrap_or(id);
                format!("`{place}` lost, and its work is kept in tree {id}")
            }
            None => format!("`{place}` lost, and its work is in its folder alone"),
        },
    }
}

/// What becomes of the work of a step that a person ends.
fn left_of(settled: &StepSettled) -> &'static str {
    if settled.in_project {
        "what it changed stays in the project"
    } else {
        "its work is not merged"
    }
}

pub(super) fn folder_made(made: &FolderMade) -> String {
    let plain = made
        .plain
        .as_ref()
        .map_or_else(String::new, |why| format!(", a plain copy without a repository: {why}"));
    format!("{} made{plain}", apart::folder(made.folder))
}

pub(super) fn folder_failed(folder: u32, why: &str) -> String {
    format!("{} could not be made: {why}", apart::folder(folder))
}

pub(super) fn folder_dropped(folder: u32, error: Option<&String>) -> String {
    let folder = apart::folder(folder);
    match error {
        None => format!("{folder} removed"),
        Some(error) => format!("{folder} could not be removed: {error}"),
    }
}

pub(super) fn merge_began(began: &MergeBegan) -> String {
    let place = began.place.of_step(&began.step);
    let side = match began.favour {
        None => "",
        Some(Side::Ours) => ", where both changed the same lines the project's stay",
        Some(Side::Theirs) => ", where both changed the same lines its own win",
    };
    let round = if began.round > 1 { ", again" } else { "" };
    format!("the work of `{place}` is being merged{round}{side}")
}

pub(super) fn merge_planned(planned: &MergePlanned) -> String {
    let work = apart::work_in(planned.folder);
    let kept = match planned.unrecorded.as_slice() {
        [] => String::new(),
        files => format!("; not recorded, so the folder is kept: {}", names(files.iter())),
    };
    match planned.conflicts {
        0 if planned.result == planned.ours => {
            format!("{work} changes nothing in the project{kept}")
        }
        0 if planned.folder == OWN_FOLDER => {
            format!("merging {} of the run{kept}", changes(&planned.changes))
        }
        0 => format!("merging {} of folder {}{kept}", changes(&planned.changes), planned.folder),
        count => {
            let files = named_files(&planned.conflict_files, count);
            format!(
                "{} and the project are in conflict: {files}{kept}",
                apart::folder_short(planned.folder)
            )
        }
    }
}

pub(super) fn merge_written(written: &MergeWritten) -> String {
    let (folder, work) = (apart::folder_short(written.folder), apart::work_in(written.folder));
    if let Some(error) = &written.error {
        return format!("the merge of {folder} stopped: {error}");
    }
    match (written.into, written.late.as_slice()) {
        (FolderId::Project, []) => format!("{work} is merged"),
        (FolderId::Project, late) => {
            let late = names(late.iter());
            format!("edited meanwhile, so the merge of {folder} begins again: {late}")
        }
        (FolderId::Work(_), _) => format!("{folder} has the project's side in it now"),
    }
}

fn named_files(files: &[ConflictFile], count: u32) -> String {
    let named: Vec<String> = files
        .iter()
        .take(NAMES_MAX)
        .map(|file| format!("`{}` ({})", file.path, file.what))
        .collect();
    let more = usize::try_from(count).unwrap_or(usize::MAX) > named.len();
    format!("{}{}", named.join(", "), if more { ", …" } else { "" })
}

fn names<S: AsRef<str>>(all: impl Iterator<Item = S> + Clone) -> String {
    let count = all.clone().count();
    let first: Vec<String> =
        all.take(NAMES_MAX).map(|name| format!("`{}`", name.as_ref())).collect();
    format!("{}{}", first.join(", "), if count > NAMES_MAX { ", …" } else { "" })
}

/// `3 of 12 steps done`; of a race, who won, or how many finished.
pub(super) fn done_of(pool: &Pool) -> String {
    if pool.race.is_some() {
        let finished = pool.finishers().count();
        let many = pool.steps.len();
        return match pool.winner() {
            Some(winner) => format!("`{}` won", winner.id),
            None => format!("{finished} of {many} workers finished"),
        };
    }
    let done = pool.steps.iter().filter(|step| step.stage.is_done()).count();
    format!("{done} of {} done", steps(pool.steps.len()))
}

fn steps(count: usize) -> String {
    if count == 1 { "1 step".to_owned() } else { format!("{count} steps") }
}

/// A pool inside a step of a pool.
pub(crate) fn pool_in_pool(place: &Place) -> String {
    format!(
        "`{place}` is a pool inside of a step of another pool, which cannot run: put its steps into the outer one"
    )
}

/// A file of steps that cannot be used.
pub(crate) fn steps_unread(file: &str, why: &str) -> String {
    format!("the steps cannot be read from `{file}`: {why}; mend the file and `retry`")
}

/// A pool that nobody planned.
pub(crate) fn no_plan(place: &Place) -> String {
    format!("`{place}` has no steps: no phase before it has planned any with `workflow_plan`")
}

/// A step whose folder is not there.
pub(crate) fn no_folder(why: &str) -> String {
    format!("its work folder could not be made: {why}")
}

/// A step whose work never passed together with the others'.
pub(crate) fn never_fits(rounds: u32, said: &str) -> String {
    format!(
        "its work was sent back {} and still fails together with the others': {said}",
        if rounds == 1 { "once".to_owned() } else { format!("{rounds} times") }
    )
}

/// A pool whose steps have no workflow.
pub(crate) fn no_step_workflow(place: &Place) -> String {
    format!("`{place}` has no workflow for its steps")
}

/// A pool that a person rejected after all of its steps were done.
pub(crate) fn pool_rejected(place: &Place, note: &str) -> String {
    format!(
        "`{place}` was rejected{}: `retry` with a step of it does that one again, `go` leads elsewhere",
        because(note)
    )
}

/// Whether the next step may begin.
pub(crate) fn may_begin_step(place: &Place, item: &StepItem) -> String {
    let name = item.name.as_ref().map_or_else(String::new, |name| format!(" ({})", quote(name)));
    format!("may step `{place}`{name} begin?")
}

/// What a person is asked about a merge.
pub(crate) fn merge_asks(place: &Place, merging: &Merging) -> String {
    let folder = merging.folder;
    match merging.at {
        MergeStage::Verifying => format!(
            "the work of `{place}` is to be verified before it is merged, and nothing says how: look at work folder \
             {folder}"
        ),
        MergeStage::Stuck => not_merged(&format!("the work of `{place}`"), merging),
        MergeStage::Planning
        | MergeStage::Filling
        | MergeStage::Writing
        | MergeStage::Conflict
        | MergeStage::Resolving => in_conflict(
            &format!("the work of `{place}`"),
            &format!("work folder {folder}"),
            "this work",
            merging,
        ),
    }
}

/// Why the work of a step or of a run could not be merged, and what to answer.
pub(super) fn not_merged(work: &str, merging: &Merging) -> String {
    const WAYS: &str = "`again` tries once more, `drop` gives it up";
    if let Some(error) = &merging.error {
        return format!("{work} could not be merged: {error}; {WAYS}");
    }
    let late = names(merging.late.iter());
    if merging.is_obstructed() {
        let (is, it) = if merging.late.len() == 1 { ("is", "it") } else { ("are", "them") };
        return format!(
            "{work} is not merged, and nothing was written: {late} {is} in the way in the project, as a file that git \
             ignores is, or one that cannot be read. Move {it} away; {WAYS}"
        );
    }
    format!(
        "{work} could not be merged, since the same files were edited each time: {late}; {WAYS}"
    )
}

/// What does not go together, and what to answer.
pub(super) fn in_conflict(work: &str, folder: &str, side: &str, merging: &Merging) -> String {
    let large = merging.conflict.iter().filter(|file| file.is_unrecorded);
    let large = names(large.map(|file| &file.path));
    if merging.has_unrecorded() {
        return format!(
            "{work} has files that cannot be recorded, and so cannot be merged: {large}. With a larger `trees.max_file_mb` in \
             the settings, or without them in {folder}, answer `resolved`; `ours` merges the rest and keeps that folder, \
             `drop` gives the work up"
        );
    }
    format!(
        "{work} and the project do not go together: resolve it in {folder} and answer `resolved`, or let one side win \
         with `ours` (the project) or `theirs` ({side}), or `drop` it"
    )
}

/// The files in conflict, one in a line.
pub(crate) fn conflict_files(merging: &Merging) -> String {
    let files = merging.conflict.iter().take(NAMES_MAX);
    let lines: Vec<String> = files.map(|file| format!("{}: {}", file.path, file.what)).collect();
    lines.join("\n")
}

/// The summary of a pool whose steps are all done.
pub(crate) fn pool_done(pool: &Pool) -> String {
    let told: Vec<String> = pool.steps.iter().take(NAMES_MAX).map(done_step).collect();
    let rest = pool.steps.len().saturating_sub(NAMES_MAX);
    let rest = if rest > 0 { format!("; and {rest} more") } else { String::new() };
    format!("{} done: {}{rest}", steps(pool.steps.len()), told.join("; "))
}

fn done_step(step: &PoolStep) -> String {
    match (step.summary.trim(), &step.stage) {
        (_, StepStage::Skipped) => format!("{} was skipped", step.id),
        ("", _) => step.id.to_string(),
        (summary, _) => format!("{}: {}", step.id, super::one_line(summary)),
    }
}

/// Which steps are not done, and why.
pub(crate) fn gaps(place: &Place, pool: &Pool) -> String {
    if pool.race.is_some() {
        let told: Vec<String> = pool.steps.iter().map(|step| gap(pool, step)).collect();
        return format!("no work of `{place}` can be taken: {}", told.join("; "));
    }
    let open: Vec<&PoolStep> = pool.steps.iter().filter(|step| !step.stage.is_done()).collect();
    let told: Vec<String> = open.iter().take(NAMES_MAX).map(|step| gap(pool, step)).collect();
    let rest = open.len().saturating_sub(NAMES_MAX);
    let rest = if rest > 0 { format!("; and {rest} more") } else { String::new() };
    let all = pool.steps.len();
    let told = told.join("; ");
    format!("not all steps of `{place}` are done, {} of {all} are open: {told}{rest}", open.len())
}

fn gap(pool: &Pool, step: &PoolStep) -> String {
    let id = &step.id;
    match &step.stage {
        StepStage::Failed(why) if why.trim().is_empty() => format!("`{id}` failed"),
        StepStage::Failed(why) => format!("`{id}` failed: {}", super::one_line(why)),
        StepStage::Dropped => format!("`{id}` was given up"),
        StepStage::Skipped => format!("`{id}` was skipped"),
        StepStage::Pending
        | StepStage::Making
        | StepStage::Working
        | StepStage::Finished
        | StepStage::Judging
        | StepStage::Merging(_)
        | StepStage::Done
        | StepStage::Lost => {
            let is_missing = |need: &&String| {
                !pool.steps.iter().any(|other| other.item.id == **need && other.stage.is_done())
            };
            let needs = step.item.depends_on.iter().filter(is_missing);
            format!("`{id}` could not begin without {}", names(needs))
        }
    }
}

/// How far a step is, in a word or two.
pub(crate) fn step_word(pool: &Pool, step: &PoolStep) -> &'static str {
    match &step.stage {
        StepStage::Pending if step.gate.is_some() => "asks to begin",
        StepStage::Pending if pool.is_ready(step) => "waits for a slot",
        StepStage::Pending => "waits for other steps",
        StepStage::Making => "gets its folder",
        StepStage::Working if step.slot.is_none() => "waits",
        StepStage::Working => "works",
        StepStage::Finished if pool.race.is_some() => match pool.winner() {
            Some(winner) if winner.id == step.id => "won, waits to be merged",
            Some(_) => "out of the race",
            None => "finished",
        },
        StepStage::Finished => "waits to be merged",
        StepStage::Judging => "is being judged",
        StepStage::Merging(merging) => match merging.at {
            MergeStage::Planning | MergeStage::Filling | MergeStage::Writing => "is being merged",
            MergeStage::Verifying => "is being verified",
            MergeStage::Conflict | MergeStage::Stuck => "in conflict",
            MergeStage::Resolving => "conflict is being resolved",
        },
        StepStage::Done if pool.race.is_some() => "won",
        StepStage::Done => "done",
        StepStage::Failed(_) => "failed",
        StepStage::Skipped => "skipped",
        StepStage::Dropped => "given up",
        StepStage::Lost => "lost",
    }
}

/// Nobody works in a step, and how far that is.
pub(crate) fn nobody_inside(place: &Place, pool: &Pool, step: &PoolStep) -> String {
    format!("nobody is inside of `{place}` ({})", step_word(pool, step))
}

/// What a worker is told that plans in a phase without a plan.
pub(crate) fn plans_nothing(phase: &Phase) -> String {
    format!(
        "`workflow_plan` is for phases that produce steps, and `{}` does not: do the work here, or leave with \
         `workflow_transition`",
        phase.id
    )
}

/// What a worker is told that knows another plan.
pub(crate) fn other_plan(version: u32, known: u32) -> String {
    match known {
        0 => format!("there is no plan {version}: leave `version` out"),
        known => format!(
            "the plan is at version {known}, not {version}: look at it with `workflow_status`, and plan again with `version: {known}`"
        ),
    }
}

/// What a worker is told that changes a plan without saying which.
pub(crate) fn which_plan(known: u32) -> String {
    format!(
        "the plan is at version {known}: look at it with `workflow_status`, and say `version: {known}` to change it"
    )
}

/// What a worker is told that leaves without the steps that its phase is for.
pub(crate) fn not_planned(phase: &Phase) -> String {
    format!(
        "`{}` is for planning: hand in the steps with `workflow_plan` before you leave, or leave with `outcome: fail`",
        phase.id
    )
}

/// What a worker of a step is told that plans.
pub(crate) const REPLAN_REFUSED: &str = "only the persona that planned the steps may change the plan: ask it with \
    `signal_back` and `needs-role-followup`";

/// A step that a new plan may not change.
pub(crate) fn step_has_begun(id: &str) -> String {
    format!(
        "step `{id}` has begun and cannot be changed: leave it out, or give it exactly as it was"
    )
}

/// The answer to a plan.
pub(crate) fn plan_kept(version: u32, all: &[StepItem]) -> String {
    format!(
        "planned: {} (version {version}): {}",
        steps(all.len()),
        names(all.iter().map(|it| &it.id))
    )
}

/// What whoever plans the steps of a pool is told about it.
pub(crate) const HOW_TO_PLAN: &str = "Your phase plans steps that several workers do, some of them at the same time, each in a copy of \
    the project of its own. Hand them in with the tool `workflow_plan`: `steps`, a list of `{id, name, description, depends_on}`. The \
    `id` is short and unique. A step begins once all that it `depends_on` are merged; steps that change the same files should depend on \
    each other. The `description` is all that its worker is told beside the task: say what to do, in which files, and how to see \
    that it is done. Called again, it replaces the plan. Leave the phase after that.";

/// The plan of a pool, for a helper that may change it.
pub(crate) fn plan_told(place: &Place, pool: &Pool) -> String {
    let mut text = format!(
        "The plan of `{place}` is at version {}. You may change the steps that have not begun: call `workflow_plan` with \
         `version: {}` and all steps that are to come. Steps that have begun stay, and new ones may depend on them.\n",
        pool.version, pool.version
    );
    for step in &pool.steps {
        let begun = if step.has_begun() { ", has begun" } else { "" };
        let needs = match step.item.depends_on.as_slice() {
            [] => String::new(),
            needs => format!(", after {}", names(needs.iter())),
        };
        let name =
            step.item.name.as_deref().map_or_else(String::new, |name| format!(": {}", plain(name)));
        let _ = write!(text, "\n- `{}`{needs} ({}{begun}){name}", step.id, step_word(pool, step));
    }
    text
}

/// What a worker is told of a step that it builds on and that has not been done. What was said there last is about work that may be
/// nowhere.
fn skipped_told(step: &PoolStep) -> String {
    let rest = if step.is_in_project() {
        "What it had changed by then is in the project, and may be half done"
    } else {
        "Nothing of it is merged, so do not count on its work"
    };
    format!("Step `{}`, which this one builds on, was skipped by a person. {rest}.", step.id)
}

/// What a worker is told about its step.
pub(crate) fn step_told(pool: &Pool, step: &PoolStep) -> String {
    let item = &step.item;
    let mut text = format!("`{}`", step.id);
    if let Some(name) = &item.name {
        let _ = write!(text, ": {}", plain(name));
    }
    if let Some(description) = &item.description {
        let _ = write!(text, "\n\n{}", cited(description, ""));
    }
    for (title, files) in [("To create", &item.files.create), ("To change", &item.files.change)] {
        if !files.is_empty() {
            let _ = write!(text, "\n\n{title}: {}", names(files.iter()));
        }
    }
    for (field, value) in &item.more {
        let _ = write!(text, "\n\n{}: {}", plain(field), plain(&value.to_string()));
    }
    let needs = |other: &&PoolStep| item.depends_on.contains(&other.item.id);
    for other in pool.steps.iter().filter(needs) {
        if other.stage == StepStage::Skipped {
            let _ = write!(text, "\n\n{}", skipped_told(other));
            continue;
        }
        let _ = write!(text, "\n\nStep `{}`, which this one builds on, is done", other.id);
        if !other.summary.trim().is_empty() {
            let _ = write!(text, ": {}", cited(other.summary.trim(), ""));
        }
    }
    if pool.race.is_some() {
        text.push_str(
            "\n\nYou work in a copy of the project of your own. Others do the same task in theirs, and one result is taken: make yours \
             whole, and say in your summary what speaks for it.",
        );
    } else if matches!(step.folder, Some(FolderId::Work(_))) {
        text.push_str(
            "\n\nYou work in a copy of the project of your own. Other steps work at the same time in theirs. When your step is \
             done, your changes are merged into the project: change what your step needs, and nothing else.",
        );
    }
    if !step.marks.is_empty() {
        let conflict = &step.marks;
        let _ = write!(
            text,
            "\n\nYour folder has marks (`<<<<<<<`) where your work and the project changed the same lines. Resolve them so that \
             both sides' work is kept, and leave no mark: {}",
            conflict
                .iter()
                .map(|file| format!("`{}` ({})", file.path, file.what))
                .collect::<Vec<_>>()
                .join(", ")
        );
        let merged =
            pool.steps.iter().filter(|it| it.stage == StepStage::Done && !it.summary.is_empty());
        for other in merged {
            let _ =
                write!(text, "\n\nMerged before, `{}`: {}", other.id, cited(&other.summary, ""));
        }
        if !step.summary.is_empty() {
            let _ = write!(text, "\n\nThis step: {}", cited(&step.summary, ""));
        }
    }
    text
}
