"""Two builds against each other: the statistics, whole comparisons, and what is refused."""

import json
import random
import sys
from itertools import product

from running import BUILD, CHECKOUT, RunCase, child, orrery, wait_for

sys.path.insert(0, str(CHECKOUT / "scripts"))
import ab_statistics  # noqa: E402

SMALL = ("raymarch", "--size", "160x90")


class Comparison(RunCase):
    def test_the_cut_is_that_of_the_tables_of_signed_ranks(self):
        # Critical values of the two-sided test, as in every table of it (one less than our cut).
        for rounds, confidence, critical in ((6, 0.95, 0), (8, 0.95, 3), (10, 0.95, 8), (12, 0.95, 13), (20, 0.95, 52),
                                             (8, 0.99, 0), (10, 0.99, 3), (12, 0.99, 7), (20, 0.99, 37)):
            self.assertEqual(ab_statistics.cut_of(rounds, confidence), critical + 1, (rounds, confidence))
        self.assertIsNone(ab_statistics.cut_of(5, 0.95))
        self.assertEqual(ab_statistics.least_rounds(0.95), 6)
        self.assertEqual(ab_statistics.least_rounds(0.99), 8)

    def test_the_counts_of_rank_sums_are_those_of_all_signs(self):
        for rounds in range(1, 9):
            counts = [0] * (rounds * (rounds + 1) // 2 + 1)
            for signs in product((0, 1), repeat=rounds):
                counts[sum(rank * sign for rank, sign in enumerate(signs, 1))] += 1
            self.assertEqual(ab_statistics.rank_counts(rounds), counts)

    def simulated(self, generator, slower, noise, rounds=12):
        drift = [generator.uniform(0.7, 1.4) for _ in range(rounds)]  # of the machine; it meets both sides
        ours = [d * generator.lognormvariate(0, noise) for d in drift]
        theirs = [slower * d * generator.lognormvariate(0, noise) for d in drift]
        return ab_statistics.ratio_of(ours, theirs, 0.99)

    def test_equal_sides_are_told_apart_as_seldom_as_the_confidence_says(self):
        generator = random.Random(1)
        wrong = sum(not low <= 1 <= high for _, low, high in (self.simulated(generator, 1, 0.05) for _ in range(2000)))
        self.assertLess(wrong, 40)
        self.assertGreater(wrong, 2)

    def test_five_in_a_hundred_are_found_in_nine_of_ten_tries_at_two_in_a_hundred_of_noise(self):
        generator = random.Random(2)
        found = sum(low > 1 for _, low, _ in (self.simulated(generator, 1.05, 0.02) for _ in range(500)))
        self.assertGreater(found, 450)
        ratio, low, high = self.simulated(generator, 1.05, 0.001)
        self.assertTrue(low < 1.05 < high and abs(ratio - 1.05) < 0.002, (ratio, low, high))

    def ab(self, *arguments):
        return orrery("ab", "--cpu", *arguments, timeout=280)

    def test_a_capture_on_a_build_and_itself(self):
        file = self.folder / "run.cap"
        self.assertEqual(orrery("run", "--headless", "--cpu", "--frames", 2, "--capture", file, *SMALL).code, 0)
        told = self.folder / "ab.json"
        run = self.ab("--against-build", BUILD, "--rounds", 4, "--confidence", 0.8, "--beside-others", "--json", told, file)
        self.assertEqual(run.code, 0, run)
        report = json.loads(told.read_text())
        rows = {row["name"]: row for row in report["rows"]}
        self.assertLessEqual({"whole run", "processor time", "time per frame", "device: run", "packets", "submission"}, set(rows))
        for row in rows.values():
            self.assertLessEqual(row["low"], row["ratio"])
            self.assertLessEqual(row["ratio"], row["high"])
        self.assertEqual([len(rounds) for rounds in report["samples"].values()], [4, 4])
        self.assertIn("devices", report["conditions"])
        self.assertIn("B / A   80% interval", run.out)

    def test_what_cannot_be_compared_is_refused_by_name(self):
        other = self.folder / "other"
        (other / "bin").mkdir(parents=True)
        run = self.ab("--against-build", other, *SMALL)
        self.assertEqual(run.code, 77, run)
        self.assertIn("bin/orrery-gpu is not built", run.err)
        for program in ("orrery-gpu", "orrery-guest"):
            (other / "bin" / program).symlink_to(BUILD / "bin" / program)
        (other / "CMakeCache.txt").write_text("CMAKE_BUILD_TYPE:STRING=Debug\n")
        run = self.ab("--against-build", other, *SMALL)
        self.assertEqual(run.code, 77, run)
        self.assertIn("differ in their build type", run.err)
        (other / "CMakeCache.txt").unlink()
        (other / "bin" / "orrery-gpu").unlink()
        script = other / "bin" / "orrery-gpu"
        script.write_text('#!/bin/bash\necho \'[{"name": "another device"}]\'\n')
        script.chmod(0o755)
        (other / "CMakeCache.txt").write_text((BUILD / "CMakeCache.txt").read_text())
        run = self.ab("--against-build", other, *SMALL)
        self.assertEqual(run.code, 77, run)
        self.assertIn("differ in their devices", run.err)
        run = self.ab("--against", "no-such-revision", *SMALL)
        self.assertEqual(run.code, 77, run)
        self.assertEqual(self.ab("--against-build", BUILD, "--rounds", 7, *SMALL).code, 64)
        self.assertEqual(self.ab(*SMALL).code, 64)

    def test_another_run_beside_it_is_a_reason_to_refuse(self):
        process = self.start("run", "--headless", "--cpu", *SMALL)
        wait_for(lambda: child(process.pid, "orrery-gpu"))
        run = self.ab("--against-build", BUILD, "--rounds", 8, *SMALL)
        self.assertEqual(run.code, 77, run)
        self.assertIn("another Orrery runs (process", run.err)

    def test_a_side_that_fails_has_no_times(self):
        run = self.ab("--against-build", BUILD, "--beside-others", "/nowhere/eboot.bin")
        self.assertEqual(run.code, 77, run)
        self.assertIn("ended with status 65", run.err)
