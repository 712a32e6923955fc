//! The rules for steps of a pool, wherever they come from: a workflow file, a file that a phase wrote, or a worker's plan.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::check::unfit_id;
use super::pool::{STEPS_MAX, StepFiles, StepItem};
use super::problem::{NOT_PLAIN, quoted};
use super::suggest::closest;
use crate::base::quote::is_deceptive;

/// Longest description of a step, in bytes.
const DESCRIPTION_MAX: usize = 8 * 1024;
/// Longest name of a step, in bytes.
const NAME_MAX: usize = 200;
/// Largest plan, in bytes of JSON.
const PLAN_MAX: usize = 256 * 1024;
/// Most steps that one problem names.
const NAMED_MAX: usize = 5;

/// The fields of a step and their names in plans, the first as in workflow files and the others as in quest files.
const ID: &[&str] = &["id"];
const NAME: &[&str] = &["name"];
const DESCRIPTION: &[&str] = &["description"];
const DEPENDS_ON: &[&str] = &["depends_on", "dependsOn"];
const FILES: &[&str] = &["files"];
const CREATE: &[&str] = &["filesToCreate", "files_to_create"];
const CHANGE: &[&str] = &["filesToModify", "files_to_modify"];
const KNOWN: [&[&str]; 7] = [ID, NAME, DESCRIPTION, DEPENDS_ON, FILES, CREATE, CHANGE];

/// Where in a list of steps something is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum At {
    /// The step of that index.
    Step(usize),
    /// A dependency: the index of the step, and that in its list.
    Depends(usize, usize),
}

/// Something wrong with a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fault {
    pub(super) code: &'static str,
    pub(super) at: At,
    pub(super) message: String,
    /// The name that was probably meant.
    pub(super) meant: Option<String>,
}

#[derive(Default)]
struct Faults(Vec<Fault>);

impl Faults {
    fn tell(&mut self, code: &'static str, at: At, message: String) {
        self.0.push(Fault { code, at, message, meant: None });
    }
}

/// Steps of a plan or of a file: `{steps: […]}`, a list, or a quest. They may depend on each other and on nothing else.
///
/// # Errors
///
/// Says everything that is wrong with them.
pub fn steps_from_json(value: &Value) -> Result<Vec<StepItem>, Vec<String>> {
    let steps = parse_steps(value)?;
    let wrong = judge_steps(&steps, &|_| false);
    if wrong.is_empty() { Ok(steps) } else { Err(wrong) }
}

/// The same without a look at what they depend on: see `judge_steps`.
///
/// # Errors
///
/// Says everything that cannot be read.
pub fn parse_steps(value: &Value) -> Result<Vec<StepItem>, Vec<String>> {
    if value.to_string().len() > PLAN_MAX {
        return Err(vec![format!("the plan is larger than {} KiB", PLAN_MAX / 1024)]);
    }
    let list = if let Value::Object(fields) = value { fields.get("steps") } else { Some(value) };
    let Some(Value::Array(items)) = list else {
        return Err(vec!["a plan is `{\"steps\": […]}` or a list of steps".to_owned()]);
    };
    if items.is_empty() {
        return Err(vec!["a plan needs at least one step".to_owned()]);
    }
    if items.len() > STEPS_MAX {
        return Err(vec![format!("more than {STEPS_MAX} steps")]);
    }
    let mut wrong = Vec::new();
    let read = |(index, item)| StepReader::new(index, item, &mut wrong).and_then(StepReader::read);
    let steps: Vec<StepItem> = items.iter().enumerate().filter_map(read).collect();
    if wrong.is_empty() { Ok(steps) } else { Err(wrong) }
}

/// What is wrong with steps that may also depend on steps for which `known` holds.
pub fn judge_steps(steps: &[StepItem], known: &dyn Fn(&str) -> bool) -> Vec<String> {
    let said = |fault: Fault| {
        let (At::Step(index) | At::Depends(index, _)) = fault.at;
        let meant = fault.meant.map(|meant| format!(": did you mean {}?", quoted(&meant)));
        format!(
            "{}: {}{}",
            named(index, &steps[index].id),
            fault.message,
            meant.unwrap_or_default()
        )
    };
    faults(steps, known).into_iter().map(said).collect()
}

/// A step in a message: by its id, or by its number if it has none.
fn named(index: usize, id: &str) -> String {
    if id.is_empty() { format!("step {}", index + 1) } else { format!("step {}", quoted(id)) }
}

/// Everything that is wrong with steps, in their order.
pub(super) fn faults(steps: &[StepItem], known: &dyn Fn(&str) -> bool) -> Vec<Fault> {
    let mut faults = Faults::default();
    let mut ids = BTreeSet::new();
    for (index, step) in steps.iter().enumerate() {
        let at = At::Step(index);
        if let Some(why) = unfit(&step.id) {
            faults.tell("bad-id", at, format!("the id {} {why}", quoted(&step.id)));
        } else if !ids.insert(step.id.as_str()) {
            faults.tell("duplicate-id", at, format!("another step is called {}", quoted(&step.id)));
        }
        tell_texts(step, at, &mut faults);
    }
    if steps.len() > STEPS_MAX {
        let message = format!("more than {STEPS_MAX} steps");
        faults.tell("too-many-steps", At::Step(STEPS_MAX), message);
    }
    for (index, step) in steps.iter().enumerate() {
        for (nth, wanted) in step.depends_on.iter().enumerate() {
            let at = At::Depends(index, nth);
            if *wanted == step.id {
                let message = format!("{} waits for itself", quoted(&step.id));
                faults.tell("step-circle", at, message);
            } else if !ids.contains(wanted.as_str()) && !known(wanted) {
                faults.tell("unknown-step", at, format!("no step is called {}", quoted(wanted)));
                let meant = closest(wanted, ids.iter().copied()).map(str::to_owned);
                faults.0.last_mut().into_iter().for_each(|fault| fault.meant.clone_from(&meant));
            }
        }
    }
    tell_circle(steps, &mut faults);
    faults.0
}

/// Why a step cannot have an id. Frames are called after steps, so it must not look like another place.
fn unfit(id: &str) -> Option<String> {
    let is_dots = [".", ".."].contains(&id);
    unfit_id(id).or_else(|| {
        is_dots.then(|| "is no name: paths use it for a folder itself, or the one above".to_owned())
    })
}

fn tell_texts(step: &StepItem, at: At, faults: &mut Faults) {
    let name = step.name.as_deref().unwrap_or_default();
    if name.contains(is_deceptive) {
        faults.tell("bad-name", at, format!("the name {} {NOT_PLAIN}", quoted(name)));
    }
    if name.len() > NAME_MAX {
        faults.tell("too-large", at, format!("the name is longer than {NAME_MAX} bytes"));
    }
    if step.description.as_ref().is_some_and(|text| text.len() > DESCRIPTION_MAX) {
        let most = DESCRIPTION_MAX / 1024;
        faults.tell("too-large", at, format!("the description is larger than {most} KiB"));
    }
}

/// Reports cycles: what remains after removing every step that depends on nothing left.
fn tell_circle(steps: &[StepItem], faults: &mut Faults) {
    let mut by_id: BTreeMap<&str, usize> = BTreeMap::new();
    for (index, step) in steps.iter().enumerate() {
        by_id.entry(&step.id).or_insert(index);
    }
    let mut waits = vec![0_usize; steps.len()];
    let mut waiting_for: Vec<Vec<usize>> = vec![Vec::new(); steps.len()];
    for (index, step) in steps.iter().enumerate() {
        // Steps that wait for themselves were told by name.
        let others = step.depends_on.iter().filter(|wanted| **wanted != step.id);
        for wanted in others.filter_map(|wanted| by_id.get(wanted.as_str())) {
            waits[index] += 1;
            waiting_for[*wanted].push(index);
        }
    }
    let mut free: Vec<usize> = (0..steps.len()).filter(|index| waits[*index] == 0).collect();
    while let Some(index) = free.pop() {
        for later in &waiting_for[index] {
            waits[*later] -= 1;
            if waits[*later] == 0 {
                free.push(*later);
            }
        }
    }
    let left: Vec<usize> = (0..steps.len()).filter(|index| waits[*index] > 0).collect();
    // Told once, at the first of them: the others are the same circle, or wait for it.
    let Some(first) = left.first().copied() else { return };
    let is_left = |wanted: &String| {
        *wanted != steps[first].id && by_id.get(wanted.as_str()).is_some_and(|it| waits[*it] > 0)
    };
    let nth = steps[first].depends_on.iter().position(is_left).unwrap_or_default();
    let names = left.iter().take(NAMED_MAX).map(|index| quoted(&steps[*index].id));
    let names = names.collect::<Vec<_>>().join(", ");
    let message = format!("steps that wait for each other never begin: {names}");
    faults.tell("step-circle", At::Depends(first, nth), message);
}

/// Reads one step of a plan.
struct StepReader<'v, 'w> {
    fields: &'v serde_json::Map<String, Value>,
    /// What messages call it.
    name: String,
    wrong: &'w mut Vec<String>,
}

impl<'v, 'w> StepReader<'v, 'w> {
    fn new(index: usize, item: &'v Value, wrong: &'w mut Vec<String>) -> Option<Self> {
        let Value::Object(fields) = item else {
            wrong.push(format!("step {} must be a map of fields", index + 1));
            return None;
        };
        let id = fields.get("id").and_then(text).unwrap_or_default();
        Some(Self { fields, name: named(index, &id), wrong })
    }

    fn read(mut self) -> Option<StepItem> {
        let id = self.text(ID);
        if self.fields.get("id").is_none_or(Value::is_null) {
            self.tell("has no `id`");
        }
        let mut files = self.files();
        files.create.extend(self.texts(CREATE));
        files.change.extend(self.texts(CHANGE));
        let step = StepItem {
            name: self.text(NAME),
            description: self.text(DESCRIPTION),
            depends_on: self.texts(DEPENDS_ON),
            files,
            more: self.more(),
            id: id?,
        };
        Some(step)
    }

    fn tell(&mut self, what: &str) {
        self.wrong.push(format!("{} {what}", self.name));
    }

    /// The field of one of these names. A null field counts as absent.
    fn take(&mut self, names: &[&str]) -> Option<(&'v str, &'v Value)> {
        let is_it = |name: &str| names.contains(&name);
        let said = self.fields.iter().filter(|(name, value)| is_it(name) && !value.is_null());
        let said: Vec<(&str, &Value)> = said.map(|(name, value)| (name.as_str(), value)).collect();
        if let [(first, _), (second, _), ..] = said.as_slice() {
            self.tell(&format!("says the same with `{first}` and `{second}`: remove one"));
        }
        said.first().copied()
    }

    fn text(&mut self, names: &[&str]) -> Option<String> {
        let (name, value) = self.take(names)?;
        let text = text(value);
        if text.is_none() {
            self.tell(&format!("must have a text as `{name}`"));
        }
        text
    }

    /// Texts; a single one counts as a list.
    fn texts(&mut self, names: &[&str]) -> Vec<String> {
        let Some((name, value)) = self.take(names) else { return Vec::new() };
        self.list(name, value)
    }

    fn list(&mut self, name: &str, value: &Value) -> Vec<String> {
        let items =
            if let Value::Array(items) = value { items } else { std::slice::from_ref(value) };
        let texts: Option<Vec<String>> = items.iter().map(text).collect();
        if texts.is_none() {
            self.tell(&format!("must have a list of texts as `{name}`"));
        }
        texts.unwrap_or_default()
    }

    fn files(&mut self) -> StepFiles {
        let mut files = StepFiles::default();
        match self.take(FILES) {
            None => {}
            Some((_, Value::Object(said))) => {
                for (name, value) in said {
                    match name.as_str() {
                        "create" => files.create = self.list(name, value),
                        "change" => files.change = self.list(name, value),
                        _ => {
                            let name = quoted(name);
                            let only = "only `create` and `change`";
                            self.tell(&format!("has {name} in `files`, which has {only}"));
                        }
                    }
                }
            }
            Some((name, value)) => files.change = self.list(name, value),
        }
        files
    }

    /// Every other field. One that is nearly a known one is refused: workers would read it, and nothing else.
    fn more(&mut self) -> BTreeMap<String, Value> {
        let mut more = BTreeMap::new();
        for (name, value) in self.fields {
            if KNOWN.iter().any(|names| names.contains(&name.as_str())) || value.is_null() {
                continue;
            }
            if let Some(why) = unfit_more(name) {
                self.tell(&why);
            } else {
                more.insert(name.clone(), value.clone());
            }
        }
        more
    }
}

/// Why a step cannot have a further field of that name.
fn unfit_more(name: &str) -> Option<String> {
    let said = quoted(name);
    if name.contains(is_deceptive) {
        return Some(format!("has the field {said}, which {NOT_PLAIN}"));
    }
    if is_odd(name) {
        return Some(format!("has the field {said}, which is no plain name: is a sign left over?"));
    }
    let meant = nearly(name)?;
    Some(format!("has no field {said}: did you mean {}?", quoted(meant)))
}

/// True for a name with signs that belong to the format of a file: it was probably not meant so.
pub(super) fn is_odd(name: &str) -> bool {
    name.trim().is_empty() || name.contains(|sign: char| "'\"`{}[]()<>,:;#&*!|%@=\\".contains(sign))
}

/// The field of a step that a name is nearly.
pub(super) fn nearly(name: &str) -> Option<&'static str> {
    closest(name, KNOWN.into_iter().flatten().copied())
}

fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) if !text.trim().is_empty() => Some(text.clone()),
        // Agents count steps: `1` and `"1"` are the same.
        Value::Number(number) => Some(number.to_string()),
        Value::String(_) | Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => {
            None
        }
    }
}
