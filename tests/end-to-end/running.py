"""Runs the launcher as a person would, and looks at what is left behind."""

import os
import signal
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("ORRERY_BUILD", CHECKOUT / "build" / "release"))
LAUNCHER = CHECKOUT / "scripts" / "orrery"


def environment(**more):
    result = dict(os.environ, ORRERY_BUILD=str(BUILD), **more)
    result.setdefault("XDG_RUNTIME_DIR", tempfile.gettempdir())
    return result


class Finished:
    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err

    def __str__(self):
        return f"exit status {self.code}\n--- stdout\n{self.out}\n--- stderr\n{self.err}"


def orrery(*arguments, timeout=120, **more):
    """Runs the launcher to its end."""
    done = subprocess.run([str(LAUNCHER), *map(str, arguments)], capture_output=True, text=True, errors="replace",
                          timeout=timeout, stdin=subprocess.DEVNULL, env=environment(**more))
    return Finished(done.returncode, done.stdout, done.stderr)


def start(*arguments, **more):
    """Starts the launcher in a session of its own; the caller ends it."""
    return subprocess.Popen([str(LAUNCHER), *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                            errors="replace", stdin=subprocess.DEVNULL, env=environment(**more), start_new_session=True)


def children_of(pid):
    try:
        return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def name_of(pid):
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return ""


def child(pid, name):
    """The launcher's child of that name, or None."""
    return next((c for c in children_of(pid) if name_of(c) == name), None)


def alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def wait_for(condition, seconds=30.0, step=0.01):
    """The condition's first true value; fails after so many seconds (a generous bound, never a timing that is tested)."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        value = condition()
        if value:
            return value
        time.sleep(step)
    raise AssertionError(f"nothing within {seconds} s")


def frames(folder):
    return sorted(Path(folder).glob("frame-*.png"))


class RunCase(unittest.TestCase):
    """A case with a folder of its own and a look at what a run left behind."""

    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="orrery-test-"))
        self.shared_memory = set(os.listdir("/dev/shm"))
        self.started = []

    def tearDown(self):
        for process in self.started:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
        self.assertEqual(set(os.listdir("/dev/shm")) - self.shared_memory, set(), "shared memory left behind")
        subprocess.run(["rm", "-rf", str(self.folder)], check=False)

    def start(self, *arguments, **more):
        process = start(*arguments, **more)
        self.started.append(process)
        return process

    def assert_same_frames(self, first, second, count):
        one, other = frames(first), frames(second)
        self.assertEqual([f.name for f in one], [f.name for f in other])
        self.assertEqual(len(one), count)
        different = [a.name for a, b in zip(one, other) if a.read_bytes() != b.read_bytes()]
        self.assertEqual(different, [])
