//! Stories of every kind that the engine knows: a workflow, then what the world does. Each comes to its end.

pub(crate) const TWO: &str = "{name: Two, phases: {plan: {next: [build]}, build: {}}}";

const THREE: &str = "{name: Three, phases: {plan: {next: [build]}, build: {next: [verify]}, \
    verify: {next: [done, build]}}}";

pub(crate) const STORIES: [(&str, &str, &str); 10] = [
    (
        "straight",
        THREE,
        "plan: session s; tool read; tool-end c1; usage 7; go build
         build: change a; usage-turn 3; go verify
         verify: go done",
    ),
    (
        "refused first",
        THREE,
        "plan: go nowhere; nonsense; go build\nbuild: go verify\nverify: go done",
    ),
    (
        "reminded, crashed, lost",
        THREE,
        "plan 1: usage 3; finish\nplan 2: died\nplan 3: crash other x\nplan 4: crash protocol x
         plan 5: go build\nbuild 1: tool read; lost; go verify\nverify: go done",
    ),
    (
        "a loop and a person",
        THREE,
        "plan: go build\nbuild: go verify\nverify: go build\ng1: go done",
    ),
    (
        "approvals",
        "{name: A, phases: {plan: {approval: both, next: [build]}, build: {}}}",
        "plan: go build\nbuild: go done\ng1: approve\ng2: reject no\ng3: approve",
    ),
    (
        "commands",
        "{name: C, phases: {test: {run: command, commands: [a, b], next: [done], \
         on: {fail: mend}}, mend: {next: [test]}}}",
        "test 1: run 0 0; run 1 2\nmend: go test",
    ),
    (
        "a workflow inside",
        "{name: O, phases: {plan: {next: [in]}, in: {run: workflow, workflow: i, next: [ship]}, \
         ship: {}}}\n=== i\n{name: I, phases: {look: {next: [judge]}, judge: {}}}",
        "plan: go in\nin/look: usage 4; go judge\nin/judge: go done\nship: go done",
    ),
    (
        "sent elsewhere in the midst",
        THREE,
        "plan: tool read; person go verify; go build\nverify: go done",
    ),
    (
        "paused in the midst",
        TWO,
        "plan: tool read; person pause lunch; go build\nbuild: go done\npaused: resume",
    ),
    (
        "limits",
        "{name: L, phases: {plan: {next: [build], on: {timeout: build, stuck: build}}, build: {}}}",
        "plan: timeout\nbuild: go done; grace",
    ),
];
