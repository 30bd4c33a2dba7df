// The input/output pairs measured on hardware (guest-abi.md 4.3), through the functions as a title calls them.
#include <gtest/gtest.h>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "guest-host/hle/agc/command_writer.hpp"
#include "guest-host/hle/agc/pm4.hpp"
#include "tests/guest-host/hle/console_run.hpp"

namespace orrery::hle::agc {
namespace {

using test::ConsoleRun;

class Builders : public testing::Test {
 protected:
  static constexpr uint64_t kBufferBytes = 0x4000;
  void SetUp() override {
    object_ = run_.allocate(0x4000);
    buffer_ = run_.allocate(kBufferBytes);
    reset();
  }
  void reset(uint64_t bytes = kBufferBytes) {
    run_.write(object_,
               WriterObject{buffer_.value, buffer_.value + bytes, buffer_.value, buffer_.value + bytes, 0, 0, 0, 0});
  }
  // The words a builder wrote, as far as it moved the cursor.
  std::vector<uint32_t> built(const std::string& name, std::vector<uint64_t> arguments) {
    reset();
    arguments.insert(arguments.begin(), object_.value);
    auto* binding = run_.registry().find_name(name);
    if (binding == nullptr) throw std::runtime_error("nobody serves " + name);
    const uint64_t packet = ConsoleRun::invoke(*binding, arguments);
    EXPECT_EQ(packet, buffer_.value) << name << " answers the packet's address";
    const auto writer = run_.read<WriterObject>(object_);
    std::vector<uint32_t> words((writer.cursor - buffer_.value) / 4);
    EXPECT_TRUE(run_.memory().read(buffer_, std::as_writable_bytes(std::span(words))));
    return words;
  }
  ConsoleRun run_;
  GuestAddress object_, buffer_;
};
using Dw = std::vector<uint32_t>;

TEST_F(Builders, a_register_is_set_directly) {
  EXPECT_EQ(built("sceAgcDcbSetCxRegisterDirect", {0x12345678'00000200}), (Dw{0xc0016900, 0x200, 0x12345678}));
  EXPECT_EQ(built("sceAgcDcbSetUcRegisterDirect", {0x00000007'00000242}), (Dw{0xc0017900, 0x242, 7}));
  EXPECT_EQ(built("sceAgcDcbSetShRegisterDirect", {0xabcdef01'0000020c}), (Dw{0xc0017600, 0x20c, 0xabcdef01}));
}

TEST_F(Builders, the_captured_register_write_is_the_builders) {
  const std::filesystem::path path = std::string(ORRERY_CAPTURES) + "/agc-set-cx-register-direct.hex";
  std::ifstream file(path);
  if (!file) GTEST_SKIP() << "no captures beside this tree: " << path;
  Dw expected;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line.substr(0, line.find('#')));
    for (std::string word; words >> word;) expected.push_back(static_cast<uint32_t>(std::stoul(word, nullptr, 16)));
  }
  ASSERT_EQ(expected.size(), 3u);
  EXPECT_EQ(built("sceAgcDcbSetCxRegisterDirect", {(0x12345678ull << 32) | 0x200}), expected);
}

TEST_F(Builders, a_range_of_shader_registers_is_set_or_reserved) {
  const GuestAddress values = run_.allocate(0x4000);
  run_.write(values, std::array<uint32_t, 3>{11, 22, 33});
  EXPECT_EQ(built("sceAgcCbSetShRegisterRangeDirect", {0x240, values.value, 3}), (Dw{0xc0037600, 0x240, 11, 22, 33}));
  const Dw reserved = built("sceAgcCbSetShRegisterRangeDirect", {0x240, 0, 2});
  ASSERT_EQ(reserved.size(), 4u);
  EXPECT_EQ(reserved[0], 0xc0027600u);
}

TEST_F(Builders, registers_are_set_from_a_table_and_the_packet_is_patched_in_place) {
  for (const auto& [bank, opcode] :
       std::vector<std::pair<std::string, uint32_t>>{{"Cx", 0xc0039f00}, {"Sh", 0xc0036300}, {"Uc", 0xc0036400}}) {
    EXPECT_EQ(built("sceAgcDcbSet" + bank + "RegistersIndirect", {0x2'11223344, 5}),
              (Dw{opcode, 0x11223344, 2, 0x80000000, 5}));
    EXPECT_EQ(run_.call32("sceAgcSet" + bank + "RegIndirectPatchSetAddress", {buffer_.value, 0x3'55667788}), 0);
    EXPECT_EQ(run_.call32("sceAgcSet" + bank + "RegIndirectPatchAddRegisters", {buffer_.value, 4}), 0);
    EXPECT_EQ((run_.read<std::array<uint32_t, 5>>(buffer_)),
              (std::array<uint32_t, 5>{opcode, 0x55667788, 3, 0x80000000, 9}));
  }
}

TEST_F(Builders, index_state_and_instances) {
  EXPECT_EQ(built("sceAgcDcbSetNumInstances", {3}), (Dw{0xc0002f00, 3}));
  EXPECT_EQ(built("sceAgcDcbSetIndexCount", {99}), (Dw{0xc0001300, 99}));
  EXPECT_EQ(built("sceAgcDcbSetIndexBuffer", {0x2'00001000}), (Dw{0xc0012600, 0x1000, 2}));
  EXPECT_EQ(built("sceAgcDcbSetIndexSize", {1, 1}), (Dw{0xc0017a00, 0x20000243, 0x441}));
  EXPECT_EQ(built("sceAgcDcbSetBaseIndirectArgs", {0, 0x2'00001008}), (Dw{0xc0021100, 1, 0x1008, 2}));
}

TEST_F(Builders, draws) {
  EXPECT_EQ(built("sceAgcDcbDrawIndexAuto", {3, 2}), (Dw{0xc0012d00, 3, 2}));
  EXPECT_EQ(built("sceAgcDcbDrawIndex", {6, 0x2'00004000, 0}), (Dw{0xc0042700, 6, 0x4000, 2, 6, 0}));
  const Dw indirect = built("sceAgcDcbDrawIndirect", {0x40, 2});
  ASSERT_EQ(indirect.size(), 5u);
  EXPECT_EQ(indirect[0], 0xc0032400u);
  EXPECT_EQ(built("sceAgcDcbDrawIndexIndirect", {0x40, 0}).size(), 5u);
}

TEST_F(Builders, dispatches_have_the_measured_sizes) {
  EXPECT_EQ(built("sceAgcCbDispatch", {4, 5, 6, 0x8000}), (Dw{0xc0031500, 4, 5, 6, 0x8041}));
  EXPECT_EQ(built("sceAgcDcbDispatchIndirect", {0x10, 0}).size(), 3u);
  EXPECT_EQ(built("sceAgcAcbDispatchIndirect", {0x2'00000010, 0}).size(), 4u);
}

TEST_F(Builders, a_nop_is_one_dword_a_piece) {
  EXPECT_EQ(built("sceAgcCbNop", {1}), Dw{0xffff1000});
  EXPECT_EQ(built("sceAgcCbNop", {7}).size(), 7u);
}

TEST_F(Builders, events_acquires_releases_and_transfers) {
  EXPECT_EQ(built("sceAgcDcbEventWrite", {0x16}), (Dw{0xc0004600, 0x16}));
  for (const char* name : {"sceAgcDcbAcquireMem", "sceAgcAcbAcquireMem"}) {
    const Dw acquire = built(name, {0, 0, 0, 0, 0, 0});
    ASSERT_EQ(acquire.size(), 8u) << name;
    EXPECT_EQ(acquire[0], 0xc0065800u);
  }
  EXPECT_EQ(built("sceAgcCbReleaseMem", {0x14, 0x603, 0, 3, 0x2'000d0000, 1, 0xbeefcafe, 0, 0, 0, 0}),
            (Dw{0xc0064900, 0x06603514, 0x20000000, 0xd0000, 2, 0xbeefcafe, 0, 0}))
      << "as in the captures: a 32-bit fence at the end of the pipe";
  const Dw fill = built("sceAgcDcbDmaData", {0, 3, 0, 0x40'01400000, 2, 0, 0xff0d121f, 8294400, 0, 0, 1});
  ASSERT_EQ(fill.size(), 7u);
  EXPECT_EQ(fill, (Dw{0xc0055000, 0xc0300000, 0xff0d121f, 0, 0x1400000, 0x40, 8294400})) << "as in the captures";
}

TEST_F(Builders, data_is_written_with_its_words_behind_the_header) {
  const GuestAddress data = run_.allocate(0x4000);
  run_.write(data, std::array<uint32_t, 2>{0xaa, 0xbb});
  EXPECT_EQ(built("sceAgcDcbWriteData", {5, 0, 0x2'00000040, data.value, 2, 0, 1}),
            (Dw{0xc0043700, 0x00100500, 0x40, 2, 0xaa, 0xbb}));
}

TEST_F(Builders, a_wait_stands_between_two_markers) {
  EXPECT_EQ(built("sceAgcDcbWaitRegMem", {0, 3, 0, 0, 0x2'000d0003, 7, 0xffffffff, 160}),
            (Dw{0xc0027904, 0x342, 0xc8010000, 0x000d0003, 0xc0053c00, 0x13, 0x000d0000, 2, 7, 0xffffffff, 10,
                0xc0017904, 0x342, 0xc8000000}));
  EXPECT_EQ(built("sceAgcAcbWaitRegMem", {1, 5, 1, 3, 0x2'000d0008, 0x1'00000002, ~0ull, 32}),
            (Dw{0xc0027904, 0x342, 0xc8020000, 0x000d0008, 0xc0079300, 0x06000115, 0x000d0008, 2, 2, 1, 0xffffffff,
                0xffffffff, 2, 0xc0017904, 0x342, 0xc8000000}));
}

TEST_F(Builders, markers_jumps_and_resets_have_the_measured_sizes) {
  for (const auto& [name, value] :
       std::vector<std::pair<std::string, uint32_t>>{{"sceAgcDcbPushMarker", 0xc1}, {"sceAgcDcbPopMarker", 0xc2}}) {
    const Dw marker = built(name, {0});
    ASSERT_EQ(marker.size(), 3u);
    EXPECT_EQ(marker[0], 0xc0017904u);
    EXPECT_EQ(marker[1], 0x342u);
    EXPECT_EQ(marker[2] >> 24, value);
  }
  const Dw jump = built("sceAgcDcbJump", {0x2'00001000, 0x100});
  ASSERT_EQ(jump.size(), 4u);
  EXPECT_EQ(jump[0], 0xc0023f00u);
  const Dw reset = built("sceAgcDcbResetQueue", {0, 0});
  ASSERT_EQ(reset.size(), 8u);
  EXPECT_EQ(std::count(reset.begin(), reset.end(), 0xce200000u), 1);
  EXPECT_EQ(std::count(reset.begin(), reset.end(), 0xcea00000u), 1);
}

TEST_F(Builders, a_flip_advances_by_256_bytes_and_writes_76) {
  const int32_t port = run_.call32("sceVideoOutOpen", {0xff, 0, 0, 0});
  ASSERT_GT(port, 0);
  const GuestAddress pixels = run_.allocate(0x10000), attribute = run_.allocate(0x4000),
                     records = run_.allocate(0x4000);
  run_.call("sceVideoOutSetBufferAttribute2", {attribute.value, 0x8000000000000000, 0, 128, 128, 0, 0, 0});
  run_.write(records, std::array<uint64_t, 8>{pixels.value, 0, 0, 0, pixels.value, 0, 0, 0});
  ASSERT_GE(run_.call32("sceVideoOutRegisterBuffers2",
                        {static_cast<uint64_t>(port), 0, 0, records.value, 2, attribute.value, 0, 0}),
            0);
  const uint64_t handle = static_cast<uint64_t>(port);
  for (uint32_t call = 0; call < 2; ++call) {
    const Dw flip = built("sceAgcDcbSetFlip", {handle, 1, 1, 0x1'00000005});
    ASSERT_EQ(flip.size(), 64u);
    EXPECT_EQ(Dw(flip.begin(), flip.begin() + 19),
              (Dw{0xc0027904, 0x342, 0xc7010109, 0, 0xc0043704, 0x06010000, 0xc343, 0, 5, 1, 0xc0064900, 0x06200504,
                  0x42010000, 0x800040a8, 0xc, 1, 0, 0x08000101 + call, 0xc02c1000}));
    EXPECT_EQ(flip[19], 0u) << "nothing behind it is written";
  }
  const Dw safe = built("sceAgcDcbWaitUntilSafeForRendering", {handle, 1});
  ASSERT_EQ(safe.size(), 32u);
  EXPECT_EQ(safe[2], 0xcb000001u);
  EXPECT_EQ(safe[3], 0xc0079300u);
  EXPECT_EQ(safe[5], 0x800040a8u);
  EXPECT_EQ(safe[6], 0xcu);
  EXPECT_EQ(safe[15], 0xc00f1000u) << "skips the sixteen dwords behind it";
}

TEST_F(Builders, without_room_nothing_is_written_and_nothing_is_answered) {
  reset(8);
  EXPECT_EQ(run_.call("sceAgcDcbSetCxRegisterDirect", {object_.value, 1}), 0u);
  EXPECT_EQ(run_.read<WriterObject>(object_).cursor, buffer_.value);
  auto writer = run_.read<WriterObject>(object_);
  writer.limit = buffer_.value + 20;
  writer.reserved_dwords = 3;
  run_.write(object_, writer);
  EXPECT_EQ(run_.call("sceAgcDcbSetCxRegisterDirect", {object_.value, 1}), 0u) << "reserved dwords stay free";
}

TEST(CommandWriter, the_overflow_callback_may_bring_another_buffer) {
  ConsoleRun run;
  const GuestAddress object = run.allocate(0x4000), other = run.allocate(0x4000);
  run.write(object, WriterObject{0, 0, other.value, other.value, 0x1234, 0x99, 0, 0});
  std::array<uint64_t, 6> seen{};
  CommandWriter writer(run.memory(), run.refusals(), [&](GuestAddress function, std::array<uint64_t, 6> arguments) {
    EXPECT_EQ(function.value, 0x1234u);
    seen = arguments;
    run.write(object, WriterObject{0, 0, other.value + 64, other.value + 128, 0, 0, 0, 0});
    return uint64_t{1};
  });
  const Words words = {1, 2, 3};
  EXPECT_EQ(writer.put(object, words).value, other.value + 64);
  EXPECT_EQ(seen[0], object.value);
  EXPECT_EQ(seen[1], 3u);
  EXPECT_EQ(seen[2], 0x99u);
  EXPECT_EQ(run.read<WriterObject>(object).cursor, other.value + 76);
}

}  // namespace
}  // namespace orrery::hle::agc
