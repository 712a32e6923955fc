//! `git`: its own options, its commands, and the settings that make it run other programs.

use super::invoke::Call;
use super::options::{Valued, read};
use super::patches::Patching;
use super::state::State;
use super::value::{Field, line};
use super::walk::Walker;
use super::{CommandFolder, DoubtKind, Put, TouchKind};

/// Options of commands: `x` is a text for a shell.
const VALUED: &str = "m F:r message file:r C c author date x:_ exec:x upload-pack:x receive-pack:x o:_ output:w output-directory:w \
    tree-filter:x index-filter:x env-filter:x msg-filter:x commit-filter:x directory:w parent-filter:x tag-name-filter:x extcmd:x open-files-in-pager:x \
    b B branch origin depth reference:r template:r separate-git-dir:w s strategy X strategy-option n max-count U unified S G since until \
    index:- after before grep format pretty pathspec-from-file:r S_ j jobs source exclude e onto config";

/// Those of `git clean`, whose `-x` takes no value.
const CLEAN: &str = "e exclude";

/// Those of `git archive`.
const ARCHIVE: &str = "add-file:r add-virtual-file o:_ output:w format prefix remote exec:x";

/// Those of `git send-email`.
const SEND: &str = "sendmail-cmd:x to-cmd:x cc-cmd:x header-cmd:x smtp-server to cc bcc from subject in-reply-to reply-to identity \
    smtp-server-port smtp-server-option smtp-user smtp-pass smtp-encryption smtp-domain smtp-auth smtp-ssl-cert-path:r envelope-sender \
    confirm suppress-cc transfer-encoding 8bit-encoding compose-encoding batch-size relogin-delay max-count";

/// What commands do to the paths that they are given.
const COMMANDS: &[(&str, &str)] = &[
    ("add", "r"),
    ("stage", "r"),
    ("diff", "r"),
    ("show", "r"),
    ("log", "r"),
    ("blame", "r"),
    ("annotate", "r"),
    ("cat-file", "r"),
    ("shortlog", "r"),
    ("ls-files", "l"),
    ("ls-tree", "l"),
    ("status", "l"),
    ("check-ignore", "l"),
    ("commit", "r"),
    ("hash-object", "r"),
    ("rm", "d"),
    ("restore", "w"),
    ("apply", "r"),
    ("am", "r"),
    ("update-index", "r"),
    ("clean", "d"),
    ("sparse-checkout", "w"),
    ("rev-parse", ""),
    ("branch", ""),
    ("tag", ""),
    ("fetch", ""),
    ("push", ""),
    ("remote", ""),
    ("describe", ""),
    ("rev-list", ""),
    ("merge-base", ""),
    ("reflog", ""),
    ("symbolic-ref", ""),
    ("name-rev", ""),
    ("for-each-ref", ""),
    ("show-ref", ""),
    ("notes", ""),
    ("version", ""),
    ("help", ""),
    ("var", ""),
    ("gc", ""),
    ("fsck", ""),
    ("count-objects", ""),
    ("cherry", ""),
    ("diff-tree", ""),
    ("diff-index", ""),
    ("diff-files", ""),
    ("range-diff", ""),
    ("bundle", ""),
    ("whatchanged", "r"),
    ("update-ref", ""),
];
/// Commands that put other files in the place of those in the folder.
const CHANGING: &[&str] = &[
    "checkout",
    "switch",
    "merge",
    "pull",
    "rebase",
    "cherry-pick",
    "revert",
    "stash",
    "reset",
    "am",
    "apply",
    "read-tree",
    "checkout-index",
    "sparse-checkout",
    "submodule",
    "subtree",
    "lfs",
    "bisect",
    "filter-branch",
    "filter-repo",
];
/// Others that lie beside git as programs of their own.
const OTHERS: &str = "push clone init config mv worktree archive format-patch grep prune repack replace update-server-info \
    fast-import fast-export receive-pack upload-pack send-pack fetch-pack send-email hash-object mktree commit-tree write-tree \
    pack-refs pack-objects unpack-objects index-pack prune-packed bugreport diagnose difftool mergetool merge-file merge-tree \
    credential daemon http-backend maintenance mailinfo mailsplit rerere verify-commit verify-pack verify-tag ls-remote \
    reset-author request-pull instaweb svn p4 shell remote-http remote-https cvsimport refs scalar";

/// The command of git that a program of its own is: `push` for `git-push`.
pub(super) fn own_command(program: &str) -> Option<&str> {
    let command = program.strip_prefix("git-")?;
    let is_one = COMMANDS.iter().any(|(name, _)| *name == command)
        || CHANGING.contains(&command)
        || OTHERS.split_whitespace().any(|name| name == command);
    is_one.then_some(command)
}

/// Ends of the names of settings whose values are commands.
const RUNNING: &[&str] = &[
    "pager",
    "editor",
    "command",
    "cmd",
    "driver",
    "program",
    "helper",
    "textconv",
    "external",
    "clean",
    "smudge",
    "process",
    "hook",
    "fsmonitor",
    "askpass",
    "difffilter",
    "uploadpack",
    "receivepack",
    "gitproxy",
    "trustctime_",
    "vcs",
    "tunnel",
    "httpd",
];
/// Settings of programs that git starts, by what their names begin with: `path` of them is a program.
const OF_TOOLS: [&str; 5] = ["difftool.", "mergetool.", "man.", "browser.", "guitool."];
/// Settings that lead to more settings or to programs in a folder.
const LEADING: &[&str] = &[
    "core.hookspath",
    "include.path",
    "core.gitproxy",
    "init.templatedir",
    "core.attributesfile",
    "core.worktree",
];

/// Settings that name files whose content git shows, or takes over.
const READ: [&str; 5] = [
    "commit.template",
    "format.signaturefile",
    "mailmap.file",
    "blame.ignorerevsfile",
    "core.excludesfile",
];

/// Commands that take files into the repository, or show what differs from it.
const TAKING: &[&str] = &["add", "stage", "commit", "stash", "diff"];

impl Walker<'_> {
    pub(super) fn git(&mut self, words: &[Field], state: &State, call: Call<'_>) {
        let mut own = state.clone();
        let mut rest = words;
        let mut is_elsewhere = false;
        while let Some((first, more)) = rest.split_first() {
            let Some(text) = first.known() else { break };
            if !text.starts_with('-') {
                break;
            }
            rest = more;
            let joined = ["--work-tree=", "--git-dir="].iter().find(|it| text.starts_with(**it));
            let (text, joined) = match joined {
                Some(name) => (name.trim_end_matches('='), Some(first.after(name.len()))),
                None => (text, None),
            };
            match text {
                "-C" | "--work-tree" => {
                    let path = joined.unwrap_or_else(|| {
                        let (path, more) = taken(rest);
                        rest = more;
                        path
                    });
                    // What lies there can be taken into the repository, and shown from it.
                    if text == "--work-tree" {
                        is_elsewhere = true;
                        self.touch(TouchKind::List, &path, &own, "git", call.span);
                    }
                    own.folders = led_to(&own, &path);
                }
                "-c" => {
                    let (setting, more) = taken(rest);
                    rest = more;
                    self.setting_of_git(&setting, &own, call);
                }
                "--git-dir" | "--namespace" | "--super-prefix" | "--attr-source" => {
                    let path = joined.unwrap_or_else(|| {
                        let (path, more) = taken(rest);
                        rest = more;
                        path
                    });
                    self.touch(TouchKind::Maybe, &path, &own, "git", call.span);
                }
                _ if text.starts_with("--config-env") || text.starts_with("--exec-path=") => {
                    self.doubt(DoubtKind::Variable, "a setting of `git` is not known", call.span);
                    if text == "--config-env" {
                        rest = rest.get(1..).unwrap_or_default();
                    }
                }
                _ => self.maybe(&[Field::text(text)], &own, "git", call.span),
            }
        }
        match rest.split_first() {
            None => {}
            Some((command, more)) => match command.known() {
                Some(name) => {
                    if is_elsewhere && TAKING.contains(&name) {
                        let all = super::Sieve::default();
                        self.touch_below(&Field::text("."), &all, None, &own, "git");
                    }
                    self.command_of_git(name, more, &own, call);
                }
                None => self.doubt(
                    DoubtKind::Command,
                    "which command of `git` runs is not known",
                    call.span,
                ),
            },
        }
    }

    /// `-c name=value`, and the same set by `git config`.
    fn setting_of_git(&mut self, setting: &Field, state: &State, call: Call<'_>) {
        let Some((name, _)) = setting.begins().split_once('=') else {
            if !setting.is_known() {
                self.doubt(DoubtKind::Variable, "a setting of `git` is not known", call.span);
            }
            return;
        };
        let value = setting.after(name.len() + 1);
        self.value_of_git(&name.to_ascii_lowercase(), &value, state, call);
    }

    fn value_of_git(&mut self, name: &str, value: &Field, state: &State, call: Call<'_>) {
        let last = name.rsplit('.').next().unwrap_or(name);
        let is_alias = name.starts_with("alias.");
        let is_mailer = last == "smtpserver" && value.begins().starts_with(['/', '~']);
        // A submodule is brought up to date by a command of its own.
        let is_update = last == "update" && name.starts_with("submodule.");
        let is_update = is_update && (!value.is_known() || value.begins().starts_with('!'));
        let is_program = last == "path" && OF_TOOLS.iter().any(|it| name.starts_with(it));
        let is_running =
            is_mailer || is_update || is_program || RUNNING.iter().any(|end| last.ends_with(end));
        let runs = is_alias || name.starts_with("pager.") || is_running;
        let leads = LEADING.contains(&name)
            || name.starts_with("includeif.")
            || name.starts_with("protocol.")
            || name.starts_with("url.");
        if leads {
            self.doubt(
                DoubtKind::Variable,
                &format!("the setting `{name}` changes what `git` runs"),
                call.span,
            );
        }
        if READ.contains(&name) {
            self.touch(TouchKind::Read, value, state, "git", call.span);
        }
        if !runs {
            return;
        }
        let Some(text) = value.known() else {
            self.doubt(
                DoubtKind::Variable,
                &format!("the setting `{name}` holds a command that is not known"),
                call.span,
            );
            return;
        };
        if ["", "true", "false"].contains(&text) {
            return;
        }
        match text.strip_prefix('!') {
            Some(command) => self.run_value(command, state, call.span),
            None if is_alias => self.run_value(&format!("git {text}"), state, call.span),
            // A name alone is a program of git.
            None if last == "helper" && !text.contains('/') => {}
            None => self.run_value(text, state, call.span),
        }
    }

    fn command_of_git(&mut self, name: &str, words: &[Field], state: &State, call: Call<'_>) {
        let valued = match name {
            "clean" => CLEAN,
            "archive" => ARCHIVE,
            "send-email" => SEND,
            _ => VALUED,
        };
        let (mut found, _) = read(words, Valued(valued), false);
        self.pick(name, &mut found, state, call);
        let told_as = format!("git {name}");
        for (option, value) in &found.options {
            let Some(value) = value else { continue };
            match Valued(valued).kind(option) {
                Some("x") => self.joined_text(std::slice::from_ref(value), state, call),
                Some(kinds @ ("r" | "w")) => {
                    // It may lead to another project.
                    let by = if option == "directory" { "git apply" } else { "git" };
                    // What git writes at another's wish is not its own, wherever it lies.
                    let by = if option == "output" { &told_as } else { by };
                    self.touches(kinds, value, state, by, call);
                }
                None => self.put_by(&told_as, option, value, state, call.span),
                _ => {}
            }
            match (name, option.as_str()) {
                ("rebase" | "difftool", "x") => {
                    self.joined_text(std::slice::from_ref(value), state, call);
                }
                ("clone" | "init" | "submodule", "c" | "config") => {
                    self.setting_of_git(value, state, call);
                }
                // A path is a program.
                ("send-email", "smtp-server") if value.begins().starts_with(['/', '~']) => {
                    self.joined_text(std::slice::from_ref(value), state, call);
                }
                // Hooks and settings are copied from there, also to a repository that is there already.
                ("clone" | "init", "template") => {
                    let target = found.operands.get(usize::from(name == "clone"));
                    let mut hooks = target.cloned().unwrap_or_else(|| Field::text("."));
                    hooks.push_text("/.git/hooks");
                    self.touch(TouchKind::Write, &hooks, state, &told_as, call.span);
                }
                (
                    "archive" | "format-patch" | "mailsplit" | "bugreport" | "diagnose"
                    | "index-pack",
                    "o",
                ) => {
                    self.touches("w", value, state, &told_as, call);
                }
                _ => {}
            }
        }
        self.files_of_git(name, &found, words, state, call);
        if found.has_unknown && !is_harmless(name, &found) {
            self.doubt(
                DoubtKind::Option,
                "an argument of `git` is not known, and may be an option",
                call.span,
            );
        }
        let is_remote_command = |field: &&Field| field.begins().starts_with("ext::");
        if found.operands.iter().any(|it| is_remote_command(&it)) {
            self.doubt(DoubtKind::Text, "an address of `git` runs a command", call.span);
        }
        self.deeds_of_git(name, &found, words, state, call);
    }

    /// Files that patches name, and all that lies below what is searched.
    fn files_of_git(
        &mut self,
        name: &str,
        found: &super::options::Read,
        words: &[Field],
        state: &State,
        call: Call<'_>,
    ) {
        let told_as = format!("git {name}");
        if matches!(name, "apply" | "am") {
            let folder = found.values(&["directory"]).last().cloned();
            let strip = words.iter().rev().find_map(|it| it.known()?.strip_prefix("-p"));
            let strip = Field::text(strip.unwrap_or("1"));
            let only_tells = found.has(&["numstat", "stat", "check", "summary"]);
            let files: &[Field] =
                if only_tells && !found.has(&["apply"]) { &[] } else { &found.operands };
            let patch = Patching { folder: folder.as_ref(), strip: Some(&strip), files };
            self.patched(&told_as, &patch, state, call);
        }
        if name == "apply" && found.has(&["unsafe-paths"]) {
            self.doubt(
                DoubtKind::Command,
                "`git apply` may write outside of its folder",
                call.span,
            );
        }
        if name == "interpret-trailers" && found.has(&["in-place"]) {
            for path in &found.operands {
                self.written_to(path, state, &told_as, call.span);
            }
        }
        // To other commands it is something else.
        let packs = words.windows(2).filter(|it| name == "clone" && it[0].known() == Some("-u"));
        for pair in packs {
            self.joined_text(std::slice::from_ref(&pair[1]), state, call);
        }
        self.deep_with_ignored(name, found, state);
        self.deep_with_new(name, found, state);
        self.compared_by_git(name, found, state);
        if let Some(ours) = takes_ours(name, found) {
            self.touch(TouchKind::Write, &Field::text(ours), state, &told_as, call.span);
        }
        let only_names = ["l", "files-with-matches", "name-only", "L", "c", "count"];
        if name == "archive" || name == "grep" && !found.has(&only_names) {
            self.deep_of_git(name, found, words, state);
        }
        if name == "grep" && found.has(&["O", "open-files-in-pager"]) {
            self.doubt(DoubtKind::Text, "`git grep` opens files in a program", call.span);
        }
    }

    fn deeds_of_git(
        &mut self,
        name: &str,
        found: &super::options::Read,
        words: &[Field],
        state: &State,
        call: Call<'_>,
    ) {
        let here = Field::text(".");
        let paths = &found.operands;
        let first = paths.first().and_then(Field::known).unwrap_or_default();
        match name {
            "mv" => self.moved_by_git(paths, state, call),
            "clean" if is_dry(found) => {}
            "clean" if paths.is_empty() => {
                self.touch(TouchKind::Delete, &here, state, "git", call.span);
            }
            "rm" if found.has(&["cached"]) => {
                for path in paths {
                    self.touches("l", path, state, "git", call);
                }
            }
            "worktree" if matches!(first, "add" | "remove" | "move") => {
                for path in paths.get(1..).unwrap_or_default() {
                    self.touches(if first == "add" { "w" } else { "wd" }, path, state, "git", call);
                    self.brought_by_git(name, Some(path), state, call);
                }
            }
            "clone" | "init" => {
                let target = if name == "clone" { paths.get(1) } else { paths.first() };
                self.touch(TouchKind::Write, target.unwrap_or(&here), state, "git", call.span);
                self.brought_by_git(name, target, state, call);
            }
            "config" => self.configured(found, words, state, call),
            "merge-file" | "mailinfo" | "pack-objects" => {
                self.made_by_git(name, found, state, call);
            }
            "bisect" if first == "run" => {
                let at = words.iter().position(|it| it.known() == Some("run")).unwrap_or(0);
                self.start(words.get(at + 1..).unwrap_or_default(), state, call);
            }
            "submodule" if first == "foreach" => self.for_each_submodule(words, state, call),
            // Nothing in the place of a commit removes a branch.
            "update-ref" if paths.iter().any(|it| it.known() == Some("")) => {
                self.doubt(DoubtKind::Option, "`git update-ref` is given nothing", call.span);
            }
            "bundle" if first == "create" => {
                self.touches("w", paths.get(1).unwrap_or(&here), state, "git bundle", call);
            }
            "hash-object" | "update-index" | "checkout-index" => {
                self.taken_by_git(name, found, state, call);
            }
            _ if only_reads(name, found) => self.shown_by_git(name, found, state, call),
            _ => self.paths_of_git(name, paths, state, call),
        }
        let is_hard =
            name != "reset" || found.has(&["hard", "merge", "keep"]) || !found.operands.is_empty();
        if CHANGING.contains(&name) && is_hard && !is_harmless_stash(name, first) {
            self.touch(TouchKind::Write, &here, state, "git", call.span);
        }
    }

    /// `git submodule foreach`: its own options end with the first word that is none. What follows is one command, whose words keep
    /// their quotes if there are several.
    fn for_each_submodule(&mut self, words: &[Field], state: &State, call: Call<'_>) {
        let at = words.iter().position(|it| it.known() == Some("foreach"));
        let rest = at.and_then(|at| words.get(at + 1..)).unwrap_or_default();
        let is_own =
            |it: &&Field| matches!(it.known(), Some("--recursive" | "-q" | "--quiet" | "--"));
        let options = rest.iter().take_while(is_own).count();
        let command = rest.get(options..).unwrap_or_default();
        match command {
            [text] => self.joined_text(std::slice::from_ref(text), state, call),
            _ => self.start(command, state, call),
        }
    }

    fn moved_by_git(&mut self, paths: &[Field], state: &State, call: Call<'_>) {
        let Some((last, before)) = paths.split_last() else { return };
        for path in before {
            self.touches("rd", path, state, "git", call);
        }
        self.touches("w", last, state, "git", call);
        self.copied(before, last, state, call.span);
        // Into hooks and settings it does not write as its own.
        self.landed("git mv", before, last, state, call, &Put::default());
    }

    /// Files that git takes in or puts back, also those of which it reads the names.
    fn taken_by_git(
        &mut self,
        name: &str,
        found: &super::options::Read,
        state: &State,
        call: Call<'_>,
    ) {
        let list = if name == "hash-object" { "stdin-" } else { "stdin" };
        if found.options.iter().any(|(option, _)| option.starts_with(list)) {
            if name == "checkout-index" {
                self.names_used(TouchKind::Write, None, state, "git", call);
            } else {
                self.names_from(None, state, "git", call);
            }
        }
        self.paths_of_git(name, &found.operands, state, call);
    }

    /// Files that rare commands make or change: any that they are told.
    fn made_by_git(
        &mut self,
        name: &str,
        found: &super::options::Read,
        state: &State,
        call: Call<'_>,
    ) {
        let count = match name {
            "merge-file" if found.has(&["p", "stdout"]) => 0,
            "merge-file" => 1,
            _ => found.operands.len(),
        };
        for path in found.operands.iter().take(count) {
            self.written_to(path, state, &format!("git {name}"), call.span);
        }
    }

    /// `git config`, with settings that make git run something.
    fn configured(
        &mut self,
        found: &super::options::Read,
        words: &[Field],
        state: &State,
        call: Call<'_>,
    ) {
        self.touch(TouchKind::Write, &Field::text(".git/config"), state, "git", call.span);
        self.settings_file(found, words, state, call);
        self.settings_edited(found, words, state, call);
        for pair in found.operands.windows(2) {
            if let [key, value] = pair {
                self.value_of_git(&key.begins().to_ascii_lowercase(), value, state, call);
            }
        }
        if found.has_unknown {
            self.doubt(DoubtKind::Variable, "a setting of `git` is not known", call.span);
        }
    }

    /// `git config -f file`, which is any file.
    fn settings_file(
        &mut self,
        found: &super::options::Read,
        words: &[Field],
        state: &State,
        call: Call<'_>,
    ) {
        let shows = found.has(&["get", "get-all", "get-regexp", "get-urlmatch", "list", "l"])
            || matches!(found.operands.first().and_then(Field::known), Some("get" | "list"));
        let behind = words.windows(2).filter(|pair| pair[0].known() == Some("-f"));
        let named = found.values(&["f", "file"]).cloned();
        for file in behind.map(|pair| pair[1].clone()).chain(named) {
            let kinds = if shows { "r" } else { "w" };
            self.touches(kinds, &file, state, "git config", call);
        }
    }

    /// `git config -e`: an editor gets the file as a whole, so nothing says what is in it afterwards.
    fn settings_edited(
        &mut self,
        found: &super::options::Read,
        words: &[Field],
        state: &State,
        call: Call<'_>,
    ) {
        let is_edited = found.has(&["e", "edit"])
            || found.operands.first().and_then(Field::known) == Some("edit");
        // Any other file is looked at where it is named.
        let is_named = words.iter().any(|it| it.known() == Some("-f"))
            || found.has(&["f"])
            || found.values(&["file"]).next().is_some();
        if !is_edited || is_named {
            return;
        }
        // What git itself writes there is ordinary, what an editor does is not.
        let by = "git config";
        if !found.has(&["global"]) {
            return self.touch(TouchKind::Write, &Field::text(".git/config"), state, by, call.span);
        }
        for name in ["/.gitconfig", "/.config/git/config"] {
            let mut file = self.home(state);
            file.push_text(name);
            self.touch(TouchKind::Write, &file, state, by, call.span);
        }
    }

    /// What is not known is a revision or a path below one: git shows what it keeps, unless it compares any two files.
    fn shown_by_git(
        &mut self,
        name: &str,
        found: &super::options::Read,
        state: &State,
        call: Call<'_>,
    ) {
        let is_any = found.has(&["no-index"]);
        // `origin/$BRANCH` is a revision, and so is most likely what nothing is known of.
        let is_revision = |it: &Field| {
            let begins = it.begins();
            let of_remote = ["origin/", "upstream/", "HEAD", "refs/"].iter();
            let is_named = of_remote.clone().any(|it| begins.starts_with(it));
            begins.is_empty() || !it.is_known() && is_named && !begins.contains(':')
        };
        let paths = found.operands.iter().filter(|it| is_any || !is_revision(it));
        let paths: Vec<Field> = paths.cloned().collect();
        self.paths_of_git(name, &paths, state, call);
    }

    fn paths_of_git(&mut self, name: &str, paths: &[Field], state: &State, call: Call<'_>) {
        let kinds = COMMANDS.iter().find(|(command, _)| *command == name).map(|(_, kinds)| *kinds);
        match kinds {
            Some(kinds) => {
                for path in paths {
                    self.touches(kinds, path, state, "git", call);
                    if matches!(name, "add" | "stage") {
                        self.added_by_pattern(path, state, call);
                    }
                    // `HEAD:path` names a path too.
                    if let Some((_, path)) = path.known().and_then(|it| it.split_once(':')) {
                        self.touches(kinds, &Field::text(path), state, "git", call);
                    }
                }
            }
            // Their operands are revisions, or words of their own and then paths.
            None if matches!(
                name,
                "merge" | "rebase" | "pull" | "cherry-pick" | "revert" | "switch"
            ) => {}
            None if CHANGING.contains(&name) => {
                let has_verb = matches!(name, "stash" | "submodule" | "bisect" | "lfs" | "subtree");
                for path in paths.iter().skip(usize::from(has_verb)) {
                    self.touches("w", path, state, "git", call);
                }
            }
            None => {
                // An alias of the user, or a program of that name.
                self.maybe(paths, state, "git", call.span);
                let _ = line(paths);
            }
        }
    }
}

/// True if no option of a command of git starts or removes anything.
fn is_harmless(name: &str, found: &super::options::Read) -> bool {
    let first = found.operands.first().and_then(Field::known);
    matches!(name, "add" | "status" | "rm" | "commit" | "mv")
        || name == "worktree" && first == Some("add")
        || only_reads(name, found)
        || keeps_unmerged(name, found)
}

/// True if `git clean` only tells what it would remove.
fn is_dry(found: &super::options::Read) -> bool {
    let may_not = ["e", "exclude", "no-dry-run"];
    found.has(&["n", "dry-run"]) && !found.has(&may_not)
}

/// What of Chronicle's own a command of git takes away: files that git ignores, or does not know yet.
fn takes_ours(name: &str, found: &super::options::Read) -> Option<&'static str> {
    let is_kept = |it: &Field| it.begins().contains(".chronicle");
    match name {
        "stash" if found.has(&["a", "all"]) => Some(".chronicle"),
        "clean" if found.has(&["x", "X"]) && !is_dry(found) => {
            let is_left_out = found.values(&["e", "exclude"]).any(is_kept);
            let is_elsewhere = !found.operands.is_empty() && !found.operands.iter().any(is_whole);
            (!is_left_out && !is_elsewhere).then_some(".chronicle")
        }
        _ => None,
    }
}

/// True for a path that means the whole project, or Chronicle's part of it.
fn is_whole(path: &Field) -> bool {
    let text = path.begins();
    text.is_empty() || [".", "./", ":/", "*"].contains(&text) || text.contains(".chronicle")
}

/// Commands that only show what git keeps, whatever else they are given.
/// True if branches are removed that are merged, and no others: git itself keeps the rest.
fn keeps_unmerged(name: &str, found: &super::options::Read) -> bool {
    name == "branch" && found.has(&["d", "delete"]) && !found.has(&["D", "f", "force"])
}

fn only_reads(name: &str, found: &super::options::Read) -> bool {
    const READERS: [&str; 23] = [
        "log",
        "show",
        "diff",
        "diff-tree",
        "diff-index",
        "diff-files",
        "rev-parse",
        "cat-file",
        "blame",
        "annotate",
        "rev-list",
        "merge-base",
        "ls-files",
        "ls-tree",
        "describe",
        "shortlog",
        "whatchanged",
        "name-rev",
        "for-each-ref",
        "show-ref",
        "cherry",
        "check-ignore",
        "range-diff",
    ];
    READERS.contains(&name)
        || name == "branch" && found.has(&["contains", "no-contains", "merged", "no-merged"])
}

/// `git stash list` and others that change nothing here.
fn is_harmless_stash(name: &str, first: &str) -> bool {
    name == "stash" && matches!(first, "list" | "show" | "drop" | "clear")
        || name == "submodule" && matches!(first, "status" | "foreach" | "summary")
        || name == "bisect" && matches!(first, "log" | "run" | "view")
}

/// The next word and those after it.
fn taken(rest: &[Field]) -> (Field, &[Field]) {
    match rest.split_first() {
        Some((first, more)) => (first.clone(), more),
        None => (Field::default(), rest),
    }
}

/// The folders that an option leads to.
fn led_to(state: &State, path: &Field) -> Vec<CommandFolder> {
    match path.known() {
        Some(path) => state.folders.iter().map(|it| super::wrappers::beside(it, path)).collect(),
        None => vec![CommandFolder::Unknown],
    }
}
