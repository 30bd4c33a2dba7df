#include "guest-host/hle/agc/encode_flip.hpp"
#include "guest-host/hle/agc/encode_sync.hpp"
#include "guest-host/hle/agc/libraries.hpp"

namespace orrery::hle::agc {
namespace {

constexpr auto kLibrary = "libSceAgc";

GuestAddress put_write_data(Builders& b, GuestAddress cb, const WriteData& args, GuestAddress data) {
  if (args.dwords == 0 || args.dwords > kMaxBody - 3) {
    b.refusals.refuse("sceAgcDcbWriteData", "a count of " + std::to_string(args.dwords) + " dwords");
    return {0};
  }
  Words words = write_data(args);
  words.resize(4 + size_t{args.dwords});
  if (auto read = b.memory.read(data, std::as_writable_bytes(std::span(words).subspan(4))); !read) {
    b.refusals.refuse("sceAgcDcbWriteData", "its data: " + read.error().describe());
    return {0};
  }
  return b.writer.put(cb, words);
}

}  // namespace

void add_sync_builders(Registry& registry, Builders& b) {
  for (const char* name : {"sceAgcDcbEventWrite", "sceAgcAcbEventWrite"}) {
    registry.add(kLibrary, name, [&b](GuestAddress cb, uint32_t type) { return b.writer.put(cb, event_write(type)); });
  }
  registry.add(
      kLibrary, "sceAgcDcbAcquireMem",
      [&b](GuestAddress cb, uint8_t engine, uint32_t cb_db_op, uint32_t gcr, uint64_t base, uint64_t size,
           uint32_t poll) { return b.writer.put(cb, acquire_mem({engine, cb_db_op, gcr, base, size, poll})); });
  registry.add(kLibrary, "sceAgcAcbAcquireMem",
               [&b](GuestAddress cb, uint32_t gcr, uint64_t base, uint64_t size, uint32_t poll) {
                 return b.writer.put(cb, acquire_mem({0, 0, gcr, base, size, poll}));
               });
  registry.add(kLibrary, "sceAgcCbReleaseMem",
               [&b](GuestAddress cb, uint8_t action, uint16_t gcr, uint64_t destination, uint8_t cache_policy,
                    uint64_t address, uint32_t data_select, uint64_t data, uint16_t gds_offset, uint16_t gds_size,
                    uint8_t interrupt, uint32_t context_id) {
                 if (gds_offset != 0 || gds_size > 2) {
                   b.refusals.refuse("sceAgcCbReleaseMem", "data from GDS");
                   return GuestAddress{0};
                 }
                 return b.writer.put(cb, release_mem({action, gcr, low(destination), cache_policy, address, data_select,
                                                      data, interrupt, context_id}));
               });
  registry.add(kLibrary, "sceAgcDcbDmaData",
               [&b](GuestAddress cb, uint32_t engine, uint32_t destination_select, uint32_t destination_policy,
                    uint64_t destination, uint32_t source_select, uint32_t source_policy, uint64_t source,
                    uint32_t bytes, uint32_t raw_wait, uint32_t disable_confirm, uint32_t cp_sync) {
                 return b.writer.put(
                     cb, dma_data({engine, destination_select, destination_policy, destination, source_select,
                                   source_policy, source, bytes, raw_wait, disable_confirm, cp_sync}));
               });
  registry.add(kLibrary, "sceAgcAcbDmaData",
               [&b](GuestAddress cb, uint32_t destination_select, uint32_t destination_policy, uint64_t destination,
                    uint32_t source_select, uint32_t source_policy, uint64_t source, uint32_t bytes, uint32_t raw_wait,
                    uint32_t disable_confirm, uint32_t cp_sync) {
                 return b.writer.put(
                     cb, dma_data({0, destination_select, destination_policy, destination, source_select, source_policy,
                                   source, bytes, raw_wait, disable_confirm, cp_sync}));
               });
  for (const char* name : {"sceAgcDcbWriteData", "sceAgcAcbWriteData"}) {
    registry.add(kLibrary, name,
                 [&b](GuestAddress cb, uint32_t destination, uint32_t policy, uint64_t address, GuestAddress data,
                      uint32_t dwords, uint32_t one_address, uint32_t confirm) {
                   return put_write_data(b, cb, {destination, policy, address, dwords, one_address, confirm}, data);
                 });
  }
  for (const char* name : {"sceAgcDcbWaitRegMem", "sceAgcAcbWaitRegMem"}) {
    registry.add(kLibrary, name,
                 [&b](GuestAddress cb, uint32_t is_64_bit, uint32_t compare, uint32_t operation, uint32_t policy,
                      uint64_t address, uint64_t reference, uint64_t mask, uint32_t poll) {
                   return b.writer.put(
                       cb, wait_reg_mem({is_64_bit, compare, operation, policy, address, reference, mask, poll}));
                 });
  }
  for (const char* name : {"sceAgcDcbResetQueue", "sceAgcAcbResetQueue"}) {
    registry.add(kLibrary, name, [&b](GuestAddress cb) { return b.writer.put(cb, reset_queue()); });
  }
  for (const char* name : {"sceAgcDcbPushMarker", "sceAgcAcbPushMarker"}) {
    registry.add(kLibrary, name, [&b](GuestAddress cb) { return b.writer.put(cb, push_marker()); });
  }
  for (const char* name : {"sceAgcDcbPopMarker", "sceAgcAcbPopMarker"}) {
    registry.add(kLibrary, name, [&b](GuestAddress cb) { return b.writer.put(cb, pop_marker()); });
  }

  registry.add(kLibrary, "sceAgcDcbSetFlip",
               [&b](GuestAddress cb, uint32_t port, int32_t buffer, uint32_t /*mode*/, int64_t argument) {
                 const auto context = b.video_out.announce_gpu_flip(static_cast<int32_t>(port), buffer, argument);
                 if (!context) {
                   b.refusals.refuse("sceAgcDcbSetFlip", "the port is not open or the buffer is not registered");
                   return GuestAddress{0};
                 }
                 const Reserved packet =
                     set_flip(static_cast<uint32_t>(buffer), static_cast<uint64_t>(argument), *context);
                 return b.writer.put(cb, packet.words, packet.dwords);
               });
  registry.add(kLibrary, "sceAgcDcbWaitUntilSafeForRendering", [&b](GuestAddress cb, uint32_t port, int32_t buffer) {
    if (!b.video_out.registered(static_cast<int32_t>(port), buffer)) {
      b.refusals.refuse("sceAgcDcbWaitUntilSafeForRendering", "the port is not open or the buffer is not registered");
      return GuestAddress{0};
    }
    const Reserved packet = wait_until_safe_for_rendering(static_cast<uint32_t>(buffer));
    return b.writer.put(cb, packet.words, packet.dwords);
  });
}

}  // namespace orrery::hle::agc
