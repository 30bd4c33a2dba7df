"""The benchmark suite's own parts; what it measures is nobody's condition."""

import json
import subprocess
import sys
import xml.dom.minidom

from running import CHECKOUT, RunCase, environment

SUITE = CHECKOUT / "tests" / "bench" / "suite.py"


class Bench(RunCase):
    def test_one_json_a_table_a_page_and_plots_come_out_and_what_gives_no_figures_is_named(self):
        out = self.folder / "out"
        done = subprocess.run([sys.executable, str(SUITE), "--quick", "--only", "raymarch,nonsense", "--repetitions", "1", "--out", str(out)],
                              capture_output=True, text=True, timeout=200, env=environment(), check=False)
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        told = json.loads((out / "bench.json").read_text())
        self.assertEqual(set(told["failed"]) - {"raymarch"}, {"nonsense"})
        self.assertIn("nonsense: no figures: there is no such part", done.stdout)
        if "raymarch" in told["failed"]:
            self.assertIn("a long run took no longer", told["failed"]["raymarch"])
            return
        names = [row["name"] for row in told["rows"]]
        self.assertIn("160x90, frames per second", names)
        self.assertIn("160x90, device: run, a frame", names)
        for row in told["rows"]:
            self.assertLessEqual(row["low"], row["median"])
            self.assertLessEqual(row["median"], row["high"])
        self.assertEqual(len((out / "table.txt").read_text().splitlines()), len(names))
        plot = xml.dom.minidom.parse(str(out / "raymarch-shares.svg"))
        self.assertGreater(len(plot.getElementsByTagName("rect")), 2)
        self.assertIn("<svg", (out / "bench.html").read_text())
