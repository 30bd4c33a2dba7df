#include "guest-host/hle/agc/encode_flip.hpp"

#include <utility>

#include "guest-host/hle/video_out/flip_labels.hpp"

namespace orrery::hle::agc {
namespace {

constexpr uint32_t kSetFlipDwords = 64;
constexpr uint32_t kWaitSafeDwords = 32;

// A NOP whose body is what remains of the reservation.
void skip_rest(Words& words, uint32_t reserved) {
  const uint32_t written = static_cast<uint32_t>(words.size());
  words.push_back(header(Opcode::nop, reserved - written - 1));
}

}  // namespace

Reserved set_flip(uint32_t buffer, uint64_t flip_argument, uint32_t context_id) {
  const uint64_t label = video_out::flip_label(buffer).value;
  Words words = {
      header(Opcode::set_uconfig_reg, 3) | kMarkerBit,
      kMarkerRegister,
      0xc7010101 + 8 * buffer,
      0,
      header(Opcode::write_data, 5) | kMarkerBit,
      0x06010000,
      0xc343,
      0,
      low(flip_argument),
      high(flip_argument),
      header(Opcode::release_mem, 7),
      0x06200504,
      0x42010000,
      low(label),
      high(label),
      1,
      0,
      context_id,
  };
  skip_rest(words, kSetFlipDwords);
  return {std::move(words), kSetFlipDwords};
}

Reserved wait_until_safe_for_rendering(uint32_t buffer) {
  const uint64_t label = video_out::flip_label(buffer).value;
  // Sixteen dwords are written: a 3-dword marker, the wait, a 3-dword marker, the skipping NOP (measured: 64 bytes).
  Words words = {
      header(Opcode::set_uconfig_reg, 2) | kMarkerBit,
      kMarkerRegister,
      0xcb000000 + buffer,
      header(Opcode::wait_reg_mem_64, 8),
      0x13,
      low(label),
      high(label),
      0,
      0,
      0xffffffff,
      0xffffffff,
      10,
      header(Opcode::set_uconfig_reg, 2) | kMarkerBit,
      kMarkerRegister,
      0xcb800000,
  };
  skip_rest(words, kWaitSafeDwords);
  return {std::move(words), kWaitSafeDwords};
}

}  // namespace orrery::hle::agc
