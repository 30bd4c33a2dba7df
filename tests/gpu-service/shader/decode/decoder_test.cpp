#include <gtest/gtest.h>

#include "gpu-service/shader/decode/decoder.hpp"

namespace orrery::shader {
namespace {

Instruction decoded(std::vector<uint32_t> words, Target target = Target::gfx1013) {
  const auto instruction = decode(words, 0, target);
  EXPECT_TRUE(instruction) << (instruction ? "" : instruction.error().reason);
  return instruction.value_or(Instruction{});
}

std::string refusal(std::vector<uint32_t> words, Target target = Target::gfx1013) {
  const auto instruction = decode(words, 0, target);
  EXPECT_FALSE(instruction);
  return instruction ? "" : instruction.error().reason;
}

TEST(Decoder, unused_source_fields_are_ignored) {
  // v_add_f32_e64 v8, v16, v32 with 0x80 where a third source would be, as ACO leaves it.
  EXPECT_EQ(to_text(decoded({0xd5030008, 0x02024110})), "v_add_f32 v8, v16, v32");
}

TEST(Decoder, a_literal_behind_vop3_counts_into_the_size) {
  const Instruction instruction = decoded({0xd5410008, 0x04c240ff, 0x12345678});
  EXPECT_EQ(instruction.size, 12);
  EXPECT_EQ(instruction.sources[0].kind, OperandKind::literal);
  EXPECT_EQ(instruction.sources[0].value, 0x12345678u);
}

TEST(Decoder, a_missing_literal_is_truncated) { EXPECT_NE(refusal({0xbe8803ff}).find("truncated"), std::string::npos); }

TEST(Decoder, register_ranges_beyond_the_files_are_refused) {
  EXPECT_NE(refusal({0xd5640008, 0x000241ff}).find("v255"), std::string::npos);  // v_add_f64 from v[255:256]
  EXPECT_NE(refusal({0xbe88047f}).find("no register pair"), std::string::npos);  // s_mov_b64 from exec_hi
}

TEST(Decoder, scalar_pairs_are_aligned_as_the_hardware_does) { EXPECT_EQ(decoded({0xbe880411}).sources[0].index, 16); }

TEST(Decoder, sdwa_and_dpp_words_are_read) {
  const Instruction sdwa = decoded({0x061040f9, 0x05160410});
  EXPECT_TRUE(sdwa.sdwa.present);
  EXPECT_EQ(sdwa.sources[0].select, SdwaSelect::dword);
  EXPECT_TRUE(sdwa.sources[0].negate);
  const Instruction dpp = decoded({0x061040fa, 0xff00e410});
  EXPECT_EQ(dpp.dpp.kind, Dpp::Kind::dpp16);
  EXPECT_EQ(dpp.dpp.control, 0xe4);
  EXPECT_EQ(to_text(dpp), "v_add_f32 v8, v16, v32 quad_perm:[0,1,2,3] row_mask:0xf bank_mask:0xf");
}

TEST(Decoder, lane_masks_are_one_register_in_wave32_and_two_in_wave64) {
  const Instruction compare = decoded({0x7c024110});
  EXPECT_TRUE(compare.destination.lane_mask);
  EXPECT_EQ(to_text(compare, 32), "v_cmp_lt_f32 vcc_lo, v16, v32");
  EXPECT_EQ(to_text(compare, 64), "v_cmp_lt_f32 vcc, v16, v32");
}

TEST(Decoder, targets_differ_where_their_opcodes_collide) {
  EXPECT_EQ(decoded({0x0c104110}, Target::gfx1013).opcode, Opcode::v_mac_legacy_f32);
  EXPECT_EQ(decoded({0x0c104110}, Target::gfx1030).opcode, Opcode::v_fmac_legacy_f32);
}

TEST(Decoder, non_sequential_addresses_are_kept) {
  const Instruction image = decoded({0xf080030a, 0x00820010, 0x25242322});
  EXPECT_EQ(image.size, 12);
  EXPECT_EQ(image.nsa_count, 1);
  EXPECT_EQ(image.nsa[1], 0x22);
  EXPECT_EQ(image.address.dwords, 2);
}

TEST(Decoder, messages_and_hardware_registers_are_plain_numbers) {
  EXPECT_EQ(decoded({0xb900fe48}).immediate, 0xfe48);
  EXPECT_EQ(to_text(decoded({0xb900fe48})), "s_getreg_b32 s0, 0xfe48");
  const Instruction set = decoded({0xba803ecb, 0xaeef1ce7});
  EXPECT_EQ(set.immediate, 0x3ecb);
  EXPECT_EQ(set.sources[0].value, 0xaeef1ce7u);
  EXPECT_EQ(decoded({0xb9c71cfa}).sources[0].index, 71);
  EXPECT_EQ(decoded({0xbf91da00}).immediate, 0xda00);
  EXPECT_EQ(decoded({0xbfa34200}).immediate, 0x4200);
}

TEST(Decoder, reserved_encodings_are_named) {
  EXPECT_EQ(refusal({0xbf7f0000}), "reserved encoding bf7f0000");
  EXPECT_EQ(refusal({0xd0000000}), "reserved encoding d0000000");
  EXPECT_EQ(refusal({}), "truncated: no word left");
}

}  // namespace
}  // namespace orrery::shader
