//! Workflows of every shape, written as text and read as any file is.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use chronicle_core::base::ids::{DONE, PhaseId, RunId};
use chronicle_core::definition::persona::Persona;
use chronicle_core::definition::walls::Walls;
use chronicle_core::definition::workflow::allowed_targets;
use chronicle_core::definition::workflow::{Source, Workflow, expand_pools, load};
use chronicle_core::event::{RunStarted, RunWalls, WallsFound};

use super::rng::Rng;

/// How many there are. Reading one costs as much as a whole run, so they are read once.
const SHAPES: u64 = 96;
/// How many of them have steps that work beside each other.
const POOLS: u64 = 16;
/// How many of them, the last ones, have workers that do the same work, of which one is taken.
const RACES: u64 = 6;

/// A workflow, and how its phases are left when all goes well.
pub(super) struct Shape {
    pub(super) text: String,
    pub(super) start: RunStarted,
    /// Whether it has steps that work beside each other.
    pub(super) is_pool: bool,
    toward: BTreeMap<(String, PhaseId), PhaseId>,
}

impl Shape {
    /// The shortest way to the end of the frame.
    pub(super) fn toward(&self, workflow: &str, phase: &PhaseId) -> PhaseId {
        let way = self.toward.get(&(workflow.to_owned(), phase.clone()));
        way.cloned().unwrap_or_else(|| PhaseId::from(DONE))
    }
}

pub(super) fn all() -> Result<Vec<Shape>, String> {
    let one = |number| match number {
        0..POOLS => pool(number),
        RACE_FIRST.. => race(number),
        _ => shape(number),
    };
    (0..SHAPES).map(one).collect()
}

/// Number of the first race.
const RACE_FIRST: u64 = SHAPES - RACES;

/// A person, commands or a worker judge; the winner may be in conflict, and one of them has no folder.
fn race(number: u64) -> Result<Shape, String> {
    let mut rng = Rng::new(number);
    let judge = ["", ", judge: {commands: [v]}", ", judge: p3"][(number % 3) as usize];
    let conflict = if number.is_multiple_of(2) { ", conflict: p4" } else { "" };
    let last = if number.is_multiple_of(2) { "nofolder" } else { "c" };
    let main = format!(
        "name: p\nlimits: {}\nphases:\n  - {{id: p0, next: [p1]}}\n  \
         - {{id: p1, run: race, workers: [{{id: clash}}, {{id: b, agent: other}}, {{id: {last}}}]{judge}, \
         on: {{gaps: p0{conflict}}}, next: [p2]}}\n  \
         - {{id: p2, next: [done]}}\n  - {{id: p3, next: [done]}}\n  - {{id: p4, next: [done]}}\n",
        limits(&mut rng),
    );
    let inner = workflow_text(&mut rng, "q", 1, false);
    read(number, &main, &inner)
}

/// Steps that are planned by a worker, stand in the file, or are done by a workflow of their own. `nofolder` and `clash` have bad luck.
fn pool(number: u64) -> Result<Shape, String> {
    let mut rng = Rng::new(number);
    let inner = workflow_text(&mut rng, "q", 1, false);
    let planned = number.is_multiple_of(2);
    let steps =
        if planned { "" } else { ", steps: [{id: a}, {id: clash}, {id: c, depends_on: [a]}]" };
    let work = if number.is_multiple_of(3) { ", workflow: inner" } else { "" };
    let merge = if number % 4 < 2 { "in_order" } else { "completion" };
    let verify = number % 3 == 1;
    let commands = if verify { ", verify: [v], worktree: {setup: [s]}" } else { "" };
    let conflict = if number % 4 == 2 { ", conflict: p3" } else { "" };
    let main = format!(
        "name: p\nlimits: {}\nphases:\n  - {{id: p0{}, next: [p1]}}\n  \
         - {{id: p1, run: pool, slots: {}{steps}{work}{commands}, merge: {{order: {merge}, verify: {verify}}}, \
         pause_between: {}, on: {{gaps: p0{conflict}}}, next: [p2]}}\n  \
         - {{id: p2, next: [done]}}\n  - {{id: p3, next: [done]}}\n",
        limits(&mut rng),
        if planned { ", persona: seeker, produces: steps" } else { "" },
        2 + number % 3,
        number == 5,
    );
    read(number, &main, &inner)
}

fn shape(number: u64) -> Result<Shape, String> {
    let mut rng = Rng::new(number);
    let inner_count = 1 + rng.index(2);
    let inner = workflow_text(&mut rng, "q", inner_count, false);
    // Small ones show most of what there is to see; some are large.
    let count = 1 + (0..3).map(|_| rng.index(4)).min().unwrap_or(0);
    let main = workflow_text(&mut rng, "p", count, true);
    read(number, &main, &inner)
}

fn read(number: u64, main: &str, inner: &str) -> Result<Shape, String> {
    let source = |key: &str, text: &str| Source {
        file: None,
        name: format!("{key}.yaml"),
        key: key.to_owned(),
        text: text.to_owned(),
    };
    let mut loaded = load(source("main", main), &mut |key| Some(source(key, inner)));
    let text = format!("{main}=== inner\n{inner}");
    if !loaded.is_usable() {
        return Err(format!("shape {number} cannot be used: {:#?}\n{text}", loaded.problems));
    }
    expand_pools(&mut loaded.workflows);
    let toward = loaded.workflows.iter().flat_map(ways).collect();
    let is_pool = !(POOLS..RACE_FIRST).contains(&number);
    Ok(Shape { text, start: start(loaded.workflows, number), is_pool, toward })
}

/// Somebody who can be asked for help; others cannot.
fn called(name: &str) -> Persona {
    Persona { name: name.to_owned(), ..Persona::default() }
}

/// Some begin on a machine that looked for walls, and some of those require them.
fn walls(number: u64) -> Option<Box<RunWalls>> {
    let found = WallsFound { namespaces: true, landlock: true, ..WallsFound::default() };
    let said = Walls { require: number.is_multiple_of(6), ..Walls::default() };
    number.is_multiple_of(3).then(|| Box::new(RunWalls { said, found }))
}

fn start(workflows: Vec<Workflow>, number: u64) -> RunStarted {
    RunStarted {
        run: RunId::from("01997f3a-0000-7000-8000-0000c0ffee01"),
        task: "the task".to_owned(),
        who: "ann".to_owned(),
        project: "/project".to_owned(),
        agent: "simulated".to_owned(),
        model: None,
        workflows,
        source: "main.yaml".to_owned(),
        personas: ["mender", "seeker", "weaver"].map(called).to_vec(),
        unenforced: Vec::new(),
        version: "test".to_owned(),
        on_gate: None,
        isolated: false,
        keep_folders: false,
        // Some have a folder of their own, which is merged when somebody says so.
        apart: number.is_multiple_of(4),
        inputs: true,
        rules: None,
        walls: walls(number),
        carried: None,
    }
}

fn workflow_text(rng: &mut Rng, letter: &str, count: usize, is_outer: bool) -> String {
    let is_list = rng.chance(40);
    let budget = if is_outer && rng.chance(20) { budget(rng) } else { String::new() };
    let mut text = format!("name: {letter}\nlimits: {}\n{budget}phases:\n", limits(rng));
    for index in 0..count {
        let name = format!("{letter}{index}");
        let fields = fields(rng, letter, index, count, is_outer, is_list).join(", ");
        let _ = if is_list {
            writeln!(text, "  - {{id: {name}, {fields}}}")
        } else {
            writeln!(text, "  {name}: {{{fields}}}")
        };
    }
    text
}

fn budget(rng: &mut Rng) -> String {
    match rng.below(3) {
        0 => format!("budget: {{attempts: {}}}\n", 1 + rng.below(4)),
        1 => "budget: {time: 10m}\n".to_owned(),
        _ => format!("budget: {{tokens: {}}}\n", 200 + rng.below(2_000)),
    }
}

fn limits(rng: &mut Rng) -> String {
    let count = if rng.chance(50) { "edge" } else { "pair" };
    let timeout = if rng.chance(50) { ", timeout: 5m" } else { "" };
    let repeats =
        if rng.chance(60) { format!(", repeats: {}", 1 + rng.below(4)) } else { String::new() };
    format!(
        "{{loop: {{count: {count}, max: {}}}, retries: {}, nudges: {}, losses: {}{timeout}{repeats}}}",
        1 + rng.below(3).min(rng.below(2)).min(rng.below(2)),
        rng.below(3),
        rng.below(3),
        rng.below(5),
    )
}

fn fields(
    rng: &mut Rng,
    letter: &str,
    index: usize,
    count: usize,
    is_outer: bool,
    is_list: bool,
) -> Vec<String> {
    let mut fields = Vec::new();
    let kind = rng.below(10);
    match kind {
        0..=2 => fields.push("run: command, commands: [a, b]".to_owned()),
        3 if is_outer => fields.push("run: workflow, workflow: inner".to_owned()),
        _ => {}
    }
    if kind < 3 && rng.chance(50) {
        fields.push("once: true".to_owned());
    }
    if kind > 3 && rng.chance(25) {
        let agents = *rng.pick(&["other", "other, 'third:small'"]).unwrap_or(&"other");
        fields.push(format!("fallback: [{agents}]"));
    }
    let following = if index + 1 < count { format!("{letter}{}", index + 1) } else { DONE.into() };
    // Only a worker can choose among several ways.
    let is_worker = kind > 3 || (kind > 2 && !is_outer);
    if !is_list || rng.chance(30) {
        let back = (is_worker && rng.chance(45)).then(|| format!(", {letter}{}", rng.index(count)));
        let person = (is_worker && rng.chance(10)).then_some(", human_intervention");
        let (back, person) = (back.unwrap_or_default(), person.unwrap_or_default());
        let back = if back == format!(", {following}") { String::new() } else { back };
        fields.push(format!("next: [{following}{back}{person}]"));
    }
    let on: Vec<String> = ["crash", "fail", "rejected", "timeout", "stuck", "gaps", "unverified"]
        .into_iter()
        .filter_map(|outcome| {
            let to = format!("{letter}{}", rng.index(count));
            rng.chance(18).then(|| format!("{outcome}: {to}"))
        })
        .collect();
    if !on.is_empty() {
        fields.push(format!("on: {{{}}}", on.join(", ")));
    }
    if rng.chance(12) {
        fields.push("verify: [v, w]".to_owned());
    }
    // It does nothing around another workflow, and is refused there.
    if rng.chance(12) && !(kind == 3 && is_outer) {
        fields.push("cleanup: [x, y]".to_owned());
    }
    let approval =
        rng.pick(&["none", "none", "none", "none", "none", "none", "before", "after", "both"]);
    fields.push(format!("approval: {}", approval.unwrap_or(&"none")));
    fields
}

/// For each phase the target that leads to `done` soonest.
fn ways(workflow: &Workflow) -> Vec<((String, PhaseId), PhaseId)> {
    let mut known: BTreeMap<PhaseId, PhaseId> = BTreeMap::new();
    let done = PhaseId::from(DONE);
    for _ in &workflow.phases {
        let before = known.clone();
        for phase in workflow.phases.iter().filter(|phase| !before.contains_key(&phase.id)) {
            let ends = |target: &&PhaseId| **target == done || before.contains_key(*target);
            if let Some(target) = allowed_targets(phase).iter().find(ends) {
                known.insert(phase.id.clone(), target.clone());
            }
        }
    }
    known.into_iter().map(|(from, to)| ((workflow.key.clone(), from), to)).collect()
}
