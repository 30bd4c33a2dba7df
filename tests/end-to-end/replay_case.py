"""Captures of whole runs, replayed without their titles."""

import json
import struct
import sys
import zlib

from running import BUILD, CHECKOUT, RunCase, orrery

sys.path.insert(0, str(CHECKOUT / "scripts"))
import replaying  # noqa: E402

SMALL = ("raymarch", "--size", "160x90")
ENTRY = 6  # a record's kind


def entry_records(data):
    """(place of the record's head, size of its payload) of each entry."""
    at, found = 0, []
    while at < len(data):
        kind, _, size = struct.unpack_from("<IIQ", data, at)
        if kind == ENTRY:
            found.append((at, size))
        at += 16 + size + -size % 8
    return found


class Replay(RunCase):
    def capture(self, *title, more=(), name="run.cap"):
        file = self.folder / name
        run = orrery("run", "--headless", "--cpu", *more, "--capture", file, *title, timeout=280)
        self.assertEqual(run.code, 0, run)
        told = next(line for line in run.err.splitlines() if line.startswith("[guest] capture: "))
        return file, told.rsplit("hash ", 1)[1]

    def test_replays_give_the_run_s_hash_and_frames(self):
        kept = ("--keep-frames", self.folder / "kept", "--every", 5)
        file, told = self.capture(*SMALL, more=("--frames", 12, *kept))
        again = orrery("replay", "--cpu", "--keep-frames", self.folder / "again", "--every", 5, file)
        self.assertEqual(again.code, 0, again)
        self.assertIn("12 flips, 12 submissions, 24 results", again.out)
        self.assertEqual((self.folder / "kept" / "frames.txt").read_text(), (self.folder / "again" / "frames.txt").read_text())
        many = orrery("replay", "--cpu", "--rounds", 3, file)
        self.assertEqual(many.code, 0, many)
        self.assertEqual(many.out.count(told), 3, (told, many))
        self.assertIn("3 replays, 1 hash, all equal to the run", many.out)

    def test_a_capture_of_some_flips_begins_with_the_registers_of_the_moment(self):
        file, told = self.capture(*SMALL, more=("--frames", 10), name="part.cap:4-7")
        again = orrery("replay", "--cpu", self.folder / "part.cap")
        self.assertEqual(again.code, 0, again)
        self.assertIn(f"3 flips, 3 submissions, 6 results, hash {told}, equal to the run's", again.out)
        self.assertFalse(file.exists())

    def test_kernels_of_all_kinds_replay(self):
        file, told = self.capture("kernels", "--size", "small")
        again = orrery("replay", "--cpu", file)
        self.assertEqual(again.code, 0, again)
        self.assertIn(told, again.out)

    def test_a_capture_cut_off_is_replayed_up_to_there(self):
        file, _ = self.capture(*SMALL, more=("--frames", 4))
        file.write_bytes(file.read_bytes()[:-150])
        again = orrery("replay", "--cpu", file)
        self.assertEqual(again.code, 0, again)
        self.assertIn("equal to the run's; the capture is cut off behind that", again.out)
        file.write_bytes(b"not one")
        none = orrery("replay", "--cpu", file)
        self.assertEqual(none.code, 66, none)

    def changed_dispatch(self, data, number):
        """The capture with the width of a submission's dispatch made 1; also the dword where its packet begins."""
        submissions = [(at, size) for at, size in entry_records(data) if struct.unpack_from("<I", data, at + 16)[0] == 1]
        at, size = submissions[number]
        begin = at + 16 + 16 + 8 + 16  # head, entry, body, its one buffer
        dwords = list(struct.unpack_from(f"<{(at + 16 + size - begin) // 4}I", data, begin))
        packet = 0
        while dwords[packet] >> 8 & 0xff != 0x15:
            packet += (dwords[packet] >> 16 & 0x3fff) + 2
        changed = bytearray(data)
        struct.pack_into("<I", changed, begin + 4 * (packet + 1), 1)
        struct.pack_into("<I", changed, at + 4, zlib.crc32(changed[at + 16:at + 16 + size]))
        return bytes(changed), packet

    def test_bisecting_finds_the_packet_that_another_build_does_otherwise(self):
        file, _ = self.capture(*SMALL, more=("--frames", 6))
        other = self.folder / "other"
        (other / "bin").mkdir(parents=True)
        changed, packet = self.changed_dispatch(file.read_bytes(), 3)
        (self.folder / "changed.cap").write_bytes(changed)
        # A build whose service does one dispatch otherwise: it is given another one.
        (other / "bin" / "orrery-gpu").symlink_to(BUILD / "bin" / "orrery-gpu")
        script = other / "bin" / "orrery-guest"
        script.write_text(f'#!/bin/bash\nexec "{BUILD}/bin/orrery-guest" "${{@/run.cap/changed.cap}}"\n')
        script.chmod(0o755)
        found = orrery("replay", "--cpu", "--bisect", "--other-build", other, "--json", file)
        self.assertEqual(found.code, 1, found)
        told = json.loads(found.out)
        self.assertEqual((told["different"], told["entries"], told["flips"]), (7, 7, 3))
        self.assertEqual((told["name"], told["dword"]), ("DISPATCH_DIRECT", packet))

    def test_copies_on_the_device_give_what_the_title_s_memory_gives(self):
        file, _ = self.capture(*SMALL, more=("--frames", 2))
        found = orrery("replay", "--cpu", "--bisect", "--other-coherence", "mirrored", file)
        self.assertEqual(found.code, 0, found)
        self.assertIn("4 results are the same", found.out)

    def test_the_search_asks_about_as_few_packets_as_halving_does(self):
        packets = [0, 3, 5, 9, 20, 21, 30]
        for bad in range(len(packets)):
            asked = []

            def differs(dwords):
                asked.append(dwords)
                return dwords > packets[bad]

            self.assertEqual(replaying.first_bad_packet(packets, differs), bad)
            self.assertLessEqual(len(asked), 3)
        self.assertEqual(replaying.first_difference("aab", "aac"), 3)
        self.assertEqual(replaying.first_difference("aa", "aab"), 3)
        self.assertIsNone(replaying.first_difference("aab", "aab"))
