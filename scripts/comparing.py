"""`orrery ab`: two builds on the same title or capture, in alternating rounds, each span as a ratio with an interval."""

import json
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from ab_statistics import least_rounds, ratio_of

HERE = Path(__file__).resolve().parent
LAUNCHER = HERE / "orrery"
EXIT_USAGE, EXIT_REFUSED, EXIT_FAILED = 64, 77, 73
OURS = ("orrery-gpu", "orrery-guest")


class Refused(Exception):
    """The two sides cannot be compared."""


def is_capture(path):
    try:
        with open(path, "rb") as file:
            return file.read(24)[16:] == b"ORRYCAP1"
    except OSError:
        return False


def git(*arguments, where=HERE.parent):
    done = subprocess.run(["git", *arguments], cwd=where, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Refused(f"git {' '.join(map(str, arguments))}: {done.stderr.strip()}")
    return done.stdout.strip()


def build_of(revision, say):
    """A build folder of that revision, in a work tree of its own that stays for the next time."""
    commit = git("rev-parse", "--verify", f"{revision}^{{commit}}")
    tree = HERE.parent / "build" / "ab" / commit[:12]
    if not tree.exists():
        git("worktree", "add", "--detach", str(tree), commit)
    build = tree / "build" / "release"
    for command in (["cmake", "--preset", "release"], ["ninja", "-C", str(build), *OURS]):
        say(f"{revision} ({commit[:12]}): {' '.join(command)}")
        done = subprocess.run(command, cwd=tree, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise Refused(f"{revision} does not build: {(done.stdout + done.stderr)[-2000:]}")
    return build


def others_running():
    """Processes of other runs on this machine."""
    found = []
    for folder in Path("/proc").iterdir():
        try:
            if folder.name.isdigit() and (folder / "comm").read_text().strip() in OURS:
                found.append(int(folder.name))
        except OSError:
            pass
    return found


def processor_time():
    """Of all that was started here and has ended, in nanoseconds; a busy machine disturbs it less than it does the clock."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return int((used.ru_utime + used.ru_stime) * 1e9)


class Side:
    def __init__(self, letter, name, build, options, **environment):
        self.letter, self.name, self.build, self.options = letter, name, Path(build).absolute(), options
        self.environment = dict(os.environ, ORRERY_BUILD=str(self.build), **environment)

    def conditions(self):
        for program in OURS:
            if not (self.build / "bin" / program).exists():
                raise Refused(f"{self.build}/bin/{program} is not built")
        listed = subprocess.run([str(self.build / "bin" / "orrery-gpu"), "--list-devices", "--json"], capture_output=True, text=True,
                                check=False, env=self.environment)
        try:
            devices = json.loads(listed.stdout)
        except ValueError:
            raise Refused(f"{self.name}: its devices cannot be listed: {listed.stderr.strip()[-500:]}") from None
        cache, kind = self.build / "CMakeCache.txt", None
        if cache.exists():
            kind = next((line.split("=", 1)[1] for line in cache.read_text().splitlines() if line.startswith("CMAKE_BUILD_TYPE:")), None)
        return {"build type": kind, "devices": devices}

    def run(self):
        """One round: {metric: (value, count)}; times are nanoseconds an occurrence."""
        with tempfile.TemporaryDirectory(prefix="orrery-ab-") as folder:
            report, results = Path(folder) / "report.json", Path(folder) / "results.json"
            o = self.options
            if o.capture:
                command = ["replay", *o.device, "--report", report, "--results", results, o.title]
            else:
                command = ["run", "--headless", *o.device, "--report", report]
                command += (["--logical-clock"] if o.logical_clock else []) + (["--frames", o.frames] if o.frames else [])
                command += [o.title, *o.arguments]
            begun, used = time.monotonic_ns(), processor_time()
            done = subprocess.run([sys.executable, str(LAUNCHER), *map(str, command)], env=self.environment, capture_output=True,
                                  text=True, errors="replace", check=False)
            whole, used = time.monotonic_ns() - begun, processor_time() - used
            if done.returncode != 0:
                raise Refused(f"{self.name} ended with status {done.returncode}, so its times mean nothing:\n{(done.stdout + done.stderr)[-2000:]}")
            told = json.loads(report.read_text())
            output = json.loads(results.read_text())["hash"] if o.capture else done.stdout
        metrics = {"whole run": (whole, 1), "processor time": (used, 1)}
        flips = told["counters"].get("flips", 0)
        if flips:
            metrics["time per frame"] = (whole / flips, flips)
        for name, span in told["spans"].items():
            if span["count"]:
                metrics[name] = (span["total_ns"] / span["count"], span["count"])
        return metrics, output


def check_same(ours, theirs):
    """Refuses sides whose conditions differ."""
    for what in ("build type", "devices"):
        if ours[what] != theirs[what]:
            raise Refused(f"the two sides differ in their {what}: {json.dumps(ours[what])} and {json.dumps(theirs[what])}")


def machine():
    model = next((line.split(":", 1)[1].strip() for line in Path("/proc/cpuinfo").read_text().splitlines()
                  if line.startswith("model name")), platform.machine())
    return {"host": platform.node(), "processor": model, "processors": os.cpu_count(), "kernel": platform.release(),
            "load": os.getloadavg(), "environment": {k: v for k, v in os.environ.items() if k.startswith(("ORRERY_", "VK_", "LP_", "MESA_"))}}


def measure(sides, options, say):
    rounds = {side.letter: [] for side in sides}
    outputs, beside, loads = {}, set(), []
    for number in range(options.rounds + 1):
        # A B, B A, A B ...: what drifts meets both alike. The first round only fills the caches.
        for side in sides if number % 2 == 0 else sides[::-1]:
            others = others_running()
            if others and not options.beside_others:
                raise Refused(f"another Orrery runs (process {others[0]}); end it, or measure --beside-others")
            beside.update(others)
            metrics, output = side.run()
            outputs.setdefault(side.letter, output)
            if number:
                rounds[side.letter].append(metrics)
        loads.append(os.getloadavg()[0])
        say(f"round {number} of {options.rounds}" + (" (not counted)" if number == 0 else ""))
    return rounds, outputs, {"other instances seen": len(beside), "load of the rounds": loads}


def compare(rounds, confidence):
    names = [n for n in rounds["A"][0] if all(n in r for side in rounds.values() for r in side)]
    rows = []
    for name in names:
        a, b = ([r[name][0] for r in rounds[letter]] for letter in "AB")
        counts = [median(r[name][1] for r in rounds[letter]) for letter in "AB"]
        if min(*a, *b) <= 0:
            continue
        ratio, low, high = ratio_of(a, b, confidence)
        verdict = "slower" if low > 1 else "faster" if high < 1 else "-"
        rows.append({"name": name, "A_ns": median(a), "B_ns": median(b), "ratio": ratio, "low": low, "high": high, "verdict": verdict,
                     "counts": counts})
    missing = sorted({n for side in rounds.values() for r in side for n in r} - set(names))
    return rows, missing


def duration(ns):
    for unit, size in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if ns >= size:
            return f"{ns / size:.3g} {unit}"
    return f"{ns:.3g} ns"


def table(rows, confidence):
    lines = [f"{'':24} {'A':>9} {'B':>9}  B / A   {confidence:.0%} interval"]
    for row in rows:
        note = "" if row["counts"][0] == row["counts"][1] else f"   ({row['counts'][0]:g} against {row['counts'][1]:g} times)"
        lines.append(f"{row['name']:24} {duration(row['A_ns']):>9} {duration(row['B_ns']):>9}  {row['ratio']:5.3f}   {row['low']:5.3f} to "
                     f"{row['high']:5.3f}   {row['verdict']}{note}")
    return "\n".join(lines)


def act(options):
    def say(text):
        print(f"[ab] {text}", file=sys.stderr, flush=True)

    if sum(choice is not None for choice in (options.against, options.against_build, options.against_environment)) != 1:
        say("say one of --against REV, --against-build DIR and --against-environment NAME=VALUE")
        return EXIT_USAGE
    name, equals, value = (options.against_environment or "").partition("=")
    if options.against_environment is not None and not (name and equals):
        say("--against-environment takes NAME=VALUE")
        return EXIT_USAGE
    if not 0.5 <= options.confidence < 1:
        say("--confidence takes a number from 0.5 to below 1")
        return EXIT_USAGE
    least = least_rounds(options.confidence)
    if options.rounds < least:
        say(f"{options.rounds} rounds cannot tell anything at {options.confidence:.1%}: {least} are the least")
        return EXIT_USAGE
    options.capture = is_capture(options.title)
    options.device = (["--cpu"] if options.cpu else []) + (["--gpu", str(options.gpu)] if options.gpu is not None else [])
    own = options.build or os.environ.get("ORRERY_BUILD") or (HERE if (HERE / "bin" / OURS[0]).exists() else HERE.parent / "build" / "release")
    try:
        other = own if name else options.against_build or build_of(options.against, say)
        sides = [Side("A", f"build {own}", own, options),
                 Side("B", options.against or options.against_environment or f"build {other}", other, options, **({name: value} if name else {}))]
        facts = [side.conditions() for side in sides]
        check_same(*facts)
        if not options.capture and "/" not in options.title and not Path(options.title).exists():
            title = Path(own) / "titles" / options.title / "eboot.bin"
            if title.exists():
                options.title = str(title)  # the same file for both
        rounds, outputs, seen = measure(sides, options, say)
        if outputs["A"] != outputs["B"]:
            say("the two sides' outputs differ" + ("; their times are not those of the same work" if options.capture else
                                                   " (a title may print times of its own)"))
            if options.capture:
                return EXIT_REFUSED
        rows, missing = compare(rounds, options.confidence)
    except Refused as refusal:
        say(f"refused: {refusal}")
        return EXIT_REFUSED
    print(f"A: {sides[0].name}    B: {sides[1].name}    {options.rounds} rounds of {options.title}")
    print(table(rows, options.confidence))
    changed = [row["name"] for row in rows if row["verdict"] != "-"]
    print(f"{len(rows)} compared, {len(changed)} differ" + (f": {', '.join(changed)}" if changed else ""))
    if missing:
        print(f"on one side only, or not in every round: {', '.join(missing)}")
    if options.json:
        Path(options.json).write_text(json.dumps({
            "sides": [side.name for side in sides], "title": options.title, "arguments": options.arguments, "frames": options.frames,
            "rounds": options.rounds, "confidence": options.confidence, "conditions": {**machine(), **facts[0], **seen}, "rows": rows,
            "missing": missing, "samples": rounds}, indent=1))
    return 0


def add_verb(verbs):
    verb = verbs.add_parser(
        "ab", help="compare two builds on the same title or capture",
        description="Runs a title or a capture with this build (A) and another (B) in alternating rounds, and says of each span, of the whole "
                    "run and of a frame how B's time relates to A's, with an interval. Refuses (exit status 77) what cannot be compared: "
                    "other devices or build types, another Orrery running beside, a side that fails, a capture whose results differ. The first round is "
                    "not counted.")
    verb.add_argument("--against", metavar="REV", help="B: a revision, built in build/ab in a work tree of its own")
    verb.add_argument("--against-build", metavar="DIR", help="B: a build folder")
    verb.add_argument("--against-environment", metavar="NAME=VALUE", help="B: the same build with that environment variable")
    verb.add_argument("--build", metavar="DIR", help="A's build folder (default: this one's)")
    verb.add_argument("--rounds", type=int, default=12, metavar="N", help="counted rounds of each side (default 12)")
    verb.add_argument("--confidence", type=float, default=0.99, metavar="P", help="of the interval (default 0.99)")
    verb.add_argument("--frames", type=int, metavar="N", help="of a title: end each run after N frames")
    verb.add_argument("--logical-clock", action="store_true", help="of a title: run it with the logical clock")
    verb.add_argument("--cpu", action="store_true", help="use the software Vulkan device")
    verb.add_argument("--gpu", type=int, metavar="N", help="use Vulkan device N")
    verb.add_argument("--beside-others", action="store_true", help="measure although other runs go on; it is recorded")
    verb.add_argument("--json", metavar="FILE", help="write rows, samples and conditions")
    verb.add_argument("title", metavar="TITLE|FILE", help="a title, or a capture")
    verb.add_argument("arguments", nargs="...", metavar="...", help="passed to the title")
    verb.set_defaults(act=act)
