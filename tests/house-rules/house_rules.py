"""The house rules that a program can check. Each test's name says its rule."""

import os
import re
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("ORRERY_BUILD", TOP / "build" / "release"))
SOURCES = (".cpp", ".hpp", ".c", ".h", ".inc", ".py", ".cl", ".S")


def tracked(*endings):
    try:
        listed = subprocess.run(["git", "ls-files"], cwd=TOP, capture_output=True, text=True, check=True).stdout.split("\n")
    except (OSError, subprocess.CalledProcessError):
        listed = [str(p.relative_to(TOP)) for p in TOP.rglob("*") if p.is_file() and "build" not in p.parts and ".git" not in p.parts]
    return [TOP / name for name in listed if name.endswith(endings) and (TOP / name).is_file()]


def text(path):
    return path.read_text(errors="replace")


class HouseRules(unittest.TestCase):
    maxDiff = None

    def test_every_source_file_is_formatted(self):
        if shutil.which("clang-format-19") is None:
            self.skipTest("clang-format-19 is not installed")
        files = [str(f) for f in tracked(".cpp", ".hpp")]
        self.assertGreater(len(files), 50)
        done = subprocess.run(["clang-format-19", "--dry-run", "-Werror", *files], capture_output=True, text=True, check=False)
        bad = sorted(set(re.findall(r"^([^:\n]+):\d+:\d+: error", done.stderr, re.M)))
        self.assertEqual((done.returncode, bad), (0, []), "run clang-format-19 -i on these")

    def test_no_source_file_is_over_forty_kilobytes(self):
        large = [(f.name, f.stat().st_size) for f in tracked(*SOURCES) if f.stat().st_size > 40960]
        self.assertEqual(large, [])

    def test_the_median_source_file_is_under_six_kilobytes(self):
        sizes = sorted(f.stat().st_size for f in tracked(*SOURCES))
        self.assertLess(sizes[len(sizes) // 2], 6144)

    def test_the_two_processes_never_include_each_other(self):
        for side, other in (("guest-host", "gpu-service"), ("gpu-service", "guest-host")):
            for file in tracked(".cpp", ".hpp"):
                if file.relative_to(TOP).parts[0] == side:
                    self.assertNotIn(f'#include "{other}/', text(file), file)

    def test_dependencies_inside_the_service_point_one_way(self):
        order = ["vulkan", "memory", "shader", "draw", "dispatch", "present", "command", "service"]
        may = {"vulkan": set(), "memory": set(), "shader": set(), "present": {"vulkan"},
               "draw": {"shader", "vulkan"}, "dispatch": {"shader", "draw", "memory", "vulkan"},
               "command": {"dispatch", "draw", "memory"},
               "service": set(order), "lane_report": {"shader"}, "frame_report": {"present"}}
        for file in tracked(".cpp", ".hpp"):
            parts = file.relative_to(TOP).parts
            if parts[0] != "gpu-service" or len(parts) < 3:
                continue
            for target in re.findall(r'#include "gpu-service/(\w+)/', text(file)):
                if target != parts[1]:
                    self.assertIn(target, may[parts[1]], f"{file} includes gpu-service/{target}")

    def test_the_translator_knows_no_vulkan(self):
        for file in tracked(".cpp", ".hpp"):
            if file.relative_to(TOP).parts[:2] == ("gpu-service", "shader"):
                self.assertNotRegex(text(file), r"#include <vulkan|VkDevice\b", file)

    def test_every_module_folder_has_a_readme(self):
        folders = {f.parent for f in tracked(".cpp", ".hpp") if f.relative_to(TOP).parts[0] in
                   ("guest-host", "gpu-service", "protocol", "shared")}
        # A module's own subfolders may be described in the module's page.
        missing = sorted(str(d.relative_to(TOP)) for d in folders
                         if not any((p / "README.md").exists() for p in (d, d.parent) if p != TOP))
        self.assertEqual(missing, [])

    def test_the_top_level_holds_nothing_else(self):
        allowed = {"CMakeLists.txt", "CMakePresets.json", "guest-host", "gpu-service", "protocol", "shared", "tests", "scripts",
                   "docs", "README.md", "LICENSE"}
        found = {f.relative_to(TOP).parts[0] for f in tracked("")}
        self.assertEqual({name for name in found if not name.startswith(".")} - allowed, set())

    def test_no_file_is_named_after_nothing(self):
        vague = [f for f in tracked(*SOURCES) if re.search(r"(^|_)(utils?|misc|common|helpers?)(_|\.|$)", f.name)]
        self.assertEqual(vague, [])

    def test_titles_are_named_under_tests_only(self):
        for file in tracked(".cpp", ".hpp"):
            if file.relative_to(TOP).parts[0] in ("guest-host", "gpu-service", "protocol", "shared"):
                self.assertNotRegex(text(file), r"\b(raymarch|streaming-loop)\b", file)

    def test_scripts_answer_help_and_parse(self):
        for name in ("run", "test", "bundle", "bench", "prepare"):
            self.assertEqual(subprocess.run(["bash", "-n", TOP / "scripts" / name], check=False).returncode, 0, name)
        told = subprocess.run([sys.executable, TOP / "scripts" / "orrery", "--help"], capture_output=True, text=True, check=False)
        self.assertEqual(told.returncode, 0)
        self.assertIn("devices", told.stdout)

    # Folders that clang-tidy has been through; ORRERY_TIDY=all looks at every source file (a quarter of an hour).
    TIDY = ("protocol", "shared", "gpu-service/shader/decode")

    def test_clang_tidy_finds_nothing(self):
        if shutil.which("clang-tidy-19") is None:
            self.skipTest("clang-tidy-19 is not installed")
        database = BUILD / "compile_commands.json"
        self.assertTrue(database.exists(), f"{database} is missing: configure first")
        wanted = ("guest-host", "gpu-service", "protocol", "shared") if os.environ.get("ORRERY_TIDY") == "all" else self.TIDY
        files = [str(f) for f in tracked(".cpp") if str(f.relative_to(TOP)).startswith(tuple(w + "/" for w in wanted))]
        self.assertGreater(len(files), 5)
        shim = TOP / "tests" / "house-rules" / "capnp_for_clang.hpp"
        slots, running, bad = os.cpu_count() or 2, [], []

        def reap(process, file):
            out, _ = process.communicate()
            if process.returncode != 0:
                bad.append((file, "\n".join(line for line in out.splitlines() if ": error:" in line or ": warning:" in line)[:2000]))

        for file in files:
            if len(running) >= slots:
                reap(*running.pop(0))
            running.append((subprocess.Popen(["clang-tidy-19", "-quiet", "-p", str(BUILD), f"--extra-arg=-include{shim}",
                                              "--extra-arg=-Wno-unknown-warning-option", file],
                                             stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True), file))
        for process, file in running:
            reap(process, file)
        self.assertEqual(bad, [])


if __name__ == "__main__":
    unittest.main()
