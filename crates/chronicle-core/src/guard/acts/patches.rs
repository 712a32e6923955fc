//! Patches: the files that one changes are named in it.

use super::TouchKind;
use super::invoke::Call;
use super::state::State;
use super::value::Field;
use super::walk::{Input, Walker};

/// Most files of one patch that are looked at.
const FILES_MAX: usize = 200;

impl Walker<'_> {
    /// What `patch` and `git apply` change: something in the folder that they are told, and what a patch names that is in the text.
    pub(super) fn patched(
        &mut self,
        by: &str,
        folder: Option<&Field>,
        strip: Option<&Field>,
        state: &State,
        call: Call<'_>,
    ) {
        if let Some(folder) = folder {
            self.touch_at(TouchKind::Write, folder, state, by, call.span, true);
        }
        let Input::Text(patch) = call.input else { return };
        let Some(patch) = patch.known() else { return };
        let files = files(patch);
        if files.len() > FILES_MAX {
            self.doubt(super::DoubtKind::TooLarge, "a patch changes too many files", call.span);
        }
        let strip = strip.map(|it| it.known().and_then(|text| text.parse::<usize>().ok()));
        for (file, kind) in files.into_iter().take(FILES_MAX) {
            // Without a number it may be read in more than one way.
            let counts = match strip {
                Some(Some(count)) => vec![count],
                Some(None) | None => vec![0, 1],
            };
            for count in counts {
                let name = file.splitn(count + 1, '/').nth(count).unwrap_or(file);
                let whole = match folder {
                    Some(folder) => {
                        let mut whole = folder.clone();
                        whole.push_text("/");
                        whole.push_text(name);
                        whole
                    }
                    None => Field::text(name),
                };
                self.touch(kind, &whole, state, by, call.span);
            }
        }
    }
}

/// The files that the heads of a patch name, and what happens to each.
fn files(patch: &str) -> Vec<(&str, TouchKind)> {
    const MARKS: [&str; 6] =
        ["--- ", "+++ ", "rename from ", "rename to ", "copy to ", "diff --git "];
    let mut found = Vec::new();
    for line in patch.lines() {
        let Some((mark, rest)) = MARKS.iter().find_map(|it| Some((*it, line.strip_prefix(it)?)))
        else {
            continue;
        };
        // A time may follow after a tab.
        let name = rest.split('\t').next().unwrap_or(rest).trim();
        let name =
            if mark == "diff --git " { name.rsplit(' ').next().unwrap_or(name) } else { name };
        let name = name.trim_matches('"');
        if name.is_empty() || name == "/dev/null" {
            // What has no new name is removed.
            if mark == "+++ "
                && let Some((_, kind)) = found.last_mut()
            {
                *kind = TouchKind::Delete;
            }
            continue;
        }
        found.push((name, TouchKind::Write));
    }
    found
}
