#include "gpu-service/shader/semantics/descriptor_trace.hpp"

#include <algorithm>

namespace orrery::shader::semantics {

using ir::Op;
using ir::Value;

namespace {

// Word `first + n` of one uniform load, for every n; the load and `first`.
struct Loaded {
  Value load;
  uint32_t first;
};

std::optional<Loaded> words_of_load(const ir::Function& f, std::span<const Value> words) {
  std::optional<Loaded> found;
  for (uint32_t n = 0; n < words.size(); ++n) {
    const ir::Inst& inst = f.at(words[n]);
    if (inst.op != Op::component) return std::nullopt;
    const Value load = f.args(inst)[0];
    if (!found) found = Loaded{load, inst.imm};
    if (load != found->load || inst.imm != found->first + n) return std::nullopt;
  }
  return found;
}

std::optional<uint32_t> user_data(const ir::Function& f, std::span<const Value> words) {
  for (uint32_t n = 0; n < words.size(); ++n) {
    const ir::Inst& inst = f.at(words[n]);
    if (inst.op != Op::user_data || inst.imm != f.at(words[0]).imm + n) return std::nullopt;
  }
  return f.at(words[0]).imm;
}

constexpr size_t kMostLoads = 8;

}  // namespace

std::optional<DescriptorSource> trace_descriptor(const ir::Builder& b, const std::array<Value, 4>& words) {
  const ir::Function& f = b.function();
  if (const auto user = user_data(f, words)) return DescriptorSource{*user, {}};
  DescriptorSource source;
  std::array<Value, 4> at = words;
  size_t count = 4;
  while (source.loads.size() < kMostLoads) {
    const auto loaded = words_of_load(f, std::span<const Value>(at).first(count));
    if (!loaded) return std::nullopt;
    const ir::Inst& load = f.at(loaded->load);
    const ir::Access& access = f.accesses[load.imm];
    if (access.space != ir::Space::guest || access.bytes != 4) return std::nullopt;
    const int64_t offset = static_cast<int64_t>(access.offset) + loaded->first * 4;
    if (offset < 0) return std::nullopt;
    source.loads.push_back(static_cast<uint32_t>(offset));
    const Value address = f.args(load)[1];
    if (f.at(address).op != Op::pack64) return std::nullopt;
    at[0] = f.args(address)[0];
    at[1] = f.args(address)[1];
    count = 2;
    if (const auto user = user_data(f, std::span<const Value>(at).first(2))) {
      source.user_sgpr = *user;
      std::ranges::reverse(source.loads);
      return source;
    }
  }
  return std::nullopt;
}

bool from_private_descriptor(const ir::Function& f, Value word) {
  constexpr size_t kMostLooked = 64;
  std::vector<Value> open{word};
  for (size_t n = 0; n < open.size() && n < kMostLooked; ++n) {
    const ir::Inst& inst = f.at(open[n]);
    if (inst.op == Op::user_data && inst.imm == 0) return true;
    if (ir::traits_of(inst.op) == ir::Traits::effect || inst.op == Op::component) continue;  // loaded
    if (inst.op == Op::constant || inst.op == Op::undefined) continue;
    for (const Value v : f.args(inst))
      if (v && std::ranges::find(open, v) == open.end()) open.push_back(v);
  }
  return false;
}

}  // namespace orrery::shader::semantics
