//! What is told of a persona file: when it is checked, and when a run uses it.

use crate::definition::workflow::draft::Field;
use crate::definition::workflow::problem::{Finding, Problems, quoted};
use crate::definition::workflow::{NOT_SUPPORTED_YET, Severity};

/// Everything that is found while a persona file is read.
#[derive(Default)]
pub(super) struct Told {
    /// What a check of the file says.
    pub problems: Problems,
    /// Errors for runs that use it.
    pub unsupported: Problems,
    /// Fields that a person may accept as not enforced.
    pub unenforced: Vec<String>,
}

impl Told {
    /// Reports what a run with this persona must not begin with.
    pub(super) fn refuse(&mut self, finding: Finding) {
        self.unsupported.push(finding.clone());
        self.problems.push(finding);
    }

    /// Reports a field that this version cannot enforce: as a note when the file is checked, as an error when a run uses it.
    pub(super) fn cannot_enforce(&mut self, field: &Field, what: &str) {
        let message =
            format!("{what} is not supported yet: a workflow with this persona is refused");
        self.problems.push(Finding::new(Severity::Note, NOT_SUPPORTED_YET, field.at, message));
        let message = format!("this version cannot enforce {what}, and will not ignore it");
        let hint = "take it out, or accept that with `--accept-unenforced`";
        self.unsupported.push(Finding::error(NOT_SUPPORTED_YET, field.at, message).hint(hint));
        self.unenforced.push(field.name.clone());
    }

    /// Reports a field that means something else than in the program that it was written for.
    pub(super) fn note(&mut self, field: &Field, code: &'static str, message: String) {
        self.problems.push(Finding::new(Severity::Note, code, field.at, message));
    }

    /// Reports a field that has no effect.
    pub(super) fn unused(&mut self, field: &Field) {
        let message =
            format!("{} is another program's: it has no effect here", quoted(&field.name));
        self.note(field, "unused-field", message);
    }
}
