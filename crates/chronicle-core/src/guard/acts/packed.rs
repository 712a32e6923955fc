//! Archives that one program of a pipeline hands to another one: what is put in here lands there, as a copy would.

use super::invoke::Call;
use super::options::Read;
use super::state::State;
use super::value::Field;
use super::walk::{Input, Walker};
use super::written::place;
use super::{CommandFolder, DoubtKind, Sieve};

/// Most paths in archives of one text that are remembered.
const PACKED_MAX: usize = 64;

/// A path that is put into an archive which a program prints.
#[derive(Debug, Clone)]
pub(super) struct Packed {
    path: Field,
    sieve: Sieve,
    folders: Vec<CommandFolder>,
}

/// True if an archive is what the program reads or prints, and no file.
fn is_stream(found: &Read) -> bool {
    const STREAMS: [&str; 5] = ["-", "/dev/stdin", "/dev/stdout", "/dev/fd/0", "/dev/fd/1"];
    found.values(&["f", "file"]).all(|it| it.known().is_some_and(|it| STREAMS.contains(&it)))
}

impl Walker<'_> {
    /// Remembers what an archive holds that goes to the next program.
    pub(super) fn packs(&mut self, found: &Read, sieve: &Sieve, state: &State, call: Call<'_>) {
        if !is_stream(found) {
            return;
        }
        for path in &found.operands {
            if self.packed.len() >= PACKED_MAX {
                let why = "`tar` is given too much";
                return self.doubt(DoubtKind::TooLarge, why, call.span);
            }
            let (path, sieve, folders) = (path.clone(), sieve.clone(), state.folders.clone());
            self.packed.push(Packed { path, sieve, folders });
        }
    }

    /// What is taken out of an archive that another program of the text prints lands where `tar` is.
    pub(super) fn unpacks(&mut self, found: &Read, state: &State, call: Call<'_>) {
        if !is_stream(found) || !matches!(call.input, Input::Piped) {
            return;
        }
        for packed in self.packed.clone() {
            self.steps += 1;
            if self.is_spent(call.span) {
                return;
            }
            let is_unknown = packed.folders.contains(&CommandFolder::Unknown);
            for folder in &state.folders {
                // Where nobody knows that, the folder itself is asked about.
                let Some(target) = place(folder, ".") else { continue };
                if is_unknown {
                    let why = "what `tar` takes out of the archive is not known";
                    self.doubt(DoubtKind::Option, why, call.span);
                }
                self.lands(&packed, &format!("/{target}"), state, call);
            }
        }
    }

    fn lands(&mut self, packed: &Packed, target: &str, state: &State, call: Call<'_>) {
        let mut from = state.clone();
        from.folders.clone_from(&packed.folders);
        let (path, sieve) = (&packed.path, &packed.sieve);
        // It may be without the folders before its name, and what a pattern finds lies side by side.
        self.touch_below(path, sieve, Some(&Field::text(target)), &from, "tar");
        let known = path.known().unwrap_or_default();
        let inside = known.trim_start_matches(['/', '.']).trim_end_matches('/');
        if !inside.is_empty() {
            // Names keep their dots, but for those of the folder itself.
            let name = known.trim_start_matches('/');
            let name = name.strip_prefix("./").unwrap_or(name);
            let whole = Field::text(&format!("{}/{name}", target.trim_end_matches('/')));
            self.touch_below(path, sieve, Some(&whole), &from, "tar");
            self.written_to(&whole, state, "tar", call.span);
        }
    }
}
