//! Paths through what a process is or has open: `/proc/self/cwd/…`, `/dev/fd/3/../…`. Where they lead only that process knows when it
//! uses them: whoever looks them up before finds the files of another one.

use super::globs;

/// True if a path leads on from what a process is or has open. A stream itself (`/dev/stdin`, `/dev/fd/3`) does not.
pub(super) fn leads_through_process(path: &str) -> bool {
    let Some(rest) = path.strip_prefix('/') else { return false };
    let mut names: Vec<&str> = Vec::new();
    for name in rest.split('/').filter(|name| !["", "."].contains(name)) {
        if is_link(&names) || name == ".." && is_streams(&names) {
            return true;
        }
        match name {
            // Above a thread's folder lies that of its process, which has the same in it.
            ".." => drop(names.pop()),
            name => names.push(name),
        }
        as_one_of_processes(&mut names);
    }
    // A link to the folder of streams leads on from there as well.
    is_place(&names) || is_streams(&names) || is_of_another(&names)
}

/// The number of a stream of the process itself: 3 of `/dev/fd/3`.
pub(super) fn stream(path: &str) -> Option<u32> {
    let number = match path {
        "/dev/stdin" => "0",
        "/dev/stdout" => "1",
        "/dev/stderr" => "2",
        path => ["/dev/fd/", "/proc/self/fd/"].iter().find_map(|it| path.strip_prefix(it))?,
    };
    number.parse().ok()
}

/// Other names for the folder of a process and what it has open.
fn as_one_of_processes(names: &mut Vec<&str>) {
    match names.as_slice() {
        [dev, fd] if is(dev, "dev") && is(fd, "fd") => *names = vec!["proc", "self", "fd"],
        [dev, stream] if is(dev, "dev") && is_any(stream, &["stdin", "stdout", "stderr"]) => {
            *names = vec!["proc", "self", "fd", "0"];
        }
        // A thread has what its process has.
        [proc, _, task, _] if is(proc, "proc") && is(task, "task") => drop(names.drain(2..)),
        _ => {}
    }
}

/// True for what leads elsewhere if anything follows it.
fn is_link(names: &[&str]) -> bool {
    let is_open =
        matches!(names, [proc, _, fd, _] if is(proc, "proc") && is_any(fd, &["fd", "map_files"]));
    is_open || is_place(names)
}

/// True for where a process works, what it takes for the root, and the program that it runs.
fn is_place(names: &[&str]) -> bool {
    const PLACES: [&str; 3] = ["cwd", "root", "exe"];
    matches!(names, [proc, _, place] if is(proc, "proc") && is_any(place, &PLACES))
}

/// True for the folder of what a process has open.
fn is_streams(names: &[&str]) -> bool {
    matches!(names, [proc, _, fd] if is(proc, "proc") && is(fd, "fd"))
}

/// True for what another process has open.
fn is_of_another(names: &[&str]) -> bool {
    matches!(names, [_, process, _, _] if is_link(names) && !["self", "thread-self"].contains(process))
}

fn is_any(name: &str, others: &[&str]) -> bool {
    others.iter().any(|other| is(name, other))
}

/// True if a name is, or as a pattern may be, this one.
fn is(name: &str, other: &str) -> bool {
    name == other || globs::is_glob(name) && globs::stands_for(name, other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_process_is_or_has_open_leads_anywhere() {
        for path in [
            "/proc/self/cwd",
            "/proc/self/cwd/../x",
            "//proc/./self//root/etc/shadow",
            "/proc/1234/root",
            "/proc/1234/fd/7",
            "/proc/thread-self/cwd/x",
            "/proc/self/task/99/cwd/x",
            "/proc/self/fd/3/x",
            "/proc/*/cwd/x",
            "/proc/self/c?d/x",
            "/pro[c]/self/cwd/x",
            "/proc/self/map_files/1-2/..",
            "/proc/self/exe",
            "/dev/fd/3/../x",
            "/dev/fd/../cwd/x",
            "/dev/fd/",
            "/dev/stdin/../x",
            "/dev/../dev/fd/0/x",
            "/tmp/../proc/self/cwd/x",
        ] {
            assert!(leads_through_process(path), "{path}");
        }
        for path in [
            "/dev/fd/3",
            "/dev/stdin",
            "/dev/null",
            "/proc/self/fd/0",
            "/proc/cpuinfo",
            "/proc/self/status",
            "/proc/1/cmdline",
            "/proc/sys/vm/swappiness",
            "/p/proc/self/cwd/x",
            "/p/dev/fd/x/y",
            "/p/*/src/*.rs",
            "proc/self/cwd",
        ] {
            assert!(!leads_through_process(path), "{path}");
        }
        assert_eq!((stream("/dev/fd/12"), stream("/dev/stdin")), (Some(12), Some(0)));
        assert_eq!((stream("/dev/fd/3/.."), stream("/dev/fd/x")), (None, None));
    }
}
