//! What is known at one point of a text: variables, folders, functions.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::CommandFolder;
use super::containers::Container;
use super::value::{Field, Piece, Value};
use crate::base::bash::tree::Command;

/// Most folders that a command may run in before that counts as unknown.
const FOLDERS_MAX: usize = 4;

/// A function, and whether it is certain that this is the one.
#[derive(Debug, Clone)]
pub(super) struct Function {
    pub(super) bodies: Vec<Rc<Command>>,
    pub(super) is_certain: bool,
}

impl PartialEq for Function {
    fn eq(&self, other: &Self) -> bool {
        self.is_certain == other.is_certain
            && self.bodies.len() == other.bodies.len()
            && self.bodies.iter().zip(&other.bodies).all(|(one, two)| Rc::ptr_eq(one, two))
    }
}

#[expect(clippy::struct_excessive_bools, reason = "each is known by itself")]
#[derive(Debug, Clone, PartialEq)]
pub(super) struct State {
    pub(super) variables: BTreeMap<String, Value>,
    /// Names of variables that programs get: exported ones, and those before the command itself.
    pub(super) handed: BTreeSet<String>,
    /// Every variable that is not listed may have any value that the text chose.
    pub(super) is_lost: bool,
    /// Where the next command may run; at least one.
    pub(super) folders: Vec<CommandFolder>,
    pub(super) functions: BTreeMap<String, Function>,
    /// Texts that a name may stand for.
    pub(super) aliases: BTreeMap<String, Vec<String>>,
    /// `$1` and so on; `None` if not known.
    pub(super) arguments: Option<Vec<Field>>,
    /// Some variable may be an integer, whose values are evaluated.
    pub(super) has_integers: bool,
    /// Where a folder was made, whichever way was taken.
    pub(super) made: BTreeSet<String>,
    /// Patterns may find hidden files too.
    pub(super) has_dotglob: bool,
    /// The container that commands run in, whose paths are its own.
    pub(super) container: Option<Rc<Container>>,
    /// Nothing after this point is reached from here.
    pub(super) is_over: bool,
}

impl State {
    pub(super) fn new(folder: CommandFolder) -> Self {
        Self {
            variables: BTreeMap::new(),
            handed: BTreeSet::new(),
            is_lost: false,
            folders: vec![folder],
            functions: BTreeMap::new(),
            aliases: BTreeMap::new(),
            arguments: None,
            has_integers: false,
            made: BTreeSet::new(),
            has_dotglob: false,
            container: None,
            is_over: false,
        }
    }

    /// How many things are known by a name.
    pub(super) fn weight(&self) -> usize {
        self.variables.len() + self.functions.len() + self.aliases.len()
    }

    /// What holds whichever of the two ways was taken.
    pub(super) fn join(&mut self, other: &State) {
        if other.is_over {
            return;
        }
        if self.is_over {
            self.clone_from(other);
            return;
        }
        let are_lost = self.is_lost || other.is_lost;
        let names: Vec<String> =
            self.variables.keys().chain(other.variables.keys()).cloned().collect();
        for name in names {
            let (mine, theirs) = (self.variables.get(&name), other.variables.get(&name));
            if mine != theirs {
                let value = either(mine, theirs, are_lost);
                self.variables.insert(name, value);
            }
        }
        self.handed.extend(other.handed.iter().cloned());
        self.is_lost |= other.is_lost;
        self.has_integers |= other.has_integers;
        self.has_dotglob |= other.has_dotglob;
        if self.arguments != other.arguments {
            self.arguments = None;
        }
        // What only one of the ways made may not be there.
        self.made.retain(|place| other.made.contains(place));
        self.may_be_in(&other.folders);
        self.join_functions(other);
        for (name, texts) in &other.aliases {
            let mine = self.aliases.entry(name.clone()).or_default();
            for text in texts {
                if !mine.contains(text) {
                    mine.push(text.clone());
                }
            }
        }
    }

    fn join_functions(&mut self, other: &State) {
        for (name, function) in &mut self.functions {
            if other.functions.get(name) != Some(function) {
                function.is_certain = false;
            }
        }
        for (name, theirs) in &other.functions {
            let mine = self
                .functions
                .entry(name.clone())
                .or_insert_with(|| Function { bodies: Vec::new(), is_certain: false });
            for body in &theirs.bodies {
                if !mine.bodies.iter().any(|it| Rc::ptr_eq(it, body)) {
                    mine.bodies.push(Rc::clone(body));
                }
            }
        }
    }

    /// A variable that has its value of before again, unless the function did not reach its declaration.
    pub(super) fn may_have(&mut self, name: &str, before: Option<&Value>) {
        if self.variables.get(name) == before {
            return;
        }
        let value = either(self.variables.get(name), before, self.is_lost);
        self.variables.insert(name.to_owned(), value);
    }

    pub(super) fn may_be_in(&mut self, folders: &[CommandFolder]) {
        for folder in folders {
            if !self.folders.contains(folder) {
                self.folders.push(folder.clone());
            }
        }
        self.folders.sort();
        if self.folders.len() > FOLDERS_MAX || self.folders.contains(&CommandFolder::Unknown) {
            self.folders = vec![CommandFolder::Unknown];
        }
    }

    /// Forgets everything that commands may have changed.
    pub(super) fn lose(&mut self) {
        self.variables.clear();
        self.is_lost = true;
        self.folders = vec![CommandFolder::Unknown];
        self.arguments = None;
        self.made.clear();
        for function in self.functions.values_mut() {
            function.is_certain = false;
        }
    }

    /// Every variable that a program gets, with its value, as it would stand before the program.
    pub(super) fn sets(&self) -> Vec<String> {
        let one = |name: &String| match self.variables.get(name)? {
            Value::One(value) => Some(format!("{name}={}", value.known()?)),
            Value::List(_) | Value::Unset => None,
        };
        self.handed.iter().filter_map(one).collect()
    }

    /// The one folder that the next command runs in.
    pub(super) fn folder(&self) -> Option<&str> {
        match self.folders.as_slice() {
            [CommandFolder::Known(folder)] => Some(folder),
            _ => None,
        }
    }
}

/// What is known of a variable that has one of two values; `None` is one that comes from outside unless that is lost.
fn either(one: Option<&Value>, other: Option<&Value>, are_lost: bool) -> Value {
    let is_given = |value: Option<&Value>| match value {
        None => !are_lost,
        Some(value) => *value == Value::One(Field::of(Piece::Given)),
    };
    let is_harmless = |value| is_given(value) || is_number(value);
    if is_number(one) && is_number(other) {
        Value::One(Field::of(Piece::Number))
    } else if is_harmless(one) && is_harmless(other) {
        Value::One(Field::of(Piece::Given))
    } else {
        Value::unknown()
    }
}

fn is_number(value: Option<&Value>) -> bool {
    matches!(value, Some(Value::One(field)) if field.is_number())
}

/// A path from a folder; an absolute one stays as it is.
pub(super) fn below(folder: &str, path: &str) -> String {
    if path.starts_with('/') || folder.is_empty() {
        return path.to_owned();
    }
    match path {
        "" | "." => folder.to_owned(),
        _ => format!("{}/{path}", folder.trim_end_matches('/')),
    }
}
