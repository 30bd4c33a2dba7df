"""`orrery report`: one run, and all that helps to understand it, in one file."""

import json
import os
import platform
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
LAUNCHER = HERE / "orrery"


def facts():
    told = {"kernel": platform.release(), "processors": os.cpu_count(), "libc": " ".join(platform.libc_ver()), "python": platform.python_version(),
            "environment": {k: v for k, v in os.environ.items() if k.startswith(("ORRERY_", "VK_", "LP_", "MESA_"))}}
    try:
        told["processor"] = next(line.split(":", 1)[1].strip() for line in Path("/proc/cpuinfo").read_text().splitlines()
                                 if line.startswith("model name"))
        told["version"] = (HERE / "VERSION").read_text().strip()
    except (OSError, StopIteration):
        pass
    return told


def run(command, out, err):
    with open(out, "wb") as told, open(err, "wb") as log:
        return subprocess.run([sys.executable, str(LAUNCHER), *command], stdin=subprocess.DEVNULL, stdout=told, stderr=log, check=False,
                              env=dict(os.environ, ORRERY_LOG=os.environ.get("ORRERY_LOG", "info"))).returncode


def act(options):
    with tempfile.TemporaryDirectory(prefix="orrery-report-") as place:
        folder = Path(place) / "orrery-report"
        folder.mkdir()
        device = (["--cpu"] if options.cpu else []) + (["--gpu", str(options.gpu)] if options.gpu is not None else [])
        command = ["run", *([] if options.window else ["--headless"]), *device, "--spans", "--report", str(folder / "counters.json")]
        command += ["--frames", str(options.frames)] if options.frames else []
        if options.capture:
            command += ["--capture", str(folder / "run.cap") + (f":{options.flips}" if options.flips else "")]
        command += [options.title, *options.arguments]
        code = run(command, folder / "output.txt", folder / "log.txt")
        run(["devices", "--json"], folder / "devices.json", folder / "devices-log.txt")
        (folder / "run.json").write_text(json.dumps({"command": ["orrery", *command], "exit_status": code, **facts()}, indent=1) + "\n")
        with tarfile.open(options.out, "w:xz") as tar:
            tar.add(folder, folder.name)
    print(f"exit status {code}; log, output, times, refusals, devices{' and capture' if options.capture else ''} are in {options.out}")
    print("The capture holds memory of the title; --no-capture leaves it out." if options.capture else "It holds nothing of the title's memory.")
    return 0


def add_verb(verbs):
    verb = verbs.add_parser(
        "report", help="run a title and pack what a bug report needs into one file",
        description="Runs a title with its log, its times, what was refused and a capture of what the GPU was given, and packs that with facts about the "
                    "machine and its devices into one file.")
    verb.add_argument("--out", default="orrery-report.tar.xz", metavar="FILE", help="default: orrery-report.tar.xz")
    verb.add_argument("--frames", type=int, metavar="N", help="end after N frames")
    verb.add_argument("--flips", metavar="FROM-TO", help="capture these flips only")
    verb.add_argument("--no-capture", dest="capture", action="store_false", help="no capture, and host time in place of the logical clock")
    verb.add_argument("--window", action="store_true", help="with a window")
    verb.add_argument("--cpu", action="store_true", help="use the software Vulkan device")
    verb.add_argument("--gpu", type=int, metavar="N", help="use Vulkan device N")
    verb.add_argument("title", metavar="TITLE", help="a title")
    verb.add_argument("arguments", nargs="...", metavar="...", help="passed to the title")
    verb.set_defaults(act=act)
