//! Code in languages that are compiled, or of which few words are known. Whatever it names counts as if it were changed: nobody reads
//! these languages here, and code that a call writes and starts at once is short.

use super::facts::Access;

/// What tells that code of a language does something.
struct Words {
    languages: &'static [&'static str],
    runners: &'static [&'static str],
    removers: &'static [&'static str],
    writers: &'static [&'static str],
}

/// What most languages call it.
const COMMON: Words = Words {
    languages: &[],
    runners: &[
        "system(",
        "popen(",
        "execv",
        "execl",
        "fork(",
        "posix_spawn",
        "startProcess",
        "spawnProcess",
        "execCmd",
        "execProcess",
        "callCommand",
        "readProcess",
        "runCommand",
        "Sys.command",
        "Unix.exec",
        "shell-out",
        "clojure.java.shell",
        "sys.process",
        "Process.start",
        "Process.run",
        "Process.Start",
        "ShellExecute",
        "os:cmd",
        "System.cmd",
        "NSTask",
        "Process()",
        "subprocess",
        "run(`",
        "dlopen(",
        "do shell script",
    ],
    removers: &[
        "unlink(",
        "rmdir(",
        "remove_file",
        "remove_dir",
        "removeFile",
        "removeDir",
        "removeItem",
        "moveItem",
        "deleteFile",
        "deleteTree",
        "moveFile",
        "Sys.remove",
        "Sys.rename",
        "file.remove",
        "FileUtils.rm",
        "File.rm",
        "File.rename",
        "delete-file",
        "rename(",
    ],
    writers: &[
        "fopen(",
        "open_out",
        "writeFile",
        "write_file",
        "WriteFile",
        "WriteAllText",
        "writeText",
        "File.write",
    ],
};
const OWN: &[Words] = &[
    Words {
        languages: &["go"],
        runners: &[
            "exec.Command",
            "os/exec",
            "syscall.Exec",
            "ForkExec",
            "StartProcess",
            "import \"C\"",
            "plugin.Open",
        ],
        removers: &["Remove(", "RemoveAll(", "Rename(", "Unlink(", "Rmdir("],
        writers: &[
            "WriteFile(",
            "Create(",
            "OpenFile(",
            "Truncate(",
            "Symlink(",
            "Link(",
            "Chmod(",
            "Mkdir",
        ],
    },
    Words {
        languages: &["java", "jshell", "kotlin", "scala", "groovy", "clojure", "clj", "bb"],
        runners: &[
            "ProcessBuilder",
            "getRuntime",
            "Runtime.",
            ".execute(",
            "Class.forName",
            ".lineStream",
            "!!",
        ],
        removers: &[
            ".delete()",
            "Files.delete",
            "deleteIfExists",
            "deleteOnExit",
            "deleteRecursively",
            "deleteDirectory",
            "renameTo",
            "Files.move",
            "moveTo(",
        ],
        writers: &[
            "Files.write",
            "FileWriter",
            "FileOutputStream",
            "PrintWriter",
            "RandomAccessFile",
            "Files.copy",
            "Files.create",
            "newBufferedWriter",
            "newOutputStream",
            "appendText",
            "writeBytes",
            "copyTo(",
            "spit",
        ],
    },
    Words {
        languages: &["c"],
        runners: &["vfork(", "clone(", "syscall(", "NSTask", "asm("],
        removers: &[
            "remove(\"",
            "remove(argv",
            "remove_all(",
            "filesystem::remove",
            "fs::remove",
            "unlinkat(",
        ],
        writers: &["ofstream", "open(\"", "truncate(", "symlink(", "link(", "chmod(", "mkdir("],
    },
    Words {
        languages: &["rust"],
        runners: &[
            "Command::new",
            "std::process::Command",
            "process::Command",
            "libc::",
            "extern \"C\"",
        ],
        removers: &["fs::rename"],
        writers: &[
            "fs::write",
            "File::create",
            "OpenOptions",
            "fs::copy",
            "create_dir",
            "hard_link",
            "symlink",
            "set_permissions",
            "set_len",
        ],
    },
    Words {
        languages: &["pascal"],
        runners: &["ExecuteProcess", "fpSystem", "TProcess", "Exec(", "RunCommand"],
        removers: &["DeleteFile", "Erase(", "RemoveDir", "RmDir", "Rename"],
        writers: &["Rewrite(", "Append(", "TFileStream", "SaveToFile"],
    },
    Words {
        languages: &["csharp"],
        runners: &["Process.Start", "DllImport", "Assembly.Load"],
        removers: &[
            "File.Delete",
            "Directory.Delete",
            "File.Move",
            "Directory.Move",
            ".Delete(",
            "MoveTo(",
        ],
        writers: &[
            "File.Write",
            "File.Append",
            "File.Create",
            "StreamWriter",
            "FileStream",
            "File.Copy",
            "CopyTo(",
        ],
    },
    Words {
        languages: &[
            "swift",
            "dart",
            "julia",
            "zig",
            "nim",
            "crystal",
            "haskell",
            "ocaml",
            "ghc",
            "runghc",
            "d",
            "v",
            "rscript",
            "r",
            "elixir",
            "erl",
            "racket",
            "guile",
            "tclsh",
            "expect",
            "osascript",
        ],
        runners: &[
            "run(",
            "exec",
            "spawn",
            "Open3",
            "%x",
            "system",
            "Process",
            "os.cmd",
            "Port.open",
            "Code.",
            ":erlang",
            "System.shell",
            "apply(",
            "ccall",
            "eval",
            "include_string",
        ],
        removers: &["rm(", "mv(", "delete", "remove", "unlink", "removeDirectory", "rename"],
        writers: &["write", "open(", "\"w\"", "createFile", "touch"],
    },
];

/// What is told about code in such a language.
pub(super) struct Told {
    pub(super) access: Access,
    /// The word that runs another program.
    pub(super) runner: Option<&'static str>,
    /// The word that removes what is not in the text.
    pub(super) unnamed: Option<&'static str>,
}

/// Looks at code, if it is in a language of which few words are known.
pub(super) fn told(language: &str, code: &str) -> Option<Told> {
    let name = language.to_ascii_lowercase();
    let own = OWN.iter().find(|it| it.languages.contains(&name.as_str()))?;
    let find = |all: [&'static [&'static str]; 2]| {
        all.into_iter().flatten().copied().find(|word| code.contains(word))
    };
    let remover = find([own.removers, COMMON.removers]);
    let access = if remover.is_some() {
        Access::Delete
    } else if find([own.writers, COMMON.writers]).is_some() {
        Access::Write
    } else {
        Access::Likely
    };
    let all = own.removers.iter().chain(COMMON.removers).copied();
    let is_named = all.filter(|word| code.contains(word)).all(|word| names_all(code, word));
    let unnamed = remover.filter(|_| !is_named);
    let runner = find([own.runners, COMMON.runners]);
    // In this language they are commands.
    let runner = runner.or((name == "julia" && code.contains('`')).then_some("`"));
    Some(Told { access, runner, unnamed })
}

/// True if a text in quotes follows a word everywhere, or stands before it.
fn names_all(code: &str, word: &str) -> bool {
    const AROUND: [&str; 7] =
        ["Path.of", "Paths.get", "Path::new", "java.nio.file.", "new", "java.io.File", "File"];
    code.match_indices(word).all(|(at, _)| {
        // The rest of a longer name.
        let is_letter = |it: char| it.is_alphanumeric() || it == '_';
        let after = code[at + word.len()..].trim_start_matches(is_letter);
        let mut inside = after.trim_start_matches(['(', ')', ' ']);
        while let Some(rest) = AROUND.iter().find_map(|it| inside.strip_prefix(it)) {
            inside = rest.trim_start_matches(['(', ' ', '.']);
        }
        let before = code[..at].trim_end_matches(['.', ')', ' ']);
        word.ends_with('"') || inside.starts_with('"') || before.ends_with('"')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_other_languages_are_known() {
        let access = |language: &str, code: &str| told(language, code).map(|it| it.access);
        assert_eq!(access("go", "os.RemoveAll(\"docs\")"), Some(Access::Delete));
        assert_eq!(access("go", "os.WriteFile(\"a\", nil, 0)"), Some(Access::Write));
        assert_eq!(access("java", "new File(\"a\").delete();"), Some(Access::Delete));
        assert_eq!(access("go", "fmt.Println(1)"), Some(Access::Likely));
        assert_eq!(access("python3", "x"), None);
        assert!(told("java", "new ProcessBuilder(\"a\")").is_some_and(|it| it.runner.is_some()));
        for (language, code, is_named) in [
            ("go", "os.Remove(\"a\")", true),
            ("go", "os.Remove(path)", false),
            ("java", "Files.delete(Path.of(\"a\"));", true),
            ("rust", "std::fs::remove_file(\"a\").unwrap();", true),
            ("rust", "std::fs::remove_file(a).unwrap();", false),
        ] {
            let told = told(language, code).unwrap();
            assert_eq!(told.unnamed.is_none(), is_named, "{code}");
        }
    }
}
