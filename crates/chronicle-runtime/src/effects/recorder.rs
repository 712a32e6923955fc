//! The world of a run that is not driven: it finishes what is past and starts nothing.
//!
//! Leftovers of an attempt that must stop are killed, files are recorded after it or restored, and due notices are reported as
//! missed. An attempt that should continue is not touched: reporting it lost would start the next one.

use std::collections::BTreeSet;

use chronicle_core::base::ids::AttemptId;
use chronicle_core::event::Performer;
use chronicle_core::event::input::{EndSeen, Input, Report};
use chronicle_core::event::notice::{About, Missed, NoticeGiven};
use chronicle_core::state::State;
use chronicle_core::state::effect::{Action, Effect};

use super::observe::{is_absent, observed};
use super::{ended, pool, tree, worked};
use crate::cookie::Cookies;
use crate::driver::World;
use crate::inbox::reported;
use crate::process::sweep;
use crate::project::RunFolder;

/// Finishes what is past and starts nothing.
pub(crate) struct Recorder {
    folder: RunFolder,
    cookies: Cookies,
    /// Nothing is finished before there is a line after this one: a refused command leaves no trace.
    after: Option<u64>,
    /// Attempts that were live before this process.
    unknown: BTreeSet<AttemptId>,
    /// Notices that were due before this process.
    owed: BTreeSet<About>,
    /// True if its caller holds the project's files.
    has_files: bool,
}

impl Recorder {
    /// The world of a run that was just opened.
    pub(crate) fn new(folder: &RunFolder, state: &State) -> Self {
        Self {
            cookies: folder.cookies(),
            folder: folder.clone(),
            after: None,
            unknown: state.live.clone(),
            owed: state.notices.owed.iter().map(|owed| owed.about).collect(),
            has_files: false,
        }
    }

    /// Does nothing while the ledger ends at that line.
    pub(crate) fn after(self, seq: u64) -> Self {
        Self { after: Some(seq), ..self }
    }

    /// The caller holds the project's files: the work of the run may be merged into them.
    pub(crate) fn with_files(self) -> Self {
        Self { has_files: true, ..self }
    }

    fn finish(&mut self, state: &State, effect: &Effect) -> Option<Input> {
        match effect.action {
            Action::StopAttempt(id) => {
                // What the dead supervisor had written down: a stop by hand must not refund the time that was used.
                let worked_ms = worked::known_ms(&self.folder.worked(id));
                Some(ended(id, worked_ms, self.stop(effect.by, id)))
            }
            Action::Notify(about) => Some(self.miss(about)),
            Action::RecordTree(_) | Action::RestoreTree => {
                tree::finish(&self.folder, state, effect)
            }
            Action::ReadSteps
            | Action::MakeFolder(_)
            | Action::DropFolder(_)
            | Action::PlanMerge(_)
            | Action::WriteMerge(_) => pool::finish(&self.folder, state, effect, self.has_files),
            // They stay due, and are performed by the supervisor that resumes the run.
            Action::RunAttempt(_)
            | Action::Tell(..)
            | Action::RunTimer { .. }
            | Action::WaitUntil { .. } => None,
        }
    }

    fn stop(&mut self, by: Performer, id: AttemptId) -> EndSeen {
        let was_live = self.unknown.remove(&id);
        let never_ran = || EndSeen { stopped: true, ..EndSeen::default() };
        match by {
            // Not live before this command means that the command itself started and stopped it: no process exists.
            Performer::Supervisor if !was_live || is_absent(&self.folder, &self.cookies, id) => {
                never_ran()
            }
            Performer::Supervisor => observed(&self.folder.keeper(id), &self.cookies.cookie(id)),
            // It died with its host, which alone could drive the run.
            Performer::Host => EndSeen { lost: true, ..EndSeen::default() },
        }
    }

    /// The person who gave the command is at the terminal, so no notice is sent. One that a supervisor died over may have been
    /// sent.
    fn miss(&self, about: About) -> Input {
        let why = if self.owed.contains(&about) {
            // A notifier of the dead supervisor may still be at work. It is ended so that "unknown" stays true.
            sweep::sweep(&self.cookies.notice(about));
            Missed::Unknown
        } else {
            Missed::NobodyDrove
        };
        reported(Report::NoticeGiven(NoticeGiven::missed(about, why)))
    }
}

impl World for Recorder {
    fn reconcile(&mut self, state: &State, due: &[Effect]) -> Vec<Input> {
        // No line was added, so the command was refused. A refusal must leave no trace, not even finished leftovers.
        if self.after == Some(state.seq) {
            return Vec::new();
        }
        due.iter().filter_map(|effect| self.finish(state, effect)).collect()
    }

    /// Everything is finished when `reconcile` returns.
    fn is_idle(&self) -> bool {
        true
    }
}
