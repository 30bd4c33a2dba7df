#include <fmt/format.h>

#include "tests/gpu-service/shader/differential/instruction_templates.hpp"
#include "tests/gpu-service/shader/differential/program_writer.hpp"

namespace orrery::shader::differential {
namespace {

std::string signed_float(ProgramWriter& w, const std::string& of) {
  switch (w.below(6)) {
    case 0:
      return "-" + of;
    case 1:
      return "|" + of + "|";
    case 2:
      return "-|" + of + "|";
    default:
      return of;
  }
}

std::string integer_source(ProgramWriter& w) {
  switch (w.below(6)) {
    case 0:
      return w.number();
    case 1:
      return w.inline_integer();
    case 2:
      return w.literal();
    default:
      return w.integer();
  }
}

std::string dpp(ProgramWriter& w) {
  std::string control;
  switch (w.below(8)) {
    case 0:
      control = fmt::format("quad_perm:[{},{},{},{}]", w.below(4), w.below(4), w.below(4), w.below(4));
      break;
    case 1:
      control = fmt::format("row_shl:{}", 1 + w.below(15));
      break;
    case 2:
      control = fmt::format("row_shr:{}", 1 + w.below(15));
      break;
    case 3:
      control = fmt::format("row_ror:{}", 1 + w.below(15));
      break;
    case 4:
      control = w.chance(2) ? "row_mirror" : "row_half_mirror";
      break;
    case 5:
      control = fmt::format("row_share:{}", w.below(16));
      break;
    case 6:
      control = fmt::format("row_xmask:{}", w.below(16));
      break;
    default:
      control = "dpp8:[";
      for (int n = 0; n < 8; ++n) control += fmt::format("{}{}", n == 0 ? "" : ",", w.below(8));
      return control + "]" + (w.chance(3) ? " fi:1" : "");
  }
  control +=
      fmt::format(" row_mask:{:#x} bank_mask:{:#x}", w.chance(2) ? 15 : w.below(16), w.chance(2) ? 15 : w.below(16));
  if (w.chance(2)) control += " bound_ctrl:0";
  if (w.chance(3)) control += " fi:1";
  return control;
}

std::string sdwa(ProgramWriter& w) {
  static constexpr const char* kSelect[] = {"BYTE_0", "BYTE_1", "BYTE_2", "BYTE_3", "WORD_0", "WORD_1", "DWORD"};
  static constexpr const char* kUnused[] = {"UNUSED_PAD", "UNUSED_SEXT", "UNUSED_PRESERVE"};
  return fmt::format("dst_sel:{} dst_unused:{} src0_sel:{} src1_sel:{}", w.one_of(kSelect), w.one_of(kUnused),
                     w.one_of(kSelect), w.one_of(kSelect));
}

std::string two_scalars(ProgramWriter& w) { return ProgramWriter::pair('s', 20 + 2 * w.below(6)); }

std::string filled(ProgramWriter& w, std::string_view hole) {
  auto is = [&](std::string_view name) { return hole == name; };
  if (is("exec")) return w.wide() ? "exec" : "exec_lo";
  if (is("vcc")) return w.wide() ? "vcc" : "vcc_lo";
  if (is("b")) return w.wide() ? "b64" : "b32";
  if (is("u")) return w.wide() ? "u64" : "u32";
  if (is("d") || is("v")) return w.integer();
  if (is("d2") || is("v2")) return ProgramWriter::pair('v', 8 + w.below(9));
  if (is("i")) return integer_source(w);
  if (is("c")) return w.chance(3) ? w.inline_integer() : w.integer();
  if (is("df") || is("vf")) return w.single();
  if (is("f")) return w.chance(5) ? (w.chance(2) ? w.inline_float() : w.literal()) : signed_float(w, w.single());
  if (is("cf")) return w.chance(4) ? w.inline_float() : w.single();
  if (is("dh") || is("vh")) return w.half();
  if (is("h")) return w.chance(5) ? w.inline_float() : signed_float(w, w.half());
  if (is("ch")) return w.chance(4) ? w.inline_float() : w.half();
  if (is("dD")) return w.twice();
  if (is("D")) return w.chance(5) ? w.inline_float() : signed_float(w, w.twice());
  if (is("cD")) return w.chance(4) ? w.inline_float() : w.twice();
  if (is("sd")) return w.number();
  if (is("sd2")) return two_scalars(w);
  if (is("s")) return w.chance(4) ? w.inline_integer() : w.number();
  if (is("s2")) return w.chance(4) ? w.inline_integer() : two_scalars(w);
  if (is("sl")) return w.chance(4) ? w.literal() : w.chance(3) ? w.inline_integer() : w.number();
  if (is("md")) return w.chance(3) ? filled(w, "vcc") : w.random_mask();
  if (is("m")) return w.chance(4) ? filled(w, "vcc") : w.random_mask();
  if (is("xm")) return w.mask(88);
  if (is("n4")) return std::to_string(w.below(16));
  if (is("n5")) return std::to_string(w.below(32));
  if (is("n6")) return std::to_string(w.below(64));
  if (is("n16")) return std::to_string(static_cast<int>(w.below(65536)) - 32768);
  if (is("dpp")) return dpp(w);
  if (is("sdwa")) return sdwa(w);
  if (is("omod")) return w.chance(4) ? (w.chance(2) ? "clamp" : "mul:2") : "";
  return "<" + std::string(hole) + ">";
}

}  // namespace

std::string fill_in(ProgramWriter& writer, std::string_view text) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const size_t open = text.find('{', at);
    out += text.substr(at, open - at);
    if (open == std::string_view::npos) break;
    const size_t close = text.find('}', open);
    out += filled(writer, text.substr(open + 1, close - open - 1));
    at = close + 1;
  }
  return out;
}

}  // namespace orrery::shader::differential
