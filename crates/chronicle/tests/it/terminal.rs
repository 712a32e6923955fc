//! On a real terminal: colours, a line that moves, and Ctrl-C from the keyboard.

use std::sync::atomic::{AtomicU32, Ordering};

use crate::session::{Session, until};

/// Servers that this process has started.
static SERVERS: AtomicU32 = AtomicU32::new(0);

const WORKFLOW: &str = "{name: Small, phases: {work: {}}}";
const SCRIPT: &str = r#"
work:
  - usage: {input: 1200, output: 34}
  - say: Thinking about it.
  - wait_for: {file: go}
  - transition: {to: done, summary: thought}
"#;

const ASKS: &str = r#"
work:
  - workflow_ask: {question: "Which colour?", options: [red, blue]}
  - complete: {summary: painted it}
"#;

/// A terminal that runs one command line in the session's project.
pub(crate) struct Terminal<'a> {
    session: &'a Session,
    server: String,
}

impl<'a> Terminal<'a> {
    pub(crate) fn new(session: &'a Session, line: &str) -> Self {
        Self::of_width(session, 80, line)
    }

    /// One of another width.
    pub(crate) fn of_width(session: &'a Session, columns: u16, line: &str) -> Self {
        let project = session.project();
        let folder = project.parent().and_then(std::path::Path::file_name).unwrap();
        // A server of its own: one that is just being ended would take the next session with it.
        let number = SERVERS.fetch_add(1, Ordering::Relaxed);
        let server = format!("chronicle-{}-{number}", folder.display());
        let terminal = Self { session, server };
        let then_wait = format!("{line}; echo ended with $?; cat");
        let columns = columns.to_string();
        terminal.tmux(&["new-session", "-d", "-x", &columns, "-y", "60", &then_wait]);
        terminal
    }

    pub(crate) fn tmux(&self, args: &[&str]) -> String {
        let mut command = self.session.command("tmux");
        command.env("LANG", "C.UTF-8").env("TERM", "xterm-256color").env_remove("NO_COLOR");
        command.args(["-u", "-L", &self.server, "-f", "/dev/null"]).args(args);
        self.session.start(command, "").wait().exits(0).stdout
    }

    pub(crate) fn types(&self, line: &str) {
        self.tmux(&["send-keys", line, "Enter"]);
    }

    pub(crate) fn screen(&self) -> String {
        self.tmux(&["capture-pane", "-p"])
    }

    /// Everything that was printed, also what has scrolled away.
    pub(crate) fn everything(&self) -> String {
        self.tmux(&["capture-pane", "-p", "-S", "-"])
    }

    /// The same, with the lines that the terminal itself has broken in one piece again.
    pub(crate) fn joined(&self) -> String {
        self.tmux(&["capture-pane", "-p", "-J", "-S", "-"])
    }
}

impl Drop for Terminal<'_> {
    fn drop(&mut self) {
        let mut command = self.session.command("tmux");
        command.args(["-L", &self.server, "kill-server"]);
        self.session.start(command, "").wait();
    }
}

#[test]
fn needs_tmux_a_run_shows_a_line_that_moves_and_ctrl_c_pauses_it() {
    let session = Session::with(WORKFLOW, SCRIPT);
    let run = "chronicle run main 'the task' --agent scripted:script.yaml";
    let terminal = Terminal::new(&session, run);
    until("the line shows place, tokens and the last word", || {
        let screen = terminal.screen();
        screen.contains("work [1/1] · ") && screen.contains("1,234 tokens · Thinking about")
    });
    let colours = terminal.tmux(&["capture-pane", "-p", "-e"]);
    assert!(colours.contains('\u{1b}'), "no colours:\n{colours}");
    terminal.tmux(&["send-keys", "C-c"]);
    until("the run is paused", || terminal.screen().contains("ended with 130"));
    let screen = terminal.screen();
    assert!(screen.contains("Pausing: the worker is being stopped."), "{screen}");
    assert!(screen.contains("Next: chronicle resume"), "{screen}");
    session.write("go", "");
    session.chronicle(&["resume"]).exits(0);
    session.assert_whole();
}

#[test]
fn needs_tmux_a_person_who_answers_later_loses_nothing() {
    let workflow = "{name: Asks, phases: {work: {limits: {losses: 0}, next: [done]}}}";
    let session = Session::with(workflow, ASKS);
    let run = "chronicle run main 'the task' --agent scripted:script.yaml";
    let terminal = Terminal::new(&session, run);
    until("the question is asked", || terminal.screen().contains("Type your answer"));
    let screen = terminal.screen();
    let last = screen.trim_end().lines().last().unwrap_or_default();
    assert!(last.contains("answers later:"), "nothing is drawn below the question:\n{screen}");
    terminal.tmux(&["send-keys", "Enter"]);
    until("the run rests", || terminal.screen().contains("ended with 4"));
    let ended = session.events_of("attempt_ended");
    assert_eq!(ended[0]["data"]["end"]["data"], "asks", "its turn is over, and it is not lost");
    session.chronicle(&["answer", &session.short(), "2"]).exits(0);
    session.chronicle(&["resume"]).exits(0);
    session.assert_whole();
}

#[test]
fn needs_tmux_a_person_at_the_terminal_is_asked_and_answers_there() {
    let workflow = "{name: Asks, phases: {work: {approval: after, next: [done]}}}";
    let session = Session::with(workflow, ASKS);
    let terminal =
        Terminal::new(&session, "chronicle run main 'the task' --agent scripted:script.yaml");
    until("the question is asked", || {
        let screen = terminal.screen();
        screen.contains("Which colour?") && screen.contains("2  blue")
    });
    terminal.tmux(&["send-keys", "2", "Enter"]);
    until("the approval is asked for", || {
        terminal.screen().contains("Type `yes`, or `no` and why")
    });
    terminal.tmux(&["send-keys", "yes", "Enter"]);
    until("the run is done", || terminal.screen().contains("ended with 0"));
    let answers = session.events_of("gate_answered");
    assert_eq!(answers.len(), 2);
    assert_eq!(answers[0]["data"]["answer"]["to"], "blue");
    session.assert_whole();
}

const RUN: &str = "chronicle run main 'the task' --agent scripted:script.yaml";
const APPROVED: &str = "{name: Approved, phases: {work: {approval: after, next: [done]}}}";
const WORKS: &str = "work: [{complete: {summary: worked}}]";

/// A shell with job control.
const SHELL: &str = "PS1='ready: ' bash --norc --noprofile -i";

/// The run is done, and its supervisor has let go of it.
fn is_over(session: &Session) -> bool {
    !session.events_of("run_done").is_empty() && session.json(&["status"])["supervised"] == false
}

#[test]
fn needs_tmux_what_was_typed_before_a_gate_does_not_answer_it() {
    let session = Session::with(APPROVED, WORKS);
    let line = format!("until test -e typed; do sleep 0.02; done; {RUN}");
    let terminal = Terminal::new(&session, &line);
    terminal.types("yes");
    // Half a line, which would begin the answer.
    terminal.tmux(&["send-keys", "yes but"]);
    until("it is typed", || terminal.screen().contains("yes but"));
    session.write("typed", "");
    until("it asks", || terminal.screen().contains("answers later:"));
    terminal.types("no again");
    until("it asks again", || terminal.screen().matches("answers later:").count() == 2);
    terminal.types("yes");
    until("the run is done", || terminal.screen().contains("ended with 0"));
    let screen = terminal.screen();
    assert!(screen.contains("What was typed before this question was not used."), "{screen}");
    let answers = session.events_of("gate_answered");
    assert_eq!(answers.len(), 2, "{answers:?}");
    assert!(answers[0].to_string().contains("again"), "{answers:?}");
    session.assert_whole();
}

#[test]
fn needs_tmux_a_run_in_the_background_is_answered_from_elsewhere() {
    let session = Session::with(APPROVED, WORKS);
    let terminal = Terminal::new(&session, SHELL);
    until("the shell is ready", || terminal.screen().contains("ready:"));
    terminal.types(&format!("{RUN} &"));
    until("it tells how to answer", || {
        let screen = terminal.screen();
        screen.contains("This run is in the background")
            && screen.contains(&format!("chronicle approve {}", session.short()))
    });
    // Typed for the shell, which has the terminal.
    terminal.types("echo said $((40 + 2))");
    until("the shell has read it", || terminal.screen().contains("said 42"));
    assert_eq!(session.json(&["status"])["stopped"], serde_json::Value::Null);
    session.chronicle(&["approve", &session.short()]).exits(0);
    until("the run is done", || is_over(&session));
    session.assert_whole();
}

#[test]
#[cfg(target_os = "linux")]
fn needs_tmux_a_run_that_ctrl_z_stopped_works_in_the_background_and_asks_in_the_foreground() {
    let session = Session::with(APPROVED, WORKS);
    let terminal = Terminal::new(&session, SHELL);
    until("the shell is ready", || terminal.screen().contains("ready:"));
    terminal.types(RUN);
    until("it asks", || terminal.screen().contains("answers later:"));
    terminal.tmux(&["send-keys", "C-z"]);
    until("it is stopped", || session.json(&["status"])["stopped"].is_number());
    session.chronicle(&["resume"]).exits(5).talks("or `fg` in its own terminal");
    session.chronicle(&["status"]).exits(0).prints("after Ctrl-Z, type `fg` in its terminal");
    terminal.types("bg");
    until("it goes on", || terminal.screen().contains("This run is in the background"));
    assert_eq!(session.json(&["status"])["stopped"], serde_json::Value::Null);
    terminal.types("fg");
    until("it asks again", || terminal.screen().matches("answers later:").count() == 2);
    terminal.types("yes");
    until("the run is done", || is_over(&session));
    session.assert_whole();
}

const BREAKS: &str = "{name: Breaks, limits: {nudges: 0, retries: 0}, phases: {work: {}}}";
const BREAKS_ONCE: &str = "work: {1: [{crash: 3}], otherwise: [{complete: {summary: mended}}]}";

#[test]
fn needs_tmux_an_answer_that_is_refused_leaves_the_question_open() {
    let session = Session::with(BREAKS, BREAKS_ONCE);
    let terminal =
        Terminal::new(&session, "chronicle run main 'the task' --agent scripted:script.yaml");
    until("it asks", || terminal.screen().contains("answers later:"));
    terminal.tmux(&["send-keys", "go nwhere", "Enter"]);
    until("it is refused", || terminal.screen().contains("has no phase `nwhere`"));
    terminal.tmux(&["send-keys", "what", "Enter"]);
    until("it is no answer", || terminal.screen().contains("That is no answer here"));
    terminal.tmux(&["send-keys", "retry", "Enter"]);
    until("it ends", || terminal.screen().contains("ended with 0"));
    session.assert_whole();
}

#[test]
fn needs_tmux_a_question_that_is_answered_elsewhere_is_not_asked_any_longer() {
    let workflow = "{name: Two, phases: {work: {next: [ship]}, ship: {approval: before}}}";
    let script = format!("{ASKS}\nship: [{{complete: {{summary: shipped}}}}]");
    let session = Session::with(workflow, &script);
    let terminal =
        Terminal::new(&session, "chronicle run main 'the task' --agent scripted:script.yaml");
    until("it asks", || terminal.screen().contains("answers later:"));
    session.chronicle(&["answer", &session.short(), "2"]).exits(0);
    until("it says so", || terminal.screen().contains("g1 was answered elsewhere"));
    until("it asks for the approval", || terminal.screen().contains("may `ship` begin?"));
    terminal.tmux(&["send-keys", "yes", "Enter"]);
    until("it ends", || terminal.screen().contains("ended with 0"));
    session.assert_whole();
}

#[test]
fn needs_tmux_a_raise_that_is_too_small_is_asked_about_again_with_the_new_limit() {
    let workflow = "{name: Spends, phases: {work: {budget: {tokens: 100}}}}";
    let script = "work: [{usage: {input: 300}}, {say: on}, {complete: {summary: spent}}]";
    let session = Session::with(workflow, script);
    let terminal =
        Terminal::new(&session, "chronicle run main 'the task' --agent scripted:script.yaml");
    until("it asks", || terminal.screen().contains("300 tokens of 100 tokens"));
    terminal.tmux(&["send-keys", "+10 tokens", "Enter"]);
    until("it asks again", || terminal.screen().contains("300 tokens of 110 tokens"));
    terminal.tmux(&["send-keys", "+5000 tokens", "Enter"]);
    until("it ends", || terminal.screen().contains("ended with 0"));
    session.assert_whole();
}

#[test]
fn needs_tmux_a_worker_that_wants_a_person_is_asked_about_without_what_cannot_help() {
    let workflow = "{name: Person, phases: {work: {next: [done, human_intervention]}}}";
    let script = "work: [{transition: {to: human_intervention, summary: which database?}}]";
    let session = Session::with(workflow, script);
    let terminal =
        Terminal::new(&session, "chronicle run main 'the task' --agent scripted:script.yaml");
    until("it asks", || terminal.screen().contains("answers later:"));
    let screen = terminal.screen();
    assert!(screen.contains("Type `go PLACE` or `cancel`"), "{screen}");
    terminal.tmux(&["send-keys", "go done", "Enter"]);
    until("it ends", || terminal.screen().contains("ended with 0"));
    session.assert_whole();
}

#[test]
fn needs_tmux_needs_git_a_difference_cannot_write_to_the_terminal() {
    let session = Session::with(
        WORKFLOW,
        "work: [{shell: {command: \"printf '\\\\033]0;owned\\\\007\\\\033[2Jstill here' > evil\"}}, {complete: {}}]",
    );
    session.run().exits(0);
    assert!(session.read("evil").contains('\u{1b}'), "{:?}", session.read("evil"));
    let terminal = Terminal::new(&session, "PAGER=cat chronicle diff");
    until("it is shown", || terminal.screen().contains("ended with 0"));
    let screen = terminal.screen();
    assert!(screen.contains("+++ b/evil") && screen.contains("still here"), "{screen}");
    let title = terminal.tmux(&["display-message", "-p", "#{pane_title}"]);
    assert!(!title.contains("owned"), "{title}");
}
