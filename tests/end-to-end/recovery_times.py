#!/usr/bin/env python3
"""Time from the death of a life to the first retired stretch of the next, against what can't be avoided.

    tests/end-to-end/recovery_times.py [--options "--gpu 0"] [--kills 20] [--title "raymarch --size 320x180 --frames 300"]

For each kill: from the kill to the retirement, less the process's exit (kill to pidfd) and less what the next life took
for its Vulkan instance and device, all of the same death. Prints medians and the largest."""

import argparse
import json
import os
import select
import shlex
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from running import LAUNCHER, alive, child, environment


def main(options):
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        process = subprocess.Popen([str(LAUNCHER), "run", "--headless", *shlex.split(options.options), "--report", str(report),
                                    *shlex.split(options.title)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                                   stdin=subprocess.DEVNULL, env=environment())
        kills, last = [], None
        time.sleep(1.5)  # so that the first life has work under way
        while len(kills) < options.kills and process.poll() is None:
            service = child(process.pid, "orrery-gpu")
            if service is None or service == last or not alive(service):
                time.sleep(0.002)
                continue
            last = service
            time.sleep(options.life)
            if process.poll() is not None or not alive(service):
                continue
            gone = os.pidfd_open(service)
            killed = time.monotonic_ns()
            os.kill(service, signal.SIGKILL)
            select.select([gone], [], [])
            kills.append((killed, time.monotonic_ns()))
            os.close(gone)
        _, err = process.communicate(timeout=600)
        found = json.loads(report.read_text())["recoveries"]
    rows = []
    for killed, gone in kills:
        # The recovery that this kill began; a kill before anything was retired again belongs to the one before it.
        mine = [r for r in found if killed <= r["died_ns"] and r["died_ns"] - killed < 200e6 + (gone - killed)]
        if mine:
            r = mine[0]
            whole, leaving, opening = r["retired_ns"] - killed, gone - killed, r["device_open_ns"]
            rows.append([x / 1e6 for x in (whole, leaving, opening, whole - leaving - opening)])
    if not rows:
        print(err[-2000:])
        print("no recovery was measured")
        return 1
    for name, column in zip(("kill to retired stretch", "process exit", "instance and device", "above both"), zip(*rows)):
        print(f"{name:24} median {statistics.median(column):7.1f} ms   largest {max(column):7.1f} ms   of {len(rows)}")
    print("\n".join(line for line in err.splitlines() if "died" in line and "time(s)" in line))
    return 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--options", default="--cpu", metavar="TEXT", help="more of the launcher's options (default --cpu)")
    parser.add_argument("--kills", type=int, default=20, metavar="N")
    parser.add_argument("--life", type=float, default=1.0, metavar="SECONDS", help="how long each life has before it is killed")
    parser.add_argument("--title", default="counters --rounds 3000 --steps 1", help="a title that is busy all the while")
    sys.exit(main(parser.parse_args()))
