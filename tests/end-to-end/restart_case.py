"""The GPU service dies; the title does not notice."""

import os
import signal
import time

from running import BUILD, RunCase, alive, child, frames, orrery, wait_for

SIZE = ("raymarch", "--size", "320x180")


class Restart(RunCase):
    def test_twenty_kills_of_the_service_leave_the_frames_as_they_are(self):
        quiet = self.folder / "quiet"
        run = orrery("run", "--headless", "--cpu", "--logical-clock", "--frames", 60, "--keep-frames", quiet, *SIZE, timeout=280)
        self.assertEqual(run.code, 0, run)
        killed = self.folder / "killed"
        process = self.start("run", "--headless", "--cpu", "--logical-clock", "--frames", 60, "--keep-frames", killed, *SIZE)
        kills, last = 0, None
        while kills < 20 and process.poll() is None:
            # Each life shows a frame or two before it is killed, so that 60 frames see 20 deaths.
            seen = len(frames(killed))
            service = wait_for(lambda: process.poll() is not None or child(process.pid, "orrery-gpu"))
            if process.poll() is not None:
                break
            if service == last:
                time.sleep(0.002)
                continue
            wait_for(lambda: len(frames(killed)) > seen or process.poll() is not None, 120)
            time.sleep(0.004 * (kills % 10))
            if alive(service):
                os.kill(service, signal.SIGKILL)
                kills, last = kills + 1, service
        out, err = process.communicate(timeout=200)
        self.assertEqual(process.returncode, 0, err)
        self.assertEqual(kills, 20, err)
        self.assert_same_frames(quiet, killed, 60)

    def test_a_killed_title_takes_the_service_with_it(self):
        process = self.start("run", "--headless", "--cpu", *SIZE)
        service = wait_for(lambda: child(process.pid, "orrery-gpu"))
        guest = wait_for(lambda: child(process.pid, "orrery-guest"))
        time.sleep(0.5)
        os.kill(guest, signal.SIGKILL)
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, 128 + signal.SIGKILL)
        wait_for(lambda: not alive(service), 10)

    def test_a_killed_launcher_takes_both_processes_with_it(self):
        process = self.start("run", "--headless", "--cpu", *SIZE)
        service = wait_for(lambda: child(process.pid, "orrery-gpu"))
        guest = wait_for(lambda: child(process.pid, "orrery-guest"))
        time.sleep(0.5)
        process.kill()
        wait_for(lambda: not alive(service) and not alive(guest), 20)

    def test_ctrl_c_ends_both_processes_and_says_so_by_its_exit_code(self):
        process = self.start("run", "--headless", "--cpu", *SIZE)
        service = wait_for(lambda: child(process.pid, "orrery-gpu"))
        guest = wait_for(lambda: child(process.pid, "orrery-guest"))
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130)
        wait_for(lambda: not alive(service) and not alive(guest), 10)

    def test_a_debugger_can_be_attached_to_the_service_alone(self):
        import shutil
        import subprocess
        if shutil.which("gdb") is None:
            self.skipTest("gdb is not installed")
        kept = self.folder / "kept"
        process = self.start("run", "--headless", "--cpu", "--frames", 20, "--keep-frames", kept, *SIZE)
        wait_for(lambda: len(frames(kept)) >= 2, 120)
        service = child(process.pid, "orrery-gpu")
        told = subprocess.run(["gdb", "-batch", "-nx", "-p", str(service), "-ex", "info threads"], capture_output=True, text=True,
                              timeout=120, stdin=subprocess.DEVNULL)
        self.assertIn("orrery-gpu", told.stdout)
        _, err = process.communicate(timeout=200)
        self.assertEqual(process.returncode, 0, err)
        self.assertEqual(len(frames(kept)), 20)
        self.assertNotIn("starting life 2", err)

    def test_the_service_is_replaced_on_request_and_the_frames_stay_as_they_are(self):
        quiet, swapped = self.folder / "quiet", self.folder / "swapped"
        common = ("--headless", "--cpu", "--logical-clock", "--frames", 16)
        run = orrery("run", *common, "--keep-frames", quiet, *SIZE, timeout=280)
        self.assertEqual(run.code, 0, run)
        process = self.start("run", *common, "--keep-frames", swapped, *SIZE)
        for shown, how in ((2, ()), (6, ("--under", "env ORRERY_LOG=warn")), (10, ("--binary", BUILD / "bin" / "orrery-gpu"))):
            wait_for(lambda: len(frames(swapped)) >= shown or process.poll() is not None, 120)
            before = child(process.pid, "orrery-gpu")
            told = orrery("gpu", "restart", *how, "--pid", process.pid)
            self.assertEqual(told.code, 0, told)
            after = wait_for(lambda: child(process.pid, "orrery-gpu"))
            self.assertNotEqual(before, after)
            self.assertIn(f"process {after} now", told.out)
        _, err = process.communicate(timeout=200)
        self.assertEqual(process.returncode, 0, err)
        self.assertEqual(err.count("of the GPU service takes over"), 3, err)
        self.assert_same_frames(quiet, swapped, 16)

    def test_a_restart_that_cannot_be_is_refused(self):
        self.assertEqual(orrery("gpu", "restart", "--pid", os.getpid()).code, 64)
        process = self.start("run", "--headless", "--cpu", *SIZE)
        service = wait_for(lambda: child(process.pid, "orrery-gpu"))
        for wrong in (("--under", "no-such-program"), ("--binary", "/dev/null")):
            self.assertEqual(orrery("gpu", "restart", *wrong, "--pid", process.pid).code, 64)
        self.assertTrue(alive(service))
