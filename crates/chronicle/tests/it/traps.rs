//! Traps that a worker plants in the project, for whoever runs git there: Chronicle runs git in every command that looks at files, and
//! springs none of them.

use std::fs;
use std::path::{Path, PathBuf};

use crate::session::{RUN, Said, Session};

/// Every way that is known to have git run a program. `$M` is where a trap tells that it was sprung, `$T` is full of traps.
const PLANT: &str = r#"
set -eu
trap_named() {
  printf '#!/bin/sh\n: >"%s/%s"\ncase "$1" in -*|"") cat ;; esac\n' "$M" "$1" >"$T/$1"
  chmod +x "$T/$1"
}
all_in() { # a repository, and what its traps are called
  for hook in applypatch-msg post-checkout post-commit post-index-change post-merge post-rewrite pre-auto-gc pre-commit reference-transaction update; do
    trap_named "$2-hook-$hook"; mkdir -p "$1/hooks"; cp "$T/$2-hook-$hook" "$1/hooks/$hook"
  done
  set_trap() { trap_named "$3-$(echo "$2" | tr . -)"; git config --file "$1/config" "$2" "$T/$3-$(echo "$2" | tr . -)"; }
  for name in core.fsmonitor core.sshCommand core.pager core.editor core.askPass core.gitProxy core.alternateRefsCommand sequence.editor diff.external diff.trap.textconv diff.trap.command \
      filter.trap.clean filter.trap.smudge merge.trap.driver gpg.program gpg.ssh.program gpg.x509.program pager.log pager.diff pager.config interactive.diffFilter \
      uploadpack.packObjectsHook remote.origin.uploadpack web.browser man.viewer mergetool.trap.cmd; do
    set_trap "$1" "$name" "$2"
  done
  for name in log diff ls-files rev-parse config status diff-files diff-tree read-tree write-tree hash-object; do
    trap_named "$2-alias-$name"; git config --file "$1/config" "alias.$name" "!$T/$2-alias-$name"
  done
  trap_named "$2-credential"; git config --file "$1/config" credential.helper "!$T/$2-credential"
  git config --file "$1/config" log.showSignature true
  git config --file "$1/config" filter.trap.required false
  git config --file "$1/config" remote.origin.url "ssh://nowhere.invalid/x"
  git config --file "$1/config" remote.origin.promisor true
  trap_named "$2-included"; printf '[core]\n\tfsmonitor = %s\n[filter "other"]\n\tclean = %s\n\tsmudge = %s\n' "$T/$2-included" "$T/$2-included" "$T/$2-included" >"$T/$2-include"
  git config --file "$1/config" include.path "$T/$2-include"
  mkdir -p "$1/info"; printf '* filter=trap diff=trap merge=trap\n*.md filter=other\n' >"$1/info/attributes"
}
GIT="${THEIRS:-.git}"
all_in "$GIT" mine
all_in .chronicle/trees.git ours
printf '* filter=trap diff=trap merge=trap text\n*.md filter=other\n' >.gitattributes
# Once: git itself would spring what was planted there before.
[ -e nested/.git ] || (mkdir nested; cd nested; git init -q .; echo x >file; git add file; git -c user.name=x -c user.email=x@x commit -qm x; echo y >file)
all_in nested/.git nested; cp .gitattributes nested/
for folder in . node_modules/.bin sub; do
  mkdir -p "$folder"; trap_named "program-in-$(echo "$folder" | tr -dc a-z)-"; cp "$T/program-in-$(echo "$folder" | tr -dc a-z)-" "$folder/git"
done
"#;

const WORKFLOW: &str = "
name: Main
phases:
  - {id: plant, approval: after}
  - {id: build, verify: 'true', cleanup: 'true'}
";

fn script(plant: &Path) -> String {
    format!(
        r#"
plant:
  - shell: {{command: "sh {}"}}
  - write: {{path: notes.md, text: "planted\n"}}
  - complete: {{summary: planted}}
build:
  - shell: {{command: "echo more >>src.c; echo more >>notes.md; echo z >>nested/file; rm old.c; touch src.c"}}
  - complete: {{summary: built}}
"#,
        plant.display()
    )
}

struct TrapYard {
    session: Session,
    /// Where traps tell that they were sprung.
    marks: PathBuf,
}

impl TrapYard {
    /// A repository with a commit that claims to be signed; `theirs` is where its `.git` really is.
    fn new(theirs: Option<&str>) -> Self {
        let session = Session::new();
        let outside = session.project().parent().unwrap().join("outside");
        let (marks, traps) = (outside.join("marks"), outside.join("traps"));
        for folder in [&marks, &traps] {
            fs::create_dir_all(folder).unwrap();
        }
        let plant = outside.join("plant.sh");
        let head = format!(
            "M={}; T={}; THEIRS={}\nPATH=/usr/local/bin:/usr/bin:/bin\n",
            marks.display(),
            traps.display(),
            theirs.unwrap_or(".git")
        );
        fs::write(&plant, head + PLANT).unwrap();
        session.write(".chronicle/workflows/main.yaml", WORKFLOW);
        session.write("script.yaml", script(&plant));
        for (name, text) in
            [("src.c", "int a;\n"), ("old.c", "int b;\n"), (".gitignore", "*.log\n")]
        {
            session.write(name, text);
        }
        let separate = theirs.map_or(String::new(), |dir| format!("--separate-git-dir={dir}"));
        let made = session.shell(&format!(
            "git init -q {separate} . && git add src.c old.c .gitignore && git -c user.name=x -c user.email=x@x commit -qm first \
             && git cat-file commit HEAD | sed 's/^committer .*/&\\ngpgsig -----BEGIN PGP SIGNATURE-----\\n \\n x\\n -----END PGP SIGNATURE-----/' \
             | git hash-object -t commit -w --stdin | xargs git update-ref HEAD"
        ));
        made.exits(0);
        Self { session, marks }
    }

    fn plant(&self) {
        let script = self.marks.with_file_name("plant.sh");
        self.session.shell(&format!("sh {}", script.display())).exits(0);
    }

    /// With a path that leads into the project first.
    fn chronicle(&self, args: &[&str]) -> Said {
        let mut command = self.session.command(env!("CARGO_BIN_EXE_chronicle"));
        let path = std::env::var("PATH").unwrap();
        command.args(args).env("PATH", format!(".:node_modules/.bin::sub:{path}:"));
        self.session.start(command, "").wait()
    }

    fn sprung(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.marks).unwrap().flatten();
        let mut names: Vec<String> =
            entries.map(|entry| entry.file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[track_caller]
    fn says(&self, args: &[&str], code: i32) -> Said {
        let said = self.chronicle(args);
        assert_eq!(self.sprung(), [""; 0], "{args:?}");
        assert_eq!(said.code, Some(code), "{args:?}: {}{}", said.stdout, said.stderr);
        said
    }
}

/// Every command that looks at files, in a project full of traps.
fn walk(yard: &TrapYard) {
    yard.says(RUN, 4);
    let run = yard.session.short();
    let run = run.as_str();
    yard.says(&["status"], 0);
    yard.says(&["approve", run], 0);
    yard.says(&["resume"], 0);
    for args in [
        &["status"][..],
        &["runs"],
        &["log", run],
        &["diff", run],
        &["diff", run, "--json"],
        &["diff", run, "--stat"],
        &["handover", run],
        &["audit", run],
        &["audit", run, "--replay"],
        &["list"],
        &["check"],
        &["config"],
        &["note", run, "hello"],
        &["undo", run, "--list"],
        &["undo", run, "build"],
        &["undo", run, "--back"],
        &["gc"],
    ] {
        // Again before each: recording files puts some of our own things right.
        yard.plant();
        let said = yard.chronicle(args);
        assert_eq!(yard.sprung(), [""; 0], "{args:?}");
        assert!(said.code.is_some_and(|code| code < 3), "{args:?}: {said:?}");
        assert!(!said.stderr.contains("panicked"), "{args:?}: {}", said.stderr);
    }
    let config = yard.session.read(".chronicle/trees.git/config");
    assert!(config.starts_with("[core]") && !config.contains("trap"), "{config}");
    yard.chronicle(&["doctor"]);
    assert_eq!(yard.sprung(), [""; 0], "doctor");
    yard.says(RUN, 4);
    let second = yard.session.short();
    yard.says(&["cancel", &second], 0);
    yard.chronicle(&["init", "--yes"]);
    assert_eq!(yard.sprung(), [""; 0], "init");
}

/// The traps would be sprung by a plain git: otherwise this proves nothing.
fn assert_live(yard: &TrapYard) {
    yard.session.shell(
        "touch src.c notes.md; git status; git diff; git log -1; git add -A; git checkout -f .",
    );
    let sprung = yard.sprung();
    for trap in
        ["mine-included", "mine-filter-trap-clean", "mine-diff-trap-command", "mine-gpg-program"]
    {
        assert!(sprung.iter().any(|it| it == trap), "{trap} is not among {sprung:?}");
    }
}

#[test]
fn needs_git_no_trap_that_a_worker_plants_is_sprung() {
    let yard = TrapYard::new(None);
    walk(&yard);
    assert_live(&yard);
}

#[test]
fn needs_git_no_trap_is_sprung_behind_a_git_file_that_leads_elsewhere() {
    let yard = TrapYard::new(Some("../elsewhere.git"));
    assert!(yard.session.path(".git").is_file());
    walk(&yard);
    assert_live(&yard);
}

/// A repository of ours that is led elsewhere, where everything is planted.
#[test]
fn needs_git_no_trap_is_sprung_in_a_repository_of_ours_that_leads_elsewhere() {
    let yard = TrapYard::new(None);
    yard.says(RUN, 4);
    let run = yard.session.short();
    let ours = yard.session.path(".chronicle/trees.git");
    let elsewhere = yard.session.path("elsewhere");
    let copied = format!("cp -a {} {}", ours.display(), elsewhere.display());
    yard.session.shell(&copied).exits(0);
    for args in
        [&["diff", &run][..], &["approve", &run], &["resume"], &["undo", &run, "build"], &["gc"]]
    {
        fs::write(ours.join("commondir"), elsewhere.display().to_string()).unwrap();
        yard.chronicle(args);
        assert_eq!(yard.sprung(), [""; 0], "{args:?}");
    }
    assert!(!ours.join("commondir").exists(), "what is recorded stays in our own place");
}
