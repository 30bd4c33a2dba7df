#!/usr/bin/env python3
"""The matrix of kills, for hours: every way to die, at every phase, over four titles, by plan and at random times.

    tests/end-to-end/long_kills.py --kills 1000 [--seed N] [--options "--gpu 0"] [--json FILE]

Each run of a title is compared with an undisturbed one: what it prints, the frames it keeps, its exit status. The ledger
must add up with nothing unfinished, and no process, file or shared memory may be left. Ends with 1 at the first run
that differs, and says how to repeat it."""

import argparse
import json
import os
import random
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from running import LAUNCHER, alive, child, children_of, environment, frames

LEDGER = re.compile(r"died (\d+) time\(s\); (\d+) submitted: (\d+) retired first time, (\d+) after replay, (\d+) quarantined, (\d+) unfinished")
# Phases of a life, and how often in a run each is passed, at least.
PHASES = {"greeted": 1, "started": 1, "message-taken": 3, "message-handled": 3, "begun": 6, "dispatch": 6, "vkQueueSubmit": 3,
          "vkWaitForFences": 3, "checkpoint": 3, "before-executed": 3, "executed": 3, "committed": 3, "flip": 1, "message-sent": 1}
DEEDS = {"kill": 8, "segv": 2, "abort": 1}  # of those that a plan draws from
TITLES = {
    "counters": ("counters", "--rounds", "40", "--steps", "3"),
    "counters, mirrored": ("--coherence", "mirrored", "counters", "--rounds", "40", "--steps", "3"),
    "kernels": ("kernels", "--size", "small"),
    "streaming-loop": ("streaming-loop", "--variant", "wave", "--cycles", "4", "--check-all"),
    "streaming-loop, mirrored": ("--coherence", "mirrored", "streaming-loop", "--variant", "wave", "--cycles", "4", "--check-all"),
    "raymarch": ("--logical-clock", "--frames", "8", "raymarch", "--size", "96x64"),
}
ROUND = list(TITLES) + ["counters", "counters, mirrored", "raymarch"] * 3  # the quick ones more often


def plan(chance):
    """Some lives that end at a drawn phase each; sometimes several in one stretch."""
    steps, life, early = [], 1, 0
    for _ in range(chance.randint(3, 9)):
        phase = chance.choice(list(PHASES))
        # Three in a row that never greeted are a service that can't start.
        early = early + 1 if phase in ("greeted", "started") else 0
        if early > 2:
            continue
        count = chance.randint(1, PHASES[phase])
        deed = chance.choices(list(DEEDS), DEEDS.values())[0]
        # A program that is on the device in three lives of one stretch which end of themselves is a culprit: only kills
        # come in rows.
        if life > 1 and steps[-1].endswith(("segv", "abort")):
            deed = "kill"
        steps.append(f"life{life}/{phase}:{count}={deed}")
        life += 1
    return ",".join(steps)


class Differs(Exception):
    pass


class Matrix:
    def __init__(self, options):
        self.options = options
        self.more = shlex.split(options.options)
        self.expected, self.kills, self.replayed, self.swaps, self.runs = {}, 0, 0, 0, 0
        self.shared_memory = set(os.listdir("/dev/shm"))

    def start(self, title, folder, **more):
        arguments = ["run", "--headless", *self.more, "--report", str(folder / "report.json")]
        if title == "raymarch":
            arguments += ["--keep-frames", str(folder / "frames")]
        return subprocess.Popen([str(LAUNCHER), *arguments, *TITLES[title]], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                text=True, errors="replace", stdin=subprocess.DEVNULL,
                                env=environment(TMPDIR=str(folder), **more), start_new_session=True)

    def seen(self, title, folder, process):
        out, err = process.communicate(timeout=900)
        kept = [(f.name, f.read_bytes()) for f in frames(folder / "frames")] if title == "raymarch" else []
        # Lines that say how long something took differ between any two runs.
        lines = [line for line in out.splitlines() if not re.search(r"\d (ms|us|s)\b|MiB/s", line)]
        return (process.returncode, lines, kept), err

    def swap_and_kill(self, process, chance):
        """Replaces the service on request and kills the one or the other on the way."""
        before = child(process.pid, "orrery-gpu")
        asked = subprocess.Popen([str(LAUNCHER), "gpu", "restart", "--pid", str(process.pid)], stdout=subprocess.DEVNULL,
                                 stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL, env=environment())
        time.sleep(chance.uniform(0, 0.1))
        if before is not None and chance.random() < 0.5 and alive(before):
            os.kill(before, signal.SIGKILL)
        asked.wait(120)
        self.swaps += 1

    def disturb(self, process, chance):
        """Kills and swaps at random times until the title ends."""
        last = None
        while process.poll() is None:
            service = child(process.pid, "orrery-gpu")
            if service is None or service == last:
                time.sleep(0.002)
                continue
            time.sleep(chance.choice((chance.uniform(0, 0.15), chance.uniform(0.15, 0.6))))
            if process.poll() is not None:
                break
            if chance.random() < 0.15:
                self.swap_and_kill(process, chance)
            elif alive(service):
                os.kill(service, signal.SIGKILL)
            last = service
            # So that the title gets on: a life of some length now and then.
            if chance.random() < 0.3:
                time.sleep(1.0)

    def check_nothing_left(self, process, folder):
        left = children_of(process.pid) + [int(p.name) for p in Path("/proc").iterdir()
                                           if p.name.isdigit() and self.session_of(p) == process.pid]
        if any(alive(pid) for pid in left):
            raise Differs(f"processes are left: {left}")
        if set(os.listdir("/dev/shm")) - self.shared_memory:
            raise Differs("shared memory is left")
        files = {p.name for p in folder.iterdir()} - {"report.json", "frames"}
        if files:
            raise Differs(f"files are left: {files}")

    @staticmethod
    def session_of(place):
        try:
            return int((place / "stat").read_text().rsplit(")", 1)[1].split()[3])
        except (OSError, IndexError, ValueError):
            return 0

    def once(self, title, seed):
        chance = random.Random(seed)
        with tempfile.TemporaryDirectory(prefix="orrery-kills-") as name:
            folder = Path(name)
            if title not in self.expected:
                self.expected[title], err = self.seen(title, folder, self.start(title, folder))
                if self.expected[title][0] != 0:
                    raise Differs(f"the undisturbed run of {title} fails: {err}")
                return
            planned = chance.random() < 0.6
            inject = plan(chance) if planned else ""
            process = self.start(title, folder, **({"ORRERY_INJECT": inject} if planned else {}))
            if not planned:
                self.disturb(process, chance)
            got, err = self.seen(title, folder, process)
            where = f"{title}, seed {seed}, {inject or 'random times'}\n{err[-3000:]}"
            if got[:2] != self.expected[title][:2]:
                raise Differs(f"{where}\nprinted: {got[1]}\nexpected: {self.expected[title][1]}")
            if got[2] != self.expected[title][2]:
                raise Differs(f"{where}\nframes differ")
            if "does not add up" in err:
                raise Differs(where)
            told = LEDGER.search(err)
            if told is None and "starting life" in err and "(life 0)" not in err:
                raise Differs(where)
            if told is not None:
                deaths, submitted, first, replayed, held, unfinished = map(int, told.groups())
                if first + replayed + held != submitted or unfinished or held:
                    raise Differs(where)
                self.kills += deaths
                self.replayed += replayed
            self.check_nothing_left(process, folder)

    def go(self):
        seed, began = self.options.seed, time.monotonic()
        while self.kills < self.options.kills:
            for title in [t for t in ROUND if self.options.titles in t]:
                try:
                    self.once(title, seed)
                except Differs as why:
                    print(f"DIFFERS after {self.kills} kills: {why}", flush=True)
                    return 1
                self.runs += 1
                seed += 1
                print(f"{self.kills} kills", end="\r", flush=True)
            print(f"{self.runs} runs, {self.kills} kills, {self.swaps} swaps, {self.replayed} submissions retired after replay, "
                  f"{time.monotonic() - began:.0f} s", flush=True)
        print(f"all equal: {self.runs} runs of {len(TITLES)} titles, {self.kills} kills, {self.swaps} swaps, "
              f"{self.replayed} submissions retired after replay, 0 unfinished, nothing left behind")
        if self.options.json:
            Path(self.options.json).write_text(json.dumps({"runs": self.runs, "kills": self.kills, "swaps": self.swaps,
                                                           "replayed": self.replayed}))
        return 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=1000, metavar="N", help="go on until so many lives have ended")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="of the first run; each has the next")
    parser.add_argument("--options", default="--cpu", metavar="TEXT", help="more of the launcher's options (default --cpu)")
    parser.add_argument("--titles", default="", metavar="TEXT", help="those whose name holds it")
    parser.add_argument("--json", metavar="FILE", help="the counts, for programs")
    sys.exit(Matrix(parser.parse_args()).go())
