#include "guest-host/hle/agc/encode_work.hpp"
#include "guest-host/hle/agc/libraries.hpp"

namespace orrery::hle::agc {
namespace {

constexpr auto kLibrary = "libSceAgc";

void add_size(Registry& registry, const char* name, uint32_t bytes) {
  registry.add(kLibrary, name, [bytes]() { return bytes; });
}

}  // namespace

void add_work_builders(Registry& registry, Builders& b) {
  registry.add(kLibrary, "sceAgcDcbDrawIndexAuto", [&b](GuestAddress cb, uint32_t count, uint64_t initiator) {
    return b.writer.put(cb, draw_index_auto(count, low(initiator)));
  });
  registry.add(kLibrary, "sceAgcDcbDrawIndex",
               [&b](GuestAddress cb, uint32_t count, uint64_t address, uint64_t initiator) {
                 return b.writer.put(cb, draw_index(count, address, low(initiator)));
               });
  registry.add(kLibrary, "sceAgcDcbDrawIndirect", [&b](GuestAddress cb, uint32_t offset, uint64_t initiator) {
    return b.writer.put(cb, draw_indirect(Opcode::draw_indirect, offset, low(initiator)));
  });
  registry.add(kLibrary, "sceAgcDcbDrawIndexIndirect", [&b](GuestAddress cb, uint32_t offset, uint64_t initiator) {
    return b.writer.put(cb, draw_indirect(Opcode::draw_index_indirect, offset, low(initiator)));
  });

  registry.add(kLibrary, "sceAgcCbDispatch",
               [&b](GuestAddress cb, uint32_t x, uint32_t y, uint32_t z, uint32_t modifier) {
                 return b.writer.put(cb, dispatch(x, y, z, modifier));
               });
  registry.add(kLibrary, "sceAgcDcbDispatchIndirect", [&b](GuestAddress cb, uint32_t offset, uint32_t modifier) {
    return b.writer.put(cb, dispatch_indirect_offset(offset, modifier));
  });
  registry.add(kLibrary, "sceAgcAcbDispatchIndirect", [&b](GuestAddress cb, uint64_t address, uint32_t modifier) {
    return b.writer.put(cb, dispatch_indirect_address(address, modifier));
  });

  for (const char* name : {"sceAgcDcbJump", "sceAgcAcbJump"}) {
    registry.add(kLibrary, name, [&b](GuestAddress cb, uint64_t address, uint32_t dwords) {
      return b.writer.put(cb, jump(address, dwords));
    });
  }

  // Bytes, as measured for the packets above.
  add_size(registry, "sceAgcCbDispatchGetSize", 20);
  add_size(registry, "sceAgcDcbDispatchIndirectGetSize", 12);
  add_size(registry, "sceAgcAcbDispatchIndirectGetSize", 16);
  add_size(registry, "sceAgcDcbDrawIndexAutoGetSize", 12);
  add_size(registry, "sceAgcDcbDrawIndexGetSize", 24);
  add_size(registry, "sceAgcDcbDrawIndirectGetSize", 20);
  add_size(registry, "sceAgcDcbDrawIndexIndirectGetSize", 20);
  add_size(registry, "sceAgcDcbSetNumInstancesGetSize", 8);
  add_size(registry, "sceAgcDcbSetIndexCountGetSize", 8);
  add_size(registry, "sceAgcDcbSetIndexBufferGetSize", 12);
  add_size(registry, "sceAgcDcbSetIndexSizeGetSize", 12);
  add_size(registry, "sceAgcDcbEventWriteGetSize", 8);
  add_size(registry, "sceAgcDcbAcquireMemGetSize", 32);
  add_size(registry, "sceAgcAcbAcquireMemGetSize", 32);
  add_size(registry, "sceAgcDcbDmaDataGetSize", 28);
  add_size(registry, "sceAgcAcbDmaDataGetSize", 28);
}

}  // namespace orrery::hle::agc
