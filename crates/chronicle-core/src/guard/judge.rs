//! The judge: one pure function from a call and what is known about it to a judgement.
//!
//! First what no worker may do, then the lists of tools, then the rules, and at last what cannot be known. Among rules the strictest
//! verdict holds, except that within one file the first command rule that matches a command decides.

use std::ops::Range;

use super::code;
use super::compiled::{Command, Compiled, RuleSet};
use super::facts::{Access, Acts, AskedCall, CallFacts, Extent, Reach, Run, UnclearKind, Word};
use super::folders::by_folders;
use super::judgement::{Judgement, RuleKind, RuleRef, SHOWN_MAX};
use super::landings::lands;
use super::links::is_behind;
use super::look::known_kind;
use super::path_rules::{by_paths, emptied_by, shown};
use super::paths::{Names, pattern, picked, relative, spellings};
use super::perhaps::by_unknown;
use super::processes::{leads_through_process, stream};
use super::protected::{
    Person, ends_us, guards, holds, perhaps_person, person_command, run_guard, secluded,
};
use super::quotes::Marked;
use super::repositories::REPOSITORY;
use super::texts::{RunText, in_full, of_run, only_helps};
use super::variants::{is_of_tests, respelled_options, with_sets};
use crate::base::quote::line;
use crate::base::tools::{ToolKind, patched, says_it_destroys};
use crate::definition::guard::{BUILT_IN_NAME, Found};
use crate::definition::workflow::Tools;

/// Most commands and paths of one call that are looked at. More is not ordinary work, and a person may look at it.
const PARTS_MAX: usize = 2_000;

/// Programs that print numbers and names only.
const COUNTERS: [&str; 8] =
    ["wc", "cksum", "sum", "b2sum", "md5sum", "sha1sum", "sha256sum", "sha512sum"];

/// Judges a call. `lists` are those of the worker's phase and persona.
pub fn judge(
    rules: &Compiled,
    lists: Option<&Tools>,
    call: &AskedCall<'_>,
    facts: &CallFacts,
) -> Judgement {
    if call.is_signal {
        return Judgement::Clear;
    }
    let judge = Judge { rules, facts };
    let protected = judge.protected();
    if protected.is_deny() {
        return protected;
    }
    if let Some(denied) = by_lists(lists, call) {
        return denied;
    }
    let by_rules = judge.by_rules();
    // A call that a rule forbids anyway needs no question about what is unclear in it.
    by_rules.or_stricter(protected).or_stricter(judge.unclear(call))
}

fn by_lists(lists: Option<&Tools>, call: &AskedCall<'_>) -> Option<Judgement> {
    // Lists that are the worker's own do not bind the agents that it starts.
    let lists = lists.filter(|lists| !lists.own_only || !call.by_sub_agent)?;
    let why = lists
        .refusal(call.tool, call.kind)
        .or_else(|| lists.refusal_of_patch(call.tool, patched(call.tool, call.input)))?;
    Some(Judgement::Deny { rule: RuleRef::own(RuleKind::Tools, call.tool), why })
}

/// True if git changes what a pattern finds.
fn picks(reach: &Reach) -> bool {
    reach.by == "git" && reach.access.changes()
}

/// True for what git keeps for itself.
fn is_gits(names: &Names) -> bool {
    names.names().iter().any(|name| name == ".git")
}

/// What a command is kept from that no worker may run.
fn kept_from(run: &Run) -> RuleRef {
    let is_git = run.program() == "git";
    let what = if is_git { "what guards this run" } else { "a person's commands" };
    RuleRef::own(RuleKind::Protected, what)
}

struct Judge<'j> {
    rules: &'j Compiled,
    facts: &'j CallFacts,
}

impl Judge<'_> {
    fn acts(&self) -> &[Acts] {
        &self.facts.looked.acts
    }

    fn reaches(&self) -> &[Reach] {
        &self.facts.looked.reaches
    }

    /// Every way to say where a path leads; `None` if it was not looked up.
    fn spellings(&self, reach: &Reach) -> Option<Vec<Names>> {
        if let (Some(made), Some(whole)) = (&reach.made_of, &reach.whole) {
            return made.names(whole, self.facts);
        }
        match &reach.whole {
            Some(whole) => {
                let seen = self.facts.seen.get(whole)?;
                match &reach.path {
                    // What is picked from all that lies there is known by its name, not by what else is there.
                    // A pattern for git is a list of files.
                    Word::Glob(_) if reach.extent == Extent::Some && !picks(reach) => {
                        Some(picked(whole))
                    }
                    Word::Known(_) | Word::Glob(_) | Word::Unknown { .. } => {
                        Some(spellings(&reach.path, whole, seen))
                    }
                }
            }
            None => match &reach.path {
                Word::Known(path) => Some(vec![relative(path)]),
                Word::Glob(path) => Some(picked(path)),
                Word::Unknown { .. } => Some(Vec::new()),
            },
        }
    }

    /// What no worker may do.
    fn protected(&self) -> Judgement {
        let mut worst = Judgement::Clear;
        let rule = || RuleRef::own(RuleKind::Protected, "a person's commands");
        if let Some(why) = self.acts().iter().find_map(|acts| ends_us(&acts.runs)) {
            return Judgement::Deny { rule: rule(), why };
        }
        for run in self.acts().iter().flat_map(|acts| &acts.runs) {
            match person_command(run) {
                Some(Person::Surely(why)) => return Judgement::Deny { rule: kept_from(run), why },
                Some(Person::Perhaps(why)) => {
                    worst = worst.or_stricter(Judgement::Ask { rule: rule(), why });
                }
                None => {}
            }
        }
        for run in self.facts.looked.perhaps.iter().flat_map(|acts| &acts.runs) {
            if let Some(why) = perhaps_person(run) {
                worst = worst.or_stricter(Judgement::Ask { rule: rule(), why });
            }
        }
        for run in self.facts.looked.emptied.iter().take(PARTS_MAX) {
            if let Some(Person::Surely(why) | Person::Perhaps(why)) = person_command(run) {
                worst = worst.or_stricter(Judgement::Ask { rule: rule(), why });
            }
        }
        let links = self.acts().iter().flat_map(|acts| &acts.runs).any(|run| run.program() == "ln");
        for reach in self.reaches() {
            let judged = self.secluded(reach).or_stricter(self.guarded(reach, links));
            if judged.is_deny() {
                return judged;
            }
            worst = worst.or_stricter(judged);
        }
        worst
    }

    /// What guards the run, and what is not the worker's to change.
    fn guarded(&self, reach: &Reach, links: bool) -> Judgement {
        // Who may write through a link to it later need not name it then.
        let by_link = links && reach.by == "ln";
        let changes = reach.access.changes() || by_link;
        if !is_behind(reach, self.facts) {
            return Judgement::Clear;
        }
        // A word that only looks like a path is not known to be changed.
        let is_word = reach.is_guess && reach.extent == Extent::Named;
        if is_word || !changes && !reach.access.may_change() {
            return Judgement::Clear;
        }
        // What lies above is not removed where only some of it is.
        let is_whole = reach.access == Access::Delete && reach.extent == Extent::All;
        let access = if is_whole { Access::Delete } else { Access::Write };
        // Whatever is picked from a folder that holds some of it may be it.
        let is_named = reach.extent == Extent::Named && reach.access == Access::Delete;
        let is_picked = is_named || reach.extent == Extent::Some && reach.by != "git";
        let mut all = self.spellings(reach).unwrap_or_default();
        all.extend(emptied_by(reach));
        if let Word::Glob(path) = &reach.path
            && is_named
        {
            all.push(pattern(path));
        }
        let is_held = is_picked || self.becomes(reach);
        let by_git = ["git", REPOSITORY].contains(&reach.by.as_str());
        let protects = |names: &Names| {
            // Git keeps its own files. What of them runs programs is for the rules.
            let is_ours = !by_git || !is_gits(names);
            let found = guards(names, access, &self.rules.place);
            let found = found.filter(|it| is_ours || it.is_elsewhere());
            let held = || holds(names).filter(|_| is_held && is_ours);
            found.map(|it| (it.rule(), it.why)).or_else(|| Some((run_guard(), held()?)))
        };
        match all.iter().find_map(protects) {
            None => Judgement::Clear,
            Some((rule, why)) if changes && !self.is_open(reach) => Judgement::Deny { rule, why },
            Some((rule, why)) => Judgement::Ask { rule, why },
        }
    }

    /// What lies in the work of others is not even read.
    fn secluded(&self, reach: &Reach) -> Judgement {
        if self.rules.place.others.is_empty() {
            return Judgement::Clear;
        }
        let all = self.spellings(reach).unwrap_or_default();
        let found = all.iter().find_map(|names| secluded(names, &self.rules.place));
        let Some(found) = found else { return Judgement::Clear };
        let (rule, why) = (found.rule(), found.why);
        // A word that only looks like a path is not known to be one.
        if reach.is_guess || self.is_open(reach) {
            return Judgement::Ask { rule, why };
        }
        Judgement::Deny { rule, why }
    }

    /// True if something is brought to a name at which there is no folder: then it gets that name, with all that is in it.
    fn becomes(&self, reach: &Reach) -> bool {
        const BRINGERS: [&str; 8] =
            ["mv", "cp", "ln", "rsync", "install", "ditto", "git clone", "git worktree"];
        const WORDS: [&str; 4] = ["move", "rename", "copy", "link"];
        let Some(whole) = reach.whole.as_deref() else { return false };
        let by = reach.by.to_ascii_lowercase();
        let is_brought =
            BRINGERS.contains(&by.as_str()) || WORDS.iter().any(|word| by.contains(word));
        if !is_brought || reach.access != Access::Write || reach.extent != Extent::All {
            return false;
        }
        !self.facts.seen.get(whole).is_some_and(|seen| seen.is_dir) && !reach.put.is_made
    }

    fn by_rules(&self) -> Judgement {
        let mut worst = Judgement::Clear;
        for set in &self.rules.sets {
            for acts in self.acts() {
                worst = worst.or_stricter(by_commands(set, acts, &self.rules.place.homes));
            }
            let is_theirs = !set.is_built_in();
            let runs = self.facts.looked.perhaps.iter().flat_map(|acts| &acts.runs);
            // A rule of a person that names a program means it wherever it stands.
            for run in runs.take(PARTS_MAX).filter(|run| is_theirs || is_telling(run)) {
                worst = worst.or_stricter(perhaps(by_run(set, run, &self.rules.place.homes)));
            }
            for run in self.facts.looked.emptied.iter().take(PARTS_MAX) {
                worst = worst.or_stricter(emptied(by_run(set, run, &self.rules.place.homes)));
            }
            for reach in self.reaches().iter().filter(|reach| reach.by != REPOSITORY) {
                worst = worst.or_stricter(self.by_paths(set, reach));
            }
            if worst.is_deny() {
                return worst;
            }
        }
        worst.or_stricter(by_folders(self.rules, self.facts))
    }

    fn by_paths(&self, set: &RuleSet, reach: &Reach) -> Judgement {
        let Some(all) = self.spellings(reach) else {
            let rule = RuleRef::own(RuleKind::Unclear, "paths that were not looked up");
            let why = format!("nobody looked where {} leads", shown(reach));
            return Judgement::Ask { rule, why };
        };
        let enters = self.facts.looked.folders.iter().any(|it| it.is_entered_by(reach));
        let judged = by_paths(set, reach, &all, &self.rules.place, enters);
        match judged {
            Judgement::Clear => Judgement::Clear,
            _ if !lands(reach, self.facts) => Judgement::Clear,
            Judgement::Deny { rule, why } if self.is_open(reach) => Judgement::Ask { rule, why },
            judged @ (Judgement::Deny { .. } | Judgement::Ask { .. }) => judged,
        }
    }

    /// True if a path is made of what a pattern finds, and that is nothing yet, or may be one of a container.
    fn is_open(&self, reach: &Reach) -> bool {
        if reach.put.is_elsewhere {
            return true;
        }
        let seen = reach.made_of.as_ref().and_then(|made| self.facts.seen.get(&made.glob));
        seen.is_some_and(|seen| seen.found.is_empty())
    }

    /// What cannot be known.
    fn unclear(&self, call: &AskedCall<'_>) -> Judgement {
        let kind = known_kind(call);
        let ask = |what: &str, why: String| Judgement::Ask {
            rule: RuleRef::own(RuleKind::Unclear, what),
            why,
        };
        if self.facts.looked.is_partial {
            return ask("input", "its input is too deep or too large to be looked at".to_owned());
        }
        let parts: usize = self.acts().iter().map(|acts| acts.runs.len()).sum();
        if parts > PARTS_MAX || self.reaches().len() > PARTS_MAX {
            return ask("input", "it does more than is looked at".to_owned());
        }
        if kind == ToolKind::Run && self.acts().is_empty() {
            return ask("command", "it runs a command, and none was found in its input".to_owned());
        }
        let is_theirs = matches!(kind, ToolKind::Mcp | ToolKind::Unknown);
        if is_theirs && self.reaches().is_empty() && says_it_destroys(call.tool) {
            let why =
                "it is called by what cannot be taken back, and only its server knows of what";
            return ask("tool", why.to_owned());
        }
        for acts in self.acts() {
            // What is unclear about a folder matters only to the paths that begin there.
            let doubt = acts.unclear.iter().find(|it| it.kind != UnclearKind::Folder);
            if let Some(doubt) = doubt {
                return ask(word(doubt.kind), doubt.why.clone());
            }
            let doubts = acts.code.iter().filter_map(|it| code::look(&it.by, &it.text).doubt);
            if let Some(why) = doubts.into_iter().next() {
                return ask("code", why);
            }
        }
        if let Some(path) = self.downloaded() {
            return ask("text", format!("it runs `{}`, which it downloads", line(path, SHOWN_MAX)));
        }
        let unknown = self.reaches().iter().find(|reach| self.is_unknown(reach));
        match unknown {
            None => Judgement::Clear,
            Some(reach) => ask("path", unknown_path(reach)),
        }
    }

    /// A file that the call gets from the network and hands to a shell or an interpreter.
    fn downloaded(&self) -> Option<&str> {
        let is_by =
            |reach: &Reach, names: &[&str]| names.iter().any(|name| reach.by.starts_with(name));
        let by_output = self.acts().iter().any(|acts| acts.fetches);
        let got = |reach: &&Reach| {
            let is_output = by_output && is_by(reach, &[">", "&>", "tee"]);
            reach.access == Access::Write && (is_by(reach, &["curl", "wget"]) || is_output)
        };
        let runs = |whole: &str| {
            let readers = [
                "sh", "bash", "dash", "zsh", "ksh", "python", "node", "perl", "ruby", "source", ".",
            ];
            // However it is spelled.
            let path = relative(whole);
            let same =
                |reach: &&Reach| reach.whole.as_deref().map(relative).as_ref() == Some(&path);
            // A program that is started by its path is read under its own name.
            let name = whole.rsplit('/').next().unwrap_or(whole);
            let is_read = |reach: &Reach| {
                reach.access == Access::Read && (is_by(reach, &readers) || reach.by == name)
            };
            self.reaches().iter().filter(same).any(is_read)
        };
        self.reaches()
            .iter()
            .filter(got)
            .filter_map(|reach| reach.whole.as_deref())
            .find(|whole| runs(whole))
    }

    /// True if nobody knows which path is meant, and it matters.
    fn is_unknown(&self, reach: &Reach) -> bool {
        let matters = match reach.access {
            // Sums and counts show nothing of what is in a file.
            Access::Read => self.rules.hides_paths() && !COUNTERS.contains(&reach.by.as_str()),
            Access::Meta | Access::Write | Access::Delete => true,
            Access::List | Access::Maybe | Access::Likely => false,
        };
        if is_through_process(reach) {
            return matters || reach.access.may_change();
        }
        let is_named = reach.is_guess || reach.extent == Extent::Named;
        // A new folder replaces nothing, and git changes what is its own.
        let is_mild = reach.access == Access::Write
            && ["mkdir", "git", REPOSITORY].contains(&reach.by.as_str());
        matters && !is_mild && !is_named && reach.whole.is_none()
    }
}

fn word(kind: UnclearKind) -> &'static str {
    match kind {
        UnclearKind::Command => "command",
        UnclearKind::Code => "code",
        UnclearKind::Folder => "folder",
        UnclearKind::Text => "text",
    }
}

/// True for a path that goes through what a process has open or where it works. A word that only looks like a path is none.
fn is_through_process(reach: &Reach) -> bool {
    let Some(whole) = reach.whole.as_deref().filter(|_| !reach.put.is_elsewhere) else {
        return false;
    };
    let leads = match &reach.path {
        Word::Known(path) | Word::Glob(path) => leads_through_process(path),
        Word::Unknown { .. } => false,
    };
    // Whoever opens a stream again to write writes to the file that it was opened from to be read.
    let is_opened_again = || reach.access.changes() && !reach.is_guess && stream(whole).is_some();
    leads || leads_through_process(whole) || is_opened_again()
}

fn unknown_path(reach: &Reach) -> String {
    let what = match reach.access {
        Access::Read => "reads",
        Access::List => "lists",
        Access::Maybe => "uses",
        Access::Likely | Access::Meta | Access::Write => "changes",
        Access::Delete => "removes",
    };
    match &reach.path {
        Word::Known(path) | Word::Glob(path) if reach.whole.is_some() => {
            format!(
                "`{}` {what} `{}`, which goes through what a process has open or where it works, so that only that process knows which file it is: name the file itself",
                reach.by,
                line(path, SHOWN_MAX)
            )
        }
        Word::Known(path) | Word::Glob(path) => {
            format!(
                "`{}` {what} `{}` in a folder that only the running shell knows",
                reach.by,
                line(path, SHOWN_MAX)
            )
        }
        Word::Unknown { .. } => {
            format!("`{}` {what} a path that only the running shell knows", reach.by)
        }
    }
}

/// The verdict of one file's command rules.
fn by_commands(set: &RuleSet, acts: &Acts, homes: &[String]) -> Judgement {
    let mut worst = Judgement::Clear;
    for run in acts.runs.iter().take(PARTS_MAX) {
        worst = worst.or_stricter(by_run(set, run, homes));
        if worst.is_deny() {
            return worst;
        }
    }
    let code = acts.code.iter().map(|it| (&it.by, &it.text));
    for (interpreter, code) in code.chain(acts.fed.iter().map(|(by, text)| (by, text))) {
        worst = worst.or_stricter(by_texts(set, &RunText::of_code(interpreter, code)));
    }
    for text in &acts.texts {
        worst = worst.or_stricter(by_line(set, text));
    }
    worst
}

/// True for a command in a text that may be only words: it has an option or a path, which sentences rarely have.
fn is_telling(run: &Run) -> bool {
    run.known().any(|word| word.starts_with('-') || word.contains('/') || word == "~")
}

/// The verdict on what may not run at all.
fn perhaps(judged: Judgement) -> Judgement {
    match judged {
        Judgement::Deny { rule, why } | Judgement::Ask { rule, why } => {
            Judgement::Ask { rule, why: format!("it may be a command: {why}") }
        }
        Judgement::Clear => Judgement::Clear,
    }
}

/// The verdict on what runs if a variable is empty of which nothing is known.
fn emptied(judged: Judgement) -> Judgement {
    match judged {
        Judgement::Deny { rule, why } | Judgement::Ask { rule, why } => {
            Judgement::Ask { rule, why: format!("if a variable in it is empty: {why}") }
        }
        Judgement::Clear => Judgement::Clear,
    }
}

/// The first rule that matches one command.
fn by_run(set: &RuleSet, run: &Run, homes: &[String]) -> Judgement {
    if set.is_built_in() && (only_helps(run) || is_of_tests(run)) {
        return Judgement::Clear;
    }
    let mut texts = of_run(run, homes);
    texts.extend(in_full(run, &set.options, homes));
    texts.extend(with_sets(run, homes));
    texts.extend(respelled_options(run, homes));
    by_texts(set, &texts).or_stricter(by_unknown(set, run, homes))
}

fn by_texts(set: &RuleSet, texts: &[RunText]) -> Judgement {
    let found = |command: &Command| texts.iter().filter_map(|text| found_in(command, text)).max();
    decided(set, found, texts.first().map_or("", |text| &text.text))
}

/// How a rule was found in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Match {
    /// Nobody can tell in a reasonable time.
    Perhaps,
    Surely,
}

/// The verdict of the first rule that matches. One that nobody can compare with the text is asked about.
fn decided(set: &RuleSet, found: impl Fn(&Command) -> Option<Match>, text: &str) -> Judgement {
    let mut worst = Judgement::Clear;
    for command in &set.commands {
        match found(command) {
            None => {}
            Some(Match::Surely) => return worst.or_stricter(told(command, text)),
            Some(Match::Perhaps) => worst = worst.or_stricter(too_long(command)),
        }
    }
    worst
}

fn too_long(command: &Command) -> Judgement {
    let rule = line(command.pattern.source(), SHOWN_MAX);
    let why = format!("it is too long to be compared with the rule `{rule}`");
    Judgement::Ask { rule: command.reference(), why }
}

/// True if a rule matches more than what a command is only told, or nobody can tell.
pub(super) fn is_in(command: &Command, text: &RunText) -> bool {
    found_in(command, text).is_some()
}

fn found_in(command: &Command, text: &RunText) -> Option<Match> {
    let source = command.pattern.source();
    if text.may_lack(source) {
        return None;
    }
    strongest(command.pattern.find_in(&text.text), |range| !text.is_only_text(range, source))
}

/// The first match that counts, or that nobody can tell.
fn strongest(
    found: impl Iterator<Item = Found>,
    counts: impl Fn(&Range<usize>) -> bool,
) -> Option<Match> {
    let mut found = found.filter_map(|found| match found {
        Found::At(range) => counts(&range).then_some(Match::Surely),
        Found::TooHard => Some(Match::Perhaps),
    });
    found.next()
}

/// The first rule that matches a whole line: one that names an operator, or that goes over a pipe.
fn by_line(set: &RuleSet, text: &str) -> Judgement {
    let marked = Marked::new(text);
    let pipelines = marked.pipelines();
    let found = |command: &Command| {
        if command.is_wide {
            return strongest(command.pattern.find_in(text), |range| !marked.is_text(range));
        }
        // The built-in rules say it where they mean a pipe.
        let is_theirs = command.rule.at.file != BUILT_IN_NAME;
        let parts = pipelines.iter().filter(|_| is_theirs).filter(|part| marked.has_pipe(part));
        let found = parts.filter_map(|part| {
            let inner = text.get(part.clone()).unwrap_or_default();
            strongest(command.pattern.find_in(inner), |range| {
                let range = part.start + range.start..part.start + range.end;
                marked.has_pipe(&range) && !marked.is_text(&range)
            })
        });
        found.max()
    };
    decided(set, found, text)
}

fn told(command: &Command, text: &str) -> Judgement {
    let reason = &command.rule.reason;
    let reason = if reason.is_empty() { "a rule forbids it" } else { reason };
    let why = format!("{reason}: `{}`", line(text, SHOWN_MAX));
    let rule = command.reference();
    if command.rule.ask { Judgement::Ask { rule, why } } else { Judgement::Deny { rule, why } }
}
