"""Runs that repeat under the logical clock, whatever the host does."""

import subprocess
import sys

from running import BUILD, RunCase, frames, orrery

THREADS = BUILD / "test-titles" / "threads" / "eboot.bin"


class Clock(RunCase):
    def busy(self):
        """Something that takes the processors away."""
        process = subprocess.Popen([sys.executable, "-c", "while True: pass"], start_new_session=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.started.append(process)
        return process

    def test_threads_that_wait_sleep_and_signal_come_in_the_same_order_every_time(self):
        told = {}
        for seed in (1, 2):
            told[seed] = orrery("run", "--headless", "--cpu", "--logical-clock", THREADS, seed)
            self.assertEqual(told[seed].code, 0, told[seed])
            self.assertEqual(told[seed].out.count(" step "), 300)
            self.assertNotIn("may not repeat", told[seed].err)
        self.assertNotEqual(told[1].out, told[2].out)
        hogs = [self.busy() for _ in range(4)]
        for seed in (1, 2, 1):
            again = orrery("run", "--headless", "--cpu", "--logical-clock", THREADS, seed)
            self.assertEqual(again.out, told[seed].out)
        for hog in hogs:
            hog.kill()

    def test_without_it_the_same_threads_do_all_their_steps_too(self):
        run = orrery("run", "--headless", "--cpu", THREADS)
        self.assertEqual(run.code, 0, run)
        self.assertEqual(run.out.count(" step "), 300)

    def test_frames_and_their_list_repeat_while_the_host_is_busy(self):
        size = ("raymarch", "--size", "160x90")
        for name in ("quiet", "busy"):
            hogs = [self.busy() for _ in range(4)] if name == "busy" else []
            run = orrery("run", "--headless", "--cpu", "--logical-clock", "--frames", 12, "--every", 5, "--keep-frames",
                         self.folder / name, *size, timeout=280)
            self.assertEqual(run.code, 0, run)
            for hog in hogs:
                hog.kill()
        self.assertEqual([f.name for f in frames(self.folder / "quiet")], [f"frame-{n:06}.png" for n in (0, 5, 10)])
        self.assertEqual((self.folder / "quiet" / "frames.txt").read_text(), (self.folder / "busy" / "frames.txt").read_text())
        self.assertEqual(len((self.folder / "quiet" / "frames.txt").read_text().splitlines()), 12)
