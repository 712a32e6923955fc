//! What the guards say to a call, without anybody making it.

use std::sync::Arc;

use chronicle_core::definition::guard::FrozenRules;
use chronicle_core::definition::workflow::Tools;
use chronicle_core::event::RunStarted;
use chronicle_core::guard::{AskedCall, Judgement};

use super::{HandleError, reading};
use crate::guard::Guard;
use crate::project::{Project, RunFolder};

/// What was frozen when a run began.
pub fn frozen(folder: &RunFolder) -> Result<Arc<RunStarted>, HandleError> {
    let (state, _) = reading::read(folder)?;
    state.run.clone().ok_or_else(|| HandleError::NotStarted { run: folder.id.short().to_owned() })
}

/// What the rules, and the lists of tools of a phase, say to a call that is made in the project's folder. The error names a rule that cannot be used.
pub fn explain(
    project: &Project,
    rules: &FrozenRules,
    tools: Option<&Tools>,
    call: &AskedCall<'_>,
) -> Result<Judgement, String> {
    Ok(Guard::new(Some(rules), project.root(), None)?.judge(call, tools, None))
}
