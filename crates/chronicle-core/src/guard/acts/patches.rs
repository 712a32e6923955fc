//! Patches: the files that one changes are named in it.

use super::invoke::Call;
use super::state::State;
use super::value::Field;
use super::walk::{Input, Walker};
use super::{CommandWord, PatchFile, TouchKind};
use crate::base::bash::tree::{Redirection, Target};
use crate::base::tools::patch::files as named_in;

/// Most files of one patch that are looked at.
const FILES_MAX: usize = 200;
/// Most patches of one command that are looked at.
const PATCHES_MAX: usize = 32;

/// How patches are applied.
pub(super) struct Patching<'p> {
    /// The folder that the paths in them are below.
    pub(super) folder: Option<&'p Field>,
    /// How many folders are cut off them.
    pub(super) strip: Option<&'p Field>,
    /// Files with patches that are named.
    pub(super) files: &'p [Field],
}

impl Walker<'_> {
    /// What `patch` and `git apply` change: something in the folder that they are told, and what a patch names, in the text or in a file.
    pub(super) fn patched(
        &mut self,
        by: &str,
        patching: &Patching<'_>,
        state: &State,
        call: Call<'_>,
    ) {
        if let Some(folder) = patching.folder {
            self.touch_at(TouchKind::Write, folder, state, by, call.span, true);
        }
        // A dash is what it reads.
        let is_named = |file: &&Field| !matches!(file.known(), Some("-" | "/dev/stdin"));
        let mut files: Vec<Field> = patching.files.iter().filter(is_named).cloned().collect();
        if let Input::Text(patch) = call.input {
            match patch.known().map(str::to_owned) {
                Some(patch) => self.applied(&patch, by, patching, state, call),
                None if files.is_empty() => {
                    let why = format!("`{by}` applies a patch that only the running shell knows");
                    self.doubt(super::DoubtKind::Text, &why, call.span);
                }
                None => {}
            }
        }
        files.extend(self.redirected_from(call.redirections, state));
        if matches!(call.input, Input::Piped) && files.is_empty() {
            let is_shown = |touch: &&super::Touch| {
                touch.kind == TouchKind::Read && ["cat", "<"].contains(&touch.by.as_str())
            };
            let shown = self.acts.touches.iter().filter(is_shown);
            files.extend(shown.filter_map(|touch| Some(Field::text(touch.path.known()?))));
            if files.is_empty() {
                let why = format!("`{by}` applies a patch that only another command knows");
                self.doubt(super::DoubtKind::Text, &why, call.span);
            }
        }
        for file in files {
            self.patch_of(&file, by, patching, state, call);
        }
    }

    /// A file with a patch: what this text wrote to it, or what is in it by then.
    fn patch_of(
        &mut self,
        file: &Field,
        by: &str,
        patching: &Patching<'_>,
        state: &State,
        call: Call<'_>,
    ) {
        let written = self.content_of(file, state);
        let is_written = written.is_some();
        if let Some(patch) = written {
            // It may not have come to that, so that what lies there now counts too.
            self.applied(&patch, by, patching, state, call);
        }
        let printed = self.printed_at(file);
        if let Some(patch) = printed {
            return self.applied(&patch, by, patching, state, call);
        }
        let word = file.to_word();
        let is_stream = file.known().is_some_and(|it| it.starts_with("/dev/fd/"));
        if is_stream || matches!(word, CommandWord::Unknown { .. }) {
            let why = format!("which patch `{by}` applies is not known");
            self.doubt(super::DoubtKind::Text, &why, call.span);
        }
        let is_made = |touch: &super::Touch| touch.kind == TouchKind::Write && touch.path == word;
        if self.is_printed_by_git(&word, by, state, call) {
            return;
        }
        if !is_written && self.acts.touches.iter().any(is_made) {
            let why = format!("`{by}` applies a patch that the same command makes");
            self.doubt(super::DoubtKind::Text, &why, call.span);
        }
        for folder in &state.folders {
            let patch = PatchFile {
                path: word.clone(),
                folder: folder.clone(),
                below: patching.folder.and_then(Field::known).map(str::to_owned),
                strips: strips(patching.strip),
                by: by.to_owned(),
            };
            let is_new = !self.acts.patches.contains(&patch);
            if is_new
                && self.acts.patches.len() < PATCHES_MAX
                && word != CommandWord::Known("-".to_owned())
            {
                self.acts.patches.push(patch);
            }
        }
    }

    /// True if all that the text writes to a file is what git prints of what it keeps: it changes no more than git may put back. What git is
    /// told to print it of is changed.
    fn is_printed_by_git(
        &mut self,
        file: &CommandWord,
        by: &str,
        state: &State,
        call: Call<'_>,
    ) -> bool {
        let writes = |touch: &&super::Touch| touch.kind == TouchKind::Write && touch.path == *file;
        let spans: Vec<_> = self.acts.touches.iter().filter(writes).map(|it| it.span).collect();
        let mut named: Vec<Field> = Vec::new();
        for span in &spans {
            let is_here =
                |run: &&super::ProgramRun| run.span.start <= span.start && span.end <= run.span.end;
            let runs: Vec<_> = self.acts.runs.iter().filter(is_here).collect();
            let Some(paths) = runs.first().and_then(|run| printed_of(&run.words)) else {
                return false;
            };
            if runs.iter().any(|run| run.words != runs[0].words) {
                return false;
            }
            named.extend(paths);
        }
        for path in &named {
            self.touch(TouchKind::Write, path, state, by, call.span);
        }
        !spans.is_empty()
    }

    /// A patch whose text is known.
    fn applied(
        &mut self,
        patch: &str,
        by: &str,
        patching: &Patching<'_>,
        state: &State,
        call: Call<'_>,
    ) {
        let files = named_in(patch);
        if files.len() > FILES_MAX {
            self.doubt(super::DoubtKind::TooLarge, "a patch changes too many files", call.span);
        }
        for (file, is_removed) in files.into_iter().take(FILES_MAX) {
            let kind = if is_removed { TouchKind::Delete } else { TouchKind::Write };
            for count in strips(patching.strip) {
                let name = file.splitn(count + 1, '/').nth(count).unwrap_or(&file);
                let whole = match patching.folder {
                    Some(folder) => {
                        let mut whole = folder.clone();
                        whole.push_text("/");
                        whole.push_text(name);
                        whole
                    }
                    None => Field::text(name),
                };
                self.touch(kind, &whole, state, by, call.span);
                // Git does the same as `patch`.
                self.rewritten(&whole, "patch", state);
            }
        }
    }

    fn redirected_from(&mut self, redirections: &[Redirection], state: &State) -> Vec<Field> {
        let mut files = Vec::new();
        for redirection in redirections.iter().filter(|it| it.operator == "<") {
            if let Target::Word(word) = &redirection.target {
                files.extend(self.words(std::slice::from_ref(word), &mut state.clone()));
            }
        }
        files
    }

    /// `apply_patch`, as some agents have it: the patch is its argument or what it reads.
    pub(super) fn apply_patch(&mut self, words: &[Field], state: &State, call: Call<'_>) {
        let strip = Field::text("0");
        let patching = Patching { folder: None, strip: Some(&strip), files: &[] };
        match (words.first(), call.input) {
            (Some(patch), _) => {
                let own = Input::Text(patch.clone());
                self.patched("apply_patch", &patching, state, Call { input: &own, ..call });
            }
            (None, Input::Text(_) | Input::File) => {
                self.patched("apply_patch", &patching, state, call);
            }
            (None, Input::Given | Input::Piped | Input::Listed(_)) => {
                let here = Field::text(".");
                self.touch_at(TouchKind::Write, &here, state, "apply_patch", call.span, true);
            }
        }
    }
}

/// What `git diff` and others are told to print changes of; `None` if a command prints something else, or by settings of its own.
fn printed_of(words: &[CommandWord]) -> Option<Vec<Field>> {
    let known: Option<Vec<&str>> = words.iter().map(CommandWord::known).collect();
    let known = known?;
    let (["git", "diff" | "show" | "format-patch", rest @ ..]
    | ["git", "stash", "show", rest @ ..]) = known.as_slice()
    else {
        return None;
    };
    let is_usual = |option: &str| {
        const OWN: [&str; 6] =
            ["--no-index", "--src", "--dst", "--output", "--ext-diff", "--line-prefix"];
        !OWN.iter().any(|it| option.starts_with(it))
    };
    let is_option = |it: &&&str| it.starts_with('-');
    let paths = rest.iter().filter(|it| !is_option(it)).map(|it| Field::text(it)).collect();
    rest.iter().filter(is_option).all(|it| is_usual(it)).then_some(paths)
}

/// How many folders are cut off the paths of a patch. Without a number it may be read in more than one way.
fn strips(strip: Option<&Field>) -> Vec<usize> {
    let count = strip.and_then(|it| it.known()?.parse::<usize>().ok());
    count.map_or_else(|| vec![0, 1], |count| vec![count])
}
