#include "gpu-service/command/packet_table.hpp"

#include <array>

namespace orrery::command {
namespace {

// Opcodes and lengths: AMD's public PM4 headers as used by Mesa, corrected by what was measured on the console
// (guest-abi facts, sections 4.3 to 4.5).
constexpr PacketInfo kPackets[] = {
    {0x10, "NOP", 0, 0x4000, handle_nothing},
    {0x11, "SET_BASE", 3, 3, handle_set_base},
    {0x12, "CLEAR_STATE", 1, 1, handle_clear_state},
    {0x13, "INDEX_BUFFER_SIZE", 1, 1, handle_index_buffer_size},
    {0x15, "DISPATCH_DIRECT", 4, 4, handle_dispatch_direct},
    {0x16, "DISPATCH_INDIRECT", 2, 3, handle_dispatch_indirect},
    {0x1E, "ATOMIC_MEM"},
    {0x1F, "OCCLUSION_QUERY"},
    {0x20, "SET_PREDICATION"},
    {0x21, "REG_RMW"},
    {0x22, "COND_EXEC", 4, 4, handle_cond_exec},
    {0x23, "PRED_EXEC"},
    {0x24, "DRAW_INDIRECT", 1, 0x4000, handle_other_draw},
    {0x25, "DRAW_INDEX_INDIRECT", 1, 0x4000, handle_other_draw},
    {0x26, "INDEX_BASE", 2, 2, handle_index_base},
    {0x27, "DRAW_INDEX_2", 5, 5, handle_draw_index_2},
    {0x28, "CONTEXT_CONTROL", 2, 2, handle_nothing},
    {0x2A, "INDEX_TYPE", 1, 1, handle_index_type},
    {0x2C, "DRAW_INDIRECT_MULTI", 1, 0x4000, handle_other_draw},
    {0x2D, "DRAW_INDEX_AUTO", 2, 2, handle_draw_index_auto},
    {0x2F, "NUM_INSTANCES", 1, 1, handle_num_instances},
    {0x30, "DRAW_INDEX_MULTI_AUTO", 1, 0x4000, handle_other_draw},
    {0x34, "STRMOUT_BUFFER_UPDATE"},
    {0x35, "DRAW_INDEX_OFFSET_2", 1, 0x4000, handle_other_draw},
    {0x37, "WRITE_DATA", 4, 0x4000, handle_write_data},
    {0x38, "DRAW_INDEX_INDIRECT_MULTI", 1, 0x4000, handle_other_draw},
    {0x39, "MEM_SEMAPHORE"},
    {0x3A, "DRAW_INDEX_MULTI_INST", 1, 0x4000, handle_other_draw},
    {0x3C, "WAIT_REG_MEM", 6, 6, handle_wait_reg_mem},
    {0x3F, "INDIRECT_BUFFER", 3, 3, handle_indirect_buffer},
    {0x40, "COPY_DATA"},
    {0x42, "PFP_SYNC_ME", 1, 1, handle_nothing},
    {0x43, "SURFACE_SYNC"},
    {0x45, "COND_WRITE"},
    {0x46, "EVENT_WRITE", 1, 3, handle_event_write},
    {0x47, "EVENT_WRITE_EOP", 5, 5, handle_event_write_eop},
    {0x48, "EVENT_WRITE_EOS"},
    {0x49, "RELEASE_MEM", 7, 7, handle_release_mem},
    {0x4A, "PREAMBLE_CNTL"},
    {0x4C, "DISPATCH_MESH_INDIRECT_MULTI", 1, 0x4000, handle_other_draw},
    {0x4D, "DISPATCH_TASKMESH_GFX", 1, 0x4000, handle_other_draw},
    {0x50, "DMA_DATA", 6, 6, handle_dma_data},
    {0x51, "CONTEXT_REG_RMW"},
    // Caches are no matter here: the executor orders its work and everything is visible at finish().
    {0x58, "ACQUIRE_MEM", 7, 7, handle_nothing},
    {0x59, "REWIND"},
    {0x5E, "LOAD_UCONFIG_REG"},
    {0x5F, "LOAD_SH_REG"},
    {0x60, "LOAD_CONFIG_REG"},
    {0x61, "LOAD_CONTEXT_REG"},
    {0x63, "LOAD_SH_REG_INDEX", 4, 4, handle_load_sh},
    {0x64, "LOAD_UCONFIG_REG_INDEX", 4, 4, handle_load_uconfig},
    {0x68, "SET_CONFIG_REG"},
    {0x69, "SET_CONTEXT_REG", 2, 0x4000, handle_set_context},
    {0x6A, "SET_CONTEXT_REG_INDEX", 2, 0x4000, handle_set_context},
    {0x73, "SET_CONTEXT_REG_INDIRECT"},
    {0x76, "SET_SH_REG", 2, 0x4000, handle_set_sh},
    {0x77, "SET_SH_REG_OFFSET"},
    {0x78, "SET_QUEUE_REG"},
    {0x79, "SET_UCONFIG_REG", 2, 0x4000, handle_set_uconfig},
    {0x7A, "SET_UCONFIG_REG_INDEX", 2, 0x4000, handle_set_uconfig},
    {0x80, "LOAD_CONST_RAM"},
    {0x81, "WRITE_CONST_RAM"},
    {0x83, "DUMP_CONST_RAM"},
    {0x84, "INCREMENT_CE_COUNTER"},
    {0x85, "INCREMENT_DE_COUNTER"},
    {0x86, "WAIT_ON_CE_COUNTER"},
    {0x8B, "SWITCH_BUFFER"},
    {0x90, "FRAME_CONTROL"},
    {0x91, "INDEX_ATTRIBUTES_INDIRECT"},
    {0x93, "WAIT_REG_MEM64", 8, 8, handle_wait_reg_mem64},
    {0x9B, "SET_SH_REG_INDEX", 2, 0x4000, handle_set_sh},
    {0x9F, "LOAD_CONTEXT_REG_INDEX", 4, 4, handle_load_context},
};

constexpr std::array<int8_t, 256> kIndex = [] {
  std::array<int8_t, 256> index{};
  index.fill(-1);
  for (size_t i = 0; i < std::size(kPackets); ++i) index[kPackets[i].opcode] = static_cast<int8_t>(i);
  return index;
}();
static_assert(std::size(kPackets) < 128);

}  // namespace

const PacketInfo* find_packet(uint32_t opcode) {
  if (opcode >= kIndex.size() || kIndex[opcode] < 0) return nullptr;
  return &kPackets[static_cast<size_t>(kIndex[opcode])];
}

Result<void> handle_nothing(Machine&, Queue&, const Packet&) { return {}; }

}  // namespace orrery::command
