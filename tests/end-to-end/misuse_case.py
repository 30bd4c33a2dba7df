"""Titles that give the GPU wrong work: each is refused by name, and right work behind it is done."""

from running import BUILD, RunCase, orrery

MISUSE = BUILD / "test-titles" / "misuse" / "eboot.bin"


class Misuse(RunCase):
    def survives(self, case, *said):
        run = orrery("run", "--headless", "--cpu", MISUSE, case, timeout=120)
        self.assertEqual(run.code, 0, run)
        self.assertIn("was done", run.out, run)
        self.assertNotIn("starting life 2", run.err, run)
        for word in said:
            self.assertIn(word, run.err, run)

    def test_a_command_buffer_of_random_words(self):
        self.survives("random-words", "refus")

    def test_packets_of_random_opcodes(self):
        self.survives("random-packets", "refus")

    def test_a_command_buffer_outside_the_map(self):
        self.survives("outside-map", "0x7700000000")

    def test_empty_and_huge_submissions_and_wrong_queues(self):
        self.survives("empty-and-huge")

    def test_a_dispatch_with_program_address_zero(self):
        self.survives("program-zero", "refus")

    def test_a_program_outside_the_map(self):
        self.survives("program-unmapped", "0x7712340000")

    def test_a_kernel_without_s_endpgm(self):
        self.survives("no-endpgm", "refus")

    def test_programs_of_random_words(self):
        self.survives("random-program")

    def test_a_program_that_never_ends(self):
        self.survives("endless-program", "never ends")

    def test_more_groups_than_any_device_can_do(self):
        self.survives("too-many-groups", "groups")

    def test_group_sizes_that_no_device_has(self):
        self.survives("group-sizes", "refus")

    def test_a_store_outside_the_map(self):
        self.survives("store-outside-map", "0x7700000000")

    def test_a_store_above_the_gpu_s_address_space(self):
        self.survives("store-above-the-address-space", "123456789abcdef0")

    def test_a_wait_that_nobody_satisfies_does_not_keep_the_title_from_ending(self):
        self.survives("wait-that-nobody-satisfies")

    def test_indirect_buffers_that_call_themselves(self):
        self.survives("indirect-loops", "refus")

    def test_packets_that_write_outside_the_map(self):
        self.survives("writes-outside-map", "0x7700000000")

    def test_a_title_that_exits_while_the_gpu_is_busy(self):
        run = orrery("run", "--headless", "--cpu", MISUSE, "exit-while-busy", timeout=120)
        self.assertEqual(run.code, 0, run)
        self.assertNotIn("starting life 2", run.err, run)
