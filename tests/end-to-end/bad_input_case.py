"""Files and environments that are wrong: a clear message, a distinct exit code, nobody crashes."""

import os
import struct

from running import BUILD, RunCase, orrery

HELLO = BUILD / "titles" / "hello" / "eboot.bin"


class BadInput(RunCase):
    def fails_with(self, code, contents=None, path=None, words=()):
        if contents is not None:
            path = self.folder / "title.bin"
            path.write_bytes(contents)
        run = orrery("run", "--headless", path, timeout=60)
        self.assertEqual(run.code, code, run)
        self.assertNotIn("Traceback", run.err)
        self.assertGreater(len(run.err.strip()), 10, "no message")
        for word in words:
            self.assertIn(word, run.err)

    def test_a_missing_file(self):
        self.fails_with(65, path=self.folder / "none.bin", words=["none.bin"])

    def test_a_name_that_is_no_title_lists_those_that_are(self):
        run = orrery("run", "nosuchtitle")
        self.assertEqual(run.code, 65)
        self.assertIn("hello", run.err)

    def test_an_empty_file(self):
        self.fails_with(66, b"")

    def test_a_text_file(self):
        self.fails_with(66, b"#!/bin/sh\necho no\n" * 10)

    def test_a_truncated_elf_at_many_lengths(self):
        whole = HELLO.read_bytes()
        for length in (1, 16, 63, 64, 100, 200, len(whole) // 4, len(whole) // 2):
            self.fails_with(66, whole[:length])

    def test_an_elf_for_another_machine(self):
        whole = bytearray(HELLO.read_bytes())
        struct.pack_into("<H", whole, 18, 183)  # EM_AARCH64
        self.fails_with(67, bytes(whole))

    def with_segment(self, number, field, value):
        """hello with one field of its number-th PT_LOAD changed."""
        whole = bytearray(HELLO.read_bytes())
        table, = struct.unpack_from("<Q", whole, 32)
        size, count = struct.unpack_from("<HH", whole, 54)
        loads = [table + i * size for i in range(count) if struct.unpack_from("<I", whole, table + i * size)[0] == 1]
        offset = {"offset": 8, "vaddr": 16, "filesz": 32, "memsz": 40}[field]
        struct.pack_into("<Q", whole, loads[number] + offset, value)
        return bytes(whole)

    def test_overlapping_segments(self):
        self.fails_with(66, self.with_segment(1, "vaddr", 0))

    def test_a_huge_segment(self):
        self.fails_with(66, self.with_segment(1, "memsz", 1 << 60))

    def test_a_segment_that_lies_behind_the_end_of_the_file(self):
        self.fails_with(66, self.with_segment(0, "offset", 1 << 40))

    def test_no_vulkan_device(self):
        run = orrery("run", "--headless", "raymarch", "--size", "320x180", "--frames", "1", timeout=60,
                     VK_ICD_FILENAMES="/nonexistent.json", VK_DRIVER_FILES="/nonexistent.json")
        self.assertEqual(run.code, 70, run)
        self.assertIn("Vulkan", run.err)

    def test_a_gpu_number_that_does_not_exist(self):
        run = orrery("run", "--headless", "--gpu", 99, "raymarch", timeout=60)
        self.assertEqual(run.code, 70, run)
        self.assertIn("99", run.err)

    def test_a_command_for_the_service_that_does_not_exist(self):
        run = orrery("run", "--headless", "--under", "no-such-command", "hello", timeout=60)
        self.assertEqual(run.code, 64, run)
        self.assertIn("no-such-command", run.err)

    def test_a_gpu_number_that_is_no_number_of_a_device(self):
        self.assertEqual(orrery("run", "--headless", "--gpu", -1, "hello", timeout=60).code, 64)

    def test_a_title_name_longer_than_any_file_name(self):
        self.fails_with(65, path="a" * 5000)

    def test_a_file_name_that_looks_like_an_option(self):
        target = self.folder / "--help"
        target.write_bytes(HELLO.read_bytes())
        run = orrery("run", "--headless", target, timeout=60)
        self.assertEqual((run.code, "hello from the title" in run.out), (0, True), run)

    def test_frames_that_can_not_be_kept_where_wanted(self):
        blocker = self.folder / "file"
        blocker.write_text("")
        run = orrery("run", "--headless", "--keep-frames", blocker / "below", "raymarch", timeout=60)
        self.assertEqual(run.code, 64, run)

    def test_no_display_and_no_headless(self):
        if os.environ.get("ORRERY_TEST_DISPLAY"):
            self.skipTest("a display was asked for")
        run = orrery("run", "raymarch", "--size", "320x180", timeout=60, DISPLAY="", WAYLAND_DISPLAY="", SDL_VIDEODRIVER="x11")
        self.assertEqual(run.code, 76, run)
        self.assertIn("--headless", run.err)

    def test_a_title_that_shows_nothing_needs_no_display(self):
        run = orrery("run", "hello", timeout=60, DISPLAY="", WAYLAND_DISPLAY="", SDL_VIDEODRIVER="x11")
        self.assertEqual((run.code, run.err), (0, ""), run)
