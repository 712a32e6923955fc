//! Any event of a pool, as a ledger may hold it.

use chronicle_core::base::ids::{FolderId, Outcome, PhaseId, Place, StepId, TreeId};
use chronicle_core::definition::workflow::StepItem;
use chronicle_core::event::Event;
use chronicle_core::event::apart::RunMergeBegan;
use chronicle_core::event::pool::{
    ConflictFile, FolderMade, MergeBegan, MergePlanned, MergeWritten, PlanMade, PlanOrigin,
    PoolPlanned, RaceDecided, RaceJudge, Side, SlotFreed, SlotTaken, StepAsked, StepEnd,
    StepSettled,
};
use chronicle_core::event::trees::Changes;
use proptest::prelude::*;
use proptest::sample::select;

use crate::fuzz_events::{attempt, name, small, text};

fn at() -> impl Strategy<Value = (Place, StepId, u32)> {
    (name(), text(), small())
        .prop_map(|(place, step, number)| (Place::new(place), StepId::new(step), number))
}

pub(crate) fn of_pools() -> impl Strategy<Value = Event> {
    let items = |said: &str| {
        let item =
            StepItem { id: said.to_owned(), name: Some(said.to_owned()), ..StepItem::default() };
        vec![
            item,
            StepItem {
                id: "a".to_owned(),
                depends_on: vec![said.to_owned()],
                ..StepItem::default()
            },
        ]
    };
    prop_oneof![
        (name(), any::<bool>())
            .prop_map(|(place, race)| Event::PoolEntered { place: Place::new(place), race }),
        (at(), text()).prop_map(move |((place, _, version), said)| {
            let from = match version % 3 {
                0 => PlanOrigin::Workflow,
                1 => PlanOrigin::Worker,
                _ => PlanOrigin::File(said.clone()),
            };
            let race = version % 2 == 0;
            Event::PoolPlanned(PoolPlanned { place, version, steps: items(&said), from, race })
        }),
        (name(), text())
            .prop_map(|(place, why)| Event::StepsUnread { place: Place::new(place), why }),
        (attempt(), at(), text()).prop_map(move |(attempt, (place, _, version), said)| {
            let (pool, steps) = ((version % 2 == 0).then_some(place), items(&said));
            Event::PlanMade(PlanMade {
                attempt,
                request: said.clone(),
                pool,
                version,
                steps,
                answer: said,
            })
        }),
        at().prop_map(|(place, step, slot)| {
            let folder = if slot % 2 == 0 { FolderId::Project } else { FolderId::Work(slot) };
            Event::SlotTaken(SlotTaken { place, step, slot, folder })
        }),
        at().prop_map(|(place, step, _)| Event::SlotFreed(SlotFreed { place, step })),
        of_ends().boxed(),
        of_merges().boxed(),
    ]
}

/// How steps, races and pools end.
fn of_ends() -> impl Strategy<Value = Event> {
    let end = select(vec![
        StepEnd::Failed,
        StepEnd::Skipped,
        StepEnd::Dropped,
        StepEnd::Done,
        StepEnd::Again,
        StepEnd::Lost,
    ]);
    prop_oneof![
        (at(), end.clone(), text()).prop_map(|((place, step, _), how, note)| {
            Event::StepAsked(StepAsked { place, step, how, who: note.clone(), note })
        }),
        (at(), end, text()).prop_map(|((place, step, _), how, why)| {
            let tree = (how == StepEnd::Lost).then(|| TreeId::new(why.clone()));
            let (who, in_project) = (Some(why.clone()), how == StepEnd::Skipped && why.is_empty());
            Event::StepSettled(StepSettled { place, step, how, who, why, tree, in_project })
        }),
        (at(), prop::option::of(text()), text()).prop_map(|((place, _, number), winner, why)| {
            let by = match number % 4 {
                0 => RaceJudge::Person(why.clone()),
                1 => RaceJudge::Commands,
                2 => RaceJudge::Phase(PhaseId::new(why.clone())),
                _ => RaceJudge::Alone,
            };
            Event::RaceDecided(RaceDecided { place, winner: winner.map(StepId::new), by, why })
        }),
        (name(), name(), text()).prop_map(|(place, outcome, summary)| Event::PoolEnded {
            place: Place::new(place),
            race: outcome.len() % 2 == 0,
            outcome: Outcome::new(outcome),
            summary,
        }),
    ]
}

fn of_merges() -> impl Strategy<Value = Event> {
    let tree = |text: &str| TreeId::new(text.to_owned());
    prop_oneof![
        (small(), text()).prop_map(move |(folder, said)| {
            Event::FolderMade(FolderMade {
                folder,
                tree: tree(&said),
                path: Some(said.clone()),
                plain: Some(said),
            })
        }),
        (small(), text()).prop_map(|(folder, why)| Event::FolderFailed { folder, why }),
        small().prop_map(|folder| Event::FolderLost { folder }),
        text().prop_map(|who| Event::WorkDropped { who }),
        (small(), text()).prop_map(move |(number, who)| {
            Event::RunMergeBegan(RunMergeBegan {
                base: tree(&who),
                theirs: (number % 2 == 0).then(|| tree(&who)),
                favour: [None, Some(Side::Ours), Some(Side::Theirs)][number as usize % 3],
                keep: number % 5 == 0,
                who,
            })
        }),
        (small(), prop::option::of(text()))
            .prop_map(|(folder, error)| Event::FolderDropped { folder, error }),
        (small(), name(), text()).prop_map(move |(folder, place, said)| {
            Event::MergeBegan(MergeBegan {
                place: Place::new(place),
                step: StepId::new(said.clone()),
                folder,
                round: folder,
                base: tree(&said),
                theirs: (folder % 2 == 0).then(|| tree(&said)),
                favour: [None, Some(Side::Ours), Some(Side::Theirs)][folder as usize % 3],
            })
        }),
        (small(), text(), text()).prop_map(move |(folder, path, what)| {
            Event::MergePlanned(Box::new(MergePlanned {
                folder,
                ours: tree(&path),
                theirs: tree(&what),
                result: tree(&what),
                changes: Changes::default(),
                conflicts: folder % 3,
                unrecorded: vec![path.clone()],
                conflict_files: vec![ConflictFile { path, what, is_unrecorded: false }],
            }))
        }),
        (small(), prop::option::of(text()), text()).prop_map(|(folder, error, late)| {
            let into = if folder % 2 == 0 { FolderId::Project } else { FolderId::Work(folder) };
            let late = vec![late];
            Event::MergeWritten(MergeWritten { folder, into, files: folder, late, error })
        }),
    ]
}
