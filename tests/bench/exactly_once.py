#!/usr/bin/env python3
"""What exactly-once costs while nothing dies: the same title with and without it, in alternating rounds of one run.

    tests/bench/exactly_once.py [--options "--cpu"] [--rounds 5] [--without DIR]

Without: the service's --no-redo, or with --without another build (from before stretches). A time is that of a long run
less that of a short one, per unit of the title, so that starting does not count."""

import argparse
import os
import shlex
import statistics
import subprocess
import sys
import time
from pathlib import Path

LAUNCHER = Path(__file__).resolve().parents[2] / "scripts" / "orrery"
TITLES = {"counters, one step a submission (work in place)": (("counters", "--steps", "1", "--rounds"), 100, 3000),
          "streaming-loop, cycles": (("streaming-loop", "--variant", "wave", "--cycles"), 2, 40),
          "raymarch, frames": (("raymarch", "--size", "640x360"), 2, 60),
          "kernels": (("kernels", "--size"), "small", "normal")}


def seconds(options, title, amount, build, no_redo):
    command = [str(LAUNCHER), "run", "--headless", *shlex.split(options.options)] + (["--no-redo"] if no_redo else [])
    command += ["--frames", str(amount), *title] if title[0] == "raymarch" else [*title, str(amount)]
    environment = dict(os.environ, **({"ORRERY_BUILD": str(build)} if build else {}))
    began = time.monotonic()
    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, env=environment, timeout=600)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)} ended with {done.returncode}: {done.stderr[-500:]}")
    return time.monotonic() - began


def main(options):
    for name, (title, short, long) in TITLES.items():
        if options.only and options.only not in name:
            continue
        times = {True: [], False: []}
        for _ in range(options.rounds):
            for without in (False, True):
                build, no_redo = (options.without, False) if without and options.without else (None, without)
                times[without].append(seconds(options, title, long, build, no_redo) - seconds(options, title, short, build, no_redo))
        units = long - short if isinstance(long, int) else 1
        with_it, bare = statistics.median(times[False]), statistics.median(times[True])
        ratios = sorted(a / b for a, b in zip(times[False], times[True]))
        print(f"{name}: {with_it / units * 1e3:.3f} ms with, {bare / units * 1e3:.3f} ms without; "
              f"ratio {with_it / bare:.3f} (rounds {ratios[0]:.3f} to {ratios[-1]:.3f})", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--options", default="--cpu", metavar="TEXT", help="more of the launcher's options (default --cpu)")
    parser.add_argument("--rounds", type=int, default=5, metavar="N")
    parser.add_argument("--without", metavar="DIR", help="a build folder from before stretches")
    parser.add_argument("--only", metavar="TEXT", help="titles whose line holds it")
    main(parser.parse_args())
