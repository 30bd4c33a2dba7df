#!/usr/bin/env python3
"""How often `orrery ab` says what it should: of a build against itself nothing, of a build with one span made slower by a
known share that it is slower. By hand; prints one line a try and the rates.

    ab_rates.py [--tries N] [--slow SPAN=PERCENT] [AB OPTIONS ...] TITLE|FILE [TITLE ARGUMENTS ...]

On a machine with other work, run it with `chrt -f 5`, so that the others wait."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

HERE = Path(__file__).resolve().parent
LAUNCHER = next(p for p in (HERE.parent / "orrery", HERE.parents[1] / "scripts" / "orrery") if p.is_file())
NOTHING = "ORRERY_NOTHING=1"  # an environment variable that nobody reads


def compare(against, arguments):
    with tempfile.TemporaryDirectory() as folder:
        told = Path(folder) / "ab.json"
        done = subprocess.run([sys.executable, str(LAUNCHER), "ab", "--against-environment", against, "--json", str(told), *arguments],
                              capture_output=True, text=True, check=False)
        if done.returncode != 0:
            sys.exit(f"ab ended with status {done.returncode}: {done.stderr[-1000:]}")
        return json.loads(told.read_text())["rows"]


def main():
    words, tries, slow = sys.argv[1:], 10, "packets=5"
    while words and words[0] in ("--tries", "--slow", "-h", "--help"):
        if words[0] in ("-h", "--help") or len(words) < 2:
            print(__doc__)
            return 0
        tries, slow = (int(words[1]), slow) if words[0] == "--tries" else (tries, words[1])
        words = words[2:]
    compared, different, found, ratios = 0, [], {}, {}
    for number in range(1, tries + 1):
        if number % 2:  # one comparison has many spans: half as many are enough
            rows = compare(NOTHING, words)
            changed = [row["name"] for row in rows if row["verdict"] != "-"]
            compared, different = compared + len(rows), different + changed
            print(f"{number}: against itself {len(rows)} compared, {len(changed)} differ {changed or ''}", flush=True)
        rows = compare(f"ORRERY_SLOW={slow}", words)
        for row in rows:
            found[row["name"]] = found.get(row["name"], 0) + (row["verdict"] == "slower")
            ratios.setdefault(row["name"], []).append(row["ratio"])
        print(f"{number}: with {slow} % slower are {[row['name'] for row in rows if row['verdict'] == 'slower']}, load {os.getloadavg()[0]:.1f}",
              flush=True)
    print(f"against itself: {len(different)} of {compared} differ")
    print(f"with {slow} %: found in so many of {tries} tries, and the median ratio")
    for name in sorted(found, key=lambda n: -found[n]):
        print(f"  {name:24} {found[name]:3}   {median(ratios[name]):.3f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
