// Functions that change a packet which a builder wrote before.
#include "guest-host/hle/agc/libraries.hpp"
#include "guest-host/hle/agc/pm4.hpp"

namespace orrery::hle::agc {
namespace {

constexpr auto kLibrary = "libSceAgc";
// Public headers: the packet is not of the kind that the function patches.
constexpr int32_t kWrongPacket = static_cast<int32_t>(0x8a6c000c);

// The packet's first word, when the packet is one of `opcode`.
bool is_packet(Builders& b, GuestAddress packet, Opcode opcode) {
  const auto word = b.memory.read_value<uint32_t>(packet);
  return word && *word >> 30 == 3 && opcode_of(*word) == opcode;
}

int32_t patch_address(Builders& b, GuestAddress packet, Opcode opcode, uint32_t dword, uint64_t address) {
  if (!is_packet(b, packet, opcode)) return kWrongPacket;
  return b.memory.write_value(packet + Bytes{4 * uint64_t{dword}}, address) ? 0 : kWrongPacket;
}

void add_indirect_patches(Registry& registry, Builders& b, const std::string& bank, Opcode opcode) {
  registry.add(
      kLibrary, "sceAgcSet" + bank + "RegIndirectPatchSetAddress",
      [&b, opcode](GuestAddress packet, uint64_t table) { return patch_address(b, packet, opcode, 1, table); });
  registry.add(kLibrary, "sceAgcSet" + bank + "RegIndirectPatchAddRegisters",
               [&b, opcode](GuestAddress packet, uint32_t more) {
                 const GuestAddress at = packet + Bytes{16};
                 const auto count = b.memory.read_value<uint32_t>(at);
                 if (!count || !is_packet(b, packet, opcode)) return kWrongPacket;
                 return b.memory.write_value(at, *count + more) ? 0 : kWrongPacket;
               });
}

}  // namespace

void add_patches(Registry& registry, Builders& b) {
  add_indirect_patches(registry, b, "Cx", Opcode::set_cx_registers_indirect);
  add_indirect_patches(registry, b, "Sh", Opcode::set_sh_registers_indirect);
  add_indirect_patches(registry, b, "Uc", Opcode::set_uc_registers_indirect);
  registry.add(kLibrary, "sceAgcDmaDataPatchSetDstAddressOrOffset", [&b](GuestAddress packet, uint64_t address) {
    return patch_address(b, packet, Opcode::dma_data, 4, address);
  });
  registry.add(
      kLibrary, "sceAgcDmaDataPatchSetSrcAddressOrOffsetOrImmediate",
      [&b](GuestAddress packet, uint64_t source) { return patch_address(b, packet, Opcode::dma_data, 2, source); });
}

}  // namespace orrery::hle::agc
