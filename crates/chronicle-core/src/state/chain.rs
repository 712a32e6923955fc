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
        text.push_str(value);
        rest = &from[word.len()..];
    }
    text + rest
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
}
