#include "gpu-service/shader/decode/table.hpp"

namespace orrery::shader::table {
namespace {

enum Targets : uint8_t { gfx1013 = 1, gfx1030 = 2, both = 3 };

template <size_t N>
struct Lines {
  std::array<std::array<Entry, N>, 2> of{};
  constexpr void add(uint32_t number, Targets targets, Entry entry) {
    for (uint32_t target = 0; target < 2; ++target) {
      if ((targets >> target) & 1) {
        of[target][number] = entry;
      }
    }
  }
  const Entry* find(uint32_t number, Target target) const {
    if (number >= N) {
      return nullptr;
    }
    const Entry& entry = of[static_cast<size_t>(target)][number];
    return entry.opcode == Opcode::invalid ? nullptr : &entry;
  }
};

// The tables are read with the slot and flag names in scope, so that a line reads as written in the ISA document.
using enum Slot;
using namespace flags;  // NOLINT(google-build-using-namespace): names of one table's lines

#define ALU(number, name, targets, d, d2, s0, s1, s2, bits) \
  lines.add(number, targets, Entry{Opcode::name, d, d2, {s0, s1, s2}, bits});
#define NOTHING(...)

constexpr auto kSop1 = [] {
  Lines<256> lines;
#define ORRERY_SOP1 ALU
#define ORRERY_SOP2 NOTHING
#define ORRERY_SOPC NOTHING
#define ORRERY_SOPK NOTHING
#define ORRERY_SOPP NOTHING
#include "gpu-service/shader/decode/opcodes/sop.inc"
#undef ORRERY_SOP1
#undef ORRERY_SOP2
#define ORRERY_SOP1 NOTHING
  return lines;
}();
constexpr auto kSop2 = [] {
  Lines<128> lines;
#define ORRERY_SOP2 ALU
#include "gpu-service/shader/decode/opcodes/sop.inc"
#undef ORRERY_SOP2
#undef ORRERY_SOPC
#define ORRERY_SOP2 NOTHING
  return lines;
}();
constexpr auto kSopc = [] {
  Lines<128> lines;
#define ORRERY_SOPC ALU
#include "gpu-service/shader/decode/opcodes/sop.inc"
#undef ORRERY_SOPC
#undef ORRERY_SOPK
#define ORRERY_SOPC NOTHING
  return lines;
}();
constexpr auto kSopk = [] {
  Lines<32> lines;
#define ORRERY_SOPK ALU
#include "gpu-service/shader/decode/opcodes/sop.inc"
#undef ORRERY_SOPK
#undef ORRERY_SOPP
#define ORRERY_SOPK NOTHING
  return lines;
}();
constexpr auto kSopp = [] {
  Lines<128> lines;
#define ORRERY_SOPP ALU
#include "gpu-service/shader/decode/opcodes/sop.inc"
  return lines;
}();
constexpr auto kVop1 = [] {
  Lines<256> lines;
#define ORRERY_VOP1 ALU
#include "gpu-service/shader/decode/opcodes/vop1.inc"
  return lines;
}();
constexpr auto kVop2 = [] {
  Lines<64> lines;
#define ORRERY_VOP2 ALU
#include "gpu-service/shader/decode/opcodes/vop2.inc"
  return lines;
}();
constexpr auto kVopc = [] {
  Lines<256> lines;
#define ORRERY_VOPC ALU
#include "gpu-service/shader/decode/opcodes/vopc.inc"
  return lines;
}();
constexpr auto kVop3 = [] {
  Lines<1024> lines;
#define ORRERY_VOP3 ALU
#include "gpu-service/shader/decode/opcodes/vop3.inc"
#include "gpu-service/shader/decode/opcodes/vop3_compare.inc"
  return lines;
}();
constexpr auto kVop3p = [] {
  Lines<128> lines;
#define ORRERY_VOP3P ALU
#include "gpu-service/shader/decode/opcodes/vop3p.inc"
  return lines;
}();
constexpr auto kSmem = [] {
  Lines<256> lines;
#define ORRERY_SMEM(number, name, targets, data, base, bits) \
  lines.add(number, targets, Entry{Opcode::name, data, none, {base, none, none}, bits});
#include "gpu-service/shader/decode/opcodes/smem.inc"
  return lines;
}();
constexpr auto kDs = [] {
  Lines<256> lines;
#define ORRERY_DS(number, name, targets, d, address, data, data2, bits) \
  lines.add(number, targets, Entry{Opcode::name, d, none, {address, data, data2}, bits});
#include "gpu-service/shader/decode/opcodes/ds.inc"
  return lines;
}();
#define MEMORY(number, name, targets, d, address, data, bits) \
  lines.add(number, targets, Entry{Opcode::name, d, none, {address, data, none}, bits});
constexpr auto kFlat = [] {
  Lines<128> lines;
#define ORRERY_FLAT MEMORY
#define ORRERY_GLOBAL NOTHING
#define ORRERY_SCRATCH NOTHING
#include "gpu-service/shader/decode/opcodes/flat.inc"
#undef ORRERY_FLAT
#undef ORRERY_GLOBAL
#define ORRERY_FLAT NOTHING
  return lines;
}();
constexpr auto kGlobal = [] {
  Lines<128> lines;
#define ORRERY_GLOBAL MEMORY
#include "gpu-service/shader/decode/opcodes/flat.inc"
#undef ORRERY_GLOBAL
#undef ORRERY_SCRATCH
#define ORRERY_GLOBAL NOTHING
  return lines;
}();
constexpr auto kScratch = [] {
  Lines<128> lines;
#define ORRERY_SCRATCH MEMORY
#include "gpu-service/shader/decode/opcodes/flat.inc"
  return lines;
}();
#define BUFFER(number, name, targets, data, bits) \
  lines.add(number, targets, Entry{Opcode::name, none, none, {data, none, none}, bits});
constexpr auto kMubuf = [] {
  Lines<256> lines;
#define ORRERY_MUBUF BUFFER
#define ORRERY_MTBUF NOTHING
#include "gpu-service/shader/decode/opcodes/buffer.inc"
#undef ORRERY_MUBUF
#undef ORRERY_MTBUF
#define ORRERY_MUBUF NOTHING
  return lines;
}();
constexpr auto kMtbuf = [] {
  Lines<16> lines;
#define ORRERY_MTBUF BUFFER
#include "gpu-service/shader/decode/opcodes/buffer.inc"
  return lines;
}();
constexpr auto kMimg = [] {
  Lines<256> lines;
#define ORRERY_MIMG(number, name, targets, bits) lines.add(number, targets, Entry{Opcode::name, none, none, {}, bits});
#include "gpu-service/shader/decode/opcodes/mimg.inc"
  return lines;
}();
constexpr auto kVintrp = [] {
  Lines<4> lines;
  lines.add(0, both, Entry{Opcode::v_interp_p1_f32, v1, none, {v1, none, none}, interp});
  lines.add(1, both, Entry{Opcode::v_interp_p2_f32, v1, none, {v1, none, none}, interp});
  lines.add(2, both, Entry{Opcode::v_interp_mov_f32, v1, none, {k1, none, none}, interp});
  return lines;
}();
constexpr auto kExp = [] {
  Lines<1> lines;
  lines.add(0, both, Entry{Opcode::exp, none, none, {}, 0});
  return lines;
}();

}  // namespace

const Entry* find(Format format, uint32_t number, Target target) {
  switch (format) {
    case Format::sop1:
      return kSop1.find(number, target);
    case Format::sop2:
      return kSop2.find(number, target);
    case Format::sopc:
      return kSopc.find(number, target);
    case Format::sopk:
      return kSopk.find(number, target);
    case Format::sopp:
      return kSopp.find(number, target);
    case Format::smem:
      return kSmem.find(number, target);
    case Format::vop1:
      return kVop1.find(number, target);
    case Format::vop2:
      return kVop2.find(number, target);
    case Format::vopc:
      return kVopc.find(number, target);
    case Format::vop3:
      return kVop3.find(number, target);
    case Format::vop3p:
      return kVop3p.find(number, target);
    case Format::vintrp:
      return kVintrp.find(number, target);
    case Format::ds:
      return kDs.find(number, target);
    case Format::mubuf:
      return kMubuf.find(number, target);
    case Format::mtbuf:
      return kMtbuf.find(number, target);
    case Format::mimg:
      return kMimg.find(number, target);
    case Format::flat:
      return kFlat.find(number, target);
    case Format::global:
      return kGlobal.find(number, target);
    case Format::scratch:
      return kScratch.find(number, target);
    case Format::exp:
      return kExp.find(number, target);
  }
  return nullptr;
}

}  // namespace orrery::shader::table
