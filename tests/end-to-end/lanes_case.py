"""`orrery lanes`: the corpus, a title and single files, for hosts that are not here; clear errors for what is no program."""

import json
import os

from running import BUILD, RunCase, orrery

CORPUS = BUILD / "shader-corpus"


class Lanes(RunCase):
    def listed(self, *arguments):
        run = orrery("lanes", "--json", *arguments)
        self.assertEqual(run.code, 0, run)
        return json.loads(run.out)["programs"]

    def one(self, name, *arguments):
        programs = self.listed(CORPUS / name, *arguments)
        self.assertEqual(len(programs), 1, programs)
        return programs[0]

    def test_every_program_of_the_corpus_is_listed_once(self):
        programs = self.listed(CORPUS)
        facts = sorted(path.name for path in CORPUS.glob("*.json"))
        self.assertEqual(sorted(os.path.basename(program["file"]) for program in programs), facts)
        for program in programs:
            self.assertRegex(program["hash"], r"^[0-9a-f]{32}$")
            self.assertGreater(program["instructions"], 3, program)
            self.assertEqual(program["exchange"] if not program["refusals"] else "ballot and shuffle", "ballot and shuffle", program)

    def test_subgroup_widths_that_this_device_does_not_have(self):
        for width, wave, lanes in ((8, 64, 8), (16, 32, 2), (32, 64, 2), (32, 32, 1), (64, 32, 32), (64, 64, 1)):
            program = self.one(f"masked_fill.w{wave}.json", "--subgroup", width)
            self.assertEqual(program["lanes_per_invocation"], lanes, (width, wave))
            self.assertIn("masks read whole", program["needs"])

    def test_an_unknown_width_takes_workgroup_memory_or_says_why_the_wave_is_whole(self):
        one_wave = self.one("masked_fill.w64.json", "--subgroup", "unknown")
        self.assertEqual((one_wave["exchange"], one_wave["reason"]), ("workgroup memory", ""))
        several = self.one("masked_copy.w64.json", "--subgroup", "unknown")
        self.assertEqual((several["layout"], several["exchange"]), ("whole wave", "none"))
        self.assertIn("a group of 4 waves", several["reason"])
        nothing = self.one("saxpy_bound.w32.json", "--subgroup", "unknown")
        self.assertEqual(nothing["exchange"], "none" if not nothing["needs"] else nothing["exchange"])

    def test_a_code_object_says_the_same_as_its_facts(self):
        for name in ("saxpy.w32", "lockstep.w64", "histogram.w32"):
            facts, linked = self.one(name + ".json"), self.one(name + ".co")
            for key in ("hash", "wave", "group_size", "instructions", "needs", "layout"):
                self.assertEqual(facts[key], linked[key], (name, key))

    def test_a_titles_embedded_kernels_are_those_of_the_corpus(self):
        programs = self.listed("kernels")
        names = {(program["name"], program["wave"]) for program in programs}
        self.assertIn(("saxpy", 32), names)
        self.assertIn(("saxpy_bound", 64), names)
        hashes = {program["hash"] for program in self.listed(CORPUS)}
        self.assertEqual([p["name"] for p in programs if p["hash"] not in hashes], [])
        self.assertGreaterEqual(len(programs), 2 * 12)

    def test_a_refused_program_is_listed_with_offset_and_reason(self):
        code = (CORPUS / "saxpy.w32.bin").read_bytes()
        (self.folder / "bad.bin").write_bytes(code[:8] + b"\xff\xff\xff\xc7" + code[12:])
        (self.folder / "bad.json").write_bytes((CORPUS / "saxpy.w32.json").read_bytes())
        program = self.listed(self.folder / "bad.json")[0]
        self.assertIsNone(program["layout"])
        self.assertEqual(len(program["refusals"]), 1)
        table = orrery("lanes", self.folder)
        self.assertEqual(table.code, 0, table)
        self.assertIn("refused at 0x", table.out)
        self.assertIn("1 programs: 0 per lane, 0 whole wave, 1 refused", table.out)

    def test_files_that_hold_no_program_end_with_a_message(self):
        empty, text = self.folder / "empty.co", self.folder / "notes.txt"
        empty.write_bytes(b"")
        text.write_text("no program\n")
        cut = self.folder / "cut.co"
        cut.write_bytes((CORPUS / "saxpy.w32.co").read_bytes()[:400])
        pipe = self.folder / "pipe.co"
        os.mkfifo(pipe)
        broken = self.folder / "broken.json"
        broken.write_text("{")
        for path, code in ((empty, 66), (text, 66), (cut, 66), (pipe, 66), (broken, 65), (self.folder / "none.co", 65)):
            run = orrery("lanes", path, timeout=30)
            self.assertEqual(run.code, code, (path.name, str(run)))
            self.assertIn(path.stem, run.err)
            self.assertNotIn("Traceback", run.err)

    def test_wrong_words_and_help(self):
        self.assertEqual(orrery("lanes", CORPUS, "--subgroup", "12").code, 64)
        self.assertEqual(orrery("lanes").code, 64)
        shown = orrery("lanes", "--help")
        self.assertEqual(shown.code, 0)
        self.assertIn("--subgroup", shown.out)
