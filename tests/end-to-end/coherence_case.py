"""What CPU and GPU write reaches the other, however guest memory is kept; on the software device."""

import json
import os
import signal
import time

from running import RunCase, child, orrery

SMALL = ("streaming-loop", "--groups", "2,6", "--large", "3", "--dispatches", "12", "--small-groups", "1", "--mib", "1", "--runs", "9",
         "--share", "20", "--check-all")


class Coherence(RunCase):
    def run_loop(self, *arguments, title=(), **more):
        run = orrery("run", "--headless", "--cpu", *arguments, *SMALL, *title, timeout=280, **more)
        self.assertEqual(run.code, 0, run)
        return run

    def test_streaming_loop_is_equal_however_its_memory_is_kept(self):
        every = ("--variant", "all", "--cycles", "3")
        for how in (("--coherence", "imported"), ("--coherence", "mirrored"), ("--coherence", "mirrored", "--tracker", "hash"),
                    ("--coherence", "mirrored", "--tracker", "mprotect"), ("--coherence", "per-run")):
            with self.subTest(how=how):
                self.assertIn("streaming-loop: 6 equal, 0 different", self.run_loop(*how, title=every).out)
        with self.subTest(how="without device addressing"):
            run = self.run_loop("--no-device-addressing", "--routes", title=(*every, "--ahead", "1"))
            self.assertIn("streaming-loop: 6 equal, 0 different", run.out)
            self.assertRegex(run.err, r"routes: 0 trace, 0 device-addressed, 216 host run, 0 refused")
        with self.subTest(how="without import"):
            self.assertIn("streaming-loop: 6 equal, 0 different", self.run_loop(title=every, ORRERY_IMPORT="off").out)

    def test_memory_changes_its_protection_only_behind_the_work_that_may_write_it(self):
        for how in (("--coherence", "imported"), ("--coherence", "mirrored")):
            with self.subTest(how=how):
                file = self.folder / f"report-{how[1]}.json"
                run = self.run_loop(*how, "--report", file, title=("--variant", "all", "--cycles", "3", "--protect"))
                self.assertIn("streaming-loop: 6 equal, 0 different", run.out)
                self.assertGreaterEqual(json.loads(file.read_text())["spans"]["queued writes"]["count"], 18)

    def test_an_acquire_point_costs_one_harvest_and_only_what_changed_is_uploaded(self):
        reports = {}
        for share in ("0", "100"):
            file = self.folder / f"report-{share}.json"
            self.run_loop("--coherence", "mirrored", "--report", file, title=("--cycles", "6", "--acquires", "2", "--share", share))
            reports[share] = json.loads(file.read_text())
        for report in reports.values():
            counters = report["counters"]
            self.assertEqual(counters["retired"], 12)
            self.assertEqual(counters["harvests"], 12)
            self.assertEqual(report["spans"]["harvest"]["count"], 12)
            self.assertEqual((counters["escapes"], counters["write_conflicts"]), (0, 0))
        # A mebibyte is rewritten before each cycle but the first, which uploads all. Pages of commands, tables and labels are uploaded in both
        # runs, the more often the further apart the title's writes and the harvests happen to lie.
        more = reports["100"]["counters"]["uploaded_bytes"] - reports["0"]["counters"]["uploaded_bytes"]
        self.assertLess(abs(more - (5 << 20)), 256 << 10)

    def test_the_naive_method_harvests_before_every_dispatch(self):
        file = self.folder / "report.json"
        self.run_loop("--coherence", "per-run", "--report", file, title=("--cycles", "2"))
        report = json.loads(file.read_text())
        self.assertEqual(report["spans"]["harvest"]["count"], 24)
        self.assertGreater(report["counters"]["harvest_scans"], 24 * 9)

    def test_a_service_killed_between_mirrors_and_memory_leaves_the_results_right(self):
        process = self.start("run", "--headless", "--cpu", "--coherence", "mirrored", *SMALL, "--cycles", "60", "--times")
        lines, kills = [], 0
        for line in process.stdout:
            lines.append(line)
            if line.startswith(("cycle 10:", "cycle 25:", "cycle 40:")):
                time.sleep(0.005 * (kills + 1))
                os.kill(child(process.pid, "orrery-gpu"), signal.SIGKILL)
                kills += 1
        _, err = process.communicate(timeout=100)
        self.assertEqual((process.returncode, kills), (0, 3), "".join(lines) + err)
        self.assertIn("streaming-loop: 1 equal, 0 different\n", lines)

    def test_the_log_says_how_memory_is_kept_and_writes_are_found(self):
        run = self.run_loop("--verbose", "--coherence", "mirrored", "--tracker", "hash", title=("--cycles", "1"))
        self.assertIn("guest memory is mirrored, the title's writes are found by hash", run.err)
