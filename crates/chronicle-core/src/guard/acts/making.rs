//! Folders that a text makes: what is brought to the name of one lands in it, and does not become it.

use super::TouchKind;
use super::invoke::base;
use super::state::State;
use super::value::Field;
use super::walk::Walker;
use super::written::place;

impl Walker<'_> {
    /// Remembers the folders that are there after a `mkdir`. One that might fail for what it is told makes none: a later command could
    /// still make the name free.
    pub(super) fn made_folders(fields: &[Field], state: &mut State) {
        let known: Option<Vec<&str>> = fields.iter().map(Field::known).collect();
        let Some((name, words)) = known.as_deref().and_then(<[&str]>::split_first) else { return };
        let (options, paths): (Vec<&str>, Vec<&str>) =
            words.iter().partition(|word| word.starts_with('-'));
        let usual = ["-p", "-v", "-pv", "-vp", "--parents", "--verbose", "--"];
        if base(name) != "mkdir" || !options.iter().all(|option| usual.contains(option)) {
            return;
        }
        let has_parents = options.iter().any(|it| it.contains('p') && *it != "--verbose");
        let [folder] = state.folders.as_slice() else { return };
        let is_sure = |path: &&&str| has_parents || !path.trim_end_matches('/').contains('/');
        let places: Vec<String> =
            paths.iter().filter(is_sure).filter_map(|path| place(folder, path)).collect();
        state.made.extend(places);
    }

    /// True if the text made a folder at a path, and took it away nowhere.
    pub(super) fn is_made(&self, path: &Field, state: &State) -> bool {
        let [folder] = state.folders.as_slice() else { return false };
        let Some(whole) = path.known().and_then(|path| place(folder, path)) else { return false };
        let takes = |touch: &super::Touch| {
            let place = touch.path.known().and_then(|path| place(&touch.folder, path));
            let is_above = |place: String| {
                let rest = whole.strip_prefix(&place);
                rest.is_some_and(|it| place.is_empty() || it.is_empty() || it.starts_with('/'))
            };
            touch.kind == TouchKind::Delete && place.is_none_or(is_above)
        };
        state.made.contains(&whole) && !self.acts.touches.iter().any(takes)
    }
}
