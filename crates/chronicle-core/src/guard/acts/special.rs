//! Programs whose arguments no table can describe: `tar`, `dd` and a few others.

use super::invoke::Call;
use super::options::{Read, Valued, read};
use super::remote::runs_nothing;
use super::state::State;
use super::value::Field;
use super::walk::{Input, Walker};
use super::{DoubtKind, KnownToGit, Sieve, TouchKind};

const TAR: &str = "f:_ file:_ C:_ directory:_ T:r files-from:r X:r exclude-from:r b g:w listed-incremental:w H K L N V W_ I:x use-compress-program:x F:x \
    info-script:x new-volume-script:x rsh-command:x rmt-command:x to-command:x checkpoint checkpoint-action:_ exclude transform xform strip-components \
    owner group mode mtime format suffix newer after-date index-file:w volno-file:w";

impl Walker<'_> {
    /// A program that has a place of its own here; whether it does.
    pub(super) fn particular(
        &mut self,
        name: &str,
        fields: &[Field],
        state: &State,
        call: Call<'_>,
    ) -> bool {
        let words = fields.get(1..).unwrap_or_default();
        match name {
            "git" => self.git(words, state, call),
            "find" => self.find(words, state, call),
            "fd" | "fdfind" => self.fd(words, state, call),
            "tar" | "bsdtar" => self.tar(words, state, call),
            "sed" | "ssed" => self.sed(words, state, call),
            "awk" | "gawk" | "mawk" | "nawk" => self.awk(name, words, state, call),
            "dd" => self.dd(words, state, call),
            "openssl" => self.openssl(words, state, call),
            "apply_patch" | "applypatch" => self.apply_patch(words, state, call),
            "sg" | "cmake" | "m4" | "gcc" | "cc" | "g++" | "c++" | "clang" | "clang++" | "cpp"
            | "deno" | "crystal" | "jar" | "ar" | "rar" | "7z" | "7za" | "7zr" | "7zz" | "pax" => {
                return self.rare(name, words, state, call);
            }
            "cpio" => self.cpio(words, state, call),
            "run-parts" => self.run_parts(words, state, call),
            "aws" | "gsutil" | "gcloud" | "rclone" => {
                self.uploaded(name, words, state);
                return false;
            }
            "crontab" | "at" | "batch" => self.run_later(name, words, state, call),
            "rails" => self.rails(words, state, call),
            "flask" | "django-admin" | "scrapy" | "jupyter" | "coverage" | "kernprof"
            | "viztracer" | "scalene" | "pyinstrument" => {
                self.console(name, words, call);
                self.wrapped_by_module("python3", name, words, state, call);
                return false;
            }
            "tmux" | "screen" | "zellij" => self.multiplexer(name, words, state, call),
            "npm" | "pnpm" | "yarn" | "bun" => {
                self.scripts_of_package(words, state, call);
                return false;
            }
            "ssh" | "autossh" | "mosh" => self.ssh(name, words, state, call),
            _ if super::containers::runs_containers(name) => {
                self.contained_command(name, words, state, call);
                return false;
            }
            "kubectl" | "oc" => {
                self.contained(words, state, call);
                return false;
            }
            "gdb" | "lldb" => self.debugger(name, words, state, call),
            "nc" | "ncat" | "netcat" if runs_nothing(words) => {
                self.maybe(words, state, name, call.span);
            }
            "capsh" | "rundll32" | "nsjail" | "bwrap" | "firejail" | "proot" | "dtach"
            | "daemonize" | "start-stop-daemon" | "socat" | "ncat" | "nc" | "netcat" | "xterm"
            | "gnome-terminal" | "konsole" | "alacritty" | "kitty" | "wezterm" => {
                self.maybe(words, state, name, call.span);
                if !words.is_empty() {
                    self.doubt(
                        DoubtKind::Command,
                        &format!("which programs `{name}` starts is not known"),
                        call.span,
                    );
                }
            }
            _ => return false,
        }
        true
    }

    /// `cpio`: with `-i` it takes out what its words name, otherwise it reads the names of what it keeps.
    fn cpio(&mut self, words: &[Field], state: &State, call: Call<'_>) {
        let own = folder_of_cpio(words, state);
        let state = &own;
        let takes_out = |it: &Field| {
            let text = it.begins();
            text == "--extract"
                || !text.starts_with("--") && text.starts_with('-') && text.contains('i')
        };
        if !words.iter().any(takes_out) {
            self.names_from(None, state, "cpio", call);
            return self.passed_on(words, state, call);
        }
        // What is taken out by a list lies there afterwards.
        for list in words.windows(2).filter(|pair| pair[0].known() == Some("-E")) {
            if self.content_of(&list[1], state).is_some() {
                self.names_used(TouchKind::Write, Some(&list[1]), state, "cpio", call);
            }
        }
        for path in words.iter().filter(|it| !it.begins().starts_with('-')) {
            self.written_to(path, state, "cpio", call.span);
        }
    }

    /// `cpio -p folder` copies the files of which it reads the names.
    fn passed_on(&mut self, words: &[Field], state: &State, call: Call<'_>) {
        let is_pass = |it: &Field| {
            let text = it.begins();
            let is_short = text.starts_with('-') && !text.starts_with("--");
            text == "--pass-through" || is_short && text.contains('p')
        };
        let target = words.iter().find(|it| !it.begins().starts_with('-'));
        let Some(target) = target.filter(|_| words.iter().any(is_pass)) else { return };
        self.written_to(target, state, "cpio", call.span);
        let Input::Text(names) = call.input else { return };
        let names = names.known().map(|it| it.lines().map(Field::text).collect::<Vec<_>>());
        self.copied_below_folder(&names.unwrap_or_default(), target, state, call);
    }

    /// Copies that keep the folders before their names.
    pub(super) fn copied_below_folder(
        &mut self,
        sources: &[Field],
        target: &Field,
        state: &State,
        call: Call<'_>,
    ) {
        let Some(target) = target.known() else { return };
        for source in sources.iter().filter_map(Field::known) {
            let copy = format!("{}/{source}", target.trim_end_matches('/'));
            self.written_to(&Field::text(&copy), state, "", call.span);
            self.copied_text(source, &[&copy], state);
        }
    }

    /// A text from a file or the input that is run some time later.
    fn run_later(&mut self, name: &str, words: &[Field], state: &State, call: Call<'_>) {
        self.maybe(words, state, name, call.span);
        let is_read = words.iter().any(|it| it.known() == Some("-"));
        if !matches!(call.input, Input::Given) || is_read {
            self.doubt(DoubtKind::Text, &format!("`{name}` runs a text later"), call.span);
        }
    }

    /// Programs that few know, and that run or read what they are told; whether this is one of them as it is called.
    fn rare(&mut self, name: &str, words: &[Field], state: &State, call: Call<'_>) -> bool {
        match name {
            "sg" => {
                let text = words.iter().skip(1).find(|it| it.known() != Some("-c"));
                self.joined_text(&text.cloned().into_iter().collect::<Vec<_>>(), state, call);
            }
            "cmake" if words.first().and_then(Field::known) == Some("-E") => {
                self.tool_of_cmake(words.get(1..).unwrap_or_default(), state, call);
            }
            "m4" => {
                for word in words.iter().filter(|it| !it.begins().starts_with('-')) {
                    self.touch(TouchKind::Read, word, state, name, call.span);
                }
                if matches!(call.input, Input::Text(_) | Input::Piped | Input::Listed(_)) {
                    self.doubt(DoubtKind::Code, "`m4` is given code", call.span);
                }
            }
            "gcc" | "cc" | "g++" | "c++" | "clang" | "clang++" | "cpp" => {
                self.included(name, words, state, call);
                self.flags_of_compiler(name, words, state, call);
                return false;
            }
            "deno" | "crystal" if super::started::is_given_code(words, call.input) => {
                self.maybe(words.get(1..).unwrap_or_default(), state, name, call.span);
                self.doubt(DoubtKind::Code, &format!("`{name}` is given code"), call.span);
            }
            "jar" | "ar" | "rar" | "7z" | "7za" | "7zr" | "7zz" => {
                self.named_behind_signs(name, words, state, call);
                self.taken_by_jar(name, words, state, call);
                return false;
            }
            "pax" => self.pax(words, state, call),
            _ => return false,
        }
        true
    }

    /// `npm pkg set scripts.name=text`: what is kept as a script is there to be run.
    fn scripts_of_package(&mut self, words: &[Field], state: &State, call: Call<'_>) {
        let is_set = words
            .windows(2)
            .any(|pair| pair[0].known() == Some("pkg") && pair[1].known() == Some("set"));
        for word in words.iter().filter(|_| is_set) {
            if let Some((name, _)) = word.begins().split_once('=')
                && name.starts_with("scripts")
            {
                self.joined_text(&[word.after(name.len() + 1)], state, call);
            }
        }
    }

    fn tar(&mut self, words: &[Field], state: &State, call: Call<'_>) {
        // The first word may be letters without a dash.
        let mut words = words.to_vec();
        if let Some(first) = words.first().cloned()
            && let Some(text) = first.known()
            && !text.is_empty()
            && !text.starts_with('-')
        {
            words = old_style(text, words.get(1..).unwrap_or_default());
        }
        let (found, _) = read(&words, Valued(TAR), false);
        let own = self.options_of_tar(&found, state, call);
        if found.has_unknown {
            self.doubt(
                DoubtKind::Option,
                "an argument of `tar` is not known, and may be an option",
                call.span,
            );
        }
        let makes = found.has(&[
            "c",
            "r",
            "u",
            "A",
            "create",
            "append",
            "update",
            "catenate",
            "concatenate",
        ]);
        let extracts = found.has(&["x", "extract", "get"]) && !found.has(&["O", "to-stdout"]);
        for file in found.values(&["f", "file"]) {
            if file.known() != Some("-") {
                self.touches(if makes { "w" } else { "r" }, file, state, "tar", call);
            }
        }
        if makes {
            for list in found.values(&["T", "files-from"]) {
                self.names_from(Some(list), &own, "tar", call);
                if found.has(&["remove-files"]) {
                    self.names_used(TouchKind::Delete, Some(list), &own, "tar", call);
                }
            }
            let kinds = if found.has(&["remove-files"]) { "rd" } else { "r" };
            for path in &found.operands {
                self.touches(kinds, path, &own, "tar", call);
                // Some take over what another archive holds.
                if path.begins().starts_with('@') {
                    self.touch(TouchKind::Read, &path.after(1), &own, "tar", call.span);
                }
            }
            let sieve = sieve_of_tar(&found);
            for path in &found.operands {
                self.touch_below(path, &sieve, None, &own, "tar");
            }
            self.packs(&found, &sieve, &own, call);
        }
        if extracts {
            self.extracted_by_tar(&found, &own, call);
        }
    }

    /// What `tar` takes out of an archive.
    fn extracted_by_tar(&mut self, found: &Read, own: &State, call: Call<'_>) {
        self.touch(TouchKind::Write, &Field::text("."), own, "tar", call.span);
        self.unpacks(found, own, call);
        self.renamed_by_tar(found, own, call);
        // What is taken out by its name lies there afterwards, unless it is given another one.
        let renames = ["transform", "xform", "strip-components", "strip", "s"];
        for path in found.operands.iter().filter(|_| !found.has(&renames)) {
            self.written_to(path, own, "tar", call.span);
        }
    }

    /// What the options of `tar` run and touch; the folder that they lead to.
    fn options_of_tar(&mut self, found: &Read, state: &State, call: Call<'_>) -> State {
        let mut own = state.clone();
        for (option, value) in &found.options {
            let Some(value) = value else { continue };
            match (option.as_str(), Valued(TAR).kind(option)) {
                ("C" | "directory", _) => {
                    own.folders = match value.known() {
                        Some(path) => {
                            own.folders.iter().map(|it| super::wrappers::beside(it, path)).collect()
                        }
                        None => vec![super::CommandFolder::Unknown],
                    };
                }
                ("checkpoint-action", _) => match value.known() {
                    Some(text) => {
                        if let Some(command) = text.strip_prefix("exec=") {
                            self.joined_text(&[Field::text(command)], state, call);
                        }
                    }
                    None => self.doubt(
                        DoubtKind::Option,
                        "an option of `tar` is not known, and may run a command",
                        call.span,
                    ),
                },
                (_, Some("x")) => self.joined_text(std::slice::from_ref(value), state, call),
                (_, Some(kinds @ ("r" | "w"))) => self.touches(kinds, value, state, "tar", call),
                (_, Some(_)) => {}
                (_, None) => {
                    self.maybe(std::slice::from_ref(value), state, "tar", call.span);
                    self.put_by("tar", option, value, state, call.span);
                }
            }
        }
        own
    }

    /// `cmake -E`: programs of its own, which do what those of the system do.
    fn tool_of_cmake(&mut self, words: &[Field], state: &State, call: Call<'_>) {
        let Some((first, rest)) = words.split_first() else { return };
        let program: &[&str] = match first.known() {
            Some("rm" | "remove" | "remove_directory") => &["rm", "-r"],
            Some("copy" | "copy_directory" | "copy_if_different") => &["cp", "-r"],
            Some("rename") => &["mv"],
            Some("chdir") => {
                let folder = rest.first().cloned().unwrap_or_default();
                let mut own = state.clone();
                own.folders = super::wrappers::led_to(state, &folder);
                return self.start(rest.get(1..).unwrap_or_default(), &own, call);
            }
            Some("env") => &["env"],
            Some("time") => &["time"],
            Some("touch" | "touch_nocreate") => &["touch"],
            Some("make_directory") => &["mkdir"],
            Some("create_symlink" | "create_hardlink") => &["ln"],
            Some("cat" | "md5sum" | "sha256sum" | "compare_files") => &["cat"],
            Some("tar") => &["tar"],
            _ => return self.maybe(rest, state, "cmake", call.span),
        };
        let mut fields: Vec<Field> = program.iter().map(|word| Field::text(word)).collect();
        fields.extend(rest.iter().cloned());
        self.start(&fields, state, call);
    }

    /// Names of files that a program takes from a list: from what it reads, or from a file.
    pub(super) fn names_from(
        &mut self,
        list: Option<&Field>,
        state: &State,
        by: &str,
        call: Call<'_>,
    ) {
        self.names_used(TouchKind::Read, list, state, by, call);
    }

    /// Names of files from a list, to which more is done than to read them.
    pub(super) fn names_used(
        &mut self,
        kind: TouchKind,
        list: Option<&Field>,
        state: &State,
        by: &str,
        call: Call<'_>,
    ) {
        let is_input = |it: &Field| {
            matches!(it.known(), Some("-" | "/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0"))
        };
        // However what it reads is called.
        let list = list.filter(|it| !is_input(it) || it.known() == Some("-"));
        let is_read = list.is_none_or(|it| it.known() == Some("-"));
        let given = self.listed_in(None, state, call);
        let call = if is_read { Call { input: &given, ..call } } else { call };
        // A list that the same text made of what it found.
        if list.is_some_and(|it| it.known().is_some_and(|it| it != "-"))
            && let Input::Listed(listing) = self.listed_in(list, state, call)
        {
            return self.touch_listed(kind, &listing, state, by, call.span);
        }
        let text = match (list, call.input) {
            (Some(list), _) if list.known() != Some("-") => {
                self.printed_at(list).or_else(|| self.content_of(list, state))
            }
            (_, Input::Text(text)) => text.known().map(str::to_owned),
            (_, Input::Listed(listing)) => {
                let listing = listing.clone();
                return self.touch_listed(kind, &listing, state, by, call.span);
            }
            (_, Input::Given | Input::Piped | Input::File) => None,
        };
        // A list that is a file says nothing here.
        let is_file = list.is_some_and(|it| {
            it.known().is_some_and(|it| it != "-" && !it.starts_with("/dev/fd/"))
        });
        match text {
            Some(text) => {
                for name in text.split(['\n', '\0']).filter(|name| !name.is_empty()) {
                    self.touch(kind, &Field::text(name), state, by, call.span);
                }
            }
            None if kind == TouchKind::Read && is_file
                || list.is_none() && matches!(call.input, Input::Given | Input::File) => {}
            None => self.touch(kind, &Field::unknown(), state, by, call.span),
        }
    }

    fn dd(&mut self, words: &[Field], state: &State, call: Call<'_>) {
        let value = |name: &str| {
            let word = words.iter().rev().find(|it| it.begins().starts_with(name))?;
            Some(word.after(name.len()))
        };
        if let (Some(source), Some(target)) = (value("if="), value("of=")) {
            self.copied(&[source], &target, state, call.span);
        }
        for word in words {
            let begins = word.begins();
            if begins.starts_with("if=") {
                self.touch(TouchKind::Read, &word.after(3), state, "dd", call.span);
            } else if begins.starts_with("of=") {
                self.touch(TouchKind::Write, &word.after(3), state, "dd", call.span);
            } else if !word.is_known() && begins.is_empty() {
                self.touch(TouchKind::Write, &Field::unknown(), state, "dd", call.span);
            }
        }
    }

    /// What a compiler makes that is not told where: it lies in the folder that it runs in.
    fn compiled_here(&mut self, name: &str, words: &[Field], state: &State, call: Call<'_>) {
        let has = |option: &str| words.iter().any(|it| it.known() == Some(option));
        let is_told = words.iter().any(|it| it.begins().starts_with("-o"));
        let ending = match (has("-c"), has("-S")) {
            _ if is_told || has("-E") || has("-fsyntax-only") => return,
            (true, _) => "o",
            (false, true) => "s",
            (false, false) => return,
        };
        for word in words.iter().filter_map(Field::known).filter(|it| !it.starts_with('-')) {
            let file = super::invoke::base(word);
            let stem = file.rsplit_once('.').map_or(file, |(stem, _)| stem);
            let made = Field::text(&format!("{stem}.{ending}"));
            self.written_to(&made, state, name, call.span);
        }
    }

    /// Options that a compiler hands on to its parts, those in a file, and a program that it starts them by.
    fn flags_of_compiler(&mut self, name: &str, words: &[Field], state: &State, call: Call<'_>) {
        const WRITING: [&str; 7] =
            ["-Map", "-MD", "-MMD", "-MF", "-o", "--dependency-file", "-MDF"];
        self.compiled_here(name, words, state, call);
        let handed: Vec<&str> = words
            .windows(2)
            .filter(|pair| pair[0].known() == Some("-Xlinker"))
            .flat_map(|pair| pair[1].begins().splitn(2, '='))
            .collect();
        for pair in handed.windows(2).filter(|pair| WRITING.contains(&pair[0])) {
            self.touch(TouchKind::Likely, &Field::text(pair[1]), state, name, call.span);
        }
        for (at, word) in words.iter().enumerate() {
            let text = word.begins();
            if ["-Wl,", "-Wp,", "-Wa,"].iter().any(|it| text.starts_with(it)) {
                let parts: Vec<&str> = text.split([',', '=']).collect();
                for pair in parts.windows(2) {
                    let lists = text.starts_with("-Wa,") && pair[0].starts_with("-a");
                    if WRITING.contains(&pair[0]) || lists {
                        self.touch(
                            TouchKind::Likely,
                            &Field::text(pair[1]),
                            state,
                            name,
                            call.span,
                        );
                    }
                }
            }
            if text == "-wrapper"
                && let Some(program) = words.get(at + 1).and_then(Field::known)
            {
                let command: Vec<Field> = program.split(',').map(Field::text).collect();
                self.start(&command, state, call);
            }
        }
    }

    fn openssl(&mut self, words: &[Field], state: &State, call: Call<'_>) {
        // `-out=file` is the same as `-out file`.
        let parted = |word: &Field| match word.begins().split_once('=') {
            Some((name, _)) if name.starts_with('-') => {
                vec![Field::text(name), word.after(name.len() + 1)]
            }
            _ => vec![word.clone()],
        };
        let words: Vec<Field> = words.iter().flat_map(parted).collect();
        // These show what is public of a file, never a key.
        let shows_public =
            matches!(words.first().and_then(Field::known), Some("x509" | "verify" | "crl"));
        for pair in words.windows(2) {
            let [option, value] = pair else { continue };
            match option.known() {
                Some("-in" | "-CAfile" | "-CA") if shows_public => {
                    self.touch(TouchKind::List, value, state, "openssl", call.span);
                }
                Some(
                    "-in" | "-inkey" | "-key" | "-cert" | "-CAfile" | "-CAkey" | "-CA" | "-config"
                    | "-kfile" | "-certfile" | "-rand" | "-sign" | "-verify" | "-prverify",
                ) => {
                    self.touch(TouchKind::Read, value, state, "openssl", call.span);
                }
                Some(
                    "-out" | "-keyout" | "-writerand" | "-outdir" | "-CAserial" | "-keylogfile"
                    | "-sess_out",
                ) => {
                    self.touch(TouchKind::Write, value, state, "openssl", call.span);
                }
                Some(text) if text.starts_with('-') && super::outputs::is_output(text) => {
                    self.written_to(value, state, "openssl", call.span);
                }
                Some("-engine" | "-provider" | "-provider-path") => {
                    self.doubt(DoubtKind::Code, "`openssl` loads code", call.span);
                }
                _ => {}
            }
        }
        if matches!(
            words.first().and_then(Field::known),
            Some("dgst" | "md5" | "sha1" | "sha256" | "sha512")
        ) {
            for word in words.iter().skip(1).filter(|it| !it.begins().starts_with('-')) {
                self.touch(TouchKind::Read, word, state, "openssl", call.span);
            }
        }
    }
}

/// `tar xzf file`: each letter that takes a value takes the next word.
fn old_style(letters: &str, rest: &[Field]) -> Vec<Field> {
    let mut words = Vec::new();
    let mut values = rest.iter();
    for letter in letters.chars() {
        words.push(Field::text(&format!("-{letter}")));
        if Valued(TAR).kind(&letter.to_string()).is_some()
            && let Some(value) = values.next()
        {
            words.push(value.clone());
        }
    }
    words.extend(values.cloned());
    words
}

/// Where `cpio` is once it has gone to the folder that it is told.
fn folder_of_cpio(words: &[Field], state: &State) -> State {
    let mut own = state.clone();
    for (at, word) in words.iter().enumerate() {
        let text = word.begins();
        let value = match text.strip_prefix("--directory=").or_else(|| text.strip_prefix("-D")) {
            Some("") => words.get(at + 1).cloned(),
            Some(path) => Some(word.after(text.len() - path.len())),
            None if text == "--directory" => words.get(at + 1).cloned(),
            None => continue,
        };
        own.folders = super::wrappers::led_to(&own, &value.unwrap_or_else(Field::unknown));
    }
    own
}

/// What `tar` leaves out of the folders that it is given.
fn sieve_of_tar(found: &Read) -> Sieve {
    let mut sieve = Sieve::default();
    sieve.follows_links = found.has(&["h", "dereference"]);
    let is_plain = found.options.iter().any(|(it, _)| it.starts_with("no-wild"));
    let means = |name: &&str| !is_plain || !name.contains(['*', '?', '[']);
    for name in found.values(&["exclude"]).filter_map(Field::known).filter(means) {
        sieve.leave_out(name);
    }
    // `--exclude` and `--exclude-vcs` are options of their own, and no short forms of this one.
    let is_ignored = |(it, _): &(String, Option<Field>)| {
        it.len() > "exclude-vcs".len() && "exclude-vcs-ignores".starts_with(it.as_str())
    };
    if found.options.iter().any(is_ignored) {
        sieve.known_to_git = KnownToGit::NotIgnored;
    }
    sieve
}
