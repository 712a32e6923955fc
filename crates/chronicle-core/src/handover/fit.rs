//! How the parts of a handover share its room.
//!
//! Parts are cut in a fixed order, each down to its minimum. Whatever was cut is kept whole in a second text, which is stored
//! beside the ledger and named in the first.

use std::borrow::Cow;

use crate::base::limits::bounded;

/// Room for the notice about what was cut.
const NOTICE_MAX: usize = 900;
/// Room for the mark at a cut.
const MARK_MAX: usize = 60;

/// One part of a handover.
pub(super) struct HandoverPart {
    /// Its heading; empty for a paragraph without one.
    title: &'static str,
    body: Body,
    /// Bytes that it keeps in any case.
    floor: usize,
    /// Lower ranks are cut first.
    rank: u8,
}

enum Body {
    Text(String),
    /// Entries of which the first or the last are kept, up to a number.
    List {
        entries: Vec<String>,
        keeps: Keeps,
        most: usize,
    },
}

/// Which end of a list is kept.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Keeps {
    First,
    Last,
}

impl HandoverPart {
    pub(super) fn text(
        title: &'static str,
        body: impl Into<String>,
        floor: usize,
        rank: u8,
    ) -> Self {
        let mut body = body.into();
        body.truncate(body.trim_end().len());
        body.drain(..body.len() - body.trim_start().len());
        Self { title, body: Body::Text(body), floor, rank }
    }

    pub(super) fn list(
        title: &'static str,
        entries: Vec<String>,
        keeps: Keeps,
        most: usize,
        floor: usize,
        rank: u8,
    ) -> Self {
        Self { title, body: Body::List { entries, keeps, most }, floor, rank }
    }

    fn is_empty(&self) -> bool {
        match &self.body {
            Body::Text(text) => text.is_empty(),
            Body::List { entries, .. } => entries.is_empty(),
        }
    }

    /// True if it has more entries than are shown.
    fn is_short(&self) -> bool {
        matches!(&self.body, Body::List { entries, most, .. } if entries.len() > *most)
    }

    /// The complete text of this part.
    fn whole(&self) -> Cow<'_, str> {
        match &self.body {
            Body::Text(text) => Cow::Borrowed(text),
            Body::List { entries, .. } => Cow::Owned(lines(entries)),
        }
    }

    /// As much as fits into that many bytes; true if something was cut.
    fn within(&self, room: usize) -> (Cow<'_, str>, bool) {
        match &self.body {
            Body::Text(text) if text.len() <= room => (Cow::Borrowed(text), false),
            Body::Text(text) => (Cow::Owned(bounded(text, room.saturating_sub(MARK_MAX))), true),
            Body::List { entries, keeps, most } => {
                let (text, is_cut) = some(entries, *keeps, *most, room);
                (Cow::Owned(text), is_cut)
            }
        }
    }

    /// Adds it to a text, under its heading.
    fn tell(&self, body: &str, text: &mut String) {
        if !self.title.is_empty() {
            text.extend(["## ", self.title, "\n\n"]);
        }
        text.extend([body, "\n\n"]);
    }

    /// Bytes that `tell` adds beside the body.
    fn frame_bytes(&self) -> usize {
        let heading = if self.title.is_empty() { 0 } else { self.title.len() + 5 };
        heading + 2
    }
}

fn lines<T: AsRef<str>>(entries: &[T]) -> String {
    let mut text = String::new();
    for entry in entries {
        text.extend(["- ", entry.as_ref(), "\n"]);
    }
    text.truncate(text.trim_end().len());
    text
}

/// As many whole entries from one end as fit; of a single entry that is too long, its beginning.
fn some(entries: &[String], keeps: Keeps, most: usize, room: usize) -> (String, bool) {
    let all = lines(entries);
    if entries.len() <= most && all.len() <= room {
        return (all, false);
    }
    // Room for the line that says how many were left out.
    let room = room.saturating_sub(MARK_MAX);
    let mut kept: Vec<String> = Vec::new();
    let mut used = 0;
    let ordered: Box<dyn Iterator<Item = &String>> = match keeps {
        Keeps::First => Box::new(entries.iter()),
        Keeps::Last => Box::new(entries.iter().rev()),
    };
    for entry in ordered.take(most) {
        used += entry.len() + 3;
        if used > room {
            break;
        }
        kept.push(entry.clone());
    }
    // At least one entry, even if it has to be cut: a heading without anything below it says less than nothing.
    if kept.is_empty()
        && let Some(entry) = if keeps == Keeps::First { entries.first() } else { entries.last() }
    {
        kept.push(bounded(entry, room.saturating_sub(MARK_MAX)));
    }
    // Said in the list itself: a worker that sees eleven entries must not believe that there are no more.
    let left = entries.len() - kept.len();
    match keeps {
        _ if left == 0 => {}
        Keeps::First => kept.push(format!("… and {left} more")),
        Keeps::Last if left == 1 => kept.push("1 earlier one is left out here".to_owned()),
        Keeps::Last => kept.push(format!("{left} earlier ones are left out here")),
    }
    if keeps == Keeps::Last {
        kept.reverse();
    }
    (lines(&kept), true)
}

/// A handover that fits, and what did not.
pub(super) struct Fitted {
    pub(super) text: String,
    pub(super) rest: Option<String>,
}

/// Combines the parts within `max` bytes. The notice about the rest precedes the part `mark`; `name` says where the rest is kept.
pub(super) fn fit(
    mut parts: Vec<HandoverPart>,
    max: usize,
    mark: &str,
    name: impl Fn(&str) -> String,
) -> Fitted {
    // A heading above nothing would only make a worker wonder what is missing.
    parts.retain(|part| !part.is_empty());
    let rooms = rooms(&parts, max);
    let told: Vec<(Cow<'_, str>, bool)> =
        parts.iter().zip(&rooms).map(|(part, room)| part.within(*room)).collect();
    let cut: Vec<&HandoverPart> =
        parts.iter().zip(&told).filter(|(_, (_, is_cut))| *is_cut).map(|(part, _)| part).collect();
    // The whole of each part that was cut, not only what is missing: a worker that opens the file finds it in one piece.
    let rest = (!cut.is_empty()).then(|| {
        let mut rest = String::new();
        for part in &cut {
            part.tell(&part.whole(), &mut rest);
        }
        rest.truncate(rest.trim_end().len());
        rest + "\n"
    });
    let mut text = String::new();
    let mut notice = rest.as_ref().map(|rest| notice(&cut, &name(rest)));
    for (part, (body, _)) in parts.iter().zip(&told) {
        // Before the way out, so that a worker reads about the file before it is told how to leave.
        if part.title == mark {
            text.push_str(&notice.take().unwrap_or_default());
        }
        part.tell(body, &mut text);
    }
    text.push_str(&notice.unwrap_or_default());
    text.truncate(text.trim_end().len());
    Fitted { text, rest }
}

fn notice(cut: &[&HandoverPart], path: &str) -> String {
    let titles: Vec<&str> = cut
        .iter()
        .map(|part| if part.title.is_empty() { "the opening" } else { part.title })
        .collect();
    format!(
        "## What did not fit\n\nThis handover is cut. Read the file `{path}`: it has in full: {}.\n\n",
        bounded(&titles.join("; "), NOTICE_MAX / 2)
    )
}

/// Bytes available for each body.
fn rooms(parts: &[HandoverPart], max: usize) -> Vec<usize> {
    let wants =
        |part: &HandoverPart| part.whole().len() + if part.is_short() { MARK_MAX } else { 0 };
    let mut rooms: Vec<usize> = parts.iter().map(wants).collect();
    let titles: usize = parts.iter().map(HandoverPart::frame_bytes).sum();
    let all = titles + rooms.iter().sum::<usize>();
    let is_cut = all > max || parts.iter().any(HandoverPart::is_short);
    // Reserved at its largest, because its length depends on what will be cut.
    let notice = if is_cut { NOTICE_MAX } else { 0 };
    let mut over = (all + notice).saturating_sub(max);
    let mut order: Vec<usize> = (0..parts.len()).collect();
    // Parts give up their room in the order of their rank, and none goes below its floor. So the task is never squeezed out by
    // a long history.
    order.sort_by_key(|index| parts[*index].rank);
    for index in order {
        let gives = rooms[index].saturating_sub(parts[index].floor).min(over);
        rooms[index] -= gives;
        over -= gives;
    }
    rooms
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(parts: Vec<HandoverPart>, max: usize) -> (String, Option<String>) {
        let Fitted { text, rest } = fit(parts, max, "Way", |_| "FILE".to_owned());
        (text, rest)
    }

    fn entries(count: usize) -> Vec<String> {
        (1..=count).map(|number| format!("entry {number}")).collect()
    }

    #[test]
    fn a_handover_that_fits_is_not_cut() {
        let parts = vec![
            HandoverPart::text("", " hello ", 10, 5),
            HandoverPart::text("Gone", "  ", 10, 5),
            HandoverPart::list("Past", entries(2), Keeps::First, 9, 10, 0),
        ];
        assert_eq!(told(parts, 500), ("hello\n\n## Past\n\n- entry 1\n- entry 2".to_owned(), None));
    }

    #[test]
    fn the_lowest_rank_is_cut_first_and_kept_in_full() {
        let long = "x".repeat(2_000);
        let parts = vec![
            HandoverPart::text("Task", long.clone(), 100, 5),
            HandoverPart::text("Way", "out", 100, 9),
            HandoverPart::list("Past", entries(200), Keeps::First, 500, 100, 0),
        ];
        let (text, rest) = told(parts, 3_400);
        let rest = rest.unwrap();
        assert!(text.len() <= 3_400 && text.contains(&long), "{}", text.len());
        assert!(text.contains("cut. Read the file `FILE`: it has in full: Past."), "{text}");
        assert!(
            text.contains("- entry 1\n") && text.contains("… and ") && !text.contains("entry 200")
        );
        assert!(rest.starts_with("## Past\n\n- entry 1\n") && rest.ends_with("- entry 200\n"));
        assert!(!rest.contains("xxx"));
    }

    #[test]
    fn the_latest_entries_stay_where_they_matter_more() {
        let part = HandoverPart::list("Found", entries(9), Keeps::Last, 3, 100, 0);
        let (text, rest) = told(vec![part], 2_000);
        assert!(
            text.starts_with("## Found\n\n- 6 earlier ones are left out here\n- entry 7\n"),
            "{text}"
        );
        assert!(rest.unwrap().contains("- entry 1\n"));
    }

    #[test]
    fn one_entry_too_long_alone_is_cut_and_whole_in_the_rest() {
        let long = format!("{}end", "y".repeat(5_000));
        for keeps in [Keeps::First, Keeps::Last] {
            let part = HandoverPart::list("Found", vec![long.clone()], keeps, 3, 300, 0);
            let (text, rest) = told(vec![part], 1_500);
            assert!(text.len() <= 1_500 && text.contains("yyy… ["), "{}", text.len());
            assert!(rest.unwrap().contains(&long));
        }
    }
}
