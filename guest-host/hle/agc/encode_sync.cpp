#include "guest-host/hle/agc/encode_sync.hpp"

namespace orrery::hle::agc {
namespace {

// The marker with one more word behind its value: c0027904 342 `value` `word`.
Words marker_with(uint32_t value, uint32_t word) {
  return {header(Opcode::set_uconfig_reg, 3) | kMarkerBit, kMarkerRegister, value, word};
}

void append(Words& to, const Words& more) { to.insert(to.end(), more.begin(), more.end()); }

constexpr uint32_t kPollUnit = 16;
constexpr uint32_t kCsDone = 0x2f, kPsDone = 0x30;

}  // namespace

Words marker(uint32_t value) { return {header(Opcode::set_uconfig_reg, 2) | kMarkerBit, kMarkerRegister, value}; }
Words push_marker() { return marker(0xc1000000); }
Words pop_marker() { return marker(0xc2000000); }

Words event_write(uint32_t type) { return {header(Opcode::event_write, 1), type}; }

Words acquire_mem(const AcquireMem& args) {
  // Base and size are in units of 256 bytes; the size covers the range's last byte.
  const bool everything = args.size == 0 || args.size == ~0ull;
  const uint64_t units = everything ? 0xff'ffffffff : ((args.base & 0xff) + args.size + 0xff) >> 8;
  const uint64_t base = everything ? 0 : args.base >> 8;
  return {header(Opcode::acquire_mem, 7),
          (args.engine & 1) << 31 | (args.cb_db_op & 0x7fffffff),
          low(units),
          high(units) & 0xff,
          low(base),
          high(base) & 0xffffff,
          args.poll_cycles / kPollUnit,
          args.gcr_control};
}

Words release_mem(const ReleaseMem& args) {
  const uint32_t event = args.event & 0x3f;
  const uint32_t index = event == kCsDone || event == kPsDone ? 6 : 5;
  return {header(Opcode::release_mem, 7),
          event | index << 8 | (args.gcr_control & 0xfff) << 12 | (args.cache_policy & 3) << 25,
          (args.destination & 3) << 16 | (args.interrupt & 7) << 24 | (args.data_select & 7) << 29,
          low(args.address),
          high(args.address),
          low(args.data),
          high(args.data),
          args.context_id};
}

Words dma_data(const DmaData& args) {
  return {header(Opcode::dma_data, 6),
          (args.engine & 1) | (args.source_policy & 3) << 13 | (args.destination_select & 3) << 20 |
              (args.destination_policy & 3) << 25 | (args.source_select & 3) << 29 | (args.cp_sync & 1) << 31,
          low(args.source),
          high(args.source),
          low(args.destination),
          high(args.destination),
          (args.bytes & 0x3ffffff) | (args.raw_wait & 1) << 30 | (args.disable_write_confirm & 1) << 31};
}

Words write_data(const WriteData& args) {
  return {header(Opcode::write_data, 3 + args.dwords),
          (args.destination_select & 0xf) << 8 | (args.one_address & 1) << 16 | (args.write_confirm & 1) << 20 |
              (args.cache_policy & 3) << 25,
          low(args.address), high(args.address)};
}

Words wait_reg_mem(const WaitRegMem& args) {
  const bool wide = args.is_64_bit != 0;
  Words words = marker_with(wide ? 0xc8020000 : 0xc8010000, low(args.address));
  const uint32_t control = 0x10 | (args.compare & 7) | (args.operation & 3) << 8 | (args.cache_policy & 3) << 25;
  const uint32_t poll = args.poll_cycles / kPollUnit;
  if (wide) {
    append(words, {header(Opcode::wait_reg_mem_64, 8), control, low(args.address) & ~3u, high(args.address),
                   low(args.reference), high(args.reference), low(args.mask), high(args.mask), poll});
  } else {
    append(words, {header(Opcode::wait_reg_mem, 6), control, low(args.address) & ~3u, high(args.address),
                   low(args.reference), low(args.mask), poll});
  }
  append(words, marker(0xc8000000));
  return words;
}

Words reset_queue() {
  Words words = {kFiller};
  append(words, marker_with(0xce200000, 0));
  append(words, marker(0xcea00000));
  return words;
}

}  // namespace orrery::hle::agc
