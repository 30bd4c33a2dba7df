#!/usr/bin/env python3
"""What coherence costs: the title streaming-loop with each way of keeping guest memory, side by side in alternating rounds.

    streaming_loop.py [--cpu | --gpu N] [--rounds N] [--cycles N] [--share 0,1,10,100] [--acquires 1,7,190] [--methods ...]
                      [--json FILE] [-- TITLE ARGUMENTS ...]

Methods: per-run (one harvest per copied run before every device-addressed dispatch), mirrored (one harvest per acquire point),
imported (programs work in the title's memory), host-run (mirrored, and no program addresses memory itself: waves are run on the host
where no trace finds what they store to). Per method: what the title's thread waits for a cycle (median, and the 10th and
90th percentile over all cycles but each run's first), and per acquire point and dispatch what the service spends. For
each share also what an acquire point costs by itself, against the scan of the page tables and the copy alone (bench_acquire, in the same
run)."""

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
CYCLE = re.compile(r"cycle (\d+): rewrite ([\d.]+) us, submit ([\d.]+) us, wait ([\d.]+) us")
WAITING = re.compile(r"submitting and waiting: ([\d.]+) %")
SPANS = ("host run", "harvest", "upload", "write back", "settled read", "dispatch: buffers", "dispatch on device", "device: run", "device: wait", "queue full")


def launcher():
    """Beside us in a bundle, in scripts in a checkout."""
    for place in (HERE / "orrery", HERE.parent / "orrery", HERE.parents[1] / "scripts" / "orrery"):
        if place.is_file():
            return str(place)
    sys.exit("streaming_loop.py: there is no launcher beside it")


def acquire_alone(options, share, folder):
    """What bench_acquire says of one share; None where it was not built."""
    places = (HERE.parent / "bin", Path(os.environ.get("ORRERY_BUILD", HERE.parents[1] / "build" / "release")) / "bin")
    program = next((place / "bench_acquire" for place in places if (place / "bench_acquire").is_file()), None)
    if program is None:
        return None
    device = ["--cpu"] if options.cpu else ["--gpu", str(options.gpu)] if options.gpu is not None else []
    file = Path(folder) / "acquire.json"
    done = subprocess.run([program, *device, "--share", share, "--rounds", "20", "--json", file], capture_output=True, text=True, check=False,
                          env=dict(os.environ, LD_LIBRARY_PATH=os.pathsep.join(filter(None, (
                              str(HERE.parent / "lib"), os.environ.get("LD_LIBRARY_PATH"))))))
    if done.returncode != 0:
        print(f"bench_acquire failed with {done.returncode}: {done.stderr[-500:]}", file=sys.stderr)
        return None
    print(done.stdout.splitlines()[-1], flush=True)
    return json.loads(file.read_text())[0]


def one_run(options, method, share, acquires, report):
    device = ["--cpu"] if options.cpu else ["--gpu", str(options.gpu)] if options.gpu is not None else []
    how = ["mirrored", "--no-device-addressing"] if method == "host-run" else [method]
    command = [launcher(), "run", "--headless", *device, "--coherence", *how, "--report", str(report), "streaming-loop", "--times",
               "--cycles", str(options.cycles), "--share", str(share), "--acquires", str(acquires), *options.title]
    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False,
                          env=dict(os.environ, XDG_RUNTIME_DIR=os.environ.get("XDG_RUNTIME_DIR", tempfile.gettempdir())))
    cycles = [tuple(map(float, m.groups()[1:])) for m in map(CYCLE.match, done.stdout.splitlines()) if m]
    share_waiting = WAITING.search(done.stdout)
    if done.returncode != 0 or len(cycles) < 2 or not share_waiting:
        print(f"{method}, {share} %, {acquires}: failed with {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-2000:]}", file=sys.stderr)
        return None
    return {"cycles": cycles[1:], "first_wait_us": cycles[0][2], "waiting": float(share_waiting[1]), "report": json.loads(Path(report).read_text())}


def spread(values):
    ordered = sorted(values)
    at = lambda part: ordered[min(len(ordered) - 1, int(part * len(ordered)))]
    return {"median": statistics.median(ordered), "p10": at(0.1), "p90": at(0.9)}


def summary(runs, options):
    cycles = [c for run in runs for c in run["cycles"]]
    counters, spans = runs[-1]["report"]["counters"], {}
    for name in SPANS:
        counted = [run["report"]["spans"][name] for run in runs if name in run["report"]["spans"]]
        if counted:
            spans[name] = {"per_cycle": sum(c["count"] for c in counted) / len(runs) / options.cycles,
                           "median_us": statistics.median(c["median_ns"] for c in counted) / 1e3,
                           "per_cycle_us": sum(c["total_ns"] for c in counted) / len(runs) / options.cycles / 1e3}
    return {"cycle_us": spread([c[1] + c[2] for c in cycles]), "rewrite_us": spread([c[0] for c in cycles]), "spans": spans,
            "waiting_percent": statistics.median(run["waiting"] for run in runs),
            "first_wait_us": statistics.median(run["first_wait_us"] for run in runs),
            "uploaded_mib_per_cycle": counters["uploaded_bytes"] / options.cycles / 2**20,
            "written_back_mib_per_cycle": counters["written_back_bytes"] / options.cycles / 2**20,
            "escapes": counters["escapes"], "conflicts": counters["write_conflicts"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cpu", action="store_true", help="the software device")
    parser.add_argument("--gpu", type=int)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--cycles", type=int, default=12)
    parser.add_argument("--share", default="0,1,10,100", help="percent of pages rewritten between cycles")
    parser.add_argument("--acquires", default="1,7,190", help="acquire points a cycle")
    parser.add_argument("--methods", default="per-run,mirrored,imported")
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("title", nargs="*", help="further arguments of the title, behind --")
    options = parser.parse_args()
    results, alone, failed = [], [], False
    with tempfile.TemporaryDirectory() as folder:
        for share in options.share.split(","):
            alone.append(acquire_alone(options, share, folder))
            for acquires in options.acquires.split(","):
                runs = {method: [] for method in options.methods.split(",")}
                for _ in range(options.rounds):
                    for method, done in runs.items():
                        run = one_run(options, method, share, acquires, Path(folder) / "report.json")
                        failed |= run is None
                        if run:
                            done.append(run)
                for method, done in runs.items():
                    if not done:
                        continue
                    result = {"method": method, "share": float(share), "acquires": int(acquires), **summary(done, options)}
                    results.append(result)
                    cycle, spans = result["cycle_us"], result["spans"]
                    part = lambda name, key="median_us": spans.get(name, {}).get(key, 0.0)
                    print(f"{method:9} {share:>4} % rewritten, {acquires:>3} acquire points: cycle {cycle['median'] / 1e3:9.3f} ms "
                          f"({cycle['p10'] / 1e3:.3f} to {cycle['p90'] / 1e3:.3f}); harvest {part('harvest'):8.1f} us x "
                          f"{part('harvest', 'per_cycle'):5.1f}, per dispatch {part('dispatch on device'):6.1f} us, waiting for the device "
                          f"{part('device: run', 'per_cycle_us') / 1e3:8.3f} ms a cycle; up {result['uploaded_mib_per_cycle']:7.3f} MiB, "
                          f"back {result['written_back_mib_per_cycle']:6.3f} MiB; the title's thread waits {result['waiting_percent']:.1f} %", flush=True)
    if options.json:
        Path(options.json).write_text(json.dumps({"cycles": results, "acquire_points": [a for a in alone if a]}, indent=1) + "\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
