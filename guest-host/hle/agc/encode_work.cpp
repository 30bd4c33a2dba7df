#include "guest-host/hle/agc/encode_work.hpp"

namespace orrery::hle::agc {
namespace {

// COMPUTE_SHADER_EN | FORCE_START_AT_000's neighbourhood as public SDKs set it; the mask keeps ordering, scalar L1 and
// wave32 bits of the caller.
constexpr uint32_t dispatch_initiator(uint32_t modifier) { return (modifier & 0xA038) | 0x41; }

// INDIRECT_BUFFER control: size in 19:0, chain 20, valid 23.
constexpr uint32_t kChain = 1u << 20;
constexpr uint32_t kValid = 1u << 23;

}  // namespace

Words draw_index_auto(uint32_t count, uint32_t initiator) {
  return {header(Opcode::draw_index_auto, 2), count, initiator};
}

Words draw_index(uint32_t count, uint64_t address, uint32_t initiator) {
  return {header(Opcode::draw_index_2, 5), count, low(address), high(address), count, initiator};
}

Words draw_indirect(Opcode draw, uint32_t data_offset, uint32_t initiator) {
  return {header(draw, 4), data_offset, 0, 0, initiator};
}

Words dispatch(uint32_t x, uint32_t y, uint32_t z, uint32_t modifier) {
  return {header(Opcode::dispatch_direct, 4), x, y, z, dispatch_initiator(modifier)};
}

Words dispatch_indirect_offset(uint32_t data_offset, uint32_t modifier) {
  return {header(Opcode::dispatch_indirect, 2), data_offset, dispatch_initiator(modifier)};
}

Words dispatch_indirect_address(uint64_t address, uint32_t modifier) {
  return {header(Opcode::dispatch_indirect, 3), low(address), high(address), dispatch_initiator(modifier)};
}

Words jump(uint64_t address, uint32_t dwords) {
  return {header(Opcode::indirect_buffer, 3), low(address) & ~3u, high(address), (dwords & 0xfffff) | kChain | kValid};
}

}  // namespace orrery::hle::agc
