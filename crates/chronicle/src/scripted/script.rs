//! What may be played: a map from places to lists of steps, or to lists by try.
//!
//! ```yaml
//! plan:                       # the same for every try
//!   - say: Looking at the code.
//!   - write: {path: PLAN.md, text: "1. build"}
//!   - transition: {to: build, summary: planned}
//! build:
//!   1: [{say: hm}, {crash: 3}]
//!   otherwise: [{complete: {summary: built}}]
//! ```

use std::collections::BTreeMap;
use std::fmt;

use serde::Deserialize;
use serde::de::{self, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_saphyr::Spanned;

use super::Stop;
use super::step::Step;

#[derive(Deserialize)]
#[serde(transparent)]
pub(super) struct Script(BTreeMap<String, Spanned<Lists>>);

/// A list of steps, each with where it stands.
pub(super) type Steps = Vec<Spanned<Step>>;

/// The steps of one place.
enum Lists {
    Always(Steps),
    ByTry { tries: BTreeMap<u32, Steps>, otherwise: Option<Steps> },
}

impl Script {
    /// Reads the text of a script.
    pub(super) fn parse(text: &str) -> Result<Self, Stop> {
        serde_saphyr::from_str(text).map_err(|error| Stop::Script {
            line: error.location().map_or(0, |location| location.line()),
            why: words(&error),
        })
    }

    /// The list for a try at a place; a place that is not named goes by the name of its phase, and help (`build@mender`) by
    /// that of its persona.
    pub(super) fn steps(mut self, place: &str, try_number: u32) -> Result<Steps, Stop> {
        let phase = place.rsplit('/').next().unwrap_or(place);
        let persona = place.split_once('@').map_or(phase, |(_, persona)| persona);
        // The whole place before the bare phase: two workflows may have phases of the same name.
        let lists = self.0.remove(place).or_else(|| self.0.remove(phase));
        let lists = lists.or_else(|| self.0.remove(&format!("@{persona}")));
        let Some(Spanned { value, referenced, .. }) = lists else {
            return Err(Stop::Script { line: 0, why: self.no_place(place) });
        };
        match value {
            Lists::Always(steps) => Ok(steps),
            Lists::ByTry { mut tries, otherwise } => {
                tries.remove(&try_number).or(otherwise).ok_or_else(|| Stop::Script {
                    line: referenced.line(),
                    why: format!("`{place}` has no try {try_number} and no `otherwise`"),
                })
            }
        }
    }

    fn no_place(&self, place: &str) -> String {
        if self.0.is_empty() {
            return "has no places at all".to_owned();
        }
        let known: Vec<String> = self.0.keys().map(|place| format!("`{place}`")).collect();
        format!("has no place `{place}`; it has {}", known.join(", "))
    }
}

/// What is wrong, without the place: that stands before it already.
fn words(error: &serde_saphyr::Error) -> String {
    let text = error.without_snippet().to_string().replace("unknown variant", "unknown word");
    let place =
        error.location().map(|at| format!(" at line {}, column {}", at.line(), at.column()));
    place.map_or(text.clone(), |place| text.replace(&place, ""))
}

impl<'de> Deserialize<'de> for Lists {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(ListsVisitor)
    }
}

/// A list and a map are told apart by their shape alone, so that an error inside keeps its line.
struct ListsVisitor;

impl<'de> Visitor<'de> for ListsVisitor {
    type Value = Lists;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of steps, or a map from tries (`1`, `2`, `otherwise`) to lists")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut from: A) -> Result<Lists, A::Error> {
        let mut steps = Vec::new();
        while let Some(step) = from.next_element()? {
            steps.push(step);
        }
        Ok(Lists::Always(steps))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut from: A) -> Result<Lists, A::Error> {
        let (mut tries, mut otherwise) = (BTreeMap::new(), None);
        while let Some(key) = from.next_key::<String>()? {
            let known = if key == "otherwise" { None } else { Some(try_number::<A::Error>(&key)?) };
            let steps = from.next_value()?;
            match known {
                Some(number) => {
                    tries.insert(number, steps);
                }
                None => otherwise = Some(steps),
            }
        }
        Ok(Lists::ByTry { tries, otherwise })
    }
}

fn try_number<E: de::Error>(key: &str) -> Result<u32, E> {
    key.parse().ok().filter(|number| *number > 0).ok_or_else(|| {
        E::custom(format!("`{key}` is no try: write a number from 1, or `otherwise`"))
    })
}
