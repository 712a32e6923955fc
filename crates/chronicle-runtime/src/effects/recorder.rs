//! The world of a run that nobody drives: it finishes what is past, and begins nothing.
//!
//! What an attempt left that is to stop is ended, files are recorded after it or put back, and what people were owed is said
//! to be missed. An attempt that is to go on is not looked at: to find it lost would be to start the next.

use std::collections::BTreeSet;

use chronicle_core::base::ids::AttemptId;
use chronicle_core::event::Performer;
use chronicle_core::event::input::{EndSeen, Input, Report};
use chronicle_core::event::notice::{About, Missed, NoticeGiven};
use chronicle_core::state::State;
use chronicle_core::state::effect::{Action, Effect};

use super::observe::{is_absent, observed};
use super::{ended, tree, worked};
use crate::cookie::Cookies;
use crate::driver::World;
use crate::inbox::reported;
use crate::process::sweep;
use crate::project::RunFolder;

/// Performs nothing new.
pub(crate) struct Recorder {
    folder: RunFolder,
    cookies: Cookies,
    /// Nothing is finished before there is a line after this one: what is refused leaves no trace.
    after: Option<u64>,
    /// Attempts that lived before we did.
    unknown: BTreeSet<AttemptId>,
    /// What was owed before we lived.
    owed: BTreeSet<About>,
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
        }
    }

    /// Does nothing as long as the ledger stands there.
    pub(crate) fn after(self, seq: u64) -> Self {
        Self { after: Some(seq), ..self }
    }

    fn finish(&mut self, state: &State, effect: &Effect) -> Option<Input> {
        match effect.action {
            Action::StopAttempt(id) => {
                let worked_ms = worked::known_ms(&self.folder.worked(id));
                Some(ended(id, worked_ms, self.stop(effect.by, id)))
            }
            Action::Notify(about) => Some(self.miss(about)),
            Action::RecordTree(_) | Action::RestoreTree => {
                tree::finish(&self.folder, state, effect)
            }
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
            Performer::Supervisor if !was_live || is_absent(&self.folder, &self.cookies, id) => {
                never_ran()
            }
            Performer::Supervisor => observed(&self.folder.keeper(id), &self.cookies.cookie(id)),
            // It died with its host, who alone could drive the run.
            Performer::Host => EndSeen { lost: true, ..EndSeen::default() },
        }
    }

    /// Nobody is here to tell people: whoever gives the command is there. What a supervisor died over may have been told.
    fn miss(&self, about: About) -> Input {
        let why = if self.owed.contains(&about) {
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
        if self.after == Some(state.seq) {
            return Vec::new();
        }
        due.iter().filter_map(|effect| self.finish(state, effect)).collect()
    }

    /// Whatever it does is done when it returns.
    fn is_idle(&self) -> bool {
        true
    }
}
