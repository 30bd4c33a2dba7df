"""Each title, through the launcher, on the software device."""

import json
import os
import subprocess

from running import BUILD, CHECKOUT, RunCase, frames, orrery


class Titles(RunCase):
    def nothing_escaped(self, file):
        """Every access of every program fell into the title's memory."""
        counters = json.loads(file.read_text())["counters"]
        self.assertEqual((counters["escapes"], counters["write_conflicts"]), (0, 0))

    def test_hello_prints_and_its_exit_code_is_passed_on(self):
        run = orrery("run", "hello")
        self.assertEqual(run.code, 0, run)
        self.assertIn("hello", run.out.lower())
        self.assertEqual(orrery("run", "hello", "--code", "7").code, 7)

    def test_every_kernel_equals_its_cpu_result(self):
        file = self.folder / "report.json"
        run = orrery("run", "--headless", "--cpu", "--report", file, "kernels", "--size", "small", timeout=280)
        self.assertEqual(run.code, 0, run)
        self.nothing_escaped(file)
        last = run.out.strip().splitlines()[-1]
        self.assertRegex(last, r"^kernels: [1-9][0-9]* equal, 0 different, 0 refused$")

    def test_counters_changed_in_place_are_what_the_cpu_says(self):
        for coherence in ("imported", "mirrored"):
            file = self.folder / f"report-{coherence}.json"
            run = orrery("run", "--headless", "--cpu", "--coherence", coherence, "--report", file, "counters", "--rounds", 10, "--steps", 3, timeout=280)
            self.assertEqual(run.code, 0, run)
            self.nothing_escaped(file)
            self.assertIn("counters: 30 steps, 0 values wrong", run.out)

    def test_two_runs_of_raymarch_under_the_logical_clock_are_identical(self):
        for name in ("a", "b"):
            file = self.folder / f"report-{name}.json"
            run = orrery("run", "--headless", "--cpu", "--logical-clock", "--frames", 8, "--keep-frames", self.folder / name, "--report", file,
                         "raymarch", "--size", "320x180", timeout=280)
            self.assertEqual(run.code, 0, run)
            self.nothing_escaped(file)
        self.assert_same_frames(self.folder / "a", self.folder / "b", 8)
        # The picture moves: a run that shows one frame for ever is no animation.
        self.assertGreater(len({f.read_bytes() for f in frames(self.folder / "a")}), 4)

    def test_the_kernels_run_from_a_compute_queue_too(self):
        run = orrery("run", "--headless", "--cpu", "kernels", "--size", "small", "--queue", "compute", "--only", "saxpy")
        self.assertEqual(run.code, 0, run)

    def test_frames_flipped_by_the_gpu_are_kept_like_the_others(self):
        for name, how in (("cpu", ()), ("gpu", ("--gpu-flip",))):
            run = orrery("run", "--headless", "--cpu", "--frames", 3, "--keep-frames", self.folder / name, "raymarch", "--size",
                         "160x90", *how)
            self.assertEqual(run.code, 0, run)
            self.assertEqual(len(frames(self.folder / name)), 3)

    def test_devices_and_titles_are_listed(self):
        self.assertIn("subgroup", orrery("devices").out)
        self.assertTrue(json.loads(orrery("devices", "--json").out))
        listed = orrery("titles")
        self.assertEqual(listed.code, 0)
        for title in ("hello", "kernels", "raymarch"):
            self.assertIn(title, listed.out)

    def test_a_bundle_runs_where_nothing_of_the_checkout_is(self):
        made = subprocess.run([str(CHECKOUT / "scripts" / "bundle"), "--release", "--build", str(BUILD), str(self.folder / "bundle")],
                              capture_output=True, text=True, check=False, env=dict(os.environ, XZ_OPT="-0"))
        self.assertEqual(made.returncode, 0, made.stderr)
        packed = list(self.folder.glob("bundle-*.tar.xz"))
        self.assertEqual(len(packed), 1, made.stdout)
        subprocess.run(["rm", "-rf", str(self.folder / "bundle")], check=True)
        subprocess.run(["tar", "-xf", str(packed[0]), "-C", str(self.folder)], check=True)
        carried = {f.name for f in (self.folder / "bundle" / "licences").iterdir()}
        self.assertLessEqual({"orrery.txt", "libfmt9.txt", "libstdc++6.txt"}, carried)
        self.assertEqual(packed[0].name, f"bundle-{(self.folder / 'bundle' / 'VERSION').read_text().strip()}.tar.xz")
        bare = {"PATH": "/usr/bin:/bin", "HOME": str(self.folder), "XDG_RUNTIME_DIR": str(self.folder)}
        suite = subprocess.run([str(self.folder / "bundle" / "bench" / "suite.py"), "--quick", "--only", "capture", "--repetitions", "1", "--out",
                                str(self.folder / "bench")], cwd="/", env=bare, capture_output=True, text=True, timeout=120, check=False)
        self.assertEqual(suite.returncode, 0, suite.stdout + suite.stderr)
        told = json.loads((self.folder / "bench" / "bench.json").read_text())
        self.assertEqual([row["part"] for row in told["rows"]], ["capture", "capture"])
        self.assertTrue((self.folder / "bench" / "bench.html").read_text().startswith("<!doctype html>"))
        run = subprocess.run([str(self.folder / "bundle" / "start"), "--headless", "--cpu", "kernels", "--size", "small",
                              "--only", "saxpy"], cwd="/", env=bare, capture_output=True, text=True, timeout=120, check=False)
        self.assertEqual((run.returncode, "1 equal, 0 different, 0 refused" in run.stdout), (0, True), run.stderr)

    def test_a_report_of_a_run_holds_what_one_asks_for_first(self):
        file = self.folder / "report.tar.xz"
        done = orrery("report", "--cpu", "--frames", 3, "--out", file, "raymarch", "--size", "160x90")
        self.assertEqual(done.code, 0, done)
        subprocess.run(["tar", "-xf", str(file), "-C", str(self.folder)], check=True)
        folder = self.folder / "orrery-report"
        self.assertEqual(json.loads((folder / "run.json").read_text())["exit_status"], 0)
        self.assertIn("spans:", (folder / "log.txt").read_text())
        self.assertIn("raymarch", (folder / "output.txt").read_text())
        self.assertTrue(json.loads((folder / "devices.json").read_text()))
        self.assertEqual(json.loads((folder / "counters.json").read_text())["counters"]["flips"], 3)
        self.assertEqual(orrery("replay", "--cpu", folder / "run.cap").code, 0)

    def test_no_validation_message_while_the_kernels_run(self):
        run = orrery("run", "--headless", "--cpu", "--validation", "kernels", "--size", "small", timeout=280)
        self.assertEqual(run.code, 0, run)
        self.assertNotRegex(run.err, r"VUID|Validation (Error|Warning)")
