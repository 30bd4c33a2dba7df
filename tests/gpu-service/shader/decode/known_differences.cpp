#include "tests/gpu-service/shader/decode/known_differences.hpp"

#include "tests/gpu-service/shader/decode/llvm_disassembler.hpp"

namespace orrery::shader::testing {
namespace {

bool has(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }
bool starts(std::string_view text, std::string_view part) { return text.starts_with(part); }

struct Difference {
  bool (*applies)(std::string_view llvm, std::string_view ours, bool we_refuse);
  std::string_view reason;
};

constexpr Difference kDifferences[] = {
    {[](auto llvm, auto ours, bool) {
       return (starts(ours, "s_sendmsg") || starts(ours, "s_getreg") || starts(ours, "s_setreg") ||
               starts(ours, "s_version") || starts(ours, "s_waitcnt_depctr")) &&
              llvm.substr(0, llvm.find(' ')) == ours.substr(0, ours.find(' '));
     },
     "messages, hardware registers and versions are written as plain numbers; decoder_test reads them"},
    {[](auto llvm, auto, bool we_refuse) { return we_refuse && llvm_doubts(std::string(llvm)); },
     "LLVM prints an operand that it marks as invalid; we refuse"},
    {[](auto, auto ours, bool we_refuse) { return we_refuse && has(ours, "NSA words do not fit"); },
     "LLVM prints its first variant where NSA words do not fit the address; we refuse"},
    {[](auto, auto ours, bool we_refuse) { return we_refuse && has(ours, "image atomic with TFE"); },
     "LLVM prints its first variant of an image atomic whose DMASK is not its operand's size; we refuse"},
    {[](auto, auto ours, bool we_refuse) { return we_refuse && has(ours, "a multisampled image"); },
     "LLVM prints its first variant of a sample from a multisampled image, which does not exist; we refuse"},
    {[](auto, auto ours, bool we_refuse) {
       return we_refuse && starts(ours, "image_") && has(ours, "VGPR range beyond v255");
     },
     "LLVM prints its first variant when an image's registers pass v255; we refuse"},
    {[](auto, auto ours, bool we_refuse) { return we_refuse && has(ours, "scratch without any address"); },
     "LLVM prints gfx10.3's scratch access without address for gfx10.1 too; we refuse"},
    {[](auto, auto ours, bool we_refuse) { return we_refuse && has(ours, "literal as buffer offset"); },
     "LLVM takes a literal as buffer offset; the ISA has none"},
    {[](auto, auto ours, bool we_refuse) {
       return we_refuse && (has(ours, "no lane mask at this code") || has(ours, "reserved scalar destination"));
     },
     "LLVM prints source-only registers as results; we refuse"},
    {[](auto, auto ours, bool we_refuse) {
       return we_refuse &&
              (starts(ours, "v_movrel") || starts(ours, "v_readfirstlane") || starts(ours, "v_swap") ||
               starts(ours, "v_interp") || starts(ours, "v_permlane")) &&
              has(ours, "scalar where a VGPR is needed");
     },
     "LLVM prints scalars as source of v_movrel*, v_swap*, v_interp*, v_permlane* and v_readfirstlane"},
    {[](auto llvm, auto ours, bool) { return llvm.empty() && has(ours, " m0"); },
     "LLVM refuses M0 as a lane mask where it takes it elsewhere; we leave that to the semantics"},
    {[](auto llvm, auto ours, bool) { return llvm.empty() && has(ours, " r128"); },
     "LLVM reads eight registers of a 128-bit image descriptor, the hardware four: s[100:103] is ours alone"},
    {[](auto llvm, auto ours, bool) {
       return starts(ours, "image_gather4") && has(ours, " d16") && (llvm.empty() || has(ours, " tfe"));
     },
     "LLVM has no variant of a 16-bit gather with TFE and prints its first, whose four registers must fit below v255"},
    {[](auto llvm, auto ours, bool) {
       return (starts(ours, "v_cvt_pk_u8_f32") || starts(ours, "v_ldexp_f")) && has(llvm, "sext(");
     },
     "LLVM prints an unused modifier bit of v_cvt_pk_u8_f32 and v_ldexp as sign extension"},
    {[](auto llvm, auto ours, bool we_refuse) {
       return we_refuse && starts(llvm, "v_illegal") && has(ours, "reserved encoding");
     },
     "LLVM names a zero word v_illegal; we refuse it"},
};

}  // namespace

std::string_view known_difference(const std::string& llvm, const std::string& ours, bool we_refuse) {
  for (const Difference& difference : kDifferences) {
    if (difference.applies(llvm, ours, we_refuse)) {
      return difference.reason;
    }
  }
  return {};
}

}  // namespace orrery::shader::testing
