"""Spans, traces and the live view of whole runs; kept frames against each other."""

import json
import os
import signal
from collections import defaultdict

from running import RunCase, child, frames, orrery, wait_for

SMALL = ("raymarch", "--size", "160x90")


def tracks_of(trace):
    tracks = defaultdict(list)
    for event in trace:
        if event["ph"] == "X":
            tracks[event["pid"], event["tid"]].append((event["ts"], event["ts"] + event["dur"], event["name"]))
    return tracks


class Measure(RunCase):
    def read_trace(self, path):
        trace = json.loads(path.read_text())
        names = {(e["pid"], e["tid"]): e["args"]["name"] for e in trace if e["name"] == "thread_name"}
        tracks = tracks_of(trace)
        self.assertLessEqual(set(tracks), set(names), "a track without a name")
        for where, spans in tracks.items():
            # Each span lies in the one around it, or behind it; a microsecond's last decimal may be rounded.
            around = []
            for begin, end, name in sorted(spans, key=lambda s: (s[0], -s[1])):
                while around and begin >= around[-1] - 0.002:
                    around.pop()
                self.assertTrue(not around or end <= around[-1] + 0.002, (names[where], begin, end, name))
                around.append(end)
        return trace, tracks, names

    def test_where_the_time_went_is_told_when_asked(self):
        run = orrery("run", "--headless", "--cpu", "--frames", 3, "--spans", *SMALL)
        self.assertEqual(run.code, 0, run)
        table = {line[7:31].strip(): line.split() for line in run.err.splitlines() if line.startswith(("gpu ", "guest "))}
        for name in ("dispatch on device", "device: run", "device: wait", "translate", "pipeline compile", "read program",
                     "dispatch: buffers", "present", "submission", "open device", "submissions", "flips"):
            self.assertIn(name, table, run.err)
        self.assertIn("gpu    present                           3 ", run.err)
        self.assertNotIn("of run", orrery("run", "--headless", "--cpu", "--frames", 1, *SMALL).err)

    def test_a_trace_has_both_processes_the_queues_and_the_device_on_one_time_line(self):
        path = self.folder / "trace.json"
        run = orrery("run", "--headless", "--cpu", "--frames", 4, "--trace", path, *SMALL)
        self.assertEqual(run.code, 0, run)
        trace, tracks, names = self.read_trace(path)
        processes = {e["args"]["name"] for e in trace if e["name"] == "process_name"}
        self.assertEqual(processes, {"guest", "GPU service, life 1"})
        self.assertLessEqual({"device", "queue 0"}, set(names.values()))
        by_name = defaultdict(list)
        for spans in tracks.values():
            for begin, end, name in spans:
                by_name[name].append((begin, end))
        self.assertEqual(len(by_name["present"]), 4)
        # The device's clock is on the host's time line: its work on a dispatch ends before the wait for it does, and begins
        # after the run did.
        last_wait = max(end for _, end in by_name["device: wait"])
        self.assertGreaterEqual(min(begin for begin, _ in by_name["device: run"]), 0)
        self.assertLessEqual(max(end for _, end in by_name["device: run"]), last_wait + 1000)
        for begin, end in by_name["dispatch on device"]:
            self.assertTrue(any(b <= begin and end <= e for b, e in by_name["submission"]))

    def test_a_trace_outlives_the_service_and_shows_what_it_was_doing(self):
        path = self.folder / "trace.json"
        kept = self.folder / "kept"
        process = self.start("run", "--headless", "--cpu", "--frames", 12, "--keep-frames", kept, "--trace", path, "raymarch",
                             "--size", "640x360")
        wait_for(lambda: len(frames(kept)) >= 3, 120)
        os.kill(child(process.pid, "orrery-gpu"), signal.SIGKILL)
        _, err = process.communicate(timeout=200)
        self.assertEqual(process.returncode, 0, err)
        self.assertIn("died in: ", err)
        trace, tracks, _ = self.read_trace(path)
        unfinished = [e for e in trace if e["ph"] == "X" and e["args"].get("unfinished")]
        self.assertTrue(unfinished)
        self.assertEqual({e["pid"] for e in unfinished}, {1})
        for life in (1, 2):
            self.assertTrue(any(pid == life and any(name == "present" for *_, name in spans)
                                for (pid, _), spans in tracks.items()), life)

    def test_a_trace_that_cannot_be_written_is_a_usage_error(self):
        run = orrery("run", "--headless", "--cpu", "--frames", 1, "--trace", self.folder / "none" / "trace.json", *SMALL)
        self.assertEqual(run.code, 64, run)
        self.assertIn("none/trace.json", run.err)

    def test_top_looks_into_a_running_title_and_into_one_whose_service_is_stopped(self):
        process = self.start("run", "--headless", "--cpu", *SMALL)
        guest = wait_for(lambda: child(process.pid, "orrery-guest"))

        def look():
            told = orrery("top", "--pid", guest, "--once", "--json")
            return json.loads(told.out) if told.code == 0 else None

        running = wait_for(lambda: (look() or {}).get("flips", 0) > 2 and look(), 120)
        self.assertEqual((running["title"], running["lives"]), ("raymarch", 1))
        present = next(s for s in running["measures"]["spans"] if s["name"] == "present")
        self.assertGreater(present["count"], 2)
        self.assertLessEqual(present["p50_ns"], present["p99_ns"])
        self.assertLessEqual(present["p99_ns"], present["largest_ns"])
        screen = orrery("top", "--pid", guest, "--once")
        self.assertEqual(screen.code, 0, screen)
        self.assertIn("raymarch: process", screen.out)
        os.kill(child(process.pid, "orrery-gpu"), signal.SIGSTOP)
        stopped = wait_for(lambda: (look() or {}).get("still") and look())
        self.assertEqual(stopped["lives"], 1)
        self.assertIn("NOT MOVING", orrery("top", "--pid", guest, "--once").out)
        os.kill(child(process.pid, "orrery-gpu"), signal.SIGCONT)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
        gone = orrery("top", "--pid", guest, "--once")
        self.assertEqual(gone.code, 64, gone)

    def test_frames_diff_finds_the_one_frame_that_is_different(self):
        for name in ("a", "b"):
            run = orrery("run", "--headless", "--cpu", "--logical-clock", "--frames", 6, "--every", 2, "--keep-frames",
                         self.folder / name, *SMALL)
            self.assertEqual(run.code, 0, run)
        self.assertEqual(len(frames(self.folder / "a")), 3)
        out = self.folder / "out"
        same = orrery("frames-diff", self.folder / "a", self.folder / "b", "--out", out)
        self.assertEqual((same.code, out.exists()), (0, False), same)
        self.assertIn("6 flips are the same", same.out)
        # Frame 4 in place of frame 2, as a run with another picture would have kept it.
        listing = (self.folder / "b" / "frames.txt").read_text().splitlines()
        listing[2] = listing[2][:6] + listing[4][6:]
        (self.folder / "b" / "frames.txt").write_text("\n".join(listing) + "\n")
        (self.folder / "b" / "frame-000002.png").write_bytes((self.folder / "b" / "frame-000004.png").read_bytes())
        other = orrery("frames-diff", "--json", self.folder / "a", self.folder / "b", "--out", out)
        self.assertEqual(other.code, 1, other)
        told = json.loads(other.out)
        self.assertEqual((told["same"], [f["flip"] for f in told["different"]]), (5, [2]))
        self.assertTrue((out / "difference-000002.png").exists())
