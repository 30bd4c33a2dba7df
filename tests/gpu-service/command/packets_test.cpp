#include "bench_of_one_queue.hpp"

namespace orrery::command::test {
namespace {

TEST(Packets, register_packets_write_their_banks) {
  Bench bench;
  bench.run(stream({{0xc0016900, 0x200, 0x12345678},
                    {0xc0027600, 0x240, 7, 8},
                    {0xc0017900, 0x25b, 9},
                    {0xc0017a00, 0x10000242, 4}}));
  const auto* banks = bench.processor.registers(0);
  EXPECT_EQ(banks->context[0x200], 0x12345678u);
  EXPECT_EQ(banks->sh[0x240], 7u);
  EXPECT_EQ(banks->sh[0x241], 8u);
  EXPECT_EQ(banks->uconfig[0x25b], 9u);
  EXPECT_EQ(banks->uconfig[0x242], 4u);
  EXPECT_EQ(bench.refusals(), "");
}

TEST(Packets, a_register_past_the_bank_is_refused_and_nothing_is_written) {
  Bench bench;
  bench.run(stream({{0xc0027600, 0x3ff, 7, 8}, {0xc0016900, 0xffffffff, 1}, {0xc0017600, 0x10, 3}}));
  EXPECT_EQ(bench.processor.registers(0)->sh[0x3ff], 0u);
  EXPECT_EQ(bench.processor.registers(0)->sh[0x10], 3u);
  EXPECT_EQ(bench.listener.refusals.size(), 2u);
  EXPECT_NE(bench.refusals().find("queue 0, dword 0: SET_SH_REG sets registers 0x3ff to 0x400"), std::string::npos)
      << bench.refusals();
}

TEST(Packets, indirect_register_tables_hold_offset_and_value) {
  Bench bench;
  bench.put(kData, {0x20, 1, 0x21, 2, 0x3fff, 3});
  for (uint32_t packet : {0xc0039f00u, 0xc0036300u, 0xc0036400u}) {
    bench.run({packet, low(kData), high(kData), 0x80000000, 2});
  }
  const auto* banks = bench.processor.registers(0);
  EXPECT_EQ(banks->context[0x20], 1u);
  EXPECT_EQ(banks->sh[0x21], 2u);
  EXPECT_EQ(banks->uconfig[0x21], 2u);
  bench.run({0xc0036400, low(kData), high(kData), 0x80000000, 3});
  EXPECT_EQ(banks->uconfig[0x3fff], 3u);
  EXPECT_EQ(bench.refusals(), "");
  bench.run({0xc0036300, low(kData), high(kData), 0x80000000, 3});  // 0x3fff is no SH register
  EXPECT_NE(bench.refusals().find("table entry 2 names register 0x3fff"), std::string::npos);
}

TEST(Packets, an_indirect_register_table_outside_the_map_is_refused) {
  Bench bench;
  bench.run({0xc0036300, 0x1000, 0, 0x80000000, 3});
  EXPECT_NE(bench.refusals().find("reads 24 bytes at 0x1000, which is not mapped"), std::string::npos);
  bench.run({0xc0036300, low(kData), high(kData), 0x80000000, 0xffffffff});
  EXPECT_NE(bench.refusals().find("loads 4294967295 registers"), std::string::npos);
}

TEST(Packets, a_dispatch_carries_the_state_of_its_registers) {
  Bench bench;
  bench.run(stream({{0xc0027600, 0x20c, 0x02008f03, 0},     // program
                    {0xc0027600, 0x212, 0x60af0040, 0x90},  // rsrc1, rsrc2
                    {0xc0017600, 0x228, 5},                 // rsrc3
                    {0xc0037600, 0x207, 0x00030040, 2, 1},  // threads
                    {0xc0037600, 0x204, 1, 2, 3},           // start
                    {0xc0017600, 0x218, 0x77},              // tmpring
                    {0xc0027600, 0x24e, 0xaa, 0xbb},        // user data 14, 15
                    {0xc0031502, 10, 20, 30, 0x8041}}));
  ASSERT_EQ(bench.executor.dispatches.size(), 1u);
  const auto& state = bench.executor.dispatches[0];
  EXPECT_EQ(state.program.value, 0x2008f0300u);
  EXPECT_EQ(state.rsrc1, 0x60af0040u);
  EXPECT_EQ(state.rsrc2, 0x90u);
  EXPECT_EQ(state.rsrc3, 5u);
  EXPECT_EQ(state.group_size, (std::array<uint32_t, 3>{64, 2, 1}));
  EXPECT_EQ(state.partial_size, (std::array<uint32_t, 3>{3, 0, 0}));
  EXPECT_EQ(state.start, (std::array<uint32_t, 3>{1, 2, 3}));
  EXPECT_EQ(state.groups, (std::array<uint32_t, 3>{10, 20, 30}));
  EXPECT_EQ(state.initiator, 0x8041u);
  EXPECT_EQ(state.tmpring_size, 0x77u);
  EXPECT_EQ(state.user_data[14], 0xaau);
  EXPECT_EQ(state.user_data[15], 0xbbu);
  EXPECT_EQ(state.packet_offset, 28u);
  EXPECT_EQ(bench.executor.log, (std::vector<std::string>{"acquire", "dispatch 0x2008f0300", "finish"}));
}

TEST(Packets, indirect_dispatches_read_what_earlier_work_wrote) {
  Bench bench;
  bench.run(stream({{0xc0017600, 0x20c, 1},
                    fill(kData + 0x40, 6, 12),
                    {0xc0021100, 1, low(kData), high(kData)},
                    {0xc0011600, 0x40, 0x41},                               // graphics form
                    {0xc0021600, low(kData + 0x40), high(kData), 0x41}}));  // compute form
  ASSERT_EQ(bench.executor.dispatches.size(), 2u);
  for (const auto& state : bench.executor.dispatches) {
    EXPECT_EQ(state.groups, (std::array<uint32_t, 3>{6, 6, 6}));
    EXPECT_EQ(state.initiator, 0x41u);
  }
  bench.run({0xc0021600, 0x40, 0, 0x41});
  EXPECT_NE(bench.refusals().find("DISPATCH_INDIRECT reads its arguments at 0x40, which is not mapped"),
            std::string::npos);
}

TEST(Packets, a_refusal_of_the_executor_is_passed_on_and_the_stream_goes_on) {
  Bench bench;
  bench.run(stream({{0xc0031500, 1, 1, 1, 0x41}, release_mem(kData, 5)}));
  EXPECT_EQ(bench.refusals(), "program: program address 0\n");
  EXPECT_EQ(bench.u32(kData), 5u);
}

TEST(Packets, write_data_writes_memory_after_what_is_before) {
  Bench bench;
  bench.run(stream({fill(kData, 0x11, 16), write_data(kData + 4, {1, 2})}));
  EXPECT_EQ(bench.u32(kData), 0x11u);
  EXPECT_EQ(bench.u32(kData + 4), 1u);
  EXPECT_EQ(bench.u32(kData + 8), 2u);
  EXPECT_EQ(bench.u32(kData + 12), 0x11u);
}

TEST(Packets, write_data_outside_the_map_is_refused_and_the_stream_goes_on) {
  Bench bench;
  bench.run(stream({write_data(kData + kDataSize - 4, {1, 2}), write_data(kData, {3})}));
  EXPECT_EQ(bench.u32(kData + kDataSize - 4), 0u);
  EXPECT_EQ(bench.u32(kData), 3u);
  EXPECT_NE(bench.refusals().find("address: queue 0, dword 0: WRITE_DATA writes 8 bytes at 0x2000ffffc"),
            std::string::npos);
}

TEST(Packets, dma_data_fills_and_copies) {
  Bench bench;
  bench.run(stream({fill(kData, 0xff0d121f, 0x100),
                    {0xc0055000, 0xe0300000, low(kData), high(kData), low(kData + 0x1000), high(kData), 0x80}}));
  EXPECT_EQ(bench.u32(kData + 0x1000 + 0x7c), 0xff0d121fu);
  EXPECT_EQ(bench.u32(kData + 0x1000 + 0x80), 0u);
  EXPECT_EQ(bench.refusals(), "");
}

TEST(Packets, dma_data_forms_that_are_not_handled_are_refused_by_name) {
  Bench bench;
  bench.run(stream({{0xc0055000, 0xc0100000, 1, 0, 0, 0, 4},                        // to GDS
                    {0xc0055000, 0xc0300000, 1, 0, low(kData), high(kData), 5},     // odd fill
                    {0xc0055000, 0xe0300000, 0x10, 0, low(kData), high(kData), 4},  // source unmapped
                    {0xc0055000, 0xc0300000, 1, 0, 0x10, 0, 4},                     // destination unmapped
                    {0xc0055000, 0xe0300000, low(kData), high(kData), low(kData), high(kData), 1u << 28 | 4},
                    {0xc0055000, 0xc0300000, 1, 0, low(kData), high(kData), 0}}));  // nothing to do
  EXPECT_EQ(bench.listener.refusals.size(), 5u) << bench.refusals();
  EXPECT_EQ(bench.executor.log, (std::vector<std::string>{"acquire"}));
}

TEST(Packets, draws_that_are_not_handled_are_refused_in_one_line_and_the_stream_goes_on) {
  Bench bench;
  bench.run(stream({{0xc0002f00, 3}, {0xc0012400, 3, 2}, {0xc0012400, 3, 2}, release_mem(kData, 1)}));
  EXPECT_EQ(bench.listener.refusals[0].text, "queue 0: this draw is not implemented yet (DRAW_INDIRECT)");
  EXPECT_EQ(bench.listener.refusals[0].text, bench.listener.refusals[1].text);
  EXPECT_EQ(bench.processor.registers(0)->instance_count, 3u);
  EXPECT_EQ(bench.u32(kData), 1u);
}

TEST(Packets, index_packets_keep_their_state) {
  Bench bench;
  bench.run(stream({{0xc0012600, 0x1000, 2}, {0xc0001300, 36}, {0xc0002a00, 1}}));
  const auto* banks = bench.processor.registers(0);
  EXPECT_EQ(banks->index_base, 0x200001000u);
  EXPECT_EQ(banks->index_count, 36u);
  EXPECT_EQ(banks->uconfig[0x243], 1u);
}

TEST(Packets, markers_fillers_and_cache_packets_change_nothing) {
  Bench bench;
  bench.run(stream({{0xffff1000, 0xffff1000},
                    {0xc0021000, 1, 2, 3},
                    {0xc0017904, 0x342, 0xc1000000},
                    {0xc0027904, 0x342, 0xc8010000, 0x1234},
                    {0xc0043704, 0x06010000, 0xc343, 0, 5, 6},
                    {0xc0065800, 0, 0, 0, 0, 0, 0, 0},
                    {0xc0004600, 0x407},
                    {0xc0012800, 0x80000000, 0x80000000},
                    {0xc0001200, 0},
                    write_data(kData, {1})}));
  EXPECT_EQ(bench.refusals(), "");
  EXPECT_EQ(bench.u32(kData), 1u);
}

TEST(Packets, a_flip_in_the_stream_writes_its_label_and_interrupts) {
  Bench bench;
  // DcbSetFlip as measured on the console, buffer 1.
  bench.run(stream({{0xc0027904, 0x342, 0xc7010109, 0},
                    {0xc0043704, 0x06010000, 0xc343, 0, 0x11, 0},
                    {0xc0064900, 0x06200504, 0x42010000, low(kData), high(kData), 1, 0, 0x08000101},
                    {0xc0021000, 0, 0, 0}}));
  EXPECT_EQ(bench.refusals(), "");
  EXPECT_EQ(bench.u64(kData), 1u);
  EXPECT_EQ(bench.listener.events, (std::vector<std::pair<uint32_t, uint32_t>>{{0, 0x08000101}}));
}

TEST(Packets, unknown_packets_are_refused_with_place_and_bytes_and_stepped_over) {
  Bench bench;
  bench.run(stream({{0xc0021e00, 1, 2, 3}, {0xc001ee00, 4, 5}, {0xc0004000, 9}, write_data(kData, {1})}));
  ASSERT_EQ(bench.listener.refusals.size(), 3u);
  EXPECT_EQ(bench.listener.refusals[0].text,
            "queue 0, dword 0: ATOMIC_MEM (0x1e) is not implemented [c0021e00 00000001 00000002 00000003]");
  EXPECT_EQ(bench.listener.refusals[1].text,
            "queue 0, dword 4: packet with unknown opcode 0xee [c001ee00 00000004 00000005]");
  EXPECT_EQ(bench.u32(kData), 1u);
}

TEST(Packets, a_packet_of_the_wrong_length_is_refused_and_stepped_over) {
  Bench bench;
  bench.run(stream({{0xc0001500, 1}, {0xc0003c00, 0x13}, {0xc0006900, 0x200}, write_data(kData, {1})}));
  EXPECT_EQ(bench.listener.refusals.size(), 3u) << bench.refusals();
  EXPECT_NE(bench.refusals().find("DISPATCH_DIRECT has 1 body dwords; 4 to 4 are handled"), std::string::npos);
  EXPECT_EQ(bench.u32(kData), 1u);
}

TEST(Packets, a_header_of_another_type_ends_its_buffer) {
  Bench bench;
  bench.run(stream({write_data(kData, {1}), {0x80000000}, write_data(kData, {2})}));
  EXPECT_EQ(bench.u32(kData), 1u);
  EXPECT_NE(bench.refusals().find("dword 5: packet of type 2; the rest of this buffer (5 dwords) is not executed"),
            std::string::npos)
      << bench.refusals();
  EXPECT_EQ(bench.listener.retirements.size(), 1u);
}

TEST(Packets, a_packet_longer_than_its_buffer_ends_it) {
  Bench bench;
  bench.run(stream({{0xc0051500, 1, 2}}));
  EXPECT_NE(bench.refusals().find("has 6 body dwords where its buffer has 2 left"), std::string::npos);
  EXPECT_EQ(bench.listener.retirements.size(), 1u);
}

}  // namespace
}  // namespace orrery::command::test
