//! The pages about the native format say what the code does: schema, field reference and problems.
#![expect(
    clippy::disallowed_methods,
    reason = "these tests read pages and sources; the core does not"
)]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use chronicle_core::definition::workflow;
use expect_test::expect_file;
use jsonschema::Validator;
use serde_json::{Value, json};

use super::workflow::load_with;

const PROBLEMS: &str = "../../docs/reference/problems.md";
/// Where problems are made.
const SOURCES: [&str; 3] =
    ["src", "../chronicle-runtime/src/discover", "../chronicle/src/cli/check.rs"];
/// Where the workflows are that we ship and test with.
const WORKFLOWS: [&str; 5] = [
    "tests/it/data/workflows/native",
    "../chronicle/tests/scenarios",
    "../chronicle/tests/crash",
    "../chronicle/src/demo",
    "../../workflows",
];

fn at(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

fn read(path: impl AsRef<Path>) -> String {
    let path = path.as_ref();
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Every file below a folder, or the file itself.
fn files(path: PathBuf) -> Vec<PathBuf> {
    if !path.is_dir() {
        return if path.is_file() { vec![path] } else { Vec::new() };
    }
    let entries = std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(files).collect()
}

fn validator() -> Validator {
    let schema: Value = serde_json::from_str(&workflow::schema()).unwrap();
    jsonschema::validator_for(&schema).unwrap()
}

fn value(text: &str) -> Value {
    serde_saphyr::from_str(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

#[test]
fn the_schema_is_as_written() {
    expect_file!["../../../../docs/reference/workflow.schema.json"].assert_eq(&workflow::schema());
}

#[test]
fn the_field_reference_is_as_written() {
    expect_file!["../../../../docs/reference/workflow.md"].assert_eq(&workflow::reference());
}

#[test]
fn every_workflow_of_ours_fits_the_schema() {
    let validator = validator();
    let mut count = 0;
    for file in WORKFLOWS.into_iter().flat_map(|folder| files(at(folder))) {
        let is_yaml = file.extension().is_some_and(|ending| ending == "yaml");
        if !is_yaml || file.ends_with("script.yaml") {
            continue;
        }
        let text = read(&file);
        let value = value(&text);
        let wrong: Vec<String> = validator.iter_errors(&value).map(|it| it.to_string()).collect();
        assert_eq!(wrong, [""; 0], "{}", file.display());
        count += 1;
    }
    assert!(count > 20, "only {count} workflows were found");
}

#[test]
fn what_the_checker_refuses_the_schema_refuses() {
    let bad = [
        "phases: {a: {instrctions: x}}",
        "phases: {a: {tools: Read}}",
        "phases: {a: {run: wroker}}",
        "phases: {a: {limits: {timeout: soon}}}",
        "phases: {a: {limits: {loop: 0}}}",
        "phases: {a: {limits: {loop: {max: 3, cuont: edge}}}}",
        "phases: {a: {next: {b: c}}}",
        "phases: {a: {slots: 0, run: pool}}",
        "phases: {a: {once: maybe, commands: make}}",
        "phases: {a: [b]}",
        "phases: []",
        "phases: 7",
        "name: x",
        "name: [a]\nphases: {a: }",
        "phases: {a: }\nstates: {b: }",
        "env: {A: [1]}\nphases: {a: }",
        "budget: {usd: -1}\nphases: {a: }",
        "colour: red\nphases: {a: }",
        "phases: {a: {commands: make, persona: p}}",
        "phases: {a: {run: command, commands: make, tools: {deny: [bash]}}}",
        "phases: {a: {commands: make, limits: {idle: 1m}}}",
        "phases: {a: {workflow: b, cleanup: make}}",
        "phases: {a: {subworkflow: b, availableProfiles: [x]}}",
        "phases: {a: {run: workflow, workflow: b, limits: {timeout: 1m}}}",
        "phases: {a: {run: human, available_profiles: [x]}}",
        "phases: {a: {run: human, timeout_minutes: 3}}",
        "phases: {a: {signals: []}}",
        "phases: {a: {signals: [partially-complete]}}",
        "phases: {a: {tools: {allow: [read], deny: [bash]}}}",
        "phases: {a: {tools: {whitelist: [], blacklist: [bash]}}}",
        "env: {CHRONICLE_RUN: x}\nphases: {a: }",
        "env: {chronicle_run: x}\nphases: {a: }",
        "env: {'A=B': x}\nphases: {a: }",
        "env: {pass: [A], B: x}\nphases: {a: }",
        "env: {pass: [CHRONICLE_RUN]}\nphases: {a: }",
        "env: {drop: ['A=B']}\nphases: {a: }",
        "env: {drop: [[A]]}\nphases: {a: }",
        "env: {set: {A: [1]}}\nphases: {a: }",
        "env: {set: {chronicle_x: 1}}\nphases: {a: }",
        "env: {set: x, pass: [A]}\nphases: {a: }",
        "phases: {a: {env: [A]}}",
        "phases: {a: {env: {drop: {A: b}}}}",
        "phases: {a: {run: human, env: {A: b}}}",
        "phases: {a: {workflow: b, env: {A: b}}}",
        "phases: {'a/b': }",
        "phases: {\"a\\u0001b\": }",
        "phases: {\"a\\u0085b\": }",
        "phases: {' a': }",
        "- a",
    ];
    let validator = validator();
    for text in bad {
        assert!(!validator.is_valid(&value(text)), "{text}");
        assert!(!load_with(text, &[]).is_usable(), "{text}");
    }
}

#[test]
fn pools_that_the_checker_refuses_the_schema_refuses() {
    let bad = [
        "phases: {a: {slots: 65, run: pool}}",
        "phases: {a: {run: pool, steps: [{id: s, files: {made: x}}]}}",
        "phases: {a: {run: pool, steps: s}}",
        "phases: {a: {run: pool, steps: [{id: s}], session: continue}}",
        "phases: {a: {run: pool, steps: [{id: s}], produces: steps}}",
        "phases: {a: {run: pool, steps: [{id: s}], workflow: b, persona: p}}",
        "phases: {a: {run: pool, steps: [{id: s}], subworkflow: b, limits: {timeout: 1m}}}",
        "phases: {a: {run: pool, steps: [{id: s}], commands: make, tools: {deny: [bash]}}}",
        "phases: {a: {run: pool, steps: [{id: s}], merge: sometimes}}",
        "phases: {a: {run: pool, steps: [{id: s}], merge: {verify: maybe}}}",
        "phases: {a: {run: pool, steps: [{id: s}], worktree: {copy: x}}}",
        "phases: {a: {run: pool, steps: [{id: s}], pause_between: often}}",
        "phases: {a: {run: race, workers: claude}}",
        "phases: {a: {run: race, workers: [{agnet: claude}, codex]}}",
        "phases: {a: {run: race, workers: [claude, codex], judge: {comands: make}}}",
        "phases: {a: {run: race, workers: [claude, codex], session: continue}}",
    ];
    let validator = validator();
    for text in bad {
        assert!(!validator.is_valid(&value(text)), "{text}");
        let problems = load_with(text, &[("b", "phases: {x: }")]).problems;
        // Whether this version can run it is another matter.
        let is_error = |it: &workflow::Problem| it.severity == workflow::Severity::Error;
        let told = problems.iter().filter(|it| is_error(it));
        assert!(told.map(|it| it.code).any(|code| code != "not-supported-yet"), "{text}");
    }
    for text in [
        "phases: {a: {run: pool, slots: '4', steps: [{id: s, files: x, mine: [1]}], merge: in_order}}",
        "phases: {a: {run: race, workers: [claude, {agent: codex}], judge: {commands: make}}}",
    ] {
        assert!(validator.is_valid(&value(text)), "{text}");
        let problems = load_with(text, &[]).problems;
        assert!(problems.iter().all(|it| it.code == "not-supported-yet"), "{problems:?}");
    }
}

#[test]
fn walls_that_the_checker_refuses_the_schema_refuses() {
    let bad = [
        "walls: read\nphases: {a: }",
        "walls: {files: none}\nphases: {a: }",
        "walls: {file: read}\nphases: {a: }",
        "walls: {paths: [/]}\nphases: {a: }",
        "walls: {paths: '~/'}\nphases: {a: }",
        "walls: {paths: [a/../b]}\nphases: {a: }",
        "walls: {paths: [sub/.chronicle]}\nphases: {a: }",
        "walls: {hide: [.]}\nphases: {a: }",
        "walls: {hide: [./.chronicle/runs]}\nphases: {a: }",
        "walls: {hide: ['*.pem']}\nphases: {a: }",
        "walls: {hide: [$HOME/x]}\nphases: {a: }",
        "walls: {open: [dokcer]}\nphases: {a: }",
        "walls: {network: maybe}\nphases: {a: }",
        "walls: {processes: 0}\nphases: {a: }",
        "walls: {processes: 1000001}\nphases: {a: }",
        "walls: {processes: many}\nphases: {a: }",
        "walls: {require: 1}\nphases: {a: }",
        "walls: {own_sandbox: [true]}\nphases: {a: }",
        "phases: {a: {run: human, walls: {files: read}}}",
        "phases: {a: {workflow: b, walls: {files: read}}}",
    ];
    let validator = validator();
    for text in bad {
        assert!(!validator.is_valid(&value(text)), "{text}");
        assert!(!load_with(text, &[]).is_usable(), "{text}");
    }
}

/// What both accept, beside the workflows of ours.
#[test]
fn what_the_checker_accepts_the_schema_accepts() {
    let good = [
        "phases: {a: {signals: [Complete]}}",
        "phases: {a: {signals: needs_role_followup}}",
        "phases: {a: {signals: }}",
        "phases: {a: {tools: {allow: [read], deny: []}}}",
        "phases: {a: {tools: {deny: [bash]}}}",
        "env: {MY_CHRONICLE_RUN: x, A: 1}\nphases: {a: }",
        "env: {pass: x, A: 1}\nphases: {a: }",
        "env: {pass: , drop: [A]}\nphases: {a: }",
        "env: {pass: A, drop: ['B*', '*'], set: {C: 1}}\nphases: {a: }",
        "phases: {a: {env: {A: b}}, b: {commands: make, env: {drop: [A]}}}",
        "walls: {files: read, paths: [target, ~/x, /srv/y, .], hide: secrets, open: [ssh, docker]}\nphases: {a: }",
        "walls: {network: off, processes: '200', require: true}\nphases: {a: {commands: make}}",
        "walls: {network: false, open: ssh, own_sandbox: false}\nphases: {a: {commands: make, walls: {network: true}}}",
        "walls: \nphases: {a: {walls: {}}}",
        "walls: {paths: [.chronicle-notes, 'a..b', ./~odd], hide: [sub/.chronicle, 'app/[id]']}\nphases: {a: }",
        "phases: {'a b': , 'é': }",
    ];
    let validator = validator();
    for text in good {
        assert!(validator.is_valid(&value(text)), "{text}");
        assert!(load_with(text, &[]).is_usable(), "{text}");
    }
}

/// Editors and validators have regular expressions of their own: what Python's do not know is not used.
#[test]
fn the_schemas_patterns_are_portable() {
    let schema = workflow::schema();
    for class in ["\\\\p{", "\\\\P{", "(?i", "(?<", "\\\\u"] {
        assert!(!schema.contains(class), "{class}");
    }
}

/// A value that fits a property of the schema.
fn sample(schema: &Value, property: &Value) -> Value {
    if let Some(path) = property["$ref"].as_str() {
        return sample(schema, &schema["$defs"][path.rsplit('/').next().unwrap()]);
    }
    if let Some(first) = property["anyOf"].get(0) {
        return sample(schema, first);
    }
    if let Some(word) = property["enum"].get(0).or(property.get("const")) {
        return word.clone();
    }
    let kind = property["type"].get(0).unwrap_or(&property["type"]);
    match kind.as_str().unwrap() {
        "string" if property.get("pattern").is_some() => json!("1h"),
        "string" => json!("some-text"),
        "boolean" => json!(true),
        "integer" | "number" => json!(1),
        "array" => json!([sample(schema, &property["items"])]),
        "object" => json!({}),
        other => panic!("{other}"),
    }
}

#[test]
fn every_field_of_the_schema_is_one_that_the_checker_knows() {
    let schema: Value = serde_json::from_str(&workflow::schema()).unwrap();
    let validator = validator();
    let maps = std::iter::once(("workflow", &schema))
        .chain(schema["$defs"].as_object().unwrap().iter().map(|(name, of)| (name.as_str(), of)));
    let mut count = 0;
    for (map, of) in maps {
        for (name, property) in of["properties"].as_object().unwrap() {
            let mut field = serde_json::Map::new();
            // A phase must have a signal that leaves it.
            let value =
                if name == "signals" { json!("complete") } else { sample(&schema, property) };
            field.insert(name.clone(), value);
            let document = inside(map, Value::Object(field));
            let told = load_with(&document.to_string(), &[]).problems;
            let unknown: Vec<_> = told
                .iter()
                .filter(|it| ["unknown-field", "wrong-type"].contains(&it.code))
                .collect();
            assert!(unknown.is_empty(), "{map}.{name}: {unknown:?}");
            assert!(validator.is_valid(&document), "{map}.{name}: {document}");
            count += 1;
        }
    }
    assert!(count > 80, "only {count} fields");
}

/// A whole workflow with these fields in one of its maps.
fn inside(map: &str, fields: Value) -> Value {
    let phase = |fields: Value| json!({ "phases": { "a": fields } });
    match map {
        "workflow" if fields.get("phases").is_some() || fields.get("states").is_some() => fields,
        "workflow" => {
            let mut whole = fields;
            whole["phases"] = json!({ "a": null });
            whole
        }
        "phase" => phase(fields),
        "limits" | "budget" | "tools" | "env" | "walls" => phase(json!({ map: fields })),
        "loop" => phase(json!({ "limits": { "loop": fields } })),
        "guards" => json!({ "guards": fields, "phases": { "a": null } }),
        "step" => phase(json!({ "run": "pool", "steps": [fields] })),
        "files" => phase(json!({ "run": "pool", "steps": [{ "id": "s", "files": fields }] })),
        "merge" => phase(json!({ "run": "pool", "merge": fields })),
        "worktree" => phase(json!({ "run": "pool", "worktree": fields })),
        "racer" => phase(json!({ "run": "race", "workers": [fields] })),
        "judge" => phase(json!({ "run": "race", "judge": fields })),
        other => panic!("where does {other} stand?"),
    }
}

/// The codes that the page explains, each with the examples below it.
fn explained() -> Vec<(String, String)> {
    let page = read(at(PROBLEMS));
    let sections = page.split("\n### `").skip(1);
    sections
        .map(|section| {
            let (code, body) = section.split_once('`').unwrap();
            (code.to_owned(), body.to_owned())
        })
        .collect()
}

/// The codes in the sources: the text that follows where a problem is made.
fn made() -> BTreeSet<String> {
    let marks = [
        "Finding::error(",
        "Finding::warning(",
        "Finding::note(",
        "Finding::new(",
        "Trouble::new(",
        ".tell(",
        "Trouble { code: ",
        "NOT_SUPPORTED_YET: &str = ",
        "Severity::",
    ];
    let mut codes = BTreeSet::new();
    for file in SOURCES.into_iter().flat_map(|folder| files(at(folder))) {
        let text = read(&file);
        let product = text.split("#[cfg(test)]").next().unwrap();
        for (at, mark) in marks.iter().flat_map(|mark| product.match_indices(mark)) {
            let after = &product[at + mark.len()..];
            let arguments = after.split([';', '}']).next().unwrap();
            let literal = arguments.split('"').nth(1).unwrap_or("");
            let is_near = arguments.find('"').is_some_and(|quote| quote < 60);
            let is_code = |it: char| it.is_ascii_lowercase() || it == '-';
            let is_word = ["", "error", "warning", "note"].contains(&literal);
            if is_near && !is_word && literal.chars().all(is_code) {
                codes.insert(literal.to_owned());
            }
        }
    }
    codes
}

#[test]
fn the_page_of_problems_has_every_code_once() {
    let told: Vec<String> = explained().into_iter().map(|(code, _)| code).collect();
    let known: BTreeSet<String> = told.iter().cloned().collect();
    assert_eq!(told.len(), known.len(), "a code is explained twice");
    let made = made();
    let missing: Vec<&String> = made.difference(&known).collect();
    let stale: Vec<&String> = known.difference(&made).collect();
    assert!(missing.is_empty(), "not in {PROBLEMS}: {missing:?}");
    assert!(stale.is_empty(), "in {PROBLEMS} and nowhere else: {stale:?}");
}

#[test]
fn every_example_on_the_page_has_its_problem() {
    for (code, body) in explained() {
        let blocks: Vec<&str> = body
            .split("```")
            .skip(1)
            .step_by(2)
            .map(|it| it.trim_start_matches("yaml\n"))
            .collect();
        let Some((main, others)) = blocks.split_first() else {
            assert!(body.replace('\n', " ").contains("No example:"), "{code} has no example");
            continue;
        };
        let others: Vec<(&str, &str)> = others
            .iter()
            .map(|text| (text.lines().next().unwrap().trim_start_matches("# "), *text))
            .map(|(name, text)| (name.trim_end_matches(".yaml"), text))
            .collect();
        let problems = load_with(main, &others).problems;
        let told: Vec<&str> = problems.iter().map(|it| it.code).collect();
        assert!(told.contains(&code.as_str()), "{code}: {told:?}");
        let worst = problems.iter().find(|it| it.code == code).unwrap().severity;
        let said = body.trim_start().to_lowercase();
        assert!(said.starts_with(&worst.to_string()), "{code} is said to be no {worst}");
    }
}

/// Shapes that people write, good and bad: what the schema and the checker say of each must be the same.
const SHAPES: &[&str] = &[
    "phases: {a: }",
    "phases: {a: {}}",
    "phases: [{id: a}]",
    "phases: {a: {name: 7}}",
    "phases: {a: {name: ''}}",
    "phases: {a: {name: true}}",
    "phases: {a: {next: done}}",
    "phases: {a: {next: [done]}}",
    "phases: {a: {next: []}}",
    "phases: {a: {next: }}",
    "phases: {a: {on: {fail: done}}}",
    "phases: {a: {on: {fail: [done]}}}",
    "phases: {a: {on: []}}",
    "phases: {a: {on: }}",
    "phases: {a: {approval: true}}",
    "phases: {a: {approval: before}}",
    "phases: {a: {approval: [before]}}",
    "phases: {a: {approval: 1}}",
    "phases: {a: {tools: {allow: read}}}",
    "phases: {a: {tools: {allow: [read]}}}",
    "phases: {a: {tools: {allow: []}}}",
    "phases: {a: {tools: [read]}}",
    "phases: {a: {tools: {deny: {a: b}}}}",
    "phases: {a: {limits: {timeout: 10m}}}",
    "phases: {a: {limits: {timeout: 1h30m}}}",
    "phases: {a: {limits: {timeout: 600}}}",
    "phases: {a: {limits: {timeout: 0}}}",
    "phases: {a: {limits: {timeout: none}}}",
    "phases: {a: {limits: {timeout: -5m}}}",
    "phases: {a: {limits: {timeout: 1.5h}}}",
    "phases: {a: {limits: {idle: none}}}",
    "phases: {a: {limits: {retries: 0}}}",
    "phases: {a: {limits: {retries: 2}}}",
    "phases: {a: {limits: {retries: -1}}}",
    "phases: {a: {limits: {retries: 1.5}}}",
    "phases: {a: {limits: {retries: '2'}}}",
    "phases: {a: {limits: {retries: none}}}",
    "phases: {a: {limits: {loop: 3}}}",
    "phases: {a: {limits: {loop: {max: 3}}}}",
    "phases: {a: {limits: {loop: {count: edge}}}}",
    "phases: {a: {limits: {loop: none}}}",
    "phases: {a: {limits: {loop: {policy: progress, cap: 5}}}}",
    "phases: {a: {run: command, commands: make}}",
    "phases: {a: {run: command, commands: [make, 'make test']}}",
    "phases: {a: {run: command, commands: []}}",
    "phases: {a: {run: command, commands: [7]}}",
    "phases: {a: {run: command}}",
    "phases: {a: {commands: [make], once: true}}",
    "phases: {a: {commands: [make], once: 'true'}}",
    "phases: {a: {commands: [make], once: 1}}",
    "phases: {a: {budget: {usd: 1}}}",
    "phases: {a: {budget: {usd: 0.5}}}",
    "phases: {a: {budget: {usd: '2.50'}}}",
    "phases: {a: {budget: {usd: 0}}}",
    "phases: {a: {budget: {tokens: 0}}}",
    "phases: {a: {budget: {tokens: 1.5}}}",
    "phases: {a: {budget: {tokens: 1000, time: 1h, attempts: 3}}}",
    "phases: {a: {budget: 5}}",
    "phases: {a: {verify: make}}",
    "phases: {a: {verify: [make]}}",
    "phases: {a: {requires: changed_files}}",
    "phases: {a: {requires: [changed_files]}}",
    "phases: {a: {session: continue}}",
    "phases: {a: {session: contineu}}",
    "phases: {a: {persona: }}",
    "phases: {a: {persona: 'You look. You think.'}}",
    "phases: {a: {persona: [a]}}",
    "phases: {a: {agent: claude}}",
    "phases: {a: {agent: 7}}",
    "phases: {a: {signals: [complete]}}",
    "phases: {a: {signals: complete}}",
    "env: {A: b}\nphases: {a: }",
    "env: {A: 7}\nphases: {a: }",
    "env: {A: true}\nphases: {a: }",
    "env: {A: }\nphases: {a: }",
    "env: [A]\nphases: {a: }",
    "initial: a\nphases: {a: }",
    "initial: [a]\nphases: {a: }",
    "show: workflows\nphases: {a: }",
    "show: everybody\nphases: {a: }",
    "name: 7\nphases: {a: }",
    "name: \nphases: {a: }",
    "description: [x]\nphases: {a: }",
    "model: opus\nphases: {a: }",
    "model: 4\nphases: {a: }",
    "phases: {}",
    "phases: ",
    "{}",
    "x-mine: 1\nphases: {a: }",
    "phases: {a: {x-mine: 1}}",
    "phases: {'a b': }",
    "phases: {A_1-b: }",
    "phases: {1: }",
    "phases: {'': }",
    "phases: {'a/b': }",
    "phases: {' a': }",
    "loopable: true\nphases: {a: }",
    "loopable: maybe\nphases: {a: }",
    "phases: {a: {commands: [make]}}",
    "phases: {a: {run: command, commands: }}",
];

#[test]
fn the_schema_and_the_checker_judge_alike() {
    let validator = validator();
    let mut apart = Vec::new();
    for text in SHAPES {
        let fits = validator.is_valid(&value(text));
        let loaded = load_with(text, &[]);
        if fits != loaded.is_usable() {
            let codes: Vec<&str> = loaded.problems.iter().map(|it| it.code).collect();
            apart.push(format!("schema {fits}, checker {}: {text} {codes:?}", !fits));
        }
    }
    assert_eq!(apart, [""; 0], "{} of {}", apart.len(), SHAPES.len());
}
