//! What well-known programs do with the paths that they are given.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use super::invoke::Call;
use super::options::{Read, Valued, read};
use super::patches::Patching;
use super::state::State;
use super::value::Field;
use super::walk::Walker;
use super::{DoubtKind, TouchKind};

/// What operands are: letters for what is done to each, `r` read, `l` list, `w` write, `d` delete, `m` meta, `L` likely a write, `?` maybe.
enum Operands {
    /// No operand is a path.
    None,
    All(&'static str),
    /// The last one is the target, which is written.
    ToLast(&'static str),
    /// This many are no paths.
    After(usize, &'static str),
    /// The first one, and the others.
    First(&'static str, &'static str),
}
use Operands::{After, All, First, None as Nothing, ToLast};

/// Names, options with values, operands.
type Row = (&'static str, &'static str, Operands);

static BY_NAME: LazyLock<BTreeMap<&'static str, &'static Row>> =
    LazyLock::new(|| by_names(TABLE, |(names, ..)| names));

/// The rows of a table by each of their names. Of those with the same name the first one counts.
pub(super) fn by_names<T>(
    table: &'static [T],
    names: impl Fn(&'static T) -> &'static str,
) -> BTreeMap<&'static str, &'static T> {
    let mut all = BTreeMap::new();
    for row in table {
        for name in names(row).split(' ') {
            all.entry(name).or_insert(row);
        }
    }
    all
}

const TABLE: &[Row] = &[
    (
        "cat tac nl rev fold fmt pr column expand unexpand tsort zcat bzcat xzcat zstdcat bat batcat zless most pg",
        "w width s separator t T b l n language:_ style theme paging pager:x",
        All("r"),
    ),
    ("less more", "o:w O:w log-file:w LOG-FILE:w k:r lesskey-file:r P j p t T x y z b h", All("r")),
    ("head tail", "n c lines bytes s sleep-interval pid max-unchanged-stats", All("r")),
    (
        "wc md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum cksum sum shasum md5 crc32",
        "files0-from:r a",
        All("r"),
    ),
    (
        "cut paste",
        "b c d f delimiters delimiter fields bytes characters output-delimiter",
        All("r"),
    ),
    (
        "sort",
        "k S t T:w o:w key field-separator output:w buffer-size temporary-directory:w batch-size compress-program:x parallel files0-from:r random-source:r",
        All("r"),
    ),
    ("shuf", "i e n o:w output:w input-range head-count random-source:r", All("r")),
    ("uniq", "f s w skip-fields skip-chars check-chars", First("r", "w")),
    ("comm join", "1 2 a e i j o t v output-delimiter", All("r")),
    (
        "diff sdiff diff3 cmp colordiff icdiff delta vimdiff dwdiff wdiff",
        "C U F I L W x X:r n i from-file:r to-file:r exclude exclude-from:r label width output:w o:w bytes ignore-initial diff-program:x",
        All("r"),
    ),
    (
        "od hexdump hd",
        "A j N t S w e f:r n s address-radix skip-bytes read-bytes format strings width",
        All("r"),
    ),
    ("xxd", "c cols l len o:_ s seek g groupsize n name R", First("r", "w")),
    ("strings", "n t e T s bytes radix encoding", All("r")),
    ("base64 base32 basenc", "w wrap i:r input:r o:w output:w b D:_", All("r")),
    ("iconv", "f t o:w output:w from-code to-code", All("r")),
    ("uuencode uudecode", "o:w", All("rw")),
    (
        "grep egrep fgrep rgrep zgrep rg ag ack ugrep pcregrep pcre2grep",
        "e f:r A B C m d D regexp file:r max-count after-context before-context context include exclude exclude-from:r exclude-dir label binary-files color colour g glob iglob t type T type-not j threads M max-columns E encoding r_ replace sort sortr path-separator pre:x pre-glob ignore-file:r max-depth max-filesize engine hostname-bin:x",
        After(1, "r"),
    ),
    (
        "ls dir vdir tree exa eza lsd",
        "I w T L P H o:_ ignore hide block-size color sort time format level filelimit timefmt",
        All("l"),
    ),
    (
        "du stat file df readlink realpath namei lsof findmnt mountpoint getfacl lsattr",
        "B d t X:r c f:_ m:_ F e max-depth threshold exclude exclude-from:r format printf block-size relative-to relative-base magic-file:r files-from:r time-style",
        All("l"),
    ),
    ("rm trash trash-put rimraf del gvfs-trash rip safe-rm del-cli", "", All("d")),
    ("rename prename perl-rename file-rename", "e:c E:c", After(1, "d")),
    ("mmv", "", All("d")),
    ("sd", "n max-replacements f flags", After(2, "rw")),
    ("rmdir unlink", "", All("d")),
    ("shred wipe srm", "n s iterations size random-source:r", All("wd")),
    ("mkdir mkfifo mknod", "m Z mode context", All("w")),
    ("mktemp", "p:w tmpdir:w suffix", All("w")),
    ("touch", "d r:r t date reference:r time", All("wm")),
    ("truncate fallocate", "s r:r o l size reference:r offset length", All("w")),
    ("chmod chown chgrp chattr chcon chflags", "reference:r from user role type", After(1, "m")),
    ("setfacl", "m x M:r X:r modify remove modify-file:r remove-file:r restore:r", All("m")),
    ("xattr", "", All("m")),
    ("mv", "t:w S target-directory:w suffix", ToLast("rd")),
    ("cp ditto", "t:w S target-directory:w suffix Z", ToLast("r")),
    (
        "install",
        "t:w S g m o target-directory:w suffix group mode owner strip-program:x",
        ToLast("r"),
    ),
    ("ln link", "t:w S target-directory:w suffix", ToLast("r")),
    ("tee sponge", "", All("w")),
    (
        "split",
        "a b C l n t suffix-length bytes line-bytes lines number separator filter:x additional-suffix",
        First("r", "w"),
    ),
    ("csplit", "b f:w n suffix-format prefix:w digits", First("r", "")),
    (
        "gzip gunzip bzip2 bunzip2 xz unxz lzma unlzma zstd unzstd lz4 compress uncompress brotli pigz pbzip2",
        "S o:w output:w suffix T threads M memlimit",
        All("rwd"),
    ),
    ("zip", "b:w i n O:w P x t tt T_ TT:x unzip-command:x", First("w", "r")),
    ("unzip", "d:w P x", First("r", "")),
    ("7z 7za 7zr", "o:w", After(1, "?")),
    ("man", "P:x pager:x C:r config-file:r M manpath S s e L m", Nothing),
    (
        "rsync",
        "e:x rsh:x f filter exclude include exclude-from:r include-from:r files-from:r password-file:r log-file:w backup-dir:w temp-dir:w T:w partial-dir:w compare-dest:r copy-dest:r link-dest:rL rsync-path:x bwlimit timeout port max-size min-size chmod chown out-format B M:x remote-option:x suffix info debug",
        ToLast("r"),
    ),
    ("scp", "c D:x F:r i:r J l o:o P S:x X", ToLast("r")),
    ("sftp", "b:r B c D F:r i:r J l o:o P R S:x s", All("?")),
    (
        "curl",
        "o:w output:w output-dir:w T:r upload-file:r K:r config:r c:w cookie-jar:w D:w dump-header:w E:r cert:r key:r cacert:r capath:r netrc-file:r trace:w trace-ascii:w stderr:w d:@ data:@ data-binary:@ data-raw data-urlencode:@ url-query:@ json:@ F:@ form:@ form-string b:@ cookie:@ H:@ header:@ u user A user-agent e referer X request x proxy m max-time connect-timeout w:@ write-out:@ r range retry retry-delay retry-max-time resolve url:@ U proxy-user y Y z:r limit-rate max-redirs interface libcurl:w hsts:w alt-svc:w ssl-sessions:w knownhosts:r pubkey:r crlfile:r proxy-cacert:r proxy-cert:r proxy-key:r proxy-capath:r variable:@ etag-save:w etag-compare:r unix-socket:r proto tlsv1.3 ciphers cert-type key-type pass request-target max-filesize proxy-header create-file-mode",
        Nothing,
    ),
    (
        "wget",
        "O:w output-document:w P:w directory-prefix:w o:w output-file:w a:w append-output:w i:r input-file:r load-cookies:r save-cookies:w post-file:r body-file:r certificate:r private-key:r ca-certificate:r config:r use-askpass:x U user-agent t tries T timeout header user password post-data method e execute level l A R D Q limit-rate reject accept domains warc-file:w rejected-log:w hsts-file:w ca-directory:r crl-file:r",
        Nothing,
    ),
    (
        "patch",
        "i:r input:r o:w output:w d:w directory:w r:w reject-file:w p strip B z Y V F D prefix suffix fuzz",
        All("w"),
    ),
    ("ex", "c:c cmd:c S:r u:r U:r i:_ T r:_ w:w t q:r", All("rw")),
    (
        "ed vi vim nvim view nano pico emacs emacsclient micro code subl kak hx helix joe mcedit gedit kate open xdg-open",
        "c:c cmd:c S:r s:r u:r U:r i:_ T r:_ w:w eval:c f:_ l:r load:r e_ t q:r",
        All("rw"),
    ),
    ("jq gojq jaq", "f:r from-file:r L:r indent rawfile:r slurpfile:r", After(1, "r")),
    ("yq", "I:_ o:_ p:_ from-file:r output-format input-format indent split-exp", After(1, "r")),
    ("dos2unix unix2dos", "", All("rw")),
    (
        "ptx",
        "b:r F g i:r M o:r S W w break-file:r ignore-file:r only-file:r width gap-size",
        All("r"),
    ),
    (
        "gpg gpg2",
        "o:w output:w u r_ recipient local-user homedir:r passphrase-file:r status-file:w logger-file:w",
        All("r"),
    ),
    ("ssh-keygen", "f:w b C N P t O I n s:r D z", Nothing),
    (
        "make gmake",
        "E:c eval:c C:C directory:C f:r file:r makefile:r I:r include-dir:r j jobs l o:_ W",
        Nothing,
    ),
    ("ninja", "C:C f:r j k l d t w", Nothing),
    (
        "just task",
        "d:C dir:C working-directory:C f:r justfile:r t:r taskfile:r shell:x shell-arg dotenv-path:r j jobs",
        Nothing,
    ),
    (
        "echo printf true false pwd date whoami id uname hostname ps kill killall pkill pgrep which whereis sleep seq expr yes tput clear basename dirname nproc uptime free arch tty locale groups getconf printenv logname users w who last tr test [ sync reset stty factor numfmt",
        "",
        Nothing,
    ),
];

impl Walker<'_> {
    /// A program of the table; whether it is in it.
    pub(super) fn tabled(
        &mut self,
        name: &str,
        fields: &[Field],
        state: &State,
        call: Call<'_>,
    ) -> bool {
        let Some((_, valued, operands)) = BY_NAME.get(name) else { return false };
        let words = super::editors::words_of(name, fields.get(1..).unwrap_or_default());
        let kept = is_jq(name).then(|| without_values_of_jq(&words));
        let words = kept.as_deref().unwrap_or(&words);
        let (found, _) = read(words, Valued(valued), false);
        let state = &self.options_of(name, Valued(valued), &found, state, call);
        self.unlisted(name, Valued(valued), words, state, call);
        self.after_options(name, &found, state, call);
        if found.has_unknown && runs_by_option(valued) {
            self.doubt(
                DoubtKind::Option,
                &format!("an argument of `{name}` is not known, and may be an option"),
                call.span,
            );
        }
        let paths = &found.operands;
        let mut each = |paths: &[Field], kinds: &str| {
            for path in paths {
                self.touches(kinds, path, state, name, call);
            }
        };
        match operands {
            Nothing => {}
            All(kinds) => each(paths, kinds),
            After(count, kinds) => {
                // The first word is given by an option instead.
                let is_given = found.has(&[
                    "e",
                    "f",
                    "regexp",
                    "file",
                    "from-file",
                    "reference",
                    "files",
                    "type-list",
                ]) && !matches!(name, "chattr");
                // `chmod -x file`: the mode looks like an option.
                let is_mode = |(option, _): &(String, Option<Field>)| {
                    option.len() == 1 && "rwxXst".contains(option.as_str())
                };
                let is_given = is_given || name == "chmod" && found.options.iter().any(is_mode);
                let skipped = if is_given { 0 } else { *count };
                each(paths.get(skipped..).unwrap_or_default(), kinds);
            }
            First(first, others) => {
                each(paths.get(..1).unwrap_or_default(), first);
                each(paths.get(1..).unwrap_or_default(), others);
            }
            ToLast(sources) => self.brought(name, &found, sources, state, call),
        }
        self.changed_by(name, &found, state, call);
        self.deep_of(name, &found, state, call);
        self.named_by_lists(name, &found, state, call);
        self.beyond(name, &found, state, call);
        true
    }

    /// What `patch` and `yq` change, which no letters tell.
    fn changed_by(&mut self, name: &str, found: &Read, state: &State, call: Call<'_>) {
        if name == "patch" {
            let folder = found.values(&["d", "directory"]).last().cloned();
            let strip = found.values(&["p", "strip"]).last().cloned();
            let mut files: Vec<Field> = found.values(&["i", "input"]).cloned().collect();
            // The first operand is the file that is changed, the second the patch.
            files.extend(found.operands.get(1).cloned());
            let patch = Patching { folder: folder.as_ref(), strip: strip.as_ref(), files: &files };
            self.patched("patch", &patch, state, call);
        }
        if name == "yq"
            && let Some(expression) = found.operands.first().and_then(Field::known)
        {
            for path in loaded(expression) {
                self.touch(TouchKind::Read, &Field::text(path), state, name, call.span);
            }
        }
        if name == "yq" && found.has(&["i", "inplace"]) {
            for path in found.operands.get(1..).unwrap_or_default() {
                self.written_to(path, state, name, call.span);
            }
        }
    }

    /// Words behind long options that the table does not have, if they are called like those that write.
    fn unlisted(
        &mut self,
        name: &str,
        valued: Valued,
        words: &[Field],
        state: &State,
        call: Call<'_>,
    ) {
        for pair in words.windows(2) {
            let [option, value] = pair else { continue };
            let Some(long) = option.known().and_then(|it| it.strip_prefix("--")) else { continue };
            if valued.kind(long).is_none() && !value.begins().starts_with('-') {
                self.put_by(name, long, value, state, call.span);
            }
        }
    }

    /// What the values of options are.
    fn options_of(
        &mut self,
        name: &str,
        valued: Valued,
        found: &Read,
        state: &State,
        call: Call<'_>,
    ) -> State {
        let mut own = state.clone();
        for (option, value) in &found.options {
            let Some(value) = value else { continue };
            match valued.kind(option) {
                Some("_") => {}
                Some("x") => self.joined_text(std::slice::from_ref(value), state, call),
                // Those of editors are looked at together.
                Some("c") if super::editors::is_editor(name) => {}
                Some("c") => self.doubt(
                    DoubtKind::Code,
                    &format!("`{name}` is given commands of its own"),
                    call.span,
                ),
                Some("C") => {
                    self.touch(TouchKind::List, value, state, name, call.span);
                    own.folders = match value.known() {
                        Some(path) => {
                            own.folders.iter().map(|it| super::wrappers::beside(it, path)).collect()
                        }
                        None => vec![super::CommandFolder::Unknown],
                    };
                }
                Some("@") => self.text_or_file(option, value, state, name, call),
                // `-o ProxyCommand=text`.
                Some("o") => self.option_of_ssh(value, state, call),
                Some(_) if option == "files0-from" => {
                    // What is no name of a file is told in an error.
                    self.touch(TouchKind::Read, value, state, "", call.span);
                    self.names_from(Some(value), state, name, call);
                }
                Some(kinds) => self.touches(kinds, value, state, name, call),
                None => {
                    self.maybe(std::slice::from_ref(value), state, name, call.span);
                    // No option of a program that is known is left out for nothing: it may write there.
                    if !valued.0.is_empty() {
                        self.touch(TouchKind::Likely, value, state, name, call.span);
                    }
                }
            }
        }
        own
    }

    /// `@path` is a file, anything else is text.
    fn text_or_file(
        &mut self,
        option: &str,
        value: &Field,
        state: &State,
        name: &str,
        call: Call<'_>,
    ) {
        let text = value.begins();
        // `-w %output{path}`.
        if let Some((_, rest)) = text.split_once("%output{") {
            let path = rest.split('}').next().unwrap_or(rest).trim_start_matches('>');
            self.touch(TouchKind::Write, &Field::text(path), state, name, call.span);
        }
        // `name@file` is one of a file too where the value is to be encoded.
        let is_named = ["data-urlencode", "url-query", "variable"].contains(&option);
        let is_encoded = is_named && !text.contains('=');
        let is_file = |at: &usize| *at == 0 || text.contains("=@") || is_encoded;
        let is_form = option == "F" || option == "form";
        let from = text.find("=<").filter(|_| is_form).map(|at| at + 2);
        if let Some(at) = from.or(text.find('@').filter(is_file).map(|at| at + 1)) {
            let path = value.after(at);
            for path in if is_form { parts_of_form(&path) } else { vec![path] } {
                self.touch(TouchKind::Read, &path, state, name, call.span);
            }
        } else if !value.is_known() && text.is_empty() {
            self.touch(TouchKind::Read, value, state, name, call.span);
        }
    }

    pub(super) fn option_of_ssh(&mut self, value: &Field, state: &State, call: Call<'_>) {
        let Some(text) = value.known() else {
            self.doubt(
                DoubtKind::Option,
                "an option of `ssh` is not known, and may run a command",
                call.span,
            );
            return;
        };
        let (key, command) = text.split_once(['=', ' ']).unwrap_or((text, ""));
        let key = key.trim().to_ascii_lowercase();
        if ["proxycommand", "localcommand", "knownhostscommand", "remotecommand"]
            .contains(&key.as_str())
            && key != "remotecommand"
        {
            self.joined_text(&[Field::text(command.trim())], state, call);
        }
    }

    /// Touches of each of the kinds that the letters name.
    pub(super) fn touches(
        &mut self,
        kinds: &str,
        path: &Field,
        state: &State,
        by: &str,
        call: Call<'_>,
    ) {
        self.steps += 1;
        for letter in kinds.chars() {
            let kind = match letter {
                'r' => TouchKind::Read,
                'l' => TouchKind::List,
                'w' => TouchKind::Write,
                'd' => TouchKind::Delete,
                'm' => TouchKind::Meta,
                'L' => TouchKind::Likely,
                _ => TouchKind::Maybe,
            };
            self.touch(kind, path, state, by, call.span);
        }
    }
}

/// Whether some option of a program runs a command or writes a file.
fn runs_by_option(valued: &str) -> bool {
    valued.split_whitespace().any(|entry| entry.ends_with(":x") || entry.ends_with(":c"))
}

/// The files of one part of a form: `a,b;type=text/plain`, each perhaps in quotes. What is not known stays as it is.
fn parts_of_form(value: &Field) -> Vec<Field> {
    let Some(text) = value.known() else { return vec![value.clone()] };
    let names = text.split(';').next().unwrap_or(text).split(',');
    let own = names.map(|it| Field::text(it.trim_matches('"')));
    // A name may hold what else ends it.
    own.chain(std::iter::once(value.clone())).collect()
}
/// The files that an expression of `yq` takes in: `load("a")`, `load_str("a")`.
fn loaded(expression: &str) -> Vec<&str> {
    let after = expression.match_indices("load").map(|(at, word)| &expression[at + word.len()..]);
    let path = |rest: &'_ str| -> Option<usize> {
        let name = rest.find(|it: char| !it.is_ascii_alphanumeric() && it != '_')?;
        rest[name..].starts_with('(').then_some(name + 1)
    };
    let inside = after.filter_map(|rest| rest.get(path(rest)?..));
    inside.filter_map(|it| it.trim_start().strip_prefix('"')?.split('"').next()).collect()
}

fn is_jq(name: &str) -> bool {
    ["jq", "gojq", "jaq"].contains(&name)
}

/// The words of `jq` without names and values of its variables. Of those that are files, the files stay.
fn without_values_of_jq(words: &[Field]) -> Vec<Field> {
    let mut kept: Vec<Field> = Vec::new();
    let mut rest = words.iter();
    let mut has_filter = false;
    while let Some(word) = rest.next() {
        match word.known() {
            Some("--arg" | "--argjson") => {
                rest.next();
                rest.next();
            }
            Some("--rawfile" | "--slurpfile") => {
                rest.next();
                kept.push(word.clone());
                kept.extend(rest.next().cloned());
            }
            // All that follows are values, except for the filter and options.
            Some("--args" | "--jsonargs") => {
                let is_option = |it: &&Field| it.begins().starts_with('-');
                let filter = rest.clone().find(|it| !is_option(it)).filter(|_| !has_filter);
                kept.extend(filter.cloned());
                kept.extend(rest.filter(is_option).cloned());
                break;
            }
            _ => {
                has_filter |= !word.begins().starts_with('-');
                kept.push(word.clone());
            }
        }
    }
    kept
}
