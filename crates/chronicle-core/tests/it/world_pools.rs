//! What the world does for pools: it reads steps, makes folders and merges them, as the script says.
//!
//! ```text
//! build~steps: unread no file; a b<a          the first time it cannot be read, then there are two steps
//! build/a~folder: fail no room; made           one act after the other; the last one goes on for ever
//! build/a~plan: conflict x.rs; clean           what a merge would do
//! build/a~write: late ignored/x; whole         the same, but what is in the way is in no tree of the project
//! build/a~write: late x.rs; error full; whole  what came of writing the project, or the step's folder (`~fill`)
//! at build/a: answer ours                      what a person says at any gate there
//! own~folder: made                             the same acts for the folder of a run that works apart
//! ```
//!
//! How often each was done is counted in the ledger, so that a world that was killed goes on where it was.

use chronicle_core::base::ids::{FolderId, Place, TreeId};
use chronicle_core::definition::workflow::{StepFiles, StepItem};
use chronicle_core::event::Event;
use chronicle_core::event::input::Report;
use chronicle_core::event::pool::{ConflictFile, FolderMade, MergePlanned, MergeWritten};
use chronicle_core::event::signal::Signal;
use chronicle_core::event::trees::Changes;
use chronicle_core::state::OWN_FOLDER;
use chronicle_core::state::effect::Action;

use crate::world::{World, report};

/// `a b<a,c`: two steps, the second after `a` and `c`.
pub(crate) fn steps(text: &str) -> Vec<StepItem> {
    let step = |word: &str| {
        let (id, needs) = word.split_once('<').unwrap_or((word, ""));
        let needs = needs.split(',').filter(|it| !it.is_empty()).map(str::to_owned);
        let (id, depends_on) = (id.to_owned(), needs.collect());
        StepItem { id, depends_on, files: StepFiles::default(), ..StepItem::default() }
    };
    text.split_whitespace().map(step).collect()
}

/// `a b<a`, or `@2 a b<a` for whoever knows plan 2.
pub(crate) fn plan(text: &str) -> Signal {
    let (version, rest) = match text.strip_prefix('@').and_then(|it| it.split_once(' ')) {
        Some((version, rest)) => (version.parse().ok(), rest),
        None => (None, text),
    };
    Signal::Plan { version, steps: steps(rest) }
}

impl World {
    /// The move of the script for an act that was done so often before.
    fn act(&self, key: &str, before: usize) -> String {
        let moves = self.script.get(key);
        let found = moves.and_then(|moves| moves.get(before).or_else(|| moves.last()));
        found.cloned().unwrap_or_default()
    }

    fn count(&self, counts: impl Fn(&Event) -> bool) -> usize {
        self.lines.iter().flat_map(|line| &line.events).filter(|event| counts(event)).count()
    }

    fn step_place(&self, folder: u32) -> Place {
        // The folder of a run that works apart: `own~folder`, `own~plan` and so on.
        if folder == OWN_FOLDER {
            return Place::new("own");
        }
        let work = &self.state.works[&folder];
        work.place.of_step(&work.step)
    }

    /// Performs what only pools have due; false for everything else.
    pub(crate) fn perform_for_pool(&mut self, action: Action) -> bool {
        let done = match action {
            Action::ReadSteps => self.read_steps(),
            Action::MakeFolder(folder) => self.make_folder(folder),
            Action::DropFolder(folder) => {
                let key = format!("{}~drop", self.step_place(folder));
                let error = self.act(&key, 0).strip_prefix("fail ").map(str::to_owned);
                Report::FolderDropped { folder, error }
            }
            Action::PlanMerge(folder) => self.plan_merge(folder),
            Action::WriteMerge(folder) => self.write_merge(folder),
            _ => return false,
        };
        self.step(&report(done));
        true
    }

    fn read_steps(&self) -> Report {
        let mut pools = self.state.pools.iter();
        let (place, _) = pools.find(|(_, pool)| pool.version == 0 && !pool.left).unwrap();
        let before = self.count(|event| matches!(event, Event::StepsUnread { .. }));
        let text = self.act(&format!("{place}~steps"), before);
        let place = place.clone();
        match text.strip_prefix("unread ") {
            Some(why) => Report::StepsUnread { place, why: why.to_owned() },
            None => Report::StepsRead { place, steps: steps(&text) },
        }
    }

    fn make_folder(&self, folder: u32) -> Report {
        let before = self.count(
            |event| matches!(event, Event::FolderFailed { folder: it, .. } if *it == folder),
        );
        let text = self.act(&format!("{}~folder", self.step_place(folder)), before);
        if let Some(why) = text.strip_prefix("fail ") {
            return Report::FolderFailed { folder, why: why.to_owned() };
        }
        let tree = TreeId::new(format!("p{}", self.merged()));
        Report::FolderMade(FolderMade {
            folder,
            tree,
            plain: None,
            path: Some(format!("/folders/w{folder}")),
        })
    }

    /// How many merges have been written whole.
    fn merged(&self) -> usize {
        self.count(|event| {
            matches!(event, Event::MergeWritten(it)
                if it.into.is_project() && it.late.is_empty() && it.error.is_none())
        })
    }

    fn plan_merge(&self, folder: u32) -> Report {
        let place = self.step_place(folder);
        let before =
            self.count(|event| matches!(event, Event::MergePlanned(it) if it.folder == folder));
        let missed = self.count(|event| {
            matches!(event, Event::MergeWritten(it) if it.folder == folder && it.error.is_some())
        });
        let text = self.act(&format!("{place}~plan"), before + missed);
        let (verb, rest) = text.split_once(' ').unwrap_or((&text, ""));
        if verb == "missed" {
            return Report::MergeMissed { folder, why: rest.to_owned() };
        }
        let merging = self.state.merging_of(folder).unwrap();
        let step = self.state.step_in(folder).map_or("own", |(_, step)| step.id.as_str());
        // What was edited meanwhile is in the next tree of the project, unless git ignores it.
        let is_edit = |event: &Event| {
            matches!(event, Event::MergeWritten(it)
                if it.into.is_project() && it.late.iter().any(|path| !path.starts_with("ignored/")))
        };
        let ours = match self.count(is_edit) {
            0 => TreeId::new(format!("p{}", self.merged())),
            edits => TreeId::new(format!("p{}e{edits}", self.merged())),
        };
        let theirs = merging.theirs.clone();
        let theirs = theirs.unwrap_or_else(|| TreeId::new(format!("{step}.{before}")));
        // Whoever lets one side win has no conflict any more.
        let is_conflict = verb == "conflict" && merging.favour.is_none();
        let file = |path: &str| ConflictFile {
            path: path.to_owned(),
            what: "both".to_owned(),
            is_unrecorded: false,
        };
        let conflict_files: Vec<_> =
            rest.split_whitespace().filter(|_| is_conflict).map(file).collect();
        let same = verb == "same";
        Report::MergePlanned(Box::new(MergePlanned {
            folder,
            result: if same { ours.clone() } else { TreeId::new(format!("{ours}+{theirs}")) },
            ours,
            theirs,
            changes: Changes::default(),
            conflicts: u32::try_from(conflict_files.len()).unwrap(),
            conflict_files,
            unrecorded: (verb == "unrecorded").then(|| rest.to_owned()).into_iter().collect(),
        }))
    }

    fn write_merge(&self, folder: u32) -> Report {
        let place = self.step_place(folder);
        let fills =
            self.state.merging_of(folder).unwrap().at == chronicle_core::state::MergeStage::Filling;
        let into = if fills { FolderId::Work(folder) } else { FolderId::Project };
        let before = self.count(
            |event| matches!(event, Event::MergeWritten(it) if it.folder == folder && it.into == into),
        );
        let key = format!("{place}~{}", if fills { "fill" } else { "write" });
        let text = self.act(&key, before);
        let (verb, rest) = text.split_once(' ').unwrap_or((&text, ""));
        let late = (verb == "late").then(|| rest.to_owned()).into_iter().collect();
        let error = (verb == "error").then(|| rest.to_owned());
        Report::MergeWritten(MergeWritten { folder, into, files: 1, late, error })
    }
}
