"""Tries to get around a wall, one way after the other, and says of each whether it worked.

Everything that it changes lies below the folder `T`. Devices and settings of the kernel are opened and never written.
`walls_tricks.py NAME...` runs these; `walls_tricks.py refuse PROGRAM...` starts a program that may make no namespaces.
"""

import ctypes
import mmap
import os
import signal
import socket
import struct
import subprocess
import sys

T = os.environ.get("T", "/nonexistent")
PROJECT, OUTSIDE, HOME = T + "/project", T + "/outside", T + "/home"
TRICKS = {}


def trick(run):
    TRICKS[run.__name__] = run
    return run


def append(path):
    with open(path, "a") as file:
        file.write("changed\n")


def victim():
    return int(os.environ["VICTIM"])


# Files outside.


@trick
def write():
    append(OUTSIDE + "/file")


@trick
def create():
    append(OUTSIDE + "/created")


@trick
def folder():
    os.mkdir(OUTSIDE + "/folder")


@trick
def rename_out():
    append(PROJECT + "/moved")
    os.rename(PROJECT + "/moved", OUTSIDE + "/moved")


@trick
def rename_in():
    os.rename(OUTSIDE + "/wanted", PROJECT + "/wanted")


@trick
def link_in():
    os.link(OUTSIDE + "/file", PROJECT + "/linked")
    append(PROJECT + "/linked")


@trick
def symlink():
    os.symlink(OUTSIDE + "/file", PROJECT + "/symlink")
    append(PROJECT + "/symlink")


@trick
def truncate():
    os.truncate(OUTSIDE + "/long", 1)


@trick
def remove():
    os.unlink(OUTSIDE + "/removed")


@trick
def chmod():
    os.chmod(OUTSIDE + "/file", 0o604)


@trick
def utime():
    os.utime(OUTSIDE + "/file", (1, 1))


@trick
def proc_root():
    append("/proc/self/root" + OUTSIDE + "/file")


@trick
def proc_cwd():
    append("/proc/self/cwd/../outside/file")


@trick
def inherited():
    os.write(9, b"changed\n")


@trick
def inherited_folder():
    append("/proc/self/fd/8/file")


# What is in the project and not the worker's.


@trick
def record_write():
    append(PROJECT + "/.chronicle/ledger")


@trick
def record_create():
    append(PROJECT + "/.chronicle/created")


@trick
def record_remove():
    os.unlink(PROJECT + "/.chronicle/old")


@trick
def record_link():
    os.link(PROJECT + "/.chronicle/ledger", PROJECT + "/ledger")
    append(PROJECT + "/ledger")


@trick
def record_move():
    os.rename(PROJECT + "/.chronicle", PROJECT + "/elsewhere")
    os.rename(PROJECT + "/elsewhere", PROJECT + "/.chronicle")


@trick
def plant_hook():
    append(PROJECT + "/.git/hooks/pre-commit")


@trick
def plant_setting():
    append(PROJECT + "/.git/config")


@trick
def plant_setting_anew():
    append(PROJECT + "/.git/config.lock")
    os.rename(PROJECT + "/.git/config.lock", PROJECT + "/.git/config")


@trick
def plant_repository():
    """Another repository in the place of this one."""
    os.rename(PROJECT + "/.git", PROJECT + "/old")
    os.rename(PROJECT + "/old", PROJECT + "/.git")


@trick
def plant_commondir():
    """Says that its settings and hooks are elsewhere. Git must be able to write beside it, so no wall holds it."""
    append(PROJECT + "/.git/commondir")


@trick
def nested():
    """With new namespaces of its own: undo the mounts, then write."""
    record = PROJECT + "/.chronicle"
    steps = "umount %s; mount -o remount,bind,rw %s; mount -o remount,bind,rw /; echo x >>%s/ledger" % ((record,) * 3)
    done = subprocess.run(["unshare", "-Urm", "sh", "-c", steps], capture_output=True)
    if done.returncode != 0:
        raise OSError(done.stderr)


# Secrets and other processes.


@trick
def secret():
    if not open(HOME + "/.ssh/id").read():
        raise OSError("empty")


@trick
def see():
    if not os.path.exists("/proc/%d" % victim()):
        raise OSError("not seen")


@trick
def environment():
    if b"SECRET" not in open("/proc/%d/environ" % victim(), "rb").read():
        raise OSError("not there")


@trick
def memory():
    open("/proc/%d/mem" % victim(), "rb+").close()


@trick
def other_root():
    append("/proc/%d/root%s/file" % (victim(), OUTSIDE))


@trick
def end_other():
    os.kill(victim(), signal.SIGUSR1)


# Daemons that would act outside.


def reach(family, address):
    with socket.socket(family, socket.SOCK_STREAM) as one:
        one.connect(address)


@trick
def named_socket():
    reach(socket.AF_UNIX, T + "/daemon.sock")


@trick
def hidden_socket():
    reach(socket.AF_UNIX, T + "/hidden.sock")


@trick
def session_socket():
    reach(socket.AF_UNIX, T + "/session/bus")


@trick
def abstract_socket():
    reach(socket.AF_UNIX, "\0" + os.environ["ABSTRACT"])


@trick
def loopback():
    reach(socket.AF_INET, ("127.0.0.1", int(os.environ["PORT"])))


@trick
def loopback_udp():
    """A datagram to somebody who is there; without a route it cannot be sent."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        one.connect(("127.0.0.1", int(os.environ["UDP_PORT"])))
        one.send(b"ping")
        one.settimeout(20)
        one.recv(10)


# What root owns. Opened only.


def opened_for_writing(path):
    os.close(os.open(path, os.O_WRONLY))


@trick
def disk():
    disks = [name for name in os.listdir("/sys/block") if os.path.exists("/dev/" + name)]
    if not disks:
        raise OSError("no disk")
    opened_for_writing("/dev/" + disks[0])


@trick
def core_pattern():
    opened_for_writing("/proc/sys/kernel/core_pattern")


@trick
def sysrq():
    opened_for_writing("/proc/sysrq-trigger")


@trick
def make_disk():
    os.mknod(PROJECT + "/disk", 0o060600, os.makedev(254, 0))
    os.unlink(PROJECT + "/disk")


# Init: whoever speaks for it tells lies about the end.


@trick
def init_memory():
    open("/proc/1/mem", "rb+").close()


@trick
def init_descriptors():
    for number in os.listdir("/proc/1/fd"):
        os.readlink("/proc/1/fd/" + number)


# Ways to change one file of a project that can only be read.

NOTE = PROJECT + "/note"


def change_write():
    append(NOTE)


def change_in_place():
    with open(NOTE, "r+") as file:
        file.write("changed")


def change_truncate():
    os.truncate(NOTE, 0)


def change_rename_over():
    append(T + "/tmp/new")
    os.rename(T + "/tmp/new", NOTE)


def change_rename_away():
    os.rename(NOTE, PROJECT + "/renamed")


def change_exchange():
    """renameat2 with RENAME_EXCHANGE."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.renameat2(-100, NOTE.encode(), -100, (PROJECT + "/other").encode(), 2) != 0:
        raise OSError(ctypes.get_errno(), "renameat2")


def change_remove():
    os.unlink(NOTE)


def change_link():
    os.link(NOTE, T + "/tmp/link")
    append(T + "/tmp/link")


def change_link_inside():
    os.link(NOTE, PROJECT + "/link")


def change_symlink():
    os.symlink(NOTE, T + "/tmp/symlink")
    append(T + "/tmp/symlink")


def change_symlink_inside():
    os.symlink("note", PROJECT + "/symlink")


def change_chmod():
    os.chmod(NOTE, 0o600)


def change_chown():
    os.chown(NOTE, os.getuid(), os.getgid())


def change_utime():
    os.utime(NOTE, (1, 1))


def change_attribute():
    os.setxattr(NOTE, "user.changed", b"yes")


def change_map():
    descriptor = os.open(NOTE, os.O_RDWR)
    with mmap.mmap(descriptor, 4) as memory:
        memory[0:1] = b"X"


def change_proc_root():
    append("/proc/self/root" + NOTE)


def change_proc_descriptor():
    """A file that was opened for reading, opened again through its number."""
    descriptor = os.open(NOTE, os.O_RDONLY)
    append("/proc/self/fd/%d" % descriptor)


def change_folder():
    os.mkdir(PROJECT + "/folder")


def change_remove_folder():
    os.rmdir(PROJECT + "/empty")


def change_pipe():
    os.mkfifo(PROJECT + "/pipe")


def change_socket():
    with socket.socket(socket.AF_UNIX) as one:
        one.bind(PROJECT + "/socket")


def change_unnamed():
    """A file without a name that gets one."""
    descriptor = os.open(PROJECT, os.O_TMPFILE | os.O_RDWR, 0o600)
    os.link("/proc/self/fd/%d" % descriptor, PROJECT + "/named", follow_symlinks=True)


def change_bind():
    run_nested("mount --bind %s/tmp %s/empty && echo x >%s/empty/new" % (T, PROJECT, PROJECT))
    # Only seen in there, if nothing changed.
    os.stat(PROJECT + "/empty/new")


def change_remount():
    run_nested("mount -o remount,bind,rw /; echo x >>%s" % NOTE)


def change_unmount():
    run_nested("umount -l %s; umount -l /; echo x >>%s" % (PROJECT, NOTE))


def change_overlay():
    run_nested(
        "mkdir -p %s/tmp/up %s/tmp/work && mount -t overlay overlay -o lowerdir=%s,upperdir=%s/tmp/up,workdir=%s/tmp/work %s"
        " && umount %s && echo x >>%s" % (T, T, PROJECT, T, T, PROJECT, PROJECT, NOTE)
    )


def run_nested(steps):
    done = subprocess.run(["unshare", "-Urm", "sh", "-c", steps], capture_output=True)
    if done.returncode != 0:
        raise OSError(done.stderr)


def change_git():
    """With the user's own tool: the index and the objects lie in the project too."""
    done = subprocess.run(["git", "-C", PROJECT, "init"], capture_output=True)
    if done.returncode != 0:
        raise OSError(done.stderr)


CHANGES = {name: run for name, run in globals().items() if name.startswith("change_")}


def forks(most):
    """Starts at most that many children, and says how many there were before the kernel refused."""
    children = []
    try:
        for _ in range(most):
            child = os.fork()
            if child == 0:
                signal.pause()
                os._exit(0)
            children.append(child)
    except BlockingIOError:
        pass
    print(len(children))
    for child in children:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def refuse(argv):
    """Starts a program behind a seccomp filter that refuses new namespaces, as those of containers do."""
    number = {"x86_64": 272, "aarch64": 97}[os.uname().machine]
    start_behind(
        [
            (0x20, 0, 0, 0),  # the number of the call
            (0x15, 0, 1, number),  # unshare?
            (0x06, 0, 0, 0x00050001),  # yes: EPERM
            (0x06, 0, 0, 0x7FFF0000),  # no: as always
        ],
        argv,
    )


def refuse_limits(argv):
    """Starts a program behind a seccomp filter that refuses new limits, and lets them be read."""
    number = {"x86_64": 302, "aarch64": 261}[os.uname().machine]
    start_behind(
        [
            (0x20, 0, 0, 0),  # the number of the call
            (0x15, 0, 3, number),  # prlimit64?
            (0x20, 0, 0, 32),  # yes: the new limit, by its address
            (0x15, 1, 0, 0),  # none: it is only read
            (0x06, 0, 0, 0x00050001),  # one: EPERM
            (0x06, 0, 0, 0x7FFF0000),  # as always
        ],
        argv,
    )


def start_behind(rules, argv):
    filters = b"".join(struct.pack("HBBI", *one) for one in rules)
    buffer = ctypes.create_string_buffer(filters)

    class Program(ctypes.Structure):
        _fields_ = [("length", ctypes.c_ushort), ("filters", ctypes.c_void_p)]

    program = Program(len(rules), ctypes.addressof(buffer))
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(38, 1, 0, 0, 0)
    if libc.prctl(22, 2, ctypes.byref(program), 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "seccomp")
    os.execvp(argv[0], argv)


def main(names):
    for name in names:
        try:
            (TRICKS.get(name) or CHANGES[name])()
        except (OSError, ValueError) as error:
            print(name, "held")
            print(name, error, file=sys.stderr)
        else:
            print(name, "escaped")
        sys.stdout.flush()


if sys.argv[1] == "refuse":
    refuse(sys.argv[2:])
elif sys.argv[1] == "refuse_limits":
    refuse_limits(sys.argv[2:])
elif sys.argv[1] == "forks":
    forks(int(sys.argv[2]))
elif sys.argv[1] == "changes":
    main(sorted(CHANGES))
else:
    main(sys.argv[1:])
