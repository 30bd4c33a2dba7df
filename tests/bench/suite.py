#!/usr/bin/env python3
"""Every benchmark in one run: one JSON, one table, one page with plots. Medians with the 10th and 90th percentile.

    suite.py [--gpu [N] | --cpu] [--quick] [--only PART,...] [--repetitions N] [--out DIR]

Parts: raymarch, capture, restart, streaming-loop, kernels, and each bench_* program by its name (bench_limits: what the machine allows). A part
whose program is not there, or that fails, is named in the table and makes the exit status 1. Runs in a checkout and in a bundle."""

import argparse
import html
import json
import math
import os
import platform
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

import plots

HERE = Path(__file__).resolve().parent
# Spans that hold no other span of the same thread, so that their shares of a run can be put side by side.
INNERMOST = ("settled read", "read program", "dispatch: buffers", "translate", "pipeline compile", "acquire", "write back",
             "read frame", "present", "keep frame", "open device", "host run", "lock wait")
UNITS = {"ns": 1.0, "us": 1e3, "ms": 1e6, "s": 1e9}


def place(*choices):
    return next((p for p in choices if p.exists()), choices[0])


BUNDLE = HERE.parent if (HERE.parent / "orrery").is_file() else None
BUILD = BUNDLE or Path(os.environ.get("ORRERY_BUILD", HERE.parents[1] / "build" / "release"))
LAUNCHER = BUNDLE / "orrery" if BUNDLE else HERE.parents[1] / "scripts" / "orrery"


class Failed(Exception):
    """A part that gives no figures, and why."""


def environment(**more):
    out = dict(os.environ, ORRERY_BUILD=str(BUILD), **more)
    if BUNDLE:
        out["LD_LIBRARY_PATH"] = ":".join(filter(None, (os.environ.get("LD_LIBRARY_PATH"), str(BUNDLE / "lib"))))
    return out


def run(command, limit=3600, **more):
    try:
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True, errors="replace", check=False,
                              env=environment(**more), stdin=subprocess.DEVNULL, timeout=limit)
    except (OSError, subprocess.TimeoutExpired) as problem:
        raise Failed(str(problem)) from None
    if done.returncode != 0:
        raise Failed(f"exit status {done.returncode}: {(done.stderr or done.stdout).strip()[-300:]}")
    return done


def row(part, name, samples, unit, **more):
    ordered = sorted(samples)
    at = lambda share: ordered[min(len(ordered) - 1, int(share * len(ordered)))]
    return {"part": part, "name": name, "unit": unit, "median": median(ordered), "low": at(0.1), "high": at(0.9), "samples": len(ordered), **more}


# What a program says of itself beside its time: our name for it, its unit, and what it is multiplied with.
COUNTERS = {"p50_us": ("median", "ns", 1e3), "p99_us": ("99th percentile", "ns", 1e3), "bytes_per_second": ("bandwidth", "bytes/s", 1),
            "us_per_instruction": ("per instruction", "ns", 1e3), "words_per_instruction": ("words per instruction", "", 1),
            "lane_instructions_per_second": ("lane instructions", "1/s", 1)}


def google(program, options):
    """A Google Benchmark program: what it counts of itself, or else the time of each repetition."""
    with tempfile.TemporaryDirectory() as folder:
        told = Path(folder) / "out.json"
        chosen = "cpu" if options.cpu else "" if options.gpu in (None, -1) else str(options.gpu)
        run([BUILD / "bin" / program, f"--benchmark_repetitions={options.repetitions}", f"--benchmark_out={told}", "--benchmark_out_format=json",
             f"--benchmark_filter={options.filter}"], ORRERY_BENCH_GPU=chosen)
        values, failed = {}, {}
        for bench in json.loads(told.read_text())["benchmarks"]:
            name = re.sub("/(iterations|min_time|manual_time|real_time|process_time)(:[^/]*)?", "", bench.get("run_name", bench["name"]))
            if bench.get("error_occurred"):
                failed[name] = bench.get("error_message", "failed")
            elif bench.get("run_type") == "iteration":
                counted = [c for c in COUNTERS if c in bench]
                if not counted:
                    values.setdefault((name, "ns"), []).append(bench["real_time"] * UNITS[bench["time_unit"]])
                for counter in counted:
                    called, unit, factor = COUNTERS[counter]
                    values.setdefault((f"{name}, {called}", unit), []).append(bench[counter] * factor)
    if not values:
        raise Failed("; ".join(f"{name}: {why}" for name, why in failed.items()) or "no benchmark matched")
    rows = [row(program, name, samples, unit) for (name, unit), samples in values.items()]
    return rows, [], "; ".join(f"{name}: {why}" for name, why in failed.items())


def device_words(options):
    return (["--cpu"] if options.cpu else []) + (["--gpu", str(options.gpu)] if options.gpu is not None and options.gpu >= 0 else [])


def raymarch(options):
    """Start and end taken out: what a long run needs beyond a short one, by the frames that it has more."""
    size = "160x90" if options.quick else "640x360" if options.cpu else "1920x1080"
    few, many = (4, 14) if options.quick else (4, 24) if options.cpu else (20, 320)

    def one(frames, told):
        begun = time.monotonic_ns()
        run([LAUNCHER, "run", "--headless", *device_words(options), "--frames", frames, "--report", told, "raymarch", "--size", size])
        wall = time.monotonic_ns() - begun
        return {"": wall, **{name: span["total_ns"] for name, span in json.loads(told.read_text())["spans"].items()}}

    frame_times, whole, shares = {}, [], []
    with tempfile.TemporaryDirectory() as folder:
        told = Path(folder) / "report.json"
        one(few, told)  # fills the caches
        for _ in range(options.repetitions):
            short, long = one(few, told), one(many, told)
            more = {name: max(0, long[name] - short.get(name, 0)) for name in long}
            whole.append(long[""])
            if more[""]:
                shares.append({name: value / more[""] for name, value in more.items() if name})
            for name, value in more.items():
                frame_times.setdefault(name, []).append(value / (many - few))
    frames = [t for t in frame_times.pop("") if t > 0]
    if not frames:
        raise Failed("a long run took no longer than a short one")
    rows = [row("raymarch", f"{size}, {many} frames, start to exit", whole, "ns"), row("raymarch", f"{size}, a frame", frames, "ns"),
            row("raymarch", f"{size}, frames per second", [1e9 / t for t in frames], "1/s")]
    rows += [row("raymarch", f"{size}, {name}, a frame", values, "ns") for name, values in sorted(frame_times.items(), key=lambda i: -median(i[1]))]
    typical = {n: median(s.get(n, 0) for s in shares) for n in {name for s in shares for name in s}}
    device = typical.get("device: run", 0)
    waited = max(0.0, typical.get("device: wait", 0) - device)
    typical |= {"waiting for the device beyond that": waited}
    parts = [("device: run", device)] + sorted(((n, v) for n, v in typical.items() if n in (*INNERMOST, "waiting for the device beyond that") and v > 0.0005), key=lambda i: -i[1])
    parts.append(("all else", max(0.0, 1 - sum(share for _, share in parts))))
    title = f"raymarch {size}: a frame's {shown(median(frames), 'ns')}; the device itself works {typical.get('device: run', 0):.1%} of it"
    return rows, [("raymarch-shares", plots.shares(title, parts))]


def capture(options):
    """What the GPU's side does with a captured title, without the title."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        file, told = Path(folder) / "run.cap", Path(folder) / "report.json"
        size, frames = ("160x90", 10) if options.quick else ("320x180", 60) if options.cpu else ("1920x1080", 60)
        run([LAUNCHER, "run", "--headless", *device_words(options), "--frames", frames, "--capture", file, "raymarch", "--size", size])
        times = []
        for _ in range(options.repetitions):
            begun = time.monotonic_ns()
            run([LAUNCHER, "replay", *device_words(options), "--report", told, file])
            times.append(time.monotonic_ns() - begun)
        rows.append(row("capture", f"replay of {frames} flips at {size}, all results equal", times, "ns"))
        rows.append(row("capture", "its size", [file.stat().st_size], "bytes"))
    return rows, []


def acquire_rows(points):
    """An acquire point by itself, against its scan of the page tables and its copy alone."""
    return [{"part": "bench_acquire", "name": f"{p['percent']:g} % rewritten, an acquire point", "unit": "ns", "median": p["acquire_us"] * 1e3,
             "low": p["acquire_p10_us"] * 1e3, "high": p["acquire_p90_us"] * 1e3, "samples": 20, "baseline": "scan and copy alone", "ratio": p["ratio"]}
            for p in points]


def restart(options):
    """The service is killed while a title runs: until the process is gone, and until the next frame is shown."""
    size, kills = ("160x90", 2) if options.quick else ("320x180", 3 * options.repetitions)
    gone, shown_again = [], []
    with tempfile.TemporaryDirectory() as folder:
        shown, told = Path(folder) / "kept" / "frames.txt", Path(folder) / "report.json"
        command = [LAUNCHER, "run", "--headless", *device_words(options), "--keep-frames", shown.parent, "--every", 10**9, "--frames", 10**6, "--report", told,
                   "raymarch", "--size", size]
        title = subprocess.Popen([str(word) for word in command], env=environment(), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                 stderr=subprocess.DEVNULL)
        frames = lambda: shown.stat().st_size if shown.exists() else 0

        def frames_beyond(size, limit=60):
            until = time.monotonic() + limit
            while frames() <= size:
                if title.poll() is not None or time.monotonic() > until:
                    raise Failed("no frame is shown any more")
                time.sleep(0.0002)

        try:
            frames_beyond(0)
            for _ in range(kills):
                frames_beyond(frames())
                time.sleep(0.2)
                service = next(p for p in map(int, filter(str.isdigit, os.listdir("/proc"))) if is_service_of(p, title.pid))
                begun = time.monotonic_ns()
                os.kill(service, signal.SIGKILL)
                while is_service_of(service, title.pid):
                    time.sleep(0.0002)
                gone.append(time.monotonic_ns() - begun)
                frames_beyond(frames())
                shown_again.append(time.monotonic_ns() - begun)
            title.send_signal(signal.SIGINT)
            title.wait(30)
        finally:
            title.kill()
            title.wait()
        opened = json.loads(told.read_text())["spans"].get("open device")
    rows = [row("restart", f"raymarch {size}, from a kill to the next frame shown", shown_again, "ns"),
            row("restart", "of which until the killed process is gone", gone, "ns")]
    if opened:
        rows.append(row("restart", "of which opening the device", [opened["median_ns"]], "ns"))
    return rows, []


def is_service_of(process, launcher):
    try:
        words = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)
        return words[0].endswith("(orrery-gpu") and words[1].split()[0] != "Z" and int(words[1].split()[1]) == launcher
    except OSError:
        return False


def streaming_loop(options):
    small = ["--cycles", 6] if options.cpu else []
    title = ["--", "--mib", 4, "--runs", 32, "--groups", "4,16", "--dispatches", 20, "--small-groups", 1] if options.cpu else []
    some = ["--share", "1", "--acquires", "1"] if options.quick else []
    # Twelve cycles a run make a spread; more rounds tell only how runs differ.
    rounds = max(1, options.repetitions // 3)
    # Programs that are run on the host have one shape only: that of the seed.
    shapes = [some, ["--methods", "host-run", "--share", "10", "--acquires", "1"]]
    results, points = [], None
    with tempfile.TemporaryDirectory() as folder:
        told = Path(folder) / "out.json"
        for shape in shapes:
            run([sys.executable, HERE / "streaming_loop.py", *device_words(options), "--rounds", rounds, "--json", told, *small, *shape, *title])
            answer = json.loads(told.read_text())
            results += answer["cycles"]
            points = points or answer["acquire_points"]
    naive = {(r["share"], r["acquires"]): r["cycle_us"]["median"] for r in results if r["method"] == "per-run"}
    rows = acquire_rows(points or [])
    for result in sorted(results, key=lambda r: (r["acquires"], r["share"])):
        cycle, shape = result["cycle_us"], (result["share"], result["acquires"])
        rows.append({"part": "streaming-loop", "name": f"{result['method']}, {result['share']:g} % rewritten, {result['acquires']} acquire points, a cycle",
                     "unit": "ns", "median": cycle["median"] * 1e3, "low": cycle["p10"] * 1e3, "high": cycle["p90"] * 1e3, "samples": rounds})
        if result["method"] != "per-run" and shape in naive:
            rows[-1] |= {"baseline": "the naive method", "ratio": cycle["median"] / naive[shape]}
    plot = plots.bars("streaming-loop: a cycle", [(r["name"].removesuffix(", a cycle"), r["median"] / 1e6, r["low"] / 1e6, r["high"] / 1e6) for r in rows if r["part"] == "streaming-loop"], "ms")
    return rows, [("streaming-loop", plot)]


def kernels(options):
    with tempfile.TemporaryDirectory() as folder:
        told = Path(folder) / "out.json"
        size = ["--cpu", "--size", "small"] if options.cpu else [] if options.gpu == -1 else ["--gpu", options.gpu]
        run([BUILD / "bin" / "bench_kernels", *size, "--samples", 5 * options.repetitions, "--json", told])
        kernel_list = json.loads(told.read_text())["kernels"]
    rows, ratios = [], []
    for kernel in kernel_list:
        twin = next((t for t in kernel["twins"] if t["label"] == "glsl" and "ns" in t), None)
        for ours in (o for o in kernel["ours"] if "ns" in o):
            low, high = ours["ns"]["quartiles"]
            name = f"{kernel['name']}, wave{kernel['wave']}, {kernel['memory']}, {ours['label']}"
            one = {"part": "kernels", "name": name, "unit": "ns", "median": ours["ns"]["median"], "low": low, "high": high,
                   "samples": 5 * options.repetitions}
            if twin and twin["ns"]["median"] > 0 and ours["ns"]["median"] > 0:
                one |= {"baseline": "hand-written GLSL", "ratio": ours["ns"]["median"] / twin["ns"]["median"]}
                ratios.append((name, one["ratio"], low / twin["ns"]["median"], high / twin["ns"]["median"]))
            rows.append(one)
    if ratios:
        mean = math.exp(sum(math.log(r[1]) for r in ratios) / len(ratios))
        rows.append({"part": "kernels", "name": f"geometric mean against GLSL of {len(ratios)}", "unit": "", "median": mean, "low": mean, "high": mean, "samples": len(ratios)})
    return rows, [("kernels", plots.bars("Kernels: time against hand-written GLSL", ratios, "", mark=1))] if ratios else []


def shown(value, unit):
    if unit == "ns":
        for name, size in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
            if value >= size:
                return f"{value / size:.3g} {name}"
    if unit == "bytes/s":
        return f"{value / 1e9:.3g} GB/s"
    return f"{value:.4g} {unit}".strip()


def table(rows):
    lines = []
    for one in rows:
        ratio = f"  {one['ratio']:.2f} x {one['baseline']}" if "ratio" in one else ""
        lines.append(f"{one['part']:20} {one['name']:70} {shown(one['median'], one['unit']):>10}  ({shown(one['low'], one['unit'])} to "
                     f"{shown(one['high'], one['unit'])}){ratio}")
    return "\n".join(lines)


def page(told, drawings):
    facts = "".join(f"<tr><td>{html.escape(k)}</td><td>{html.escape(str(v))}</td></tr>" for k, v in told["conditions"].items())
    body = "".join(f"<tr><td>{html.escape(r['part'])}</td><td>{html.escape(r['name'])}</td><td>{shown(r['median'], r['unit'])}</td>"
                   f"<td>{shown(r['low'], r['unit'])} to {shown(r['high'], r['unit'])}</td><td>{r.get('ratio', 0):.2f}</td></tr>".replace("<td>0.00</td>", "<td></td>")
                   for r in told["rows"])
    failed = "".join(f"<p><b>{html.escape(part)}</b>: {html.escape(why)}</p>" for part, why in told["failed"].items())
    return ("<!doctype html><meta charset='utf-8'><title>Orrery: benchmarks</title><style>body{font:14px sans-serif;margin:2em}"
            "td{padding:2px 12px 2px 0;vertical-align:top}</style><h1>Orrery: benchmarks</h1>"
            f"<table>{facts}</table>{failed}{''.join(f'<p>{svg}</p>' for _, svg in drawings)}"
            f"<table><tr><th>part</th><th>what</th><th>median</th><th>10th to 90th percentile</th><th>ratio</th></tr>{body}</table>\n")


def conditions(options):
    try:
        devices = json.loads(run([BUILD / "bin" / "orrery-gpu", "--list-devices", "--json"]).stdout)
    except (Failed, ValueError) as problem:
        devices = str(problem)
    model = next((l.split(":", 1)[1].strip() for l in Path("/proc/cpuinfo").read_text().splitlines() if l.startswith("model name")), "?")
    return {"processor": f"{model}, {os.cpu_count()} of them", "kernel": platform.release(), "load at the start": os.getloadavg()[0],
            "device asked for": "software" if options.cpu else "the first" if options.gpu is None else options.gpu, "devices": devices,
            "repetitions": options.repetitions, "quick": options.quick, "seconds": {}}


def write(told, drawings, folder):
    (folder / "bench.json").write_text(json.dumps(told, indent=1) + "\n")
    (folder / "table.txt").write_text(table(told["rows"]) + "\n")
    (folder / "bench.html").write_text(page(told, drawings))
    for name, svg in drawings:
        (folder / f"{name}.svg").write_text(svg)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gpu", nargs="?", type=int, const=-1, metavar="N", help="on a GPU: sizes of a GPU (N: which)")
    parser.add_argument("--cpu", action="store_true", help="the software device, small sizes (default unless --gpu)")
    parser.add_argument("--quick", action="store_true", help="the smallest sizes: does it run?")
    parser.add_argument("--only", metavar="PART,...")
    parser.add_argument("--filter", default=".", metavar="REGEX", help="of the bench_* programs' benchmarks")
    parser.add_argument("--repetitions", type=int, default=5, metavar="N")
    parser.add_argument("--out", type=Path, default=Path("build/bench"), metavar="DIR")
    options = parser.parse_args()
    options.cpu = options.cpu or options.gpu is None
    parts = {"raymarch": raymarch, "capture": capture, "restart": restart, "streaming-loop": streaming_loop, "kernels": kernels}
    for program in sorted((BUILD / "bin").glob("bench_*")):
        if program.name not in ("bench_kernels", "bench_acquire"):  # streaming-loop runs the latter
            parts[program.name] = lambda o, name=program.name: google(name, o)
    wanted = options.only.split(",") if options.only else list(parts)
    told, drawings = {"conditions": conditions(options), "rows": [], "failed": {}}, []
    options.out.mkdir(parents=True, exist_ok=True)
    for part in wanted:
        print(f"[bench] {part}", file=sys.stderr, flush=True)
        begun = time.monotonic()
        try:
            if part not in parts:
                raise Failed("there is no such part or program here")
            rows, drawn, *failed = parts[part](options)
            told["rows"] += rows
            drawings += drawn
            if failed and failed[0]:
                told["failed"][part] = failed[0]
        except Failed as failure:
            told["failed"][part] = str(failure)
        told["conditions"]["seconds"][part] = round(time.monotonic() - begun, 1)
        write(told, drawings, options.out)  # after each part: a suite that is cut short has told what it knew
    print(table(told["rows"]))
    for part, why in told["failed"].items():
        print(f"{part}: no figures: {why}")
    print(f"JSON, table, page and plots in {options.out}")
    return 1 if told["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
