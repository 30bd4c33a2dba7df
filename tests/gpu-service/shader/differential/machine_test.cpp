// Random programs with fixed seeds, and the machine itself: that it sees a wrong semantic, makes its program small, and
// keeps programs in files.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <filesystem>

#include "tests/gpu-service/shader/differential/assembly.hpp"
#include "tests/gpu-service/shader/differential/interpreted.hpp"
#include "tests/gpu-service/shader/differential/shrink.hpp"
#include "tests/gpu-service/shader/differential/test_machine.hpp"
#include "tests/gpu-service/shader/spirv/validate.hpp"

namespace orrery::shader::differential {
namespace {

TEST(DifferentialPrograms, random_programs_leave_the_same_memory_in_every_layout) {
  constexpr uint32_t kFirstSeed = 1000, kSeeds = 2;
  Machine machine(test_device(), {.whole_wave_instructions = 200, .as_gpu = true});
  std::vector<ProgramText> texts;
  for (uint32_t seed = kFirstSeed; seed < kFirstSeed + kSeeds; ++seed) {
    for (const Family family : kFamilies) texts.push_back(random_program(family, seed));
  }
  for (const AssembledProgram& program : assemble(texts)) {
    if (const auto failure = machine.difference(program)) {
      const Shrunk small = shrink(machine, program, *failure);
      ADD_FAILURE() << program.name << ": " << small.failure.text() << "\n" << listing(small.program);
    }
  }
  uint32_t exchanges = 0;
  for (const auto& [layout, count] : machine.runs()) {
    std::printf("%llu runs: %s\n", static_cast<unsigned long long>(count), layout.c_str());
    if (layout.find("workgroup memory") != std::string::npos) ++exchanges;
  }
  EXPECT_GT(exchanges, 0u);
  EXPECT_GE(machine.runs().size(), 4u);
}

// What NVIDIA's driver needs, on any device.
TEST(DifferentialPrograms, halves_made_by_their_bits_are_the_converted_ones) {
  Machine machine(test_device(), {.pretend = [](HostFeatures& host) { host.rounds_halves = false; }});
  Launch launch{.wave = 32, .threads = 32, .groups = 8};
  for (const char* mode : {"0", "5", "10", "15"}) {
    const AssembledProgram program = short_program(
        fmt::format("s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 4), {}\nv_cvt_f16_f32 v8, v8\nv_cvt_f32_f16 v8, v8\n"
                    "v_cvt_pkrtz_f16_f32 v9, v9, v10\nv_cvt_f32_f16 v10, v9\nv_lshrrev_b32 v9, 16, v9\n"
                    "v_cvt_f32_f16 v9, v9\nv_add_f32 v8, v8, 0\nv_add_f32 v9, v9, 0\nv_add_f32 v10, v10, 0\n"
                    "v_max_f32 v8, v8, v8\nv_max_f32 v9, v9, v9\nv_max_f32 v10, v10, v10",
                    mode),
        launch);
    const auto failure = machine.difference(program);
    EXPECT_FALSE(failure) << mode << ": " << failure->text();
  }
}

TEST(DifferentialPrograms, a_fused_multiply_add_that_flushes_is_made_in_doubles_where_a_denormal_is_at_hand) {
  // Sums and products that are exact, so that it does not matter whether the device fuses.
  Machine machine(test_device(), {.pretend = [](HostFeatures& host) {
                    host.fuses_fma = true;
                    host.fma_keeps_denormals = false;
                  }});
  constexpr std::string_view kQuiet =
      "\nv_cmp_u_f32 vcc_lo, v9, v9\nv_cndmask_b32 v9, v9, 0x7fc00000, vcc_lo\n"
      "v_cmp_u_f32 vcc_lo, v8, v8\nv_cndmask_b32 v8, v8, 0x7fc00000, vcc_lo\n"
      "v_cmp_u_f32 vcc_lo, v10, v10\nv_cndmask_b32 v10, v10, 0x7fc00000, vcc_lo";
  Launch launch{.wave = 32, .threads = 32, .groups = 8};
  for (const std::string_view text : {
           // One, two in a row, and those that others stand between; the last loop's numbers come round again.
           "v_and_b32 v8, 0xff800000, v8\nv_fma_f32 v8, v8, v9, 0\nv_fma_f32 v9, v9, 1.0, v10\nv_fmac_f32 v10, 1.0, "
           "v11",
           "v_fma_f32 v8, v9, -1.0, v10\nv_add_f32 v11, v8, v11\nv_xor_b32 v10, v10, v11\nv_fma_f32 v9, v10, 1.0, v8\n"
           "v_min_f32 v10, v9, v11\nv_fma_f32 v10, v10, 1.0, v9",
           "s_movk_i32 s20, 3\nagain:\nv_fma_f32 v8, v9, 1.0, v8\nv_lshrrev_b32 v11, 1, v11\nv_fma_f32 v10, v8, -1.0, "
           "v11\n"
           "v_cmp_lt_f32 vcc_lo, v8, v10\nv_cndmask_b32 v9, v9, v10, vcc_lo\nv_fma_f32 v9, v9, 1.0, v11\n"
           "s_sub_u32 s20, s20, 1\ns_cmp_lg_u32 s20, 0\ns_cbranch_scc1 again",
       }) {
    const auto failure = machine.difference(short_program(std::string(text) + std::string(kQuiet), launch));
    EXPECT_FALSE(failure) << text << ": " << failure->text();
  }
}

// A loop that nobody leaves, and all else that subgroups of other widths than this device's see.
TEST(DifferentialPrograms, random_programs_are_valid_modules_for_other_devices) {
  std::vector<ProgramText> texts;
  for (uint32_t seed = 1; seed <= 6; ++seed) {
    for (const Family family : kFamilies) texts.push_back(random_program(family, seed));
  }
  uint32_t modules = 0;
  for (const AssembledProgram& program : assemble(texts)) {
    for (uint32_t subgroup = 16; subgroup <= program.launch.wave; subgroup *= 2) {
      // Every other one as NVIDIA's driver wants it.
      const bool flushes = modules % 2 == 1;
      const HostFeatures host{.fma_keeps_denormals = !flushes, .rounds_halves = !flushes};
      const TranslateOptions options{.layout = subgroup_layout(program.launch.wave, subgroup),
                                     .host = host,
                                     .group_size = {program.launch.threads, 1, 1},
                                     .rsrc1 = program.launch.float_mode << 12,
                                     .rsrc2 = 2u << 1 | 1u << 7,
                                     .scratch_dwords = program.launch.scratch_dwords};
      const auto module = translate(read(program), options);
      ASSERT_TRUE(module) << program.name << ": " << module.error().front().reason;
      EXPECT_EQ(shader::test::validate_only(module->spirv), "") << program.name << ", subgroups of " << subgroup;
      ++modules;
    }
  }
  EXPECT_GT(modules, 100u);
}

// Of the program's statements only: its end multiplies too, and can't be removed.
Machine::Change wrong_multiplications(const AssembledProgram& program) {
  return [&program](std::vector<uint32_t>& words) {
    for (const Place& place : program.places) {
      if (place.unit != 0 && words[place.word] >> 16 == 0xd569) words[place.word] += 0x10000;  // v_mul_lo_u32, hi
    }
  };
}

TEST(DifferentialMachine, a_wrong_semantic_is_found_and_its_program_made_small) {
  Machine machine(test_device(), {.layout = "lanes an invocation"});
  // A wrong product may be overwritten; in one of these programs none is.
  std::vector<ProgramText> texts;
  for (uint32_t seed = 1; seed <= 60; ++seed) texts.push_back(random_program(Family::integer, seed));
  for (const AssembledProgram& program : assemble(texts)) {
    if (!listing(program).contains("v_mul_lo_u32")) continue;
    machine.change_device_code(wrong_multiplications(program));
    const auto failure = machine.difference(program);
    if (!failure) continue;
    EXPECT_EQ(failure->step, Step::memory);
    const Shrunk small = shrink(machine, program, *failure);
    EXPECT_LE(units_left(small.program), 3u) << listing(small.program);
    EXPECT_LT(units_left(small.program), units_left(program));
    EXPECT_TRUE(listing(small.program).contains("v_mul_lo_u32")) << listing(small.program);
    // With the right semantic the small program is right.
    machine.change_device_code({});
    EXPECT_FALSE(machine.difference(small.program));
    return;
  }
  FAIL() << "no program showed the wrong product";
}

TEST(DifferentialMachine, one_seed_is_always_the_same_program) {
  for (const Family family : kFamilies) {
    const ProgramText first = random_program(family, 77), second = random_program(family, 77);
    ASSERT_EQ(first.lines.size(), second.lines.size());
    for (size_t n = 0; n < first.lines.size(); ++n) EXPECT_EQ(first.lines[n].text, second.lines[n].text);
  }
}

TEST(DifferentialMachine, programs_come_back_from_a_file_and_cut_files_are_refused) {
  const auto file = std::filesystem::path(testing::TempDir()) / "programs";
  const ProgramText texts[] = {random_program(Family::mixed, 5), random_program(Family::floats, 6)};
  const auto programs = assemble(texts);
  save(file, programs);
  const auto loaded = load(file);
  ASSERT_EQ(loaded.size(), 2u);
  for (size_t n = 0; n < 2; ++n) {
    EXPECT_EQ(loaded[n].name, programs[n].name);
    EXPECT_EQ(loaded[n].words, programs[n].words);
    EXPECT_EQ(loaded[n].places.size(), programs[n].places.size());
    EXPECT_EQ(interpreted(loaded[n]), interpreted(programs[n]));
  }
  std::filesystem::resize_file(file, std::filesystem::file_size(file) / 2);
  EXPECT_THROW(load(file), std::runtime_error);
}

}  // namespace
}  // namespace orrery::shader::differential
