//! Files that mean no good: each a bounded, exact problem, and the good ones beside them are found.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails here")]

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use chronicle_runtime::for_tests::discover;
use expect_test::expect;

use crate::discover_formats::{lay_out, told};

const GOOD: &str = "phases: [{id: a}]";

fn folder(root: &Path) -> std::path::PathBuf {
    let folder = root.join("proj/.chronicle/workflows");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("good.yaml"), GOOD).unwrap();
    folder
}

#[test]
fn texts_that_mean_no_good() {
    let root = tempfile::tempdir().unwrap();
    let folder = folder(root.path());
    let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..30 {
        let below = vec![format!("*a{}", level - 1); 9].join(", ");
        writeln!(bomb, "a{level}: &a{level} [{below}]").unwrap();
    }
    let deep = format!("phases: {}", "[".repeat(10_000));
    let texts: [(&str, &[u8]); 9] = [
        ("binary", b"\x7fELF\x02\x01\x01\x00\xff\xfe\x80"),
        ("utf16", b"\xff\xfep\x00h\x00"),
        ("latin1", b"name: caf\xe9\n"),
        ("bomb", bomb.as_bytes()),
        ("deep", deep.as_bytes()),
        ("tabs", b"phases:\n\t- id: a\n"),
        ("twice", b"name: a\nname: b\nphases: [{id: a}]\n"),
        ("empty", b""),
        ("marked", b"\xef\xbb\xbfphases:\r\n  - id: a\r\n"),
    ];
    for (name, text) in texts {
        fs::write(folder.join(format!("{name}.yaml")), text).unwrap();
    }
    let places = lay_out(root.path(), &[]);
    expect![[r#"
        binary BROKEN < proj/.chronicle/workflows/binary.yaml
          error[not-text] proj/.chronicle/workflows/binary.yaml: not text in UTF-8: byte 8 is none (hint: save it as UTF-8)
        bomb BROKEN < proj/.chronicle/workflows/bomb.yaml
          error[too-many-aliases] proj/.chronicle/workflows/bomb.yaml:5:40: anchors and aliases copy more than 1048576 bytes
        deep BROKEN < proj/.chronicle/workflows/deep.yaml
          error[too-deep] proj/.chronicle/workflows/deep.yaml:1:73: nested deeper than 64 levels
        empty BROKEN < proj/.chronicle/workflows/empty.yaml
          error[empty-file] proj/.chronicle/workflows/empty.yaml: nothing in it
        good < proj/.chronicle/workflows/good.yaml
        latin1 BROKEN < proj/.chronicle/workflows/latin1.yaml
          error[not-text] proj/.chronicle/workflows/latin1.yaml: not text in UTF-8: byte 9 is none (hint: save it as UTF-8)
        marked < proj/.chronicle/workflows/marked.yaml
        tabs BROKEN < proj/.chronicle/workflows/tabs.yaml
          error[syntax] proj/.chronicle/workflows/tabs.yaml:2:2: not readable as YAML: tabs disallowed within this context (block indentation) (hint: indent with spaces)
        twice BROKEN < proj/.chronicle/workflows/twice.yaml
          error[duplicate-key] proj/.chronicle/workflows/twice.yaml:2:1: `name` is said twice
        utf16 BROKEN < proj/.chronicle/workflows/utf16.yaml
          error[not-text] proj/.chronicle/workflows/utf16.yaml: it is UTF-16, not UTF-8 (hint: save it as UTF-8)
    "#]].assert_eq(&told(&discover::find_in(&places), root.path()));
}

#[test]
fn a_file_of_a_hundred_megabytes_is_not_read() {
    let root = tempfile::tempdir().unwrap();
    let folder = folder(root.path());
    // Full of holes: large to read, nothing to store.
    File::create(folder.join("huge.yaml")).unwrap().set_len(100 * 1024 * 1024).unwrap();
    let personas = root.path().join("proj/.pi/agents");
    fs::create_dir_all(&personas).unwrap();
    File::create(personas.join("huge.md")).unwrap().set_len(100 * 1024 * 1024).unwrap();
    let places = lay_out(root.path(), &[]);
    expect![[r#"
        good < proj/.chronicle/workflows/good.yaml
        huge BROKEN < proj/.chronicle/workflows/huge.yaml
          error[too-large] proj/.chronicle/workflows/huge.yaml: larger than 1048576 bytes
        persona huge < proj/.pi/agents/huge.md
          error[too-large] proj/.pi/agents/huge.md: larger than 1048576 bytes
    "#]]
    .assert_eq(&told(&discover::find_in(&places), root.path()));
}

#[test]
fn the_files_of_one_workflow_are_bounded_together() {
    let root = tempfile::tempdir().unwrap();
    let folder = folder(root.path()).join("many");
    fs::create_dir(&folder).unwrap();
    let large = "x".repeat(1_000_000);
    let names: Vec<String> = (0..12).map(|index| format!("p{index}.md")).collect();
    for name in &names {
        fs::write(folder.join(name), &large).unwrap();
    }
    fs::write(folder.join("workflow.yaml"), format!("phases: [{}]", names.join(", "))).unwrap();
    let text = told(&discover::find_in(&lay_out(root.path(), &[])), root.path());
    assert!(text.contains("its files are larger than 8388608 bytes together"), "{text}");
    assert!(text.contains("good < "), "{text}");
}

#[test]
fn things_that_are_no_files() {
    let root = tempfile::tempdir().unwrap();
    let folder = folder(root.path());
    fs::create_dir(folder.join("dir.yaml")).unwrap();
    symlink("nowhere.yaml", folder.join("dangling.yaml")).unwrap();
    symlink("loop.yaml", folder.join("loop.yaml")).unwrap();
    symlink("/dev/zero", folder.join("zero.yaml")).unwrap();
    fs::create_dir_all(folder.join("odd/workflow.yaml")).unwrap();
    rustix::fs::mkfifoat(rustix::fs::CWD, folder.join("pipe.yaml"), 0o600.into()).unwrap();
    fs::write(root.path().join("proj/.pi"), "a file where a folder should be").unwrap();
    let places = lay_out(root.path(), &[]);
    expect![[r#"
        dangling BROKEN < proj/.chronicle/workflows/dangling.yaml
          error[not-found] proj/.chronicle/workflows/dangling.yaml: there is no such file
        dir BROKEN < proj/.chronicle/workflows/dir.yaml
          error[not-a-file] proj/.chronicle/workflows/dir.yaml: it is a folder
        good < proj/.chronicle/workflows/good.yaml
        loop BROKEN < proj/.chronicle/workflows/loop.yaml
          error[unreadable] proj/.chronicle/workflows/loop.yaml: cannot be read: Too many levels of symbolic links (os error 40)
        odd BROKEN < proj/.chronicle/workflows/odd/workflow.yaml
          error[not-a-file] proj/.chronicle/workflows/odd/workflow.yaml: it is a folder
        pipe BROKEN < proj/.chronicle/workflows/pipe.yaml
          error[not-a-file] proj/.chronicle/workflows/pipe.yaml: it is neither a file nor a folder
        zero BROKEN < proj/.chronicle/workflows/zero.yaml
          error[not-a-file] proj/.chronicle/workflows/zero.yaml: it is neither a file nor a folder
        error[unreadable] proj/.pi/workflows: cannot be read: Not a directory (os error 20)
        error[unreadable] proj/.pi/chronicle/workflows: cannot be read: Not a directory (os error 20)
        error[unreadable] proj/.pi/agents: cannot be read: Not a directory (os error 20)
    "#]].assert_eq(&told(&discover::find_in(&places), root.path()));
}

#[test]
fn names_that_are_none() {
    let root = tempfile::tempdir().unwrap();
    let folder = folder(root.path());
    for name in
        [&b"new\nline.yaml"[..], b"esc\x1b[31m.yaml", b"not-utf8-\xff.yaml", b".hidden.yaml"]
    {
        fs::write(folder.join(OsStr::from_bytes(name)), GOOD).unwrap();
    }
    let persona = "---\nname: \"a\\nb\"\n---\n";
    let chain = "\"x\\ty\": {steps: [{agent: a, prompt: b}]}";
    let files = [("proj/.pi/agents/odd.md", persona), ("proj/.pi/agents/agent-chain.yaml", chain)];
    let places = lay_out(root.path(), &files);
    let text = told(&discover::find_in(&places), root.path());
    expect![[r#"
        good < proj/.chronicle/workflows/good.yaml
        persona a\nb < proj/.pi/agents/odd.md
          warning[no-instructions] proj/.pi/agents/odd.md: no text below the fields: its workers are told nothing but their phase (hint: say below the second `---` who they are)
          error[bad-name] proj/.pi/agents/odd.md:1:1: the name `a�b` contains a control character
        error[bad-name] proj/.chronicle/workflows/esc�[31m.yaml: nothing can be called `esc�[31m.yaml`
        error[bad-name] proj/.chronicle/workflows/new�line.yaml: nothing can be called `new�line.yaml`
        error[bad-name] proj/.chronicle/workflows/not-utf8-�.yaml: nothing can be called `not-utf8-�.yaml`
        error[bad-name] proj/.pi/agents/agent-chain.yaml: nothing can be called `x�y`
    "#]].assert_eq(&text);
    assert!(!text.contains('\u{1b}'));
}

#[test]
fn what_may_not_be_read_is_said_so() {
    let root = tempfile::tempdir().unwrap();
    let folder = folder(root.path());
    let secret = folder.join("secret.yaml");
    fs::write(&secret, GOOD).unwrap();
    fs::set_permissions(&secret, fs::Permissions::from_mode(0o000)).unwrap();
    let places = lay_out(root.path(), &[]);
    let text = told(&discover::find_in(&places), root.path());
    // The superuser reads it all the same.
    if fs::read(&secret).is_err() {
        assert!(text.contains("secret BROKEN"), "{text}");
        assert!(text.contains("error[permission-denied]"), "{text}");
    }
    assert!(text.contains("good < "), "{text}");
}
