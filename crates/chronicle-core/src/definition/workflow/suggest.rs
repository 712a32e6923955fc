//! Finds the likely intended name.

/// Longest name that is compared: the cost is quadratic.
const COMPARED_MAX: usize = 48;

/// The candidate nearest to a word, if it is near enough to be a typo.
pub fn closest<'c>(word: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    let word = letters(word);
    // A single letter is near to nothing.
    let near = if word.len() < 2 { 0 } else { (word.len() / 3).max(1) };
    // Any two words of two letters are near each other, so one of them can only lack a letter.
    let least = if word.len() < 3 { 3 } else { 0 };
    // The comparison grows with the square of the length, and names of that length are no slips.
    if word.is_empty() || word.len() > COMPARED_MAX {
        return None;
    }
    candidates
        .into_iter()
        .filter(|candidate| candidate.len().abs_diff(word.len()) <= near + candidate.len() / 2)
        .map(|candidate| (distance(&word, &letters(candidate)), candidate))
        .filter(|(distance, candidate)| {
            *distance == 0 || *distance <= near && candidate.len() >= least
        })
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Compares without case and separators, which are a matter of taste.
fn letters(word: &str) -> Vec<char> {
    let plain = |letter: char| if letter == '-' { '_' } else { letter };
    word.chars().take(COMPARED_MAX + 1).flat_map(char::to_lowercase).map(plain).collect()
}

/// Edit distance with insertions, deletions, replacements and swaps.
fn distance(from: &[char], to: &[char]) -> usize {
    let mut before: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=to.len()).collect();
    for (row, letter) in from.iter().enumerate() {
        let mut line = vec![row + 1];
        for (column, other) in to.iter().enumerate() {
            let replaced = above[column] + usize::from(letter != other);
            let mut best = replaced.min(above[column + 1] + 1).min(line[column] + 1);
            // Two letters in the wrong order are one slip: `paln` is as near to `plan` as `plam` is.
            if row > 0 && column > 0 && from[row - 1] == *other && to[column - 1] == *letter {
                best = best.min(before[column - 1] + 1);
            }
            line.push(best);
        }
        before = std::mem::replace(&mut above, line);
    }
    above.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::closest;

    #[test]
    fn a_slip_is_found_and_a_stranger_is_not() {
        let known = ["instructions", "persona", "next", "agent"];
        assert_eq!(closest("instrctions", known), Some("instructions"));
        assert_eq!(closest("nxet", known), Some("next"));
        assert_eq!(closest("Persona", known), Some("persona"));
        assert_eq!(closest("colour", known), None);
        assert_eq!(closest("", known), None);
        assert_eq!(closest("a", ["b", "A"]), Some("A"));
        assert_eq!(closest(&"x".repeat(10_000), known), None);
    }
}
