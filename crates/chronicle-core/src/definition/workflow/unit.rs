//! Reads and checks one definition by itself, without its sub-workflows.

use super::check::{self, Checked, Places};
use super::draft::{Draft, Field, Named, PhaseDraft, PhaseEntry, Span};
use super::load::Source;
use super::model::Workflow;
use super::people::{self, KnownPersonas, PersonaUse};
use super::problem::{Finding, Problem, Problems};
use super::{ends, from_chain, from_native, from_phased, from_template};
use crate::base::limits::Limits;
use crate::definition::persona::frontmatter::{self, Parts};

/// Most phase files of one workflow.
const FILES_MAX: usize = 500;

/// Most bytes of all files of one workflow.
const UNIT_MAX: usize = 8 * super::FILE_MAX;

/// The format of a definition, which selects its reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Our own: YAML or JSON.
    Native,
    /// A folder of pi-workflows.
    Phased,
    /// A JSON template of The Chronicle.
    Template,
    /// A chain of an `agent-chain.yaml`.
    Chain,
}

/// Why a file that a definition names cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trouble {
    /// Stable name of its kind.
    pub code: &'static str,
    /// A lower-case fragment with names in backticks.
    pub message: String,
    /// One thing to do about it.
    pub hint: Option<String>,
}

/// Reads a file that a definition names, or says why it cannot.
pub type Files<'f> = dyn FnMut(&str) -> Result<Source, Trouble> + 'f;

/// A definition with its own problems.
#[derive(Debug, Clone)]
pub struct Unit {
    /// The name that it is started by.
    pub key: String,
    /// `None` if there is no phase to begin with.
    pub workflow: Option<Workflow>,
    /// Its own text, then those of its phase files.
    pub sources: Vec<Source>,
    pub(super) calls: Vec<Named>,
    pub(super) asked: Vec<PersonaUse>,
    pub(super) places: Option<Places>,
    pub(super) problems: Problems,
}

impl Unit {
    /// True if it could run, provided that its sub-workflows can.
    pub fn is_sound(&self) -> bool {
        self.workflow.is_some() && !self.problems.has_error()
    }

    /// The same, given that these personas exist.
    pub fn is_sound_among(&self, personas: KnownPersonas<'_>) -> bool {
        let mut told = Problems::default();
        people::tell(&self.asked, 0, personas, &mut told);
        self.is_sound() && !told.has_error()
    }

    /// Keys of the workflows that it runs.
    pub fn calls(&self) -> impl Iterator<Item = &str> {
        self.calls.iter().map(|call| call.text.as_str())
    }

    /// Its own problems, without those of sub-workflows.
    pub fn problems(&self) -> Vec<Problem> {
        self.problems.clone().finish(&self.sources)
    }

    /// Its own problems and those of the personas that it names, given that these exist.
    pub fn problems_among(&self, personas: KnownPersonas<'_>) -> Vec<Problem> {
        let mut problems = self.problems.clone();
        people::tell(&self.asked, 0, personas, &mut problems);
        problems.finish(&self.sources)
    }

    /// A definition whose text could not be read: only a problem.
    pub fn broken(source: Source, trouble: Trouble) -> Self {
        let mut problems = Problems::default();
        problems.push(trouble.at(Span { source: 0, start: 0, end: 0 }));
        Self::of(source, problems)
    }

    fn of(source: Source, problems: Problems) -> Self {
        Self {
            key: source.key.clone(),
            workflow: None,
            sources: vec![source],
            calls: Vec::new(),
            asked: Vec::new(),
            places: None,
            problems,
        }
    }
}

impl Trouble {
    /// A problem without a hint.
    pub fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), hint: None }
    }

    /// Adds what to do about it.
    #[must_use]
    pub fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }

    pub(super) fn at(self, span: Span) -> Finding {
        let finding = Finding::error(self.code, span, self.message);
        match self.hint {
            Some(hint) => finding.hint(hint),
            None => finding,
        }
    }
}

/// Reads one definition. A chain file holds several: see `read_chains`.
pub fn read(source: Source, format: Format, files: &mut Files<'_>) -> Unit {
    read_upon(&Limits::default(), source, format, files)
}

/// The same, with these limits as defaults.
pub fn read_upon(limits: &Limits, source: Source, format: Format, files: &mut Files<'_>) -> Unit {
    let mut problems = Problems::default();
    let draft = match format {
        Format::Native => from_native::read(0, &source.text, &mut problems),
        Format::Phased => from_phased::read(0, &source.text, &mut problems),
        Format::Template => from_template::read(0, &source.text, &mut problems),
        Format::Chain => {
            let chains = from_chain::read(0, &source.text, &mut problems);
            let own = chains.into_iter().find(|chain| chain.name.text == source.key);
            own.map(|chain| {
                problems.absorb(&chain.problems, 0);
                chain.draft
            })
        }
    };
    let mut unit = Unit::of(source, problems);
    let Some(mut draft) = draft else { return unit };
    // Files before names: a phase has its id from its file, and references must not take the same one.
    read_files(&mut draft, format, &mut unit, files);
    if format == Format::Phased {
        from_phased::name_references(&mut draft);
    }
    if format != Format::Native {
        // Before the checks: other programs allow a state called `done`, which our checks refuse.
        ends::mend(&mut draft, &mut unit.problems);
    }
    let limits =
        if format == Format::Phased { from_phased::limits(limits) } else { limits.clone() };
    judge(&draft, &limits, format, &mut unit);
    if format == Format::Chain {
        chain(&mut unit);
    }
    unit
}

/// Every chain of a file, and problems of the file as a whole.
pub fn read_chains(source: &Source) -> (Vec<Unit>, Vec<Problem>) {
    read_chains_upon(&Limits::default(), source)
}

/// The same, with these limits as defaults.
pub fn read_chains_upon(limits: &Limits, source: &Source) -> (Vec<Unit>, Vec<Problem>) {
    let mut whole = Problems::default();
    let chains = from_chain::read(0, &source.text, &mut whole);
    let mut units = Vec::new();
    // Each chain becomes a workflow of its own, so a file with thousands of them is bounded like files of phases.
    for from_chain::Chain { name, draft, problems } in chains.into_iter().take(FILES_MAX) {
        let mut unit = Unit::of(Source { key: name.text, ..source.clone() }, problems);
        judge(&draft, limits, Format::Chain, &mut unit);
        chain(&mut unit);
        units.push(unit);
    }
    (units, whole.finish(std::slice::from_ref(source)))
}

/// Marks phases as steps of a chain, whose prompt is filled in when it is sent: see `Phase::chained`.
fn chain(unit: &mut Unit) {
    for phase in unit.workflow.iter_mut().flat_map(|workflow| &mut workflow.phases) {
        phase.chained = true;
    }
}

fn judge(draft: &Draft, limits: &Limits, format: Format, unit: &mut Unit) {
    let upon = check::Upon { key: &unit.key, limits, format };
    let Checked { workflow, calls, places } = check::check(draft, upon, &mut unit.problems);
    unit.calls = calls;
    unit.places = places;
    unit.asked = workflow.as_ref().map_or_else(Vec::new, |it| people::asked(draft, it, format));
    unit.workflow = workflow;
}

/// Replaces references to phase files with their phases.
fn read_files(draft: &mut Draft, format: Format, unit: &mut Unit, files: &mut Files<'_>) {
    for entry in draft.entries_mut() {
        let PhaseEntry::File { file, key } = entry else { continue };
        // All files together: each may be as large as a definition, and a project's files are untrusted.
        let bytes: usize = unit.sources.iter().map(|source| source.text.len()).sum();
        let found = if unit.sources.len() > FILES_MAX {
            let message = format!("more than {FILES_MAX} files of phases");
            Err(Trouble::new("too-many-phases", message))
        } else if bytes > UNIT_MAX {
            let message = format!("its files are larger than {UNIT_MAX} bytes together");
            Err(Trouble::new("too-large", message))
        } else {
            files(&file.text)
        };
        let phase = match found {
            Ok(source) => {
                let phase = read_phase(format, unit.sources.len(), &source, &mut unit.problems);
                unit.sources.push(source);
                phase
            }
            Err(trouble) => {
                unit.problems.push(trouble.at(file.at));
                None
            }
        };
        let key = key.take();
        // Told already, so the check of the draft must not say again that this phase is missing.
        *entry =
            phase.map_or(PhaseEntry::Told, |phase| PhaseEntry::Phase(PhaseDraft { key, ..phase }));
    }
}

fn read_phase(
    format: Format,
    index: usize,
    source: &Source,
    problems: &mut Problems,
) -> Option<PhaseDraft> {
    match format {
        Format::Phased => from_phased::read_phase(index, &source.text, problems),
        Format::Native | Format::Template | Format::Chain => native_phase(index, source, problems),
    }
}

/// A phase from its file: frontmatter and instructions. Its id is the file's name unless it sets one.
fn native_phase(index: usize, source: &Source, problems: &mut Problems) -> Option<PhaseDraft> {
    let text = &source.text;
    let (mut fields, body) = match frontmatter::split(text) {
        Parts::Both { head, body } => (frontmatter::fields(index, text, head, problems)?, body),
        // A native phase file without fields is all instructions, named after its file.
        Parts::Plain => (Vec::new(), 0..text.len()),
        Parts::Unclosed { begin } => {
            problems.push(frontmatter::unclosed(index, begin));
            return None;
        }
    };
    let span = Span { source: index, start: 0, end: 1 };
    let says = |name: &str| fields.iter().find(|field: &&Field| field.name == name);
    if says("id").is_none() {
        fields.push(Field::said("id", source.key.clone(), span));
    }
    let at = Span { source: index, start: body.start, end: text.len() };
    let instructions = frontmatter::body(text, body);
    if !instructions.is_empty() {
        if let Some(twice) = fields.iter().find(|field| field.name == "instructions") {
            let message = "instructions are said twice: here, and below the fields";
            problems.push(Finding::error("conflicting-fields", twice.at, message));
        } else {
            fields.push(Field::said("instructions", instructions, at));
        }
    }
    Some(PhaseDraft::new(None, span, fields))
}
