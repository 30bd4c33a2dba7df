"""`orrery replay`: a capture run again, several times, or against another build, layout or device."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

LAUNCHER = Path(__file__).resolve().parent / "orrery"
# What most packets of compute work are called, by opcode (AMD's public pm4 headers); others are shown by number.
PACKETS = {0x10: "NOP", 0x15: "DISPATCH_DIRECT", 0x16: "DISPATCH_INDIRECT", 0x1e: "ATOMIC_MEM", 0x37: "WRITE_DATA",
           0x3c: "WAIT_REG_MEM", 0x3f: "INDIRECT_BUFFER", 0x46: "EVENT_WRITE", 0x49: "RELEASE_MEM", 0x50: "DMA_DATA",
           0x58: "ACQUIRE_MEM", 0x69: "SET_CONTEXT_REG", 0x76: "SET_SH_REG", 0x79: "SET_UCONFIG_REG"}


class Side:
    """One way to run the capture: a build, a layout, a device."""

    def __init__(self, name, file, arguments, build=None):
        self.name, self.file, self.arguments, self.build = name, file, arguments, build

    def run(self, *more):
        """The results of one replay; None and its error output when it could not run."""
        with tempfile.TemporaryDirectory(prefix="orrery-replay-") as folder:
            results = Path(folder) / "results.json"
            environment = dict(os.environ)
            if self.build:
                environment["ORRERY_BUILD"] = str(Path(self.build).absolute())
            done = subprocess.run([sys.executable, str(LAUNCHER), "replay", *self.arguments, *map(str, more), "--results",
                                   str(results), str(self.file)],
                                  env=environment, capture_output=True, text=True, errors="replace", check=False)
            if done.returncode not in (0, 1) or not results.exists():
                sys.stderr.write(done.stderr)
                return None
            return json.loads(results.read_text())


def hashes(told):
    return [step["hash"] for step in told["steps"]]


def first_difference(one, other):
    """The number of the first step (from 1) whose results differ or that one side lacks; None when they are the same."""
    for number, (a, b) in enumerate(zip(one, other), 1):
        if a != b:
            return number
    return None if len(one) == len(other) else min(len(one), len(other)) + 1


def first_bad_packet(packets, differs):
    """Of the packets' places the first with which the two sides differ; `differs(dwords)` replays that much of the buffer.
    Nothing of the buffer is known to be the same, all of it to differ."""
    low, high = 0, len(packets)  # the first `low` packets give the same, the first `high` do not
    while high - low > 1:
        middle = (low + high) // 2
        if differs(packets[middle]):
            high = middle
        else:
            low = middle
    return low


def packet_name(header):
    if header >> 30 != 3:
        return f"type {header >> 30} packet"
    opcode = header >> 8 & 0xff
    return PACKETS.get(opcode, f"opcode {opcode:#x}")


def bisect(ours, theirs, as_json):
    told = [ours.run(), theirs.run()]
    if None in told:
        return 73
    step = first_difference(*map(hashes, told))
    if step is None:
        if as_json:
            print(json.dumps({"steps": len(told[0]["steps"]), "different": None}))
        else:
            print(f"{len(told[0]['steps'])} results are the same: {ours.name}, {theirs.name}")
        return 0
    if any(len(t["steps"]) < step for t in told):
        print(f"one of {ours.name} and {theirs.name} ends before step {step}; up to there they are the same")
        return 1
    at = told[0]["steps"][step - 1]
    result = {"steps": len(told[0]["steps"]), "different": step, "entries": at["entries"], "flips": at["flips"], "packet": None}
    shown = ours.run("--steps", step)
    packets = shown["packets"] if shown else []

    def differs(dwords):
        one, other = ours.run("--steps", step, "--cut", dwords), theirs.run("--steps", step, "--cut", dwords)
        return one is None or other is None or hashes(one) != hashes(other)

    if packets and not differs(0):
        bad = first_bad_packet(packets, differs)
        result |= {"packet": bad, "dword": packets[bad], "name": packet_name(shown["headers"][bad])}
    if as_json:
        print(json.dumps(result))
        return 1
    print(f"{ours.name} and {theirs.name} differ first at step {step} of {result['steps']}: after entry {at['entries']}, flip "
          f"{at['flips']}")
    if result["packet"] is not None:
        print(f"packet {result['packet']} of its last command buffer makes the difference: {result['name']} at dword "
              f"{result['dword']}")
    elif packets:
        print("the step differs without its last command buffer too")
    return 1


def rounds(side, count):
    seen, different = [], 0
    for number in range(1, count + 1):
        told = side.run()
        if told is None:
            return 73
        seen.append(told["hash"])
        different += told["different"] != 0
        print(f"round {number}: hash {told['hash']}, {told['different']} of {len(told['steps'])} results differ from the run's", flush=True)
    print(f"{count} replays, {len(set(seen))} hash{'es' if len(set(seen)) > 1 else ''}, "
          f"{'all equal to the run' if different == 0 else f'{different} not equal to the run'}")
    return 0 if different == 0 and len(set(seen)) == 1 else 1


def device_arguments(options):
    arguments = []
    for flag, wanted in (("--cpu", options.cpu), ("--validation", options.validation)):
        if wanted:
            arguments.append(flag)
    for flag, value in (("--gpu", options.gpu), ("--layout", options.layout), ("--coherence", options.coherence)):
        if value is not None:
            arguments += [flag, str(value)]
    return arguments


def act(options, run_once):
    if options.bisect:
        other = device_arguments(options)
        names = []
        for flag, value in (("--layout", options.other_layout), ("--gpu", options.other_gpu), ("--coherence", options.other_coherence)):
            if value is not None:
                if flag == "--gpu" and "--cpu" in other:
                    other.remove("--cpu")
                other += [flag, str(value)]
                names.append(f"{flag[2:]} {value}")
        if options.other_build:
            names.append(f"build {options.other_build}")
        if not names:
            print("[orrery] --bisect needs the other side: --other-build, --other-layout, --other-gpu or --other-coherence", file=sys.stderr)
            return 64
        return bisect(Side("this", options.file, device_arguments(options)),
                      Side(", ".join(names), options.file, other, options.other_build), options.json)
    if options.rounds > 1:
        return rounds(Side("this", options.file, device_arguments(options)), options.rounds)
    options.title = str(Path(options.file).absolute())
    return run_once(options)


def add_verb(verbs, run_once, defaults):
    """`defaults`: what `orrery run` has where nothing is said."""
    verb = verbs.add_parser(
        "replay", help="run a capture again and compare",
        description="Gives a GPU service what 'orrery run --capture' wrote, with no title, and compares guest memory after each step "
                    "with the run's. Exit status 0: all the same; 1: not. --bisect compares two builds, layouts or devices and finds "
                    "the first step, and in it the first packet, with which they differ.")
    verb.set_defaults(**defaults)
    verb.add_argument("--rounds", type=int, default=1, metavar="N", help="replay N times; say whether all are the same")
    verb.add_argument("--bisect", action="store_true", help="find the first difference to the other side")
    verb.add_argument("--other-build", metavar="DIR", help="the other side's build folder")
    verb.add_argument("--other-layout", choices=["per-lane", "exchange", "whole-wave"], help="the other side's lane layout")
    verb.add_argument("--other-gpu", type=int, metavar="N", help="the other side's Vulkan device")
    verb.add_argument("--other-coherence", choices=["imported", "mirrored", "per-run"], help="the other side's coherence")
    verb.add_argument("--json", action="store_true", help="what --bisect found, for programs")
    verb.add_argument("--steps", type=int, metavar="N", help="the first N steps only")
    verb.add_argument("--cut", type=int, metavar="DWORDS", help="of the last step's last command buffer so many dwords only")
    verb.add_argument("--results", metavar="FILE", help="the hash after each step, as JSON")
    verb.add_argument("--gpu", type=int, metavar="N", help="use Vulkan device N")
    verb.add_argument("--cpu", action="store_true", help="use the software Vulkan device")
    verb.add_argument("--layout", choices=["per-lane", "exchange", "whole-wave"], help="ask for a lane layout")
    verb.add_argument("--coherence", choices=["auto", "imported", "mirrored", "per-run"], help="how memory is kept on the device")
    verb.add_argument("--validation", action="store_true", help="under the Vulkan validation layers")
    verb.add_argument("--window", dest="headless", action="store_false", help="show the frames in a window")
    verb.add_argument("--keep-frames", metavar="DIR", help="write frames as PNG into DIR")
    verb.add_argument("--every", type=int, metavar="N", help="keep every N-th frame only")
    verb.add_argument("--report", metavar="FILE", help="counters and times, as JSON")
    verb.add_argument("--spans", action="store_true", help="at the end, say what the time went into")
    verb.add_argument("--trace", metavar="FILE", help="write a Chrome/Perfetto trace")
    verb.add_argument("--under", metavar="COMMAND", help="start the GPU service under COMMAND")
    verb.add_argument("--verbose", action="store_true", help="log what both processes do")
    verb.add_argument("file", metavar="FILE", help="a capture")
    verb.set_defaults(act=lambda options: act(options, run_once), replay=True, headless=True)
