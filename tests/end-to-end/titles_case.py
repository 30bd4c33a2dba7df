"""Each title, through the launcher, on the software device."""

from running import RunCase, frames, orrery


class Titles(RunCase):
    def test_hello_prints_and_its_exit_code_is_passed_on(self):
        run = orrery("run", "hello")
        self.assertEqual(run.code, 0, run)
        self.assertIn("hello", run.out.lower())
        self.assertEqual(orrery("run", "hello", "7").code, 7)

    def test_every_kernel_equals_its_cpu_result(self):
        run = orrery("run", "--headless", "--cpu", "kernels", "--size", "small", timeout=280)
        self.assertEqual(run.code, 0, run)
        last = run.out.strip().splitlines()[-1]
        self.assertRegex(last, r"^kernels: [1-9][0-9]* equal, 0 different, 0 refused$")

    def test_two_runs_of_raymarch_under_the_logical_clock_are_identical(self):
        for name in ("a", "b"):
            run = orrery("run", "--headless", "--cpu", "--logical-clock", "--frames", 8, "--keep-frames", self.folder / name,
                         "raymarch", "--size", "320x180", timeout=280)
            self.assertEqual(run.code, 0, run)
        self.assert_same_frames(self.folder / "a", self.folder / "b", 8)
        # The picture moves: a run that shows one frame for ever is no animation.
        self.assertGreater(len({f.read_bytes() for f in frames(self.folder / "a")}), 4)

    def test_no_validation_message_while_the_kernels_run(self):
        run = orrery("run", "--headless", "--cpu", "--validation", "kernels", "--size", "small", timeout=280)
        self.assertEqual(run.code, 0, run)
        self.assertNotRegex(run.err, r"VUID|Validation (Error|Warning)")
