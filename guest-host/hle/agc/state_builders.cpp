#include "guest-host/hle/agc/encode_state.hpp"
#include "guest-host/hle/agc/libraries.hpp"

namespace orrery::hle::agc {
namespace {

constexpr auto kLibrary = "libSceAgc";
constexpr uint32_t kMostNops = 1u << 20;

void add_direct(Registry& registry, Builders& b, const char* name, Opcode bank) {
  registry.add(kLibrary, name, [&b, bank](GuestAddress cb, uint64_t value_and_offset) {
    return b.writer.put(cb, set_register_direct(bank, value_and_offset));
  });
}

void add_indirect(Registry& registry, Builders& b, const char* name, Opcode bank) {
  registry.add(kLibrary, name, [&b, bank](GuestAddress cb, GuestAddress table, uint32_t count) {
    return b.writer.put(cb, set_registers_indirect(bank, table.value, count));
  });
}

}  // namespace

void add_state_builders(Registry& registry, Builders& b) {
  registry.add(kLibrary, "sceAgcCbNop", [&b](GuestAddress cb, uint32_t dwords) {
    if (dwords == 0 || dwords > kMostNops) {
      b.refusals.refuse("sceAgcCbNop", "a count of " + std::to_string(dwords) + " dwords");
      return GuestAddress{0};
    }
    return b.writer.put(cb, nop(dwords));
  });

  add_direct(registry, b, "sceAgcDcbSetCxRegisterDirect", Opcode::set_context_reg);
  add_direct(registry, b, "sceAgcDcbSetShRegisterDirect", Opcode::set_sh_reg);
  add_direct(registry, b, "sceAgcDcbSetUcRegisterDirect", Opcode::set_uconfig_reg);
  add_indirect(registry, b, "sceAgcDcbSetCxRegistersIndirect", Opcode::set_cx_registers_indirect);
  add_indirect(registry, b, "sceAgcDcbSetShRegistersIndirect", Opcode::set_sh_registers_indirect);
  add_indirect(registry, b, "sceAgcDcbSetUcRegistersIndirect", Opcode::set_uc_registers_indirect);

  registry.add(kLibrary, "sceAgcCbSetShRegisterRangeDirect",
               [&b](GuestAddress cb, uint32_t offset, GuestAddress values, uint32_t count) {
                 if (count == 0 || count >= kMaxBody) {
                   b.refusals.refuse("sceAgcCbSetShRegisterRangeDirect", "a count of " + std::to_string(count));
                   return GuestAddress{0};
                 }
                 Words words = set_sh_register_range(offset, count);
                 // No values: the title fills them in later.
                 if (values.value != 0) {
                   words.resize(2 + size_t{count});
                   auto read = b.memory.read(values, std::as_writable_bytes(std::span(words).subspan(2)));
                   if (!read) {
                     b.refusals.refuse("sceAgcCbSetShRegisterRangeDirect", "its values: " + read.error().describe());
                     return GuestAddress{0};
                   }
                 }
                 return b.writer.put(cb, words, 2 + uint64_t{count});
               });

  registry.add(kLibrary, "sceAgcDcbSetNumInstances",
               [&b](GuestAddress cb, uint32_t count) { return b.writer.put(cb, set_num_instances(count)); });
  registry.add(kLibrary, "sceAgcDcbSetIndexCount",
               [&b](GuestAddress cb, uint32_t count) { return b.writer.put(cb, set_index_count(count)); });
  registry.add(kLibrary, "sceAgcDcbSetIndexBuffer",
               [&b](GuestAddress cb, uint64_t address) { return b.writer.put(cb, set_index_buffer(address)); });
  registry.add(kLibrary, "sceAgcDcbSetIndexSize", [&b](GuestAddress cb, uint8_t type, uint8_t flag) {
    return b.writer.put(cb, set_index_size(type, flag));
  });
  registry.add(kLibrary, "sceAgcDcbSetBaseIndirectArgs", [&b](GuestAddress cb, uint32_t base, uint64_t address) {
    return b.writer.put(cb, set_base_indirect_args(base, address));
  });
}

}  // namespace orrery::hle::agc
