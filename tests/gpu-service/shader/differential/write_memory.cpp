// Statements that reach memory and LDS. A thread stores where no other one reads, except: lanes of a wave in lockstep,
// all waves around a barrier, atomics whose order does not matter.
#include <fmt/format.h>

#include "tests/gpu-service/shader/differential/memory_map.hpp"
#include "tests/gpu-service/shader/differential/program_writer.hpp"

namespace orrery::shader::differential {
namespace {

const char* const kWidths[] = {"dword", "dword", "dwordx2", "dwordx3", "dwordx4", "ubyte", "ushort", "sbyte", "sshort"};
const char* const kStoreWidths[] = {"dword", "dword", "dwordx2", "dwordx3", "dwordx4",
                                    "byte",  "short", "byte",    "short"};
constexpr uint32_t kDwords[] = {1, 1, 2, 3, 4, 1, 1, 1, 1};

std::string registers(ProgramWriter& w, uint32_t dwords) {
  const uint32_t first = 8 + w.below(11 - dwords);
  return dwords == 1 ? fmt::format("v{}", first) : fmt::format("v[{}:{}]", first, first + dwords - 1);
}

// Any place of the input, often beside its end where a descriptor is asked.
void load_input(ProgramWriter& w) {
  const UnitScope scope(w, w.new_unit());
  const uint32_t how = w.below(9);
  const std::string to = registers(w, kDwords[how]);
  switch (w.below(5)) {
    case 0:
      w.line(fmt::format("v_and_b32 v4, {:#x}, {{v}}", kInputBytes - 4));
      w.line(fmt::format("buffer_load_{} {}, v4, s[4:7], 0 offen offset:{}", kWidths[how], to, w.below(16) * 4));
      break;
    case 1:
      w.line("v_and_b32 v4, 0x1fff, {v}");
      w.line(fmt::format("buffer_load_{} {}, v4, s[4:7], {} offen", kWidths[how], to, w.below(2) * 4));
      break;
    case 2:
      w.line(fmt::format("v_and_b32 v4, {:#x}, {{v}}", kInputBytes - 64));
      w.line(fmt::format("global_load_{} {}, v4, s[0:1] offset:{}", kWidths[how], to, w.below(12)));
      break;
    case 3:
      w.line(fmt::format("s_and_b32 s80, {{s}}, {:#x}", kInputBytes - 64));
      w.line(fmt::format("s_load_dwordx2 {}, s[0:1], s80", w.pair('s', 20 + 2 * w.below(6))));
      break;
    default:
      w.line(fmt::format("s_and_b32 s80, {{s}}, {:#x}", kInputBytes * 2 - 4));
      w.line(fmt::format("s_buffer_load_dword {}, s[4:7], s80", w.number()));
      break;
  }
  w.line("s_waitcnt vmcnt(0) lgkmcnt(0)");
}

// v4: where the thread's own bytes are, at any dword that leaves room for 16 bytes and an offset of 16 more.
void own_address(ProgramWriter& w) {
  w.line("v_and_b32 v5, 28, {v}");
  w.line("v_lshl_or_b32 v4, v1, 6, v5");
}

void own_store(ProgramWriter& w) {
  const UnitScope scope(w, w.new_unit());
  const uint32_t how = w.below(9);
  own_address(w);
  const std::string from = registers(w, kDwords[how]);
  const uint32_t offset = w.chance(4) ? w.below(16) : 4 * w.below(4);
  if (w.chance(2)) {
    w.line(
        fmt::format("buffer_store_{} {}, v4, s[8:11], s32 offen offset:{}", kStoreWidths[how], from, offset / 4 * 4));
  } else {
    w.line(fmt::format("v_add_nc_u32 v4, {:#x}, v4", kOwn));
    w.line(fmt::format("global_store_{} v4, {}, s[0:1] offset:{}", kStoreWidths[how], from, offset));
  }
  w.line("s_waitcnt_vscnt null, 0x0");
}

void own_load(ProgramWriter& w) {
  const UnitScope scope(w, w.new_unit());
  const uint32_t how = w.below(9);
  own_address(w);
  const std::string to = registers(w, kDwords[how]);
  const uint32_t offset = w.chance(4) ? w.below(16) : 4 * w.below(4);
  if (!w.chance(4)) {
    w.line(fmt::format("buffer_load_{} {}, v4, s[8:11], s32 offen offset:{}", kWidths[how], to, offset / 4 * 4));
  } else {
    w.line(fmt::format("v_add_nc_u32 v4, {:#x}, v4", kOwn));
    w.line(fmt::format("global_load_{} {}, v4, s[0:1] offset:{}", kWidths[how], to, offset));
  }
  w.line("s_waitcnt vmcnt(0)");
}

// An atomic of the thread's own dword, which gives what was there; or one that all threads share, which gives nothing.
void atomic(ProgramWriter& w) {
  const UnitScope scope(w, w.new_unit());
  static constexpr const char* kShared[] = {"add", "sub", "and", "or", "xor", "umin", "umax", "smin", "smax"};
  if (w.chance(2)) {
    const uint32_t which = w.below(9);
    w.line("v_and_b32 v4, 0x3c, {v}");
    if (w.chance(2)) {
      w.line(fmt::format("v_add_nc_u32 v4, {:#x}, v4", kAtomics + kAtomicBytes * which));
      w.line(fmt::format("global_atomic_{} v4, {{v}}, s[0:1]", kShared[which]));
    } else {
      w.line(fmt::format("v_add_nc_u32 v4, {:#x}, v4", kAtomics + kAtomicBytes * which));
      w.line(fmt::format("buffer_atomic_{} {{v}}, v4, s[8:11], 0 offen", kShared[which]));
    }
    w.line("s_waitcnt_vscnt null, 0x0");
    return;
  }
  static constexpr const char* kOwnOnes[] = {"add", "sub", "and", "or", "xor", "umin", "smax", "swap", "inc", "dec"};
  own_address(w);
  w.line(fmt::format("v_add_nc_u32 v4, {:#x}, v4", kOwn));
  if (w.chance(4)) {
    w.line(fmt::format("global_atomic_cmpswap {{d}}, v4, {}, s[0:1] glc", registers(w, 2)));
  } else if (w.chance(2)) {
    w.line(fmt::format("global_atomic_{} {{d}}, v4, {{v}}, s[0:1] glc", w.one_of(kOwnOnes)));
  } else {
    w.line(fmt::format("buffer_atomic_{} {{d}}, v4, s[8:11], 0 offen glc", w.one_of(kOwnOnes)));
  }
  w.line("s_waitcnt vmcnt(0)");
}

// Lanes of a wave through memory, without a barrier.
void lanes_meet(ProgramWriter& w) {
  const UnitScope scope(w, w.new_unit());
  w.line(fmt::format("v_lshlrev_b32 v4, 2, v1"));
  w.line(fmt::format("v_add_nc_u32 v4, {:#x}, v4", kExchange));
  w.line("s_waitcnt vmcnt(0)");
  w.line("global_store_dword v4, {v}, s[0:1]");
  w.line("s_waitcnt_vscnt null, 0x0");
  w.line(fmt::format("v_xor_b32 v4, {}, v4", 4 * (1 + w.below(w.launch().wave - 1))));
  w.line("global_load_dword {d}, v4, s[0:1]");
  w.line("s_waitcnt vmcnt(0)");
}

void lds_own(ProgramWriter& w) {
  const UnitScope scope(w, w.new_unit());
  w.line("v_lshlrev_b32 v4, 5, v2");
  if (w.chance(2)) {
    w.line("v_and_b32 v5, 12, {v}");
    w.line("v_or_b32 v4, v4, v5");
  }
  const uint32_t offset = 4 * w.below(2);
  switch (w.below(16)) {
    case 0:
      w.line(fmt::format("ds_write_b32 v4, {{v}} offset:{}", offset));
      break;
    case 1:
      w.line(fmt::format("ds_write_b64 v4, {} offset:{}", registers(w, 2), offset));
      break;
    case 2:
      w.line(fmt::format("ds_write2_b32 v4, {{v}}, {{v}} offset0:{} offset1:{}", w.below(2), 2 + w.below(2)));
      break;
    case 3:
      w.line(fmt::format("ds_write_b8 v4, {{v}} offset:{}", w.below(16)));
      break;
    case 4:
      w.line(fmt::format("ds_write_b16 v4, {{v}} offset:{}", w.below(8) * 2));
      break;
    case 5:
      w.line(fmt::format("ds_read_b32 {{d}}, v4 offset:{}", offset));
      break;
    case 6:
      w.line(fmt::format("ds_read_b64 {}, v4 offset:{}", registers(w, 2), offset));
      break;
    case 7:
      w.line(fmt::format("ds_read2_b32 {}, v4 offset0:{} offset1:{}", registers(w, 2), w.below(4), w.below(4)));
      break;
    case 8:
      w.line(fmt::format("ds_read_{} {{d}}, v4 offset:{}", w.chance(2) ? "i8" : "u8", w.below(16)));
      break;
    case 9:
      w.line(fmt::format("ds_read_{} {{d}}, v4 offset:{}", w.chance(2) ? "i16" : "u16", w.below(8) * 2));
      break;
    case 10: {
      static constexpr const char* kOps[] = {"add", "sub", "rsub", "inc", "dec", "min", "max", "and", "or", "xor"};
      static constexpr const char* kTypes[] = {"u32", "u32", "u32", "u32", "u32", "i32", "u32", "b32", "b32", "b32"};
      const uint32_t which = w.below(10);
      w.line(fmt::format("ds_{}_rtn_{} {{d}}, v4, {{v}} offset:{}", kOps[which], kTypes[which], offset));
      break;
    }
    case 11: {
      static constexpr const char* kOps[] = {"add_rtn_u64", "rsub_rtn_u64", "dec_rtn_u64", "min_rtn_i64",
                                             "max_rtn_u64", "xor_rtn_b64",  "min_rtn_f64", "wrxchg_rtn_b64"};
      w.line(fmt::format("ds_{} {}, v4, {} offset:{}", w.one_of(kOps), registers(w, 2), registers(w, 2), 2 * offset));
      break;
    }
    case 12: {
      static constexpr const char* kOps[] = {"cmpst_rtn_b64", "cmpst_rtn_f64", "mskor_rtn_b64"};
      w.line(fmt::format("ds_{} {}, v4, {}, {}", w.one_of(kOps), registers(w, 2), registers(w, 2), registers(w, 2)));
      break;
    }
    case 13: {
      static constexpr const char* kOps[] = {"mskor", "wrap", "cmpst"};
      w.line(fmt::format("ds_{}_rtn_b32 {{d}}, v4, {{v}}, {{v}} offset:{}", w.one_of(kOps), offset));
      break;
    }
    case 14:
      w.line(fmt::format("ds_{}_rtn_f32 {{d}}, v4, {{v}} offset:{}", w.chance(2) ? "min" : "max", offset));
      break;
    default:
      w.line("ds_wrxchg_rtn_b32 {d}, v4, {v}");
      break;
  }
  w.line("s_waitcnt lgkmcnt(0)");
}

void lds_lanes_meet(ProgramWriter& w) {
  const UnitScope scope(w, w.new_unit());
  w.line(fmt::format("v_lshl_add_u32 v4, v2, 4, {:#x}", kLdsExchange));
  w.line("s_waitcnt lgkmcnt(0)");
  const uint32_t flip = 16 * (1 + w.below(w.launch().wave - 1));
  if (w.chance(2)) {
    w.line("ds_write_b32 v4, {v}");
    w.line("s_waitcnt lgkmcnt(0)");
    w.line(fmt::format("v_xor_b32 v4, {:#x}, v4", flip));
    w.line("ds_read_b32 {d}, v4");
  } else {
    w.line(fmt::format("ds_write_b128 v4, {}", registers(w, 4)));
    w.line("s_waitcnt lgkmcnt(0)");
    w.line(fmt::format("v_xor_b32 v4, {:#x}, v4", flip));
    w.line(fmt::format("ds_read_b96 {}, v4 offset:4", registers(w, 3)));
  }
  w.line("s_waitcnt lgkmcnt(0)");
}

void lds_atomic(ProgramWriter& w) {
  const UnitScope scope(w, w.new_unit());
  static constexpr const char* kOps[] = {"add_u32", "sub_u32", "min_i32", "max_i32",
                                         "min_u32", "max_u32", "and_b32", "or_b32"};
  const uint32_t which = w.below(8);
  w.line("v_and_b32 v4, 12, {v}");
  w.line(fmt::format("v_or_b32 v4, {:#x}, v4", kLdsAtomics + 16 * which));
  w.line(fmt::format("ds_{} v4, {{v}}", kOps[which]));
  w.line("s_waitcnt lgkmcnt(0)");
}

}  // namespace

void write_memory_statement(ProgramWriter& w) {
  switch (w.below(8)) {
    case 0:
    case 1:
      return load_input(w);
    case 2:
    case 3:
      return own_store(w);
    case 4:
    case 5:
      return own_load(w);
    case 6:
      return atomic(w);
    default:
      return lanes_meet(w);
  }
}

void write_lds_statement(ProgramWriter& w) {
  switch (w.below(4)) {
    case 0:
      return lds_lanes_meet(w);
    case 1:
      return lds_atomic(w);
    default:
      return lds_own(w);
  }
}

void write_group_exchange(ProgramWriter& w) {
  const UnitScope scope(w, w.new_unit());
  w.line(fmt::format("v_lshl_add_u32 v4, v2, 2, {:#x}", kLdsGroup));
  w.line("ds_write_b32 v4, {v}");
  w.line("s_waitcnt lgkmcnt(0)");
  w.line("s_barrier");
  const uint32_t lanes = w.launch().waves() * w.launch().wave;
  w.line(fmt::format("v_xor_b32 v4, {:#x}, v4", 4 * (lanes / 2 + w.below(lanes / 2))));
  w.line("ds_read_b32 {d}, v4");
  w.line("s_waitcnt lgkmcnt(0)");
  w.line("s_barrier");
}

}  // namespace orrery::shader::differential
