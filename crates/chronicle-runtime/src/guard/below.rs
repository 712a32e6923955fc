//! Goes through what lies below a folder that a call uses as a whole, and tells what of it the rules keep.

use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::fs::{self, FileType};
use std::path::{Path, PathBuf};

use chronicle_core::guard::{Compiled, FolderSeen, KnownToGit, WholeFolder};

use super::places;
use crate::trees;

/// Most names below one folder that are looked at.
const NAMES_MAX: usize = 400_000;
/// The same where the worker has no work: who goes through a whole disk is asked about, and not waited for.
const NAMES_ELSEWHERE_MAX: usize = 20_000;
/// The same where something is changed there, which a rule is against anyhow.
const CHANGED_ELSEWHERE_MAX: usize = 2_000;
/// Most files that are told: one is enough for a verdict, a few for people.
const TOLD_MAX: usize = 3;

/// What the rules keep of all that a call would use below a folder. `folder` is the worker's own.
pub(super) fn look_below(rules: &Compiled, used: &WholeFolder, folder: &Path) -> FolderSeen {
    let Some(seen) = places::see(&used.whole, folder) else {
        return FolderSeen { is_cut: true, ..FolderSeen::default() };
    };
    let (found, followed) = (FolderSeen::default(), HashSet::new());
    let mut search = Search { rules, used, left: NAMES_MAX, found, followed };
    let project = Path::new(&rules.place().project);
    for root in seen.real.iter().map(PathBuf::from) {
        if !root.starts_with(project) && !root.starts_with(folder) {
            let is_changed = used.is_changed();
            let most = if is_changed { CHANGED_ELSEWHERE_MAX } else { NAMES_ELSEWHERE_MAX };
            search.left = search.left.min(most);
        }
        search.root(&root);
    }
    search.found
}

struct Search<'s> {
    rules: &'s Compiled,
    used: &'s WholeFolder,
    left: usize,
    found: FolderSeen,
    /// Folders that links led to.
    followed: HashSet<PathBuf>,
}

impl Search<'_> {
    fn root(&mut self, root: &Path) {
        // What is a file is judged by its own name.
        if !root.is_dir() {
            return;
        }
        let listed = match self.used.sieve.known_to_git {
            KnownToGit::Any => None,
            KnownToGit::NotIgnored => trees::files_of_theirs(root, true),
            KnownToGit::Tracked => trees::files_of_theirs(root, false),
            // Outside of a repository git takes up nothing.
            KnownToGit::Untracked => Some(untracked(root).unwrap_or_default()),
        };
        match listed {
            Some(files) => self.listed(root, &files),
            // Outside of a repository nothing is ignored.
            None => self.folder(root, "", false),
        }
    }

    fn is_done(&mut self) -> bool {
        if self.left == 0 {
            self.found.is_cut = true;
            return true;
        }
        self.left -= 1;
        self.found.kept.len() >= TOLD_MAX
    }

    /// Everything in a folder and below it. Links are looked at, and gone through only if the program does so.
    fn folder(&mut self, folder: &Path, below: &str, is_kept: bool) {
        let Ok(entries) = fs::read_dir(folder) else { return };
        for entry in entries.flatten() {
            if self.is_done() {
                return;
            }
            let name = entry.file_name();
            let Ok(kind) = entry.file_type() else { continue };
            // What git keeps for itself is read by nobody who looks for something in a project.
            if kind.is_dir() && name == OsStr::new(".git") && self.used.is_only_read() {
                continue;
            }
            let name = name.to_string_lossy();
            let below =
                if below.is_empty() { name.into_owned() } else { format!("{below}/{name}") };
            self.entry(&entry.path(), &below, kind, is_kept);
        }
    }

    fn entry(&mut self, path: &Path, below: &str, kind: FileType, is_kept: bool) {
        let is_kept = is_kept || self.keeps(path, below);
        if kind.is_dir() {
            if !self.used.sieve.skips(below) {
                self.folder(path, below, is_kept);
            }
            return;
        }
        if is_kept {
            self.tell(path, below);
        } else if kind.is_symlink() {
            self.link(path, below);
        }
    }

    /// What lies behind a link.
    fn link(&mut self, path: &Path, below: &str) {
        let Ok(real) = fs::canonicalize(path) else { return };
        if real.ancestors().any(|part| self.keeps(part, below)) {
            self.tell(&real, below);
        } else if self.used.sieve.follows_links
            && real.is_dir()
            && !self.used.sieve.skips(below)
            && self.followed.insert(real.clone())
        {
            self.folder(&real, below, false);
        }
    }

    /// Files by their paths below a folder.
    fn listed(&mut self, root: &Path, files: &[PathBuf]) {
        let mut folders: HashMap<PathBuf, bool> = HashMap::new();
        for file in files {
            if self.is_done() {
                return;
            }
            let is_kept =
                file.parent().is_some_and(|folder| self.is_in(root, folder, &mut folders));
            let (path, below) = (root.join(file), text(file));
            // A repository inside of it is one name to git.
            let found = fs::symlink_metadata(&path).ok();
            let is_link = found.as_ref().is_some_and(std::fs::Metadata::is_symlink);
            if let Some(found) = found.filter(std::fs::Metadata::is_dir) {
                self.entry(&path, &below, found.file_type(), is_kept);
            } else if is_link && self.used.sieve.follows_links && !is_kept {
                self.link(&path, &below);
            } else if is_kept || self.keeps(&path, &below) {
                self.tell(&path, &below);
            }
        }
    }

    /// True if a folder, or one above it, is kept.
    fn is_in(&self, root: &Path, folder: &Path, folders: &mut HashMap<PathBuf, bool>) -> bool {
        if folder.as_os_str().is_empty() {
            return false;
        }
        if let Some(known) = folders.get(folder) {
            return *known;
        }
        let above = folder.parent().is_some_and(|above| self.is_in(root, above, folders));
        let is_kept = above || self.keeps(&root.join(folder), &text(folder));
        folders.insert(folder.to_path_buf(), is_kept);
        is_kept
    }

    fn keeps(&self, path: &Path, below: &str) -> bool {
        self.rules.keeps(self.used, &text(path), below)
    }

    fn tell(&mut self, path: &Path, below: &str) {
        if self.used.sieve.takes(below) {
            self.found.kept.push((text(path), below.to_owned()));
        }
    }
}

/// Files that git neither keeps nor ignores.
fn untracked(root: &Path) -> Option<Vec<PathBuf>> {
    let kept: HashSet<PathBuf> = trees::files_of_theirs(root, false)?.into_iter().collect();
    let mut all = trees::files_of_theirs(root, true)?;
    all.retain(|file| !kept.contains(file));
    Some(all)
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;
    use std::process::Command;

    use chronicle_core::base::tools::ToolKind;
    use chronicle_core::definition::guard::{built_in, read_rules};
    use chronicle_core::definition::workflow::Source;
    use chronicle_core::guard::{AskedCall, Judgement};
    use serde_json::{Value, json};

    use super::super::{Guard, whereabouts};
    use super::*;

    const RULES: &str = "zeroAccessPaths: ['secrets/', '*.pem']\nreadOnlyPaths: [fixed.txt]\n";

    /// A repository with hidden files: `secrets/key` is kept by git, `a/server.pem` is ignored, `.git/hooks` is nobody's.
    fn project() -> (tempfile::TempDir, PathBuf, Guard) {
        let folder = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(folder.path()).unwrap();
        for (path, text) in [
            ("src/main.rs", "x"),
            ("fixed.txt", "x"),
            ("secrets/key", "x"),
            ("a/server.pem", "x"),
            (".gitignore", "*.pem\n"),
            ("over/fixed.txt", "y"),
            ("hook/.git/hooks/pre-commit", "y"),
            ("new/readme", "y"),
            (".chronicle/rules.yaml", "x"),
            (".chronicle/runs/r/ledger.jsonl", "x"),
            ("bad.patch", "--- a/fixed.txt\n+++ b/fixed.txt\n@@ -1 +1 @@\n-x\n+y\n"),
            ("good.patch", "--- a/src/main.rs\n+++ b/src/main.rs\n@@ -1 +1 @@\n-x\n+y\n"),
        ] {
            let path = root.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        for args in [&["init", "-q"][..], &["add", "src", "secrets", ".gitignore"]] {
            assert!(Command::new("git").args(args).current_dir(&root).status().unwrap().success());
        }
        let (name, text) = ("rules.yaml".to_owned(), RULES.to_owned());
        let read = read_rules(&Source { file: None, name, key: String::new(), text });
        let place = whereabouts(&root, None);
        let rules = Compiled::new(&[read.rules, built_in()], &place).unwrap();
        (folder, root, Guard { rules })
    }

    fn verdict(guard: &Guard, tool: &str, input: &Value) -> &'static str {
        let kind = ToolKind::Unknown;
        let call = AskedCall { tool, kind, input, by_sub_agent: false, is_signal: false };
        match guard.judge(&call, None, None) {
            Judgement::Clear => "allow",
            Judgement::Ask { .. } => "ask",
            Judgement::Deny { .. } => "deny",
        }
    }

    #[track_caller]
    fn check(cases: &[(&str, &str)]) {
        let (_folder, _, guard) = project();
        let judged = |command: &str| verdict(&guard, "bash", &json!({ "command": command }));
        let wrong: Vec<String> = cases
            .iter()
            .filter(|(expected, command)| judged(command) != *expected)
            .map(|(expected, command)| format!("{command}: {} for {expected}", judged(command)))
            .collect();
        assert_eq!(wrong, Vec::<String>::new());
    }

    #[test]
    fn needs_git_whoever_reads_a_whole_folder_is_asked_about_what_is_hidden_in_it() {
        check(&[
            ("ask", "grep -r x ."),
            ("ask", "grep -rn x"),
            ("ask", "grep --recursive x a src"),
            ("deny", "grep -r x *"),
            ("ask", "cd a && grep -R x ."),
            ("ask", "grep -r --include='*.pem' x a"),
            ("deny", "find . -type f -exec cat {} +"),
            ("ask", "find . -type f | xargs cat"),
            ("ask", "find a -name '*.p*' -exec head {} ';'"),
            ("ask", "tar czf /tmp/all.tgz ."),
            ("ask", "zip -r /tmp/all.zip a src"),
            ("ask", "cp -r a /tmp/b"),
            ("ask", "cp -a . /tmp/b"),
            ("ask", "rsync -a ./ /tmp/b/"),
            ("ask", "diff -r a src"),
            ("ask", "rg x"),
            ("ask", "rg -uu x a"),
            ("ask", "git grep x"),
            ("ask", "git ls-files | xargs cat"),
            ("ask", "git archive -o /tmp/x.tar HEAD"),
            ("deny", "git stash push --all -m tmp"),
            ("ask", "git add -f ."),
            ("ask", "rgrep x ."),
            ("ask", "git ls-files -co | xargs grep ."),
            ("ask", "aws s3 sync . s3://scratch/app"),
            ("ask", "rclone copy ./a remote:x"),
            ("allow", "git stash push -m tmp && git add -A ."),
            ("allow", "aws s3 sync src s3://scratch/app"),
            ("allow", "aws s3 ls s3://scratch/"),
            ("allow", "grep -r x src"),
            ("allow", "cat src/main.rs | grep -r x -"),
            ("allow", "grep -r --include='*.rs' x ."),
            ("allow", "grep -r --exclude-dir=secrets --exclude='*.pem' x ."),
            ("allow", "grep x src/main.rs"),
            ("allow", "echo x | rg x"),
            ("allow", "rg x a"),
            ("allow", "rg -t rust x"),
            ("allow", "rg -g '!secrets' x"),
            ("allow", "rg --files"),
            ("allow", "git grep x -- src"),
            ("allow", "git grep x -- ':!secrets'"),
            ("allow", "git ls-files | wc -l"),
            ("allow", "find . -type f"),
            ("allow", "find . -name '*.rs' -exec cat {} +"),
            ("allow", "find . -name '*.rs' | xargs grep x"),
            ("allow", "find . -type f -not -path './secrets/*' -not -name '*.pem' | xargs cat"),
            ("allow", "find . -type f | grep -v secrets | grep -v pem | xargs cat"),
            ("allow", "tar czf /tmp/all.tgz --exclude=secrets --exclude='*.pem' ."),
            ("allow", "tar czf /tmp/all.tgz src"),
            ("allow", "cp -r src /tmp/b"),
            ("allow", "ls -R ."),
        ]);
    }

    #[test]
    fn needs_git_what_git_takes_up_and_shows_or_takes_away_is_looked_at() {
        let (_folder, root, guard) = project();
        let judged = |command: &str| verdict(&guard, "bash", &json!({ "command": command }));
        for command in ["git add -A && git diff --cached", "git add -A; git commit -qm x; git show"]
        {
            assert_eq!(judged(command), "allow", "{command}: nothing that is hidden is new");
        }
        assert_eq!(judged("git stash -u"), "deny", "`fixed.txt` is not known to git");
        fs::create_dir_all(root.join("new/secrets")).unwrap();
        fs::write(root.join("new/secrets/key"), "x").unwrap();
        for command in [
            "git add -A && git diff --cached",
            "git add . && git diff --staged",
            "git add -N . && git diff",
            "git add -A && git commit -qm x && git show",
            "git add -A && git commit -qm x && git log -p -1",
        ] {
            assert_eq!(judged(command), "ask", "{command}");
        }
        for command in [
            "git add -A && git commit -m x",
            "git add -A && git diff --cached --stat",
            "git add src && git diff --cached",
            "git add -A && git log --oneline",
            "git diff --cached",
            "git stash",
        ] {
            assert_eq!(judged(command), "allow", "{command}");
        }
        let git = |args: &[&str]| {
            assert!(Command::new("git").args(args).current_dir(&root).status().unwrap().success());
        };
        git(&["add", "-A"]);
        fs::write(root.join("other.txt"), "x").unwrap();
        assert_eq!(judged("git stash -u"), "allow", "nothing that is kept is new");
    }

    #[test]
    fn needs_git_rare_ways_to_read_a_whole_folder_are_known() {
        check(&[
            ("ask", "git diff --no-index src ."),
            ("ask", "grep --dir=recurse x ."),
            ("ask", "grep --direc=recurse x a"),
            ("ask", "grep -r --exclude='*.pem' --include='*.pem' x a"),
            ("ask", "grep -r --exclude='*.md' --include='*.rs' x ."),
            ("ask", "python3 -m tarfile -c x.tar ."),
            ("ask", "python3 -m zipfile -c x.zip a"),
            ("ask", "python3 -c 'import shutil; shutil.make_archive(\"x\", \"tar\", \".\")'"),
            ("ask", "python3 -c 'import shutil; shutil.copytree(\"a\", \"/tmp/b\")'"),
            (
                "deny",
                "python3 -c 'import shutil; shutil.copytree(\"over\", \".\", dirs_exist_ok=True)'",
            ),
            ("deny", "node -e 'fs.cpSync(\"over\", \".\", {recursive: true})'"),
            ("ask", "tar cf x.tar --no-wildcards --exclude='s*' --exclude='*.pem' ."),
            ("deny", "zip -R x.zip '*.pem'"),
            ("ask", "find . -type f > l; tar cf - -T l"),
            ("deny", "git add 'secr*/*'"),
            ("ask", "git add ':(glob)s*/**'"),
            ("deny", "git add s*"),
            ("allow", "git diff --no-index src new"),
            ("allow", "git diff --no-index --stat src ."),
            ("allow", "grep -r --include='*.rs' --exclude='*.md' x ."),
            ("allow", "grep -r --exclude-dir=secrets --exclude-dir=a --include='*.rs' x ."),
            ("allow", "python3 -m zipfile -c x.zip src"),
            ("allow", "python3 -m zipfile -l x.zip"),
            ("allow", "zip -R x.zip '*.rs'"),
            ("allow", "find src -type f > l; tar cf x.tar -T l"),
            ("allow", "git add '*.rs'"),
            ("allow", "git add src/*"),
            ("allow", "python3 -c 'import shutil; shutil.copytree(\"src\", \"/tmp/b\")'"),
        ]);
    }

    #[test]
    fn needs_git_the_tools_of_agents_search_what_git_does_not_ignore() {
        let (_folder, _, guard) = project();
        for (expected, tool, input) in [
            ("ask", "Grep", json!({"pattern": "x"})),
            ("ask", "Grep", json!({"pattern": "x", "path": "."})),
            ("allow", "Grep", json!({"pattern": "x", "path": "a"})),
            ("allow", "Grep", json!({"pattern": "x", "glob": "*.rs"})),
            ("allow", "Grep", json!({"pattern": "x", "path": "src"})),
            ("ask", "grep", json!({"pattern": "x"})),
            ("allow", "Glob", json!({"pattern": "**/*"})),
            ("allow", "ls", json!({"path": "."})),
        ] {
            assert_eq!(verdict(&guard, tool, &input), expected, "{tool} {input}");
        }
    }

    #[test]
    fn needs_git_what_copies_and_patches_in_files_change_is_known() {
        check(&[
            ("deny", "find . -name '*.jsonl' -exec rm {} +"),
            ("deny", "find . -name '*.jsonl' -delete"),
            ("deny", "find . -name '*.jsonl' | xargs rm"),
            ("deny", "find . -name 'ledger*' -exec truncate -s 0 {} +"),
            ("deny", "find . -name rules.yaml -exec cp new/readme {} ';'"),
            ("deny", "find . -type f -exec sed -i s/a/b/ {} +"),
            ("deny", "grep -rl x . | xargs sed -i s/x/y/"),
            ("deny", "find . -name 'fix*.txt' -exec sed -i s/a/b/ {} +"),
            ("deny", "git ls-files -o '*.txt' | xargs sed -i s/a/b/"),
            ("deny", "git show --name-only --format= HEAD | xargs rm -f"),
            ("deny", "rm $(git ls-files 'secr*')"),
            ("deny", "git grep -l x | xargs sed -i s/x/y/"),
            ("deny", "git diff --name-only HEAD~1 | xargs rm"),
            ("allow", "git grep -l x src | xargs sed -i s/x/y/"),
            ("allow", "git ls-files '*.rs' | xargs sed -i s/x/y/"),
            ("allow", "git diff --name-only | grep '\\.rs$' | xargs sed -i s/x/y/"),
            ("allow", "prettier --write $(git diff --name-only)"),
            ("allow", "find . -name '*.rs' -exec sed -i s/a/b/ {} +"),
            ("allow", "find . -name '*.rs' -delete"),
            ("allow", "grep -rl x src | xargs sed -i s/x/y/"),
            ("allow", "grep -rl --include='*.rs' x . | xargs sed -i s/x/y/"),
            ("allow", "rg -l x src | xargs sed -i s/x/y/"),
            ("allow", "find . -name __pycache__ -type d -exec rm -rf {} +"),
            ("deny", "cp -r over/. ."),
            ("deny", "cp -rT over ."),
            ("deny", "rsync -a over/ ."),
            ("deny", "cp -a hook/. ."),
            ("deny", "patch -p1 < bad.patch"),
            ("deny", "patch -p1 -i bad.patch"),
            ("deny", "cat bad.patch | patch -p1"),
            ("deny", "git apply bad.patch"),
            ("deny", "git apply < bad.patch"),
            ("deny", "git apply --index bad.patch"),
            ("deny", "git apply --stat --apply bad.patch"),
            ("deny", "git apply bad.p*"),
            ("ask", "git apply $(ls bad.p*)"),
            ("ask", "git apply <(cat bad.patch)"),
            ("ask", "head -50 bad.patch | git apply"),
            ("ask", "git diff other | git apply"),
            ("ask", "base64 -d x > made.patch; git apply made.patch"),
            ("allow", "cp -r new/. ."),
            ("allow", "cp fixed.txt /tmp/fixed.before && wc -l /tmp/fixed.before"),
            ("deny", "cp new/readme fixed.txt"),
            ("allow", "cp -r over /tmp/elsewhere"),
            ("allow", "patch -p1 < good.patch"),
            ("allow", "git apply good.patch"),
            ("allow", "git apply --check bad.patch"),
        ]);
    }

    #[test]
    fn a_link_that_leads_to_what_is_hidden_is_seen() {
        let (_folder, root, guard) = project();
        fs::create_dir(root.join("links")).unwrap();
        symlink(root.join("secrets/key"), root.join("links/plain")).unwrap();
        let input = json!({"command": "grep -R x links"});
        assert_eq!(verdict(&guard, "bash", &input), "ask");
    }

    #[test]
    fn what_lies_behind_links_to_folders_is_seen_where_they_are_gone_through() {
        let (_folder, root, guard) = project();
        fs::create_dir(root.join("links")).unwrap();
        symlink("..", root.join("links/up")).unwrap();
        fs::create_dir(root.join("loop")).unwrap();
        symlink(".", root.join("loop/again")).unwrap();
        symlink("../src", root.join("loop/src")).unwrap();
        for (expected, command) in [
            ("ask", "grep -R x links"),
            ("ask", "rg -L x links"),
            ("ask", "rg --follow x links"),
            ("ask", "tar -chf a.tar links"),
            ("ask", "tar chf a.tar links"),
            ("deny", "cp -rL links out"),
            ("deny", "rsync -aL links/ out"),
            ("ask", "zip -r a.zip links"),
            ("ask", "find -L links -type f -exec cat {} +"),
            ("allow", "grep -r x links"),
            ("allow", "rg x links"),
            ("allow", "tar -cf a.tar links"),
            ("allow", "zip -ry a.zip links"),
            ("allow", "find links -type f -exec cat {} +"),
            ("allow", "grep -R x loop"),
            ("allow", "rg -L x loop"),
            ("allow", "zip -r a.zip loop"),
        ] {
            let input = json!({ "command": command });
            assert_eq!(verdict(&guard, "bash", &input), expected, "{command}");
        }
    }
}
