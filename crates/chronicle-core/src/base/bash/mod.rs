//! Reads a text of bash as bash itself reads it, into a tree.
//!
//! Guards judge commands by this tree, and the text may be hostile: it must never say less than bash would run. So the
//! reader refuses ([`Unread`]) what bash would refuse, what depends on settings that the text does not show, and what it
//! does not understand; whoever asked takes that for unknown. Size and depth are bounded, and each byte is read a bounded
//! number of times.
//!
//! `cursor.rs` stands in the text, `list.rs` reads lists and pipelines, `simple.rs` simple commands, `redirect.rs`
//! redirections, `document.rs` here-documents, `compound.rs`, `branch.rs` and `test.rs` the other commands, `word.rs`
//! words, `dollar.rs` what begins with `$`, `ansi.rs` the escapes of `$'…'`. `braces.rs` expands braces later on.

pub(crate) mod ansi;
pub(crate) mod braces;
mod branch;
mod compound;
mod cursor;
mod document;
mod dollar;
mod list;
mod redirect;
mod simple;
mod test;
pub(crate) mod tree;
mod word;

use cursor::Reader;
pub(crate) use cursor::is_identifier;
use tree::{Part, Script};

/// Most bytes that a text may have.
pub(crate) const SIZE_MAX: usize = 128 * 1024;
/// Most levels of nesting, words in words and lists in lists alike.
const DEPTH_MAX: usize = 40;

/// Why a text was not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Unread {
    /// The byte where the reader stood.
    pub(crate) at: usize,
    /// Completes the sentence "the command cannot be read: …".
    pub(crate) why: &'static str,
}

/// A text that was read.
#[derive(Debug)]
pub(crate) struct Text {
    pub(crate) script: Script,
    /// The first place that a plain `sh` may read in another way.
    pub(crate) bash_only: Option<usize>,
}

/// Reads a whole text.
pub(crate) fn read(text: &str) -> Result<Text, Unread> {
    if text.len() > SIZE_MAX {
        return Err(Unread { at: SIZE_MAX, why: "it is too long" });
    }
    let mut reader = Reader::new(text, 0, None);
    let script = reader.whole_script()?;
    Ok(Text { script, bash_only: reader.bash_only })
}

/// Reads an expression that bash evaluates as a number.
pub(crate) fn read_arithmetic(text: &str) -> Result<Vec<Part>, Unread> {
    if text.len() > SIZE_MAX {
        return Err(Unread { at: SIZE_MAX, why: "it is too long" });
    }
    Reader::new(text, 0, None).whole_arithmetic()
}

/// Reads a text whose expansions are performed, and in which quotes mean nothing: a prompt, a here-document.
pub(crate) fn read_expanded(text: &str) -> Result<Vec<Part>, Unread> {
    if text.len() > SIZE_MAX {
        return Err(Unread { at: SIZE_MAX, why: "it is too long" });
    }
    Reader::new(text, 0, None).body_of_document()
}

impl Reader<'_> {
    /// Everything up to the end of the text.
    fn whole_script(&mut self) -> cursor::Reading<Script> {
        if let Some(at) = self.text.bytes().position(|byte| byte == 0) {
            self.at = at;
            return self.unread("it has a zero byte");
        }
        let script = self.list()?;
        if self.peek().is_some() {
            return self.unread("something stands where no command can begin");
        }
        if !self.pending.is_empty() {
            return self.unread("a here-document has no body");
        }
        Ok(script)
    }
}
