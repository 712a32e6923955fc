//! Programs that bring files from elsewhere: other machines, containers, stores. Where these come to lie is written, and in a folder they
//! have the names that they had.

use super::invoke::Call;
use super::options::{Valued, read};
use super::state::State;
use super::value::Field;
use super::walk::Walker;
use super::{Put, TouchKind};

/// Programs, their commands (`|` between such as do the same), and options with values.
const FETCHERS: &[(&str, &[&str], &str)] = &[
    (
        "docker podman nerdctl finch",
        &["cp", "container cp", "compose cp"],
        "index H host c context l log-level config f file p project-name",
    ),
    ("docker-compose podman-compose", &["cp"], "index f file p project-name"),
    (
        "kubectl oc",
        &["cp", "rsync"],
        "c container n namespace context kubeconfig retries cluster user s server token exclude include strategy",
    ),
    (
        "aws",
        &["s3 cp|mv|sync"],
        "profile region endpoint-url exclude include acl storage-class sse content-type output query ca-bundle cache-control metadata",
    ),
    ("gsutil", &["cp|mv|rsync"], "o h x u i"),
    (
        "gcloud",
        &["storage cp|mv|rsync", "compute scp", "alpha storage cp", "app instances scp"],
        "project zone region account configuration exclude x port scp-flag ssh-key-file",
    ),
    (
        "rclone",
        &["copy|copyto|move|moveto|sync|bisync|copyurl"],
        "config exclude include filter exclude-from:r include-from:r files-from:r filter-from:r log-file bwlimit transfers checkers backup-dir \
         max-age min-age max-size min-size log-level timeout retries stats",
    ),
    ("mc", &["cp|mv|mirror|get"], "config-dir exclude newer-than older-than attr encrypt-key C"),
    ("s5cmd", &["cp|mv|sync"], "endpoint-url numworkers exclude include profile"),
    ("s3cmd", &["get|sync"], "c config exclude include host access_key secret_key region"),
    (
        "azcopy",
        &["copy|cp|sync|c"],
        "include-pattern exclude-pattern include-path exclude-path log-level",
    ),
    ("b2", &["download-file-by-name", "download-file", "file download"], "threads"),
    ("lxc incus", &["file pull"], "project uid gid mode"),
    ("multipass", &["transfer|copy-files"], ""),
    ("limactl", &["copy|cp"], "backend"),
    ("vagrant", &["scp"], ""),
    ("adb", &["pull"], "s t H P L z"),
    ("fly flyctl", &["ssh sftp get", "sftp get", "ssh sftp-get"], "a app c config r region s"),
    ("sftp", &[""], "b:r B c D F:r i:r J l o P R S s X"),
    ("scp", &[""], "c D F:r i:r J l o P S X"),
    (
        "rsync",
        &[""],
        "e rsh f filter exclude include T temp-dir B M port timeout bwlimit log-file out-format password-file chmod chown",
    ),
];
/// Those that bring it to where they run if no place is named.
const HERE: [&str; 8] = ["adb", "s3cmd", "sftp", "lxc", "incus", "fly", "flyctl", "mc"];
/// Those whose first operand lies elsewhere although its name does not show it.
const UNMARKED: [&str; 6] = ["adb", "lxc", "incus", "mc", "fly", "flyctl"];

impl Walker<'_> {
    /// What a command brings from elsewhere.
    pub(super) fn fetched(&mut self, name: &str, words: &[Field], state: &State, call: Call<'_>) {
        let row = FETCHERS.iter().find(|(names, ..)| names.split(' ').any(|it| it == name));
        let Some((_, commands, valued)) = row else { return };
        let (found, _) = read(words, Valued(valued), false);
        let operands = found.operands.as_slice();
        let Some(start) = commands.iter().find_map(|it| after_command(operands, it)) else {
            return;
        };
        let operands = operands.get(start..).unwrap_or_default();
        let here = Field::text(".");
        let (sources, target) = match operands {
            [only] if HERE.contains(&name) => (std::slice::from_ref(only), &here),
            [sources @ .., target] if !sources.is_empty() => (sources, target),
            _ => return,
        };
        let is_brought = |it: &Field| UNMARKED.contains(&name) || name_there(it).is_some();
        let names: Vec<Field> = sources
            .iter()
            .filter(|it| is_brought(it))
            .map(|it| name_there(it).unwrap_or_else(|| it.clone()))
            .collect();
        // A dash is what it prints.
        if names.is_empty() || name_there(target).is_some() || target.known() == Some("-") {
            return;
        }
        self.touch(TouchKind::Write, target, state, name, call.span);
        let inside = target.known().filter(|it| !it.ends_with('/')).map(str::to_owned);
        let put = Put { inside, ..Put::default() };
        self.landed(name, &names, target, state, call, &put);
    }
}

/// Where the operands begin that follow the words of a command; `None` if it is another one.
fn after_command(operands: &[Field], command: &str) -> Option<usize> {
    let words: Vec<&str> = command.split_whitespace().collect();
    let is_it = |(operand, word): (&Field, &&str)| {
        operand.known().is_some_and(|it| word.split('|').any(|word| word == it))
    };
    let is_command = operands.len() >= words.len() && operands.iter().zip(&words).all(is_it);
    is_command.then_some(words.len())
}

/// What lies elsewhere, as a path there; `None` for a path of this machine.
fn name_there(path: &Field) -> Option<Field> {
    let text = path.begins();
    let at = text.find(':')?;
    let is_host = text.find('/').is_none_or(|slash| at < slash) || is_of_namespace(text, at);
    // After the colon of an address stand two slashes and a host.
    (at > 0 && is_host).then(|| path.after(at + 1))
}

/// True for `namespace/pod:path`, which looks like a path in a folder.
fn is_of_namespace(text: &str, at: usize) -> bool {
    let before = &text[..at];
    before.matches('/').count() == 1 && !before.starts_with(['.', '/', '~'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lies_elsewhere_is_told_from_paths() {
        for (text, path) in [
            ("host:a/b", "a/b"),
            ("me@host:b", "b"),
            ("s3://bucket/a/b", "//bucket/a/b"),
            ("ns/pod:/x", "/x"),
        ] {
            let found = name_there(&Field::text(text));
            assert_eq!(found.as_ref().and_then(Field::known), Some(path), "{text}");
        }
        for text in ["a/b", "./a:b", "/a:b", "a", ":b", "~/x/a:b"] {
            assert!(name_there(&Field::text(text)).is_none(), "{text}");
        }
    }
}
