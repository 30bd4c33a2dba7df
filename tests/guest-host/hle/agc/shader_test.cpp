#include <gtest/gtest.h>
#include <array>

#include "guest-host/hle/agc/shader_container.hpp"
#include "tests/guest-host/hle/console_run.hpp"

namespace orrery::hle::agc {
namespace {

using test::ConsoleRun;
constexpr uint64_t kTable = 0x80;

struct Shader {
  ConsoleRun run;
  GuestAddress header = run.allocate(0x4000), code = run.allocate(0x4000), out = run.allocate(0x4000);
  ShaderHeader fields{};
  Shader() {
    fields.magic = 0x34333231;
    fields.version = 0x18;
    fields.sh_registers = kTable - 0x20;  // relative to the field
    fields.sh_count = 2;
  }
  int32_t create() {
    run.write(header, fields);
    run.write(header + Bytes{kTable}, std::array<uint32_t, 4>{0x20c, 0, 0x20d, 0});
    return run.call32("sceAgcCreateShader", {out.value, header.value, code.value, 0});
  }
};

TEST(CreateShader, pointers_become_absolute_and_the_code_address_enters_the_table) {
  Shader s;
  ASSERT_EQ(s.create(), 0);
  EXPECT_EQ(s.run.read<uint64_t>(s.out), s.header.value);
  const auto header = s.run.read<ShaderHeader>(s.header);
  EXPECT_EQ(header.sh_registers, s.header.value + kTable);
  EXPECT_EQ(header.code, s.code.value);
  EXPECT_EQ(header.cx_registers, 0u);
  const auto table = s.run.read<std::array<uint32_t, 4>>(s.header + Bytes{kTable});
  EXPECT_EQ(table[1], static_cast<uint32_t>(s.code.value >> 8));
  EXPECT_EQ(table[3], static_cast<uint32_t>(s.code.value >> 40));
}

TEST(CreateShader, a_bad_container_is_answered_with_the_measured_errors) {
  Shader s;
  s.fields.magic = 0;
  EXPECT_EQ(static_cast<uint32_t>(s.create()), 0x8a6c0003u);
  s.fields.magic = 0x34333231;
  s.fields.version = 0x17;
  EXPECT_EQ(static_cast<uint32_t>(s.create()), 0x8a6c0004u);
  s.fields.version = 0x18;
  s.fields.stage = 8;
  EXPECT_EQ(static_cast<uint32_t>(s.create()), 0x8a6c0005u);
  s.fields.stage = 0;
  s.fields.sh_count = 0;
  EXPECT_EQ(static_cast<uint32_t>(s.create()), 0x8a6c0005u);
}

TEST(AgcInit, both_start_functions_know_version_13_and_no_other_beyond_the_measured) {
  ConsoleRun run;
  for (const char* name : {"sceAgcInit", "$23LRUSvYu1M"}) {
    EXPECT_EQ(run.call32(name, {0, 13}), 0) << name;
    EXPECT_EQ(static_cast<uint32_t>(run.call32(name, {0, 3})), 0x8a6c0004u) << name;
  }
}

TEST(InterpolantMapping, without_shaders_each_input_gets_its_own_register) {
  ConsoleRun run;
  const GuestAddress table = run.allocate(0x4000);
  ASSERT_EQ(run.call32("sceAgcCreateInterpolantMapping", {table.value, 0, 0}), 0);
  const auto words = run.read<std::array<uint64_t, 32>>(table);
  for (uint64_t i = 0; i < 32; ++i) EXPECT_EQ(words[i], i << 32 | (0x191 + i));
}

}  // namespace
}  // namespace orrery::hle::agc
