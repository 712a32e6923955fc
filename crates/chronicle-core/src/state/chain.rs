//! Chains: each step is told what the previous one said last.

use std::borrow::Cow;

use crate::base::ids::Place;
use crate::base::quote::cited;
use crate::definition::workflow::Phase;
use crate::state::Facts;

/// The instructions of a phase; in a chain, with `$INPUT` and `$ORIGINAL` filled in.
pub(crate) fn instructions<'p>(state: &Facts, place: &Place, phase: &'p Phase) -> Cow<'p, str> {
    if !phase.chained {
        return Cow::Borrowed(&phase.instructions);
    }
    let task = state.run.as_ref().map_or("", |run| run.task.as_str());
    let said = state.frames.get(&place.frame()).map(|frame| [&frame.said, &frame.summary]);
    let input = said.into_iter().flatten().find(|text| !text.is_empty());
    // What a worker said is cited: it must not pass for the chain's own words.
    let input = input.map_or_else(|| task.to_owned(), |said| cited(said, ""));
    Cow::Owned(fill(&phase.instructions, &input, task))
}

/// Replaces in one literal pass: inserted text is not expanded again.
fn fill(template: &str, input: &str, original: &str) -> String {
    let mut text = String::new();
    let mut rest = template;
    // One pass from left to right: text that was put in is never searched, so a worker's `$ORIGINAL` stays what it is.
    while let Some(at) = rest.find('$') {
        let (before, from) = rest.split_at(at);
        text.push_str(before);
        let known = [("$INPUT", input), ("$ORIGINAL", original)];
        let word = known.into_iter().find(|(word, _)| from.starts_with(word));
        let (word, value) = word.unwrap_or(("$", "$"));
        rest = &from[word.len()..];
        if value.starts_with('>') {
            rest = set_apart(&mut text, value, rest);
        } else {
            text.push_str(value);
        }
    }
    text + rest
}

/// Puts a citation between blank lines, and gives what comes after it. A line that follows a citation without a blank line, or
/// stands on its last one, is part of it, and the chain's own words must stay its own.
fn set_apart<'t>(text: &mut String, citation: &str, rest: &'t str) -> &'t str {
    let line = text.rsplit('\n').next().unwrap_or_default();
    if line.trim().is_empty() {
        text.truncate(text.len() - line.len());
    } else {
        text.push('\n');
    }
    if !text.is_empty() && !text.ends_with("\n\n") {
        text.push('\n');
    }
    text.push_str(citation);
    let rest = rest.trim_start_matches([' ', '\t']);
    let breaks = rest.len() - rest.trim_start_matches('\n').len();
    if !rest.trim().is_empty() {
        text.push_str(&"\n"[..usize::from(breaks < 2)]);
        text.push_str(&"\n"[..usize::from(breaks < 1)]);
    }
    rest
}

#[cfg(test)]
mod tests {
    use super::fill;

    #[test]
    fn replaced_words_are_not_replaced_again() {
        assert_eq!(
            fill("a $INPUT b $ORIGINAL c $INPUT", "$ORIGINAL $&", "task"),
            "a $ORIGINAL $& b task c $ORIGINAL $&"
        );
        assert_eq!(fill("$ $IN $$INPUT $", "x", "y"), "$ $IN $x $");
        assert_eq!(fill("", "x", "y"), "");
    }

    #[test]
    fn the_chains_own_words_are_no_part_of_a_citation() {
        for (template, filled) in [
            ("Judge $INPUT and change nothing.", "Judge \n\n> a\n> b\n\nand change nothing."),
            ("Judge:\n$INPUT\nChange nothing.", "Judge:\n\n> a\n> b\n\nChange nothing."),
            ("Judge:\n\n$INPUT\n\nChange nothing.", "Judge:\n\n> a\n> b\n\nChange nothing."),
            ("$INPUT", "> a\n> b"),
            ("  $INPUT \n", "> a\n> b\n"),
            ("$INPUT$INPUT.", "> a\n> b\n\n> a\n> b\n\n."),
        ] {
            assert_eq!(fill(template, "> a\n> b", "task"), filled, "{template}");
        }
    }
}
