//! Which programs start others, and where in their arguments the other one begins.

/// A program whose arguments end with a command.
pub(super) struct Wrapper {
    pub(super) names: &'static str,
    /// Options that take a value; `x` is a text for a shell, `g` one for cargo, `C` a folder, `F` one perhaps, `r` and `w` files.
    pub(super) valued: &'static str,
    /// How many words stand before the command.
    pub(super) skips: usize,
    /// Whether `NAME=value` may stand before it.
    pub(super) sets: bool,
}

const fn wrapper(names: &'static str, valued: &'static str, skips: usize, sets: bool) -> Wrapper {
    Wrapper { names, valued, skips, sets }
}

pub(super) const WRAPPERS: &[Wrapper] = &[
    wrapper(
        "sudo",
        "-:lmpfP -:AbBEeHiKklNnPSsVv askpass:- background:- bell:- preserve-env:- edit:- set-home:- login:- non-interactive:- stdin:- shell:- reset-timestamp:- remove-timestamp:- validate:- list:- version:- help:- C D:C g h p R r T t U u close-from chdir:C group host prompt chroot role command-timeout type other-user user",
        0,
        true,
    ),
    wrapper("doas", "-:Lns C u", 0, false),
    wrapper(
        "env",
        "-:i0v ignore-environment:- null:- debug:- list-signal-handling:- u unset C:C chdir:C S:x split-string:x a argv0 block-signal default-signal ignore-signal",
        0,
        true,
    ),
    // What loads every program, started by hand.
    wrapper(
        "ld.so ld-linux.so.2 ld-linux-x86-64.so.2 ld-linux-aarch64.so.1 ld-linux-armhf.so.3 ld-linux-riscv64-lp64d.so.1 ld64.so.1 ld64.so.2 ld-musl-x86_64.so.1 ld-musl-aarch64.so.1 ld-musl-armhf.so.1 ld-musl-i386.so.1",
        "list:- verify:- inhibit-cache:- list-tunables:- list-diagnostics:- library-path inhibit-rpath audit preload argv0 glibc-hwcaps-prepend glibc-hwcaps-mask",
        0,
        false,
    ),
    wrapper("nice", "-:0123456789 n adjustment", 0, false),
    wrapper("ionice", "-:t ignore:- c n p P u class classdata pid pgid uid", 0, false),
    wrapper(
        "nohup eatmydata fakeroot unbuffer catchsegv dbus-run-session torsocks proxychains proxychains4 setarch linux32 linux64 noglob nocorrect",
        "",
        0,
        false,
    ),
    wrapper(
        "timeout",
        "-:apvVlh append:- portability:- verbose:- quiet:- -:vfp foreground:- preserve-status:- verbose:- k s kill-after signal",
        1,
        false,
    ),
    wrapper("time", "f o:w format output:w", 0, false),
    wrapper("stdbuf", "i o e input output error", 0, false),
    wrapper("setsid", "-:cfw ctty:- fork:- wait:-", 0, false),
    wrapper("chrt", "-:abdfiomprRv T P D sched-runtime sched-period sched-deadline", 1, false),
    wrapper("taskset", "-:acp all-tasks:- cpu-list:- pid:-", 1, false),
    wrapper("chroot", "userspec groups", 1, false),
    wrapper(
        "unshare",
        "-:cimnpuUfrTC fork:- pid:- net:- mount:- user:- ipc:- uts:- map-root-user:- mount-proc:- S G R:C w:C root:C wd:C setuid setgid propagation map-user map-group",
        0,
        false,
    ),
    wrapper("nsenter", "t S G target setuid setgid", 0, false),
    wrapper(
        "strace",
        "-:cCdDfFhikqrtTvVwxyYzZ e o:w p s u E a b I O S X P U trace output:w attach string-limit user env",
        0,
        false,
    ),
    wrapper("ltrace", "e o:w p s u a l n x F output:w", 0, false),
    wrapper("valgrind", "", 0, false),
    wrapper(
        "flock",
        "-:sxeunoFv shared:- exclusive:- unlock:- nonblock:- nb:- close:- no-fork:- verbose:- c:x E w command:x conflict-exit-code wait timeout",
        1,
        false,
    ),
    wrapper("logsave", "-:asv", 1, false),
    wrapper("caffeinate", "-:disum t w", 0, false),
    wrapper(
        "xvfb-run",
        "-:al auto-servernum:- n e f p s w server-num error-file auth-file xauth-protocol server-args wait",
        0,
        false,
    ),
    wrapper(
        "setpriv",
        "clear-groups reuid regid groups inh-caps ambient-caps bounding-set securebits",
        0,
        false,
    ),
    wrapper(
        "systemd-run",
        "-:GPqrSt user:- scope:- pty:- pipe:- wait:- quiet:- collect:- same-dir:- remain-after-exit:- no-block:- u p t E unit property description slice uid gid nice working-directory:C setenv on-active on-calendar",
        0,
        false,
    ),
    wrapper("systemd-inhibit", "what who why mode", 0, false),
    wrapper("cgexec", "g", 0, false),
    wrapper(
        "numactl",
        "C N m i p l physcpubind cpunodebind membind interleave preferred",
        0,
        false,
    ),
    wrapper("rlwrap", "f H s p P C", 0, false),
    wrapper("su", "c:x command:x s g G w shell group supp-group", usize::MAX, false),
    wrapper("runuser", "-:lmpfP c:x command:x u s g G shell user", 0, false),
    wrapper(
        "script",
        "-:aefqr append:- flush:- force:- quiet:- return:- c:x command:x E I:w O:w B:w T:w t:- m o log-in:w log-out:w log-io:w log-timing:w echo logging-format output-limit",
        usize::MAX,
        false,
    ),
    wrapper("nix-shell", "run:x command:x p packages A attr I", usize::MAX, false),
    wrapper(
        "watch",
        "-:bcegptxwC beep:- color:- errexit:- chgexit:- precise:- no-title:- exec:- differences:- n d interval",
        0,
        false,
    ),
    wrapper(
        "hyperfine",
        "-:iNu ignore-failure:- show-output:- w m M r p:x s:x c:x S P L n warmup min-runs max-runs runs prepare:x setup:x cleanup:x conclude:x shell parameter-scan parameter-list export-json:w export-markdown:w export-csv:w",
        0,
        false,
    ),
    wrapper("entr", "-:acdnprsz", 0, false),
    wrapper("busybox toybox shx coreutils uutils", "", 0, false),
    wrapper(
        "npx bunx uvx pipx",
        "-:yq yes:- no-install:- quiet:- no:- ignore-existing:- prefer-offline:- bun:- isolated:- p c:x call:x package w workspace python from with",
        0,
        false,
    ),
    wrapper("gdbserver", "", 1, false),
    wrapper("faketime", "f", 1, false),
    wrapper("prlimit", "p o pid output", 0, false),
    wrapper(
        "xargs",
        "-:0oprtxi null:- open-tty:- interactive:- no-run-if-empty:- verbose:- exit:- show-limits:- a:r d E I J L n P R s S arg-file:r delimiter eof replace max-lines max-args max-procs max-chars process-slot-var",
        0,
        false,
    ),
    wrapper(
        "parallel",
        "-:0kmqXtvu null:- keep-order:- bar:- dry-run:- pipe:- will-cite:- xargs:- no-notice:- verbose:- ungroup:- line-buffer:- lb:- progress:- quote:- a:r j S I N n L d E arg-file:r jobs joblog:w results:w colsep delay retries timeout tmpdir:w workdir:C wd:C basefile:r env sshlogin tagstring halt load memfree",
        0,
        false,
    ),
];

/// A program, its word after which a command follows, and its options with values.
pub(super) type Runner = (&'static str, &'static str, &'static str);

/// Words that hold the words for starting others, and how many more stand between them: `yarn workspace name exec command`.
pub(super) const GROUPS: &[(&str, &str, usize)] = &[
    ("uv", "tool", 0),
    ("hatch", "env", 0),
    ("yarn", "workspace", 1),
    ("yarn", "workspaces", 1),
    ("pnpm", "recursive", 0),
    ("pnpm", "multi", 0),
    ("pnpm", "m", 0),
    ("devbox", "global", 0),
    ("perf", "c2c", 0),
    ("perf", "kvm", 0),
    ("perf", "kwork", 0),
    ("perf", "lock", 0),
    ("perf", "mem", 0),
    ("perf", "sched", 0),
    ("perf", "timechart", 0),
    ("perf", "trace", 0),
];

/// Programs that start a command after a word of their own: `uv run command`.
pub(super) const RUNNERS: &[Runner] = &[
    ("uv", "run", "p python with extra group directory:C project:C package env-file:r"),
    ("poetry", "run", "C:C directory:C P project:C"),
    ("pipenv", "run", ""),
    ("pdm", "run", "p:C project:C"),
    ("hatch", "run", "e env"),
    ("rye", "run", ""),
    ("conda", "run", "n p name prefix cwd:C"),
    ("mamba", "run", "n p name prefix cwd:C"),
    ("micromamba", "run", "-:d n p r a name prefix root-prefix attach env cwd:C"),
    ("bundle", "exec", ""),
    ("pnpm", "exec", "C:C dir:C filter"),
    ("pnpm", "dlx", "C:C package"),
    ("yarn", "exec", "cwd:C"),
    ("yarn", "dlx", "p package"),
    ("npm", "exec", "c:x call:x package prefix:C w:F workspace:F"),
    ("npm", "x", "c:x call:x package prefix:C w:F workspace:F"),
    ("mise", "exec", "c:x command:x C:C cd:C"),
    ("mise", "x", "c:x command:x C:C cd:C"),
    ("rustup", "run", ""),
    ("direnv", "exec", ""),
    ("devbox", "run", "c config"),
    ("op", "run", "env-file:r"),
    ("doppler", "run", "p c project config command:x"),
    ("perf", "record", "o:w e g F output:w event"),
    ("perf", "stat", "o:w e r output:w event repeat"),
    (
        "cargo",
        "watch",
        "-:cqN clear:- quiet:- notify:- postpone:- poll:- why:- no-vcs-ignores:- no-dot-ignores:- no-gitignore:- no-ignore:- ignore-nothing:- no-restart:- no-process-group:- x:g w i d s:x exec:g watch ignore delay features use-shell shell:x C:C workdir:C",
    ),
];
