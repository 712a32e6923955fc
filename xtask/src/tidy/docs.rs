//! Doc comments that say less than the name below them.

use super::{Finding, Repo};

/// A doc comment with fewer words repeats the name or asks a riddle: `Where.` above `place`.
const WORDS_MIN: usize = 4;

/// Doc comments of three words or fewer.
pub(super) fn short_docs(repo: &Repo) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in repo.rust() {
        let short = blocks(&file.source.comments).into_iter().filter(|it| it.words < WORDS_MIN);
        findings.extend(short.map(|it| {
            let what = "has a doc comment of three words or fewer";
            let fix =
                "say what the name does not: unit, meaning of `None`, invariant; or remove it";
            Finding::new(&file.path, it.line, what, fix)
        }));
    }
    findings
}

/// Consecutive lines of one doc comment.
struct Block {
    line: usize,
    words: usize,
}

fn blocks(comments: &str) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut before = None;
    for (index, line) in comments.lines().enumerate() {
        let doc = doc(line);
        if let Some((mark, text)) = doc {
            let words = text.split_whitespace().count();
            match blocks.last_mut().filter(|_| before == Some(mark)) {
                Some(block) => block.words += words,
                None => blocks.push(Block { line: index + 1, words }),
            }
        }
        before = doc.map(|(mark, _)| mark);
    }
    blocks
}

/// The mark of a line of a doc comment, and its text.
fn doc(line: &str) -> Option<(&str, &str)> {
    let (mark, text) = line.trim().split_at_checked(3)?;
    let is_doc = mark == "//!" || (mark == "///" && !text.starts_with('/'));
    is_doc.then_some((mark, text))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<usize> {
        let repo = Repo::of(&[("a.rs", text)]);
        short_docs(&repo).into_iter().map(|finding| finding.line).collect()
    }

    #[test]
    fn doc_comments_of_three_words_or_fewer_are_found() {
        assert_eq!(lines("//! Reads a file.\n\n/// Where.\nplace: Place,\n"), [1, 3]);
        assert_eq!(
            lines("//! Reads files of settings.\n/// Where.\n///\n/// In the project.\n"),
            []
        );
        assert_eq!(lines("let a = \"\n/// Where.\n\";\n// Where.\n//// Where.\n"), []);
    }
}
