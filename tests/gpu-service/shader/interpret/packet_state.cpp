#include "tests/gpu-service/shader/interpret/packet_state.hpp"

#include <map>
#include <stdexcept>

namespace orrery::shader::testing {

interpret::Dispatch dispatch_of(std::span<const uint32_t> packets) {
  std::map<uint32_t, uint32_t> registers;
  interpret::Dispatch dispatch;
  for (size_t at = 0; at < packets.size();) {
    const uint32_t header = packets[at], count = (header >> 16 & 0x3fff) + 1, opcode = header >> 8 & 255;
    const auto body = packets.subspan(at + 1, count);
    if (opcode == 0x76) {  // SET_SH_REG
      for (uint32_t i = 1; i < count; ++i) {
        registers[body[0] + i - 1] = body[i];
      }
    } else if (opcode == 0x15) {  // DISPATCH_DIRECT
      dispatch.groups = {body[0], body[1], body[2]};
      if ((body[3] >> 5 & 1) != 0) dispatch.threads = dispatch.groups;  // USE_THREAD_DIMENSIONS
      dispatch.wave = (body[3] >> 15 & 1) != 0 ? 32 : 64;
    } else {
      throw std::runtime_error("a packet that no dispatch needs");
    }
    at += count + 1;
  }
  dispatch.program_address = uint64_t{registers[0x20c]} << 8 | uint64_t{registers[0x20d]} << 40;
  dispatch.rsrc1 = registers[0x212];
  dispatch.rsrc2 = registers[0x213];
  for (uint32_t i = 0; i < 3; ++i) {
    dispatch.group_size[i] = registers[0x207 + i];
    if (dispatch.threads[i] != 0) {
      dispatch.groups[i] = (dispatch.threads[i] + dispatch.group_size[i] - 1) / dispatch.group_size[i];
    }
  }
  for (uint32_t i = 0; i < 16; ++i) {
    dispatch.user_data[i] = registers[0x240 + i];
  }
  // TMPRING_SIZE: bytes of a wave in units of 1024.
  dispatch.scratch_dwords = (registers[0x218] >> 12 & 0x1fff) * 256 / dispatch.wave;
  return dispatch;
}

}  // namespace orrery::shader::testing
