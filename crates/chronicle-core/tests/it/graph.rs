//! Workflows as pictures: for a terminal, as SVG, for Mermaid and for Graphviz.

use std::fmt::Write as _;

use chronicle_core::view::graph::{EdgeWay, Graph, LineStyle, dot, mermaid, svg, text};
use expect_test::expect;
use proptest::prelude::*;

use super::workflow::load_with;

const LOOPS: &str = "
name: Feature
description: Plan, build, test
agent: claude
phases:
  plan: {name: Planning, emoji: 🧭, persona: planner, approval: after, next: [build]}
  build: {persona: builder, model: opus, tools: {deny: [bash]}, next: [build, test], on: {stuck: human_intervention}}
  test: {commands: [make test, make lint], next: [done], on: {fail: build, crash: plan}}
";

fn graph(text: &str) -> Graph {
    graph_with(text, &[])
}

fn graph_with(text: &str, others: &[(&str, &str)]) -> Graph {
    Graph::new(&load_with(text, others).workflows).unwrap()
}

#[test]
fn a_terminal_shows_boxes_and_ways_beside_them() {
    expect![[r#"
        Feature: Plan, build, test

                 ●
                 │
                 ▼
        ╭──────────────────╮
        │ 🧭 Planning      │◄──────────╮
        │ planner          │           │
        │ claude           │           │
        │ ⏸ asks after     │           │
        ╰────────┬─────────╯           │
                 │                     │
                 ▼                     │
        ╭──────────────────╮           │
        │ build            │◄───────╮  │
        │ builder          │        │  │
        │ claude · opus    ├────────┤  │
        │ no bash          ├─ stuck ┼──┼──╮
        ╰────────┬─────────╯        │  │  │
                 │                  │  │  │
                 ▼                  │  │  │
        ╭──────────────────╮        │  │  │
        │ test             │        │  │  │
        │ $ make test (+1) ├─ crash ┼──╯  │
        │                  ├─ fail ─╯     │
        ╰────────┬─────────╯              │
                 │                        │
                 ▼                        │
        ╭──────────────────╮              │
        │ ■ done           │              │
        ╰──────────────────╯              │
                                          │
        ╭──────────────────╮              │
        │ a person decides │◄─────────────╯
        ╰──────────────────╯
    "#]]
    .assert_eq(&text(&graph(LOOPS), 80, LineStyle::Boxes));
}

#[test]
fn a_narrow_terminal_is_told_in_words() {
    expect![[r#"
        Feature: Plan, build, test

                    ●
                    │
                    ▼
        ╭───────────────────────────╮
        │ 🧭 Planning               │
        │ planner                   │
        │ claude                    │
        │ ⏸ asks after              │
        ╰───────────┬───────────────╯
                    │
                    ▼
        ╭───────────────────────────╮
        │ build                     │
        │ builder                   │
        │ claude · opus             │
        │ no bash                   │
        │ ↑ or: build               │
        │ ↓ stuck: a person decides │
        ╰───────────┬───────────────╯
                    │
                    ▼
        ╭───────────────────────────╮
        │ test                      │
        │ $ make test (+1)          │
        │ ↑ crash: 🧭 Planning      │
        │ ↑ fail: build             │
        ╰───────────┬───────────────╯
                    │
                    ▼
        ╭───────────────────────────╮
        │ ■ done                    │
        ╰───────────────────────────╯

        ╭───────────────────────────╮
        │ a person decides          │
        ╰───────────────────────────╯
    "#]]
    .assert_eq(&text(&graph(LOOPS), 30, LineStyle::Boxes));
}

#[test]
fn plain_letters_are_enough() {
    let drawn =
        text(&graph("name: A\nphases: [{id: a, next: [a, b]}, {id: b}]"), 80, LineStyle::Ascii);
    expect![[r#"
        A

            o
            |
            v
        +--------+
        | a      |<--+
        |        +---+
        +---+----+
            |
            v
        +--------+
        | b      |
        +---+----+
            |
            v
        +--------+
        | # done |
        +--------+
    "#]]
    .assert_eq(&drawn);
    assert!(text(&graph(LOOPS), 80, LineStyle::Ascii).is_ascii());
}

#[test]
fn a_workflow_inside_is_drawn_once_below() {
    let inner = "name: Inner\nphases: [{id: x}, {id: y}]";
    let main = "name: Main\nphases: [{id: one, workflow: inner}, {id: two, workflow: inner}]";
    expect![[r#"
        Main

                ●
                │
                ▼
        ╭────────────────╮
        │ one            │
        │ workflow inner │
        ╰───────┬────────╯
                │
                ▼
        ╭────────────────╮
        │ two            │
        │ workflow inner │
        ╰───────┬────────╯
                │
                ▼
        ╭────────────────╮
        │ ■ done         │
        ╰────────────────╯

        Inner (workflow inner)

            ●
            │
            ▼
        ╭────────╮
        │ x      │
        ╰───┬────╯
            │
            ▼
        ╭────────╮
        │ y      │
        ╰───┬────╯
            │
            ▼
        ╭────────╮
        │ ■ done │
        ╰────────╯
    "#]]
    .assert_eq(&text(&graph_with(main, &[("inner", inner)]), 80, LineStyle::Boxes));
}

#[test]
fn mermaid_and_dot_say_the_same() {
    expect![[r#"
        ---
        title: "Feature"
        ---
        flowchart TD
          n0((" "))
          class n0 finish
          n1["<b>🧭 Planning</b><br>planner<br>claude<br>⏸ asks after"]
          class n1 worker
          n2["<b>build</b><br>builder<br>claude · opus<br>no bash"]
          class n2 worker
          n3["<b>test</b><br>$ make test (+1)"]
          class n3 command
          n4(["<b>done</b>"])
          class n4 finish
          n5{{"<b>a person decides</b>"}}
          class n5 person
          n0 --> n1
          n1 --> n2
          n2 --> n2
          n2 --> n3
          n2 -->|"stuck"| n5
          n3 --> n4
          n3 -.->|"crash"| n1
          n3 -.->|"fail"| n2
          classDef command fill:#0d948822,stroke:#0d9488
          classDef workflow fill:#7c3aed22,stroke:#7c3aed
          classDef person fill:#d9770622,stroke:#d97706
          classDef worker fill:#2563eb22,stroke:#2563eb
          classDef finish fill:#16a34a22,stroke:#16a34a
          classDef unreached stroke-dasharray:4 4
    "#]]
    .assert_eq(&mermaid(&graph(LOOPS)));
    expect![[r##"
        digraph workflow {
          label="Feature"
          labelloc=t
          compound=true
          node [shape=box, style="rounded,filled", fillcolor=white, fontname="Helvetica"]
          edge [fontname="Helvetica", fontsize=11]
          n0 [shape=point, width=0.15, label=""]
          n1 [color="#2563eb", label="🧭 Planning\nplanner\nclaude\n⏸ asks after"]
          n2 [color="#2563eb", label="build\nbuilder\nclaude · opus\nno bash"]
          n3 [color="#0d9488", label="test\n$ make test (+1)"]
          n4 [shape=oval, color="#16a34a", label="done"]
          n5 [shape=hexagon, color="#d97706", label="a person decides"]
          n0 -> n1 [label=""]
          n1 -> n2 [label=""]
          n2 -> n2 [label=""]
          n2 -> n3 [label=""]
          n2 -> n5 [label="stuck"]
          n3 -> n4 [label=""]
          n3 -> n1 [label="crash", style=dashed, constraint=false]
          n3 -> n2 [label="fail", style=dashed, constraint=false]
        }
    "##]]
    .assert_eq(&dot(&graph(LOOPS)));
}

#[test]
fn names_cannot_break_out_of_any_drawing() {
    let evil =
        "name: '<script>\"]; --> x'\nphases: [{id: a, name: '\"]) <b>&amp; \\ `#quot;` ]]>'}]";
    let graph = graph(evil);
    let drawn = svg(&graph);
    assert!(!drawn.contains("<script") && !drawn.contains("<b>"), "{drawn}");
    assert!(drawn.contains("&lt;script&gt;&quot;]; --&gt; x"), "{drawn}");
    let drawn = mermaid(&graph);
    let labels = drawn.lines().filter(|line| line.contains("n1["));
    for line in labels {
        assert_eq!(line.matches('"').count(), 2, "{line}");
        assert!(!line.contains("<b>&") && line.contains("#60;b#62;"), "{line}");
    }
    let drawn = dot(&graph);
    assert!(drawn.contains(r#"label="\"]) <b>&amp; \\ `#quot;` ]]>""#), "{drawn}");
}

#[test]
fn control_characters_reach_no_drawing() {
    let graph =
        graph("name: \"a\\eb\"\nphases: [{id: x, name: \"c\\u202ed\", persona: \"e\\nf\"}]");
    let drawn = [text(&graph, 80, LineStyle::Boxes), svg(&graph), mermaid(&graph), dot(&graph)];
    for drawn in drawn {
        let bad = |it: char| (it.is_control() && it != '\n') || it == '\u{202e}';
        assert!(!drawn.contains(bad), "{drawn:?}");
    }
}

#[test]
fn what_no_edge_leads_to_is_marked() {
    let graph = graph("phases: {a: {next: [done]}, b: {next: [done]}}");
    assert!(text(&graph, 80, LineStyle::Boxes).contains("(no edge leads here)"));
    assert!(svg(&graph).contains("unreached\" x="));
}

/// Tags that are opened and closed, each in its turn: the document is one tree.
fn assert_well_formed(svg: &str) {
    let mut open = Vec::new();
    for tag in svg.split('<').skip(1) {
        let (tag, _) = tag.split_once('>').unwrap_or_else(|| panic!("{tag}"));
        let name = tag.trim_start_matches('/').split([' ', '/']).next().unwrap();
        match (tag.starts_with('/'), tag.ends_with('/')) {
            (true, _) => assert_eq!(open.pop(), Some(name), "{svg}"),
            (false, true) => {}
            (false, false) => open.push(name),
        }
    }
    assert!(open.is_empty(), "{open:?}");
}

/// Some workflow of so many phases, its edges as the dice fall.
fn any_workflow() -> impl Strategy<Value = String> {
    let edges = prop::collection::vec((0usize..12, 0usize..14, prop::bool::ANY), 0..30);
    (1usize..12, edges).prop_map(|(count, edges)| {
        let target = |to: usize| match to {
            12 => "done".to_owned(),
            13 => "human_intervention".to_owned(),
            to => format!("p{}", to % count),
        };
        let mut text = "phases:\n".to_owned();
        for phase in 0..count {
            let own = || edges.iter().filter(|(from, ..)| from % count == phase);
            let next: Vec<String> = own().filter(|it| it.2).map(|it| target(it.1)).collect();
            let on: Vec<String> = own()
                .filter(|it| !it.2)
                .zip(["fail", "gaps", "stuck", "crash"])
                .map(|(it, outcome)| format!("{outcome}: {}", target(it.1)))
                .collect();
            let _ = writeln!(
                text,
                "  p{phase}: {{next: [{}], on: {{{}}}}}",
                next.join(", "),
                on.join(", ")
            );
        }
        text
    })
}

proptest! {
    #[test]
    fn every_edge_leads_down_but_those_that_go_back(workflow in any_workflow()) {
        let graph = graph(&workflow);
        for edge in &graph.edges {
            match edge.way {
                EdgeWay::On => {
                    prop_assert!(edge.from < edge.to);
                    prop_assert!(graph.nodes[edge.from].rank < graph.nodes[edge.to].rank);
                }
                EdgeWay::Back => prop_assert!(edge.from > edge.to, "{:?}", edge),
                EdgeWay::Itself => prop_assert_eq!(edge.from, edge.to),
            }
        }
    }

    #[test]
    fn any_workflow_is_drawn_in_any_width(workflow in any_workflow(), columns in 0usize..140) {
        let graph = graph(&workflow);
        let drawn = text(&graph, columns, LineStyle::Boxes);
        for node in &graph.nodes {
            let short: String = node.title.chars().take(3).collect();
            prop_assert!(node.id.is_empty() || drawn.contains(&short), "{}\n{}", node.id, drawn);
        }
        let widest = drawn.lines().map(|line| line.chars().count()).max().unwrap();
        prop_assert!(widest <= columns.max(60), "{widest} columns in {columns}:\n{drawn}");
        assert_well_formed(&svg(&graph));
        prop_assert_eq!(dot(&graph).matches('{').count(), dot(&graph).matches('}').count());
        prop_assert!(mermaid(&graph).lines().count() > graph.nodes.len());
    }
}

/// Every number of an attribute in the drawing.
fn numbers(svg: &str, name: &str) -> Vec<f64> {
    let mark = format!(" {name}=\"");
    let found = svg.match_indices(&mark).map(|(at, _)| &svg[at + mark.len()..]);
    found.filter_map(|rest| rest.split('"').next()?.parse().ok()).collect()
}

#[test]
fn forty_phases_stay_on_the_paper() {
    let mut workflow = "name: Forty\nphases:\n".to_owned();
    for index in 0..40 {
        let back =
            if index % 6 == 5 { format!(", on: {{fail: p{}}}", index - 3) } else { String::new() };
        let _ = writeln!(workflow, "  - {{id: p{index}, persona: worker{back}}}");
    }
    let drawn = svg(&graph(&workflow));
    assert_well_formed(&drawn);
    let (width, height) = (numbers(&drawn, "width")[0], numbers(&drawn, "height")[0]);
    assert!(numbers(&drawn, "x").iter().all(|x| (0.0..width).contains(x)), "{width}");
    assert!(numbers(&drawn, "y").iter().all(|y| *y < height), "{height}");
    assert!(drawn.contains("prefers-color-scheme:dark"));
    assert_eq!(drawn.matches("class=\"box\"").count(), 40);
}

/// The straight parts of every dashed line.
fn dashed(svg: &str) -> Vec<[(f64, f64); 2]> {
    let mut parts = Vec::new();
    for path in svg.split("class=\"way back\" d=\"").skip(1) {
        let path = path.split('"').next().unwrap();
        let mut from = (0.0, 0.0);
        for step in path.split(['M', 'L', 'Q']).skip(1) {
            let numbers: Vec<f64> = step.split_whitespace().map(|it| it.parse().unwrap()).collect();
            let to = (numbers[numbers.len() - 2], numbers[numbers.len() - 1]);
            if numbers.len() == 2 && from != (0.0, 0.0) {
                parts.push([from, to]);
            }
            from = to;
        }
    }
    parts
}

#[test]
fn dashes_are_never_drawn_over_dashes_nor_through_boxes() {
    let workflow = "name: Many\nphases:\n  plan: {next: [a, b, c]}\n  a: {next: [v], on: {fail: plan}}\n  \
        b: {next: [v], on: {fail: plan, needs_input: plan}, instructions: \"a\\nb\", tools: {deny: [bash]}, approval: after}\n  \
        c: {next: [v, done], on: {fail: plan}}\n  v: {run: command, commands: [x], next: [done], on: {fail: plan}}\n";
    let drawn = svg(&graph(workflow));
    let parts = dashed(&drawn);
    assert!(parts.len() > 6, "{drawn}");
    for (index, [a, b]) in parts.iter().enumerate() {
        for [c, d] in &parts[..index] {
            let span = |x: f64, y: f64| (x.min(y), x.max(y));
            let overlap =
                |one: (f64, f64), other: (f64, f64)| one.1.min(other.1) - one.0.max(other.0);
            let is_same = |all: [f64; 3], one: f64| all.iter().all(|it| (it - one).abs() < 0.5);
            let is_level = is_same([b.1, c.1, d.1], a.1);
            let is_upright = is_same([b.0, c.0, d.0], a.0);
            let level = overlap(span(a.0, b.0), span(c.0, d.0));
            let upright = overlap(span(a.1, b.1), span(c.1, d.1));
            assert!(!is_level || level < 1.0, "{a:?} {b:?} and {c:?} {d:?}");
            assert!(!is_upright || upright < 1.0, "{a:?} {b:?} and {c:?} {d:?}");
        }
    }
    for rect in
        drawn.split("<rect class=\"").filter(|it| it.starts_with("box") || it.starts_with("done"))
    {
        let rect = format!(" {rect}");
        let [x, y, width, height] =
            ["x", "y", "width", "height"].map(|name| numbers(&rect, name)[0]);
        for [a, b] in &parts {
            let inside = |low: f64, high: f64, from: f64, to: f64| {
                from.min(to) < high - 1.0 && from.max(to) > low + 1.0
            };
            let crosses = inside(x, x + width, a.0, b.0) && inside(y, y + height, a.1, b.1);
            assert!(!crosses, "{a:?} {b:?} through {x} {y} {width} {height}");
        }
    }
}

#[test]
fn pools_and_races_say_what_they_work_on_and_who_judges() {
    let text = "
name: P
phases:
  a: {run: pool, steps: [{id: s}, {id: t}], next: [b]}
  b: {run: pool, slots: 1, steps_from: plan.json, workflow: inner, next: [c]}
  c: {run: race, workers: [x, y], judge: pick, next: [d]}
  d: {run: race, workers: [x, y], judge: {commands: [make test]}, next: [e]}
  e: {run: race, workers: [x, y], next: [done]}
  pick: {}
";
    let drawn = graph_with(text, &[("inner", "phases: {look: {}}")]);
    let said: Vec<String> =
        drawn.nodes.iter().map(|node| format!("{}: {}", node.id, node.lines.join(" | "))).collect();
    expect![[r#"
        : 
        a: pool, 3 slots: 2 steps
        b: pool, 1 slot: steps from plan.json | each step: workflow inner
        c: race of 2: x, y | judged by pick
        d: race of 2: x, y | judged by $ make test
        e: race of 2: x, y | judged by a person
        pick: 
        done: "#]]
    .assert_eq(&said.join("\n"));
    assert!(drawn.nodes.iter().any(|node| node.id == "pick" && node.is_reached));
}
