//! Patches: the files that one changes are named in it.

use super::TouchKind;
use super::invoke::Call;
use super::state::State;
use super::value::Field;
use super::walk::{Input, Walker};
use crate::base::tools::patch::files;

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
        for (file, is_removed) in files.into_iter().take(FILES_MAX) {
            let kind = if is_removed { TouchKind::Delete } else { TouchKind::Write };
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

    /// `apply_patch`, as some agents have it: the patch is its argument or what it reads.
    pub(super) fn apply_patch(&mut self, words: &[Field], state: &State, call: Call<'_>) {
        let patch = match (words.first(), call.input) {
            (Some(patch), _) => patch.clone(),
            (None, Input::Text(text)) => text.clone(),
            (None, Input::Given | Input::Piped | Input::File | Input::Listed(_)) => {
                self.touch_at(
                    TouchKind::Write,
                    &Field::text("."),
                    state,
                    "apply_patch",
                    call.span,
                    true,
                );
                return;
            }
        };
        let own = Input::Text(patch);
        let strip = Field::text("0");
        let call = Call { input: &own, ..call };
        self.patched("apply_patch", None, Some(&strip), state, call);
    }
}
