#include "tests/bench/kernels/kernel_case.hpp"

#include <cstring>

namespace orrery::bench {
namespace {

struct HugeSize {
  const char* name;
  unsigned n;
};
constexpr HugeSize kHuge[] = {
#include "huge_sizes.inc"
};

constexpr unsigned huge_size(const char* name, unsigned large) {
  for (const HugeSize& size : kHuge) {
    if (std::string_view(size.name) == name) return size.n;
  }
  return large;
}

#define EXACT {0, 0}
#define RELATIVE(relative, absolute) {relative, absolute}
#define CASE(name, set, small, normal, large, items, arguments, allowed) \
  {#name, {small, normal, large, huge_size(#name, large)}, items, arguments, allowed},
constexpr KernelCase kCases[] = {
#include "cases.inc"
};
#undef CASE

}  // namespace

std::span<const KernelCase> kernel_cases() { return kCases; }

Result<PreparedCase> prepare(const KernelCase& kernel, CaseSize size) {
  PreparedCase out;
  const double n = kernel.n[static_cast<size_t>(size)];
  out.count = parse_arguments(kernel.arguments, n, out.arguments.data());
  if (out.count < 0) return fail(ExitCode::internal, "{}: arguments \"{}\"", kernel.name, kernel.arguments);
  lay_out(out.arguments.data(), out.count, &out.layout);
  constexpr std::string_view kByThreads = "threads:";
  const char* text = kernel.items;
  out.by_threads = std::string_view(text).starts_with(kByThreads);
  if (out.by_threads) text += kByThreads.size();
  for (uint32_t& items : out.items) {
    if (*text != 0) items = static_cast<uint32_t>(evaluate(&text, n));
    if (*text == ',') ++text;
  }
  return out;
}

TitleKernel::TitleKernel(const dispatch::CorpusKernel& from, const void* image) {
  for (const auto& argument : from.arguments) {
    const uint8_t kind = argument.type == "pointer"      ? GPU_POINTER
                         : argument.type == "descriptor" ? GPU_DESCRIPTOR
                         : argument.type == "image"      ? GPU_IMAGE
                         : argument.type == "sampler"    ? GPU_SAMPLER
                                                         : GPU_VALUE;
    arguments.push_back({static_cast<uint16_t>(argument.offset), static_cast<uint16_t>(argument.size), kind});
  }
  const auto sgpr = [&](const char* what) {
    const auto found = from.registers.find(what);
    return found == from.registers.end() ? -1 : static_cast<int>(found->second);
  };
  kernel.name = from.name.c_str();
  kernel.image = image;
  kernel.image_bytes = static_cast<unsigned>(from.image.size());
  kernel.entry = from.entry;
  kernel.rsrc1 = from.rsrc1;
  kernel.rsrc2 = from.rsrc2;
  kernel.rsrc3 = from.rsrc3;
  kernel.wave = from.wave;
  kernel.user_sgprs = from.rsrc2 >> 1 & 31;
  kernel.lds_bytes = from.lds;
  kernel.private_bytes = from.private_bytes;
  kernel.arguments_in_sgprs = from.in_sgprs ? 1 : 0;
  kernel.private_buffer_sgpr = sgpr("private_buffer");
  kernel.dispatch_packet_sgpr = sgpr("dispatch_packet");
  kernel.kernarg_sgpr = sgpr("kernarg");
  kernel.flat_scratch_sgpr = sgpr("flat_scratch");
  kernel.queue_sgpr = sgpr("queue");
  kernel.dispatch_id_sgpr = sgpr("dispatch_id");
  for (size_t i = 0; i < 3; ++i) kernel.group_size[i] = from.group_size[i];
  kernel.argument_bytes = from.argument_bytes;
  kernel.argument_count = static_cast<unsigned>(arguments.size());
  kernel.arguments = arguments.data();
}

}  // namespace orrery::bench
