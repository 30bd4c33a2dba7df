"""The GPU service dies at every phase of its work, in every way; nothing is lost and nothing is done twice.

Short rounds by default. ORRERY_KILLS=N makes the rounds of random kills N kills long."""

import os
import random
import re
import signal
import time

from running import RunCase, alive, child, children_of, frames, name_of, orrery, wait_for

KILLS = int(os.environ.get("ORRERY_KILLS", "0"))
COUNTERS = ("counters", "--rounds", "30", "--steps", "3")
RAYMARCH = ("raymarch", "--size", "160x96")
LEDGER = re.compile(r"(\d+) submitted: (\d+) retired first time, (\d+) after replay, (\d+) quarantined, (\d+) unfinished")
# Where a life can end: before it knows the title, between its start and its first deed, in each phase of a stretch.
PHASES = ("started", "begun:2", "dispatch:4", "checkpoint:3", "vkQueueSubmit:2", "vkWaitForFences:2", "before-executed:3",
          "executed:2", "committed:2")


def plan(deed, phases=PHASES, first=1):
    return ",".join(f"life{first + i}/{phase}={deed}" for i, phase in enumerate(phases))


class Kills(RunCase):
    def assert_adds_up(self, err, quarantined=False):
        found = LEDGER.search(err)
        self.assertIsNotNone(found, err)
        submitted, first, replayed, held, unfinished = map(int, found.groups())
        self.assertEqual(first + replayed + held, submitted, err)
        self.assertEqual(unfinished, 0, err)
        self.assertEqual(held > 0, quarantined, err)
        self.assertNotIn("does not add up", err)

    def survive(self, arguments, **more):
        run = orrery("run", "--headless", "--cpu", *arguments, timeout=280, **more)
        self.assertEqual(run.code, 0, run)
        return run

    def test_killed_at_every_phase_of_a_stretch(self):
        run = self.survive(COUNTERS, ORRERY_INJECT=plan("kill"))
        self.assertEqual(run.err.count("signal SIGKILL; starting life"), len(PHASES), run)
        self.assertIn("counters: 90 steps, 0 values wrong", run.out)
        self.assert_adds_up(run.err)

    def test_killed_at_every_phase_where_memory_is_mirrored(self):
        run = self.survive(("--coherence", "mirrored", *COUNTERS), ORRERY_INJECT=plan("kill"))
        self.assertEqual(run.err.count("signal SIGKILL; starting life"), len(PHASES), run)
        self.assertIn("0 values wrong", run.out)
        self.assert_adds_up(run.err)

    def test_killed_before_it_has_greeted_and_twice_in_one_stretch(self):
        run = self.survive(COUNTERS, ORRERY_INJECT="life1/greeted=kill,life2/begun:9=kill,life3/before-executed=kill,life4/started=kill")
        self.assertIn("life 5", run.err)
        self.assertIn("0 values wrong", run.out)
        self.assert_adds_up(run.err)

    def test_a_fault_inside_the_service(self):
        run = self.survive(COUNTERS, ORRERY_INJECT=plan("segv", ("begun:3", "dispatch:2", "executed:4")))
        self.assertEqual(run.err.count("signal SIGSEGV; starting life"), 3, run)
        self.assertIn("0 values wrong", run.out)
        self.assert_adds_up(run.err)

    def test_a_lost_device_at_each_call_that_can_say_so(self):
        run = self.survive(COUNTERS, ORRERY_INJECT=plan("fail", ("vkQueueSubmit:1", "vkQueueSubmit:7", "vkWaitForFences:1", "vkWaitForFences:6")))
        self.assertEqual(run.err.count("exit status 75; starting life"), 4, run)
        self.assertIn("0 values wrong", run.out)
        self.assert_adds_up(run.err)

    def test_stopped_for_longer_than_the_limit(self):
        run = self.survive(("--hang-limit", "1", *COUNTERS), ORRERY_INJECT="life1/begun:5=stop,life2/dispatch:3=hang")
        self.assertEqual(run.err.count("hangs; killing it"), 2, run)
        self.assertIn("0 values wrong", run.out)
        self.assert_adds_up(run.err)

    def test_a_full_disk_under_the_caches(self):
        run = self.survive(COUNTERS, XDG_CACHE_HOME="/dev/full", ORRERY_INJECT=plan("kill", ("begun:9", "executed:9")))
        self.assertIn("0 values wrong", run.out)
        self.assert_adds_up(run.err)

    def test_frames_are_those_of_an_undisturbed_run(self):
        quiet, killed = self.folder / "quiet", self.folder / "killed"
        common = ("--logical-clock", "--frames", 12)
        self.survive((*common, "--keep-frames", quiet, *RAYMARCH))
        run = self.survive((*common, "--keep-frames", killed, *RAYMARCH), ORRERY_INJECT=plan("kill"))
        self.assertEqual(run.err.count("signal SIGKILL; starting life"), len(PHASES), run)
        self.assert_same_frames(quiet, killed, 12)
        self.assert_adds_up(run.err)

    def hash_of_third_program(self):
        run = self.survive(COUNTERS, ORRERY_INJECT="life1/dispatch:3=kill")
        return re.search(r"was at stretch .*\(hash ([0-9a-f]{32})\)", run.err).group(1)

    def test_a_program_that_ends_the_service_is_quarantined_by_its_hash(self):
        poisoned = self.hash_of_third_program()
        run = orrery("run", "--headless", "--cpu", *COUNTERS, timeout=280, ORRERY_INJECT=f"life*/program-{poisoned}=segv")
        # The title ends as it would without what the program stores; its own check finds that.
        self.assertEqual(run.code, 1, run)
        self.assertIn("values wrong", run.out)
        self.assertIn(f"hash {poisoned}", run.err)
        self.assertIn("quarantined: program", run.err)
        self.assertIn("is not run any more", run.err)
        self.assertNotIn("starting life 5", run.err)
        self.assert_adds_up(run.err, quarantined=True)

    def test_a_dispatch_that_never_ends_is_quarantined(self):
        run = self.survive(("--hang-limit", "2", *COUNTERS, "--poison"))
        self.assertIn("did not finish one of", run.err)
        self.assertIn("quarantined: program", run.err)
        self.assertIn("0 values wrong", run.out)
        self.assert_adds_up(run.err, quarantined=True)

    def random_kills(self, arguments, kills, seed):
        """Kills at random times until the title ends, at most so many; answers how many."""
        chance = random.Random(seed)
        process = self.start("run", "--headless", "--cpu", *arguments)
        done, last = 0, None
        while done < kills and process.poll() is None:
            service = child(process.pid, "orrery-gpu")
            if service is None or service == last:
                time.sleep(0.002)
                continue
            time.sleep(chance.uniform(0.0, 0.25) + (0.2 if done % 3 else 0.6))
            if alive(service) and process.poll() is None:
                os.kill(service, signal.SIGKILL)
                done, last = done + 1, service
        out, err = process.communicate(timeout=280 + KILLS)
        self.assertEqual(process.returncode, 0, out + err)
        self.assertEqual([name_of(pid) for pid in children_of(process.pid)], [])
        if done:
            self.assert_adds_up(err)
        return done, out, err

    def rounds(self, arguments, expected, frames_of=None):
        left, seed = max(KILLS // 4, 4), 1
        while left > 0:
            done, out, _ = self.random_kills(arguments, min(left, 40), seed)
            self.assertIn(expected, out)
            left, seed = left - max(done, 1), seed + 1

    def test_random_kills_of_counters(self):
        self.rounds(("counters", "--rounds", "100", "--steps", "4"), "0 values wrong")

    def test_random_kills_of_kernels(self):
        self.rounds(("kernels", "--only", "saxpy"), "0 different")

    def test_random_kills_of_streaming_loop(self):
        self.rounds(("streaming-loop", "--variant", "wave", "--cycles", "6", "--check-all"), "1 equal, 0 different")
