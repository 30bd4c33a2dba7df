#!/usr/bin/env python3
"""No store after death: a kernel that stores straight to guest memory is killed in the middle; from the moment on at
which the service's process is gone, no byte of the arena changes.

    tests/end-to-end/no_store_after_death.py [--options "--gpu 0"] [--rounds 3] [--watch 2]

The arena is read through the guest process's own descriptor. The launcher and the guest process are stopped meanwhile,
so that neither a new life nor the title's CPU stores. Ends with 1 if a byte changed, 2 if the kernel was not seen to store before it was killed."""

import argparse
import hashlib
import os
import select
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

from running import LAUNCHER, child, environment, wait_for


def arena_of(pid):
    for link in Path(f"/proc/{pid}/fd").iterdir():
        if os.readlink(link).startswith("/memfd:orrery-arena"):
            return os.open(link, os.O_RDONLY)
    raise AssertionError("the guest process has no arena")


def contents(arena):
    """A hash of all that is allocated."""
    digest, at = hashlib.blake2b(), 0
    size = os.fstat(arena).st_size
    while at < size:
        try:
            at = os.lseek(arena, at, os.SEEK_DATA)
            end = os.lseek(arena, at, os.SEEK_HOLE)
        except OSError:
            break
        digest.update(str(at).encode())
        while at < end:
            piece = os.pread(arena, min(end - at, 1 << 22), at)
            digest.update(piece)
            at += len(piece)
    return digest.hexdigest()


def one_round(options, number):
    process = subprocess.Popen([str(LAUNCHER), "run", "--headless", *shlex.split(options.options), "--coherence", "imported",
                                "--hang-limit", "300", "counters", "--store"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                               stdin=subprocess.DEVNULL, env=environment(), start_new_session=True)
    try:
        guest = wait_for(lambda: child(process.pid, "orrery-guest"))
        service = wait_for(lambda: child(process.pid, "orrery-gpu"))
        arena = wait_for(lambda: any_arena(guest))
        before = contents(arena)
        wait_for(lambda: contents(arena) != before, 60)  # the title's own start
        changed = 0
        deadline = time.monotonic() + 60
        while changed < 5 and time.monotonic() < deadline:
            time.sleep(0.3)
            now = contents(arena)
            changed = changed + 1 if now != before else 0
            before = now
        if changed < 5:
            print("the kernel was not seen to store")
            return 2
        for pid in (process.pid, guest):
            os.kill(pid, signal.SIGSTOP)
        gone = os.pidfd_open(service)
        began = time.monotonic()
        os.kill(service, signal.SIGKILL)
        select.select([gone], [], [])
        took = time.monotonic() - began
        first, until, looks = contents(arena), time.monotonic() + options.watch, 0
        while time.monotonic() < until:
            if contents(arena) != first:
                print(f"round {number}: A BYTE CHANGED after the service was gone")
                return 1
            looks += 1
        print(f"round {number}: storing was seen; the service was gone {took * 1e3:.1f} ms after the kill; "
              f"no byte changed in {looks} looks over {options.watch:g} s")
        return 0
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        for pid in (guest, service):
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        process.wait()


def any_arena(guest):
    try:
        return arena_of(guest)
    except (AssertionError, OSError):
        return None


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--options", default="--cpu", metavar="TEXT", help="more of the launcher's options (default --cpu)")
    parser.add_argument("--rounds", type=int, default=1, metavar="N")
    parser.add_argument("--watch", type=float, default=2.0, metavar="SECONDS", help="how long to look")
    given = parser.parse_args()
    sys.exit(max(one_round(given, number + 1) for number in range(given.rounds)))
