"""The embedding tool against what LLVM's own programs say about the same kernels."""

import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
SOURCES = HERE.parent / "kernels" / "source"
LIBRARY = os.environ.get("ORRERY_LIBCLC", "/usr/lib/clc/amdgcn--amdhsa.bc")
FLAGS = ["-x", "cl", "-cl-std=CL1.2", "-Xclang", "-finclude-default-header", "-include", str(HERE / "kernel_ids.h"),
         "-mcpu=gfx1013:xnack-", "-nogpulib", "-O2", "-ffp-contract=off", "-Wno-linker-warnings",
         "-target", "amdgcn-amd-amdhsa", "-Xclang", "-mlink-builtin-bitcode", "-Xclang", LIBRARY]


def run(*command):
    return subprocess.run([str(word) for word in command], check=True, capture_output=True, text=True).stdout


class EmbeddingTool(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def build(self, name, wave=32, source=None):
        width = ["-mwavefrontsize64"] if wave == 64 else []
        source = source or SOURCES / f"{name}.cl"
        run("clang-19", *FLAGS, *width, "-c", source, "-o", self.folder / "k.o")
        run("ld.lld-19", "-shared", "-z", "max-page-size=256", self.folder / "k.o", "-o", self.folder / "k.co")
        self.assembly = run("clang-19", *FLAGS, *width, "-S", source, "-o", "-")
        return self.folder / "k.co"

    def embed(self, code_object, name, wave=32):
        return subprocess.run([sys.executable, HERE / "embed_kernel.py", code_object, name, "--wave", str(wave),
                               "--corpus", self.folder / "k"], capture_output=True, text=True, check=False)

    def facts(self, name, wave=32):
        done = self.embed(self.build(name, wave), name, wave)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads((self.folder / "k.json").read_text())

    def directive(self, what):
        return int(re.search(rf"\.amdhsa_{what}\s+(\w+)", self.assembly).group(1), 0)

    def test_the_descriptor_says_what_the_compiler_printed(self):
        for name, wave in (("saxpy_packet", 32), ("matmul", 64), ("sha256", 32), ("switchk", 64)):
            facts = self.facts(name, wave)
            self.assertEqual(facts["lds"], self.directive("group_segment_fixed_size"))
            self.assertEqual(facts["private"], self.directive("private_segment_fixed_size"))
            self.assertEqual(facts["argument_bytes"], self.directive("kernarg_size"))
            self.assertEqual(facts["user_sgprs"], self.directive("user_sgpr_count"))
            self.assertEqual("dispatch_packet" in facts["registers"], self.directive("user_sgpr_dispatch_ptr") == 1)
            self.assertEqual(facts["rsrc1"] >> 12 & 255, self.directive("float_round_mode_32") |
                             self.directive("float_round_mode_16_64") << 2 | self.directive("float_denorm_mode_32") << 4 |
                             self.directive("float_denorm_mode_16_64") << 6)
            self.assertEqual(facts["rsrc2"] >> 7 & 7, self.directive("system_sgpr_workgroup_id_x") |
                             self.directive("system_sgpr_workgroup_id_y") << 1 | self.directive("system_sgpr_workgroup_id_z") << 2)
            self.assertEqual(facts["rsrc2"] >> 15 & 511, -(-facts["lds"] // 512))

    def test_the_image_is_what_the_linker_laid_out(self):
        facts = self.facts("sha256")
        image = (self.folder / "k.image").read_bytes()
        for section in (".text", ".rodata"):
            run("llvm-objcopy-19", "-O", "binary", "-j", section, self.folder / "k.co", self.folder / "part")
            part = (self.folder / "part").read_bytes()
            self.assertIn(part, image)
        text = re.search(r"\.text\s+PROGBITS\s+(\w+)", run("llvm-readelf-19", "-SW", self.folder / "k.co"))
        constants = re.search(r"\.rodata\s+PROGBITS\s+(\w+)", run("llvm-readelf-19", "-SW", self.folder / "k.co"))
        between = int(text.group(1), 16) - int(constants.group(1), 16)
        run("llvm-objcopy-19", "-O", "binary", "-j", ".rodata", self.folder / "k.co", self.folder / "part")
        self.assertEqual(facts["entry"] - image.index((self.folder / "part").read_bytes()), between)
        self.assertEqual(facts["entry"] % 256, 0)

    def test_a_code_object_cut_short_is_refused_with_a_reason(self):
        whole = self.build("saxpy").read_bytes()
        cut = self.folder / "cut.co"
        for size in (0, 3, 40, 64, 300, len(whole) // 2, len(whole) - 1):
            cut.write_bytes(whole[:size])
            done = self.embed(cut, "saxpy")
            self.assertEqual(done.returncode, 1, size)
            self.assertIn("cut.co", done.stderr)
            self.assertNotIn("Traceback", done.stderr)

    def test_writable_data_in_a_kernel_is_refused(self):
        source = self.folder / "writable.cl"
        source.write_text("global uint count = 5;\nkernel void writable(global uint* o) { *o = count++; }\n")
        flags = [f if f != "-cl-std=CL1.2" else "-cl-std=CL2.0" for f in FLAGS]
        run("clang-19", *flags, "-c", source, "-o", self.folder / "k.o")
        run("ld.lld-19", "-shared", self.folder / "k.o", "-o", self.folder / "k.co")
        done = self.embed(self.folder / "k.co", "writable")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, "writable data|relocations")

    def test_the_wrong_wave_width_is_refused(self):
        done = self.embed(self.build("saxpy", 64), "saxpy", 32)
        self.assertIn("wave64, not wave32", done.stderr)


if __name__ == "__main__":
    unittest.main()
