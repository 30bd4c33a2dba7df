// A guest kernel as dispatch/dispatch_executor.cpp runs it, between timestamps instead of in a batch.
#include <chrono>
#include <cstring>

#include "gpu-service/dispatch/buffer_descriptor.hpp"
#include "gpu-service/dispatch/descriptor_source.hpp"
#include "gpu-service/dispatch/lane_choice.hpp"
#include "gpu-service/dispatch/traced_buffers.hpp"
#include "gpu-service/vulkan/device.hpp"
#include "tests/bench/kernels/device_kernel.hpp"

namespace orrery::bench {
namespace {

constexpr uint64_t kMostScratch = 256ull << 20;  // as the executor has it

bool copy_guest(const GuestRegion& region, uint64_t address, std::span<std::byte> out) {
  const auto bytes = region.bytes();
  if (address < GuestRegion::kAddress || address - GuestRegion::kAddress > bytes.size()) return false;
  const uint64_t at = address - GuestRegion::kAddress;
  if (bytes.size() - at < out.size()) return false;
  std::memcpy(out.data(), bytes.data() + at, out.size());
  return true;
}

struct Bound {
  DeviceKernel::Range range;
  shader::BoundInfo info{};
};

Result<Bound> bind(const vulkan::Device& device, const DeviceBlock& block, const GuestRegion& region,
                   const dispatch::DispatchState& state, const shader::BoundBuffer& buffer) {
  const auto words = dispatch::read_descriptor(buffer.source, state, [&](GuestAddress at, std::span<std::byte> out) {
    return copy_guest(region, at.value, out);
  });
  if (!words) return fail(ExitCode::internal, "{}", words.error());
  const auto descriptor = dispatch::decode_descriptor(*words);
  const auto extent = dispatch::bindable_extent(descriptor, buffer.scalar);
  if (!extent.bytes) return fail(ExitCode::internal, "{}", extent.reason);
  const uint64_t at = descriptor.base.value - GuestRegion::kAddress;
  if (at > region.bytes().size() || region.bytes().size() - at < *extent.bytes) {
    return fail(ExitCode::internal, "not all of it is mapped");
  }
  const uint64_t offset = align_down(at, device.facts().storage_alignment);
  const uint64_t size = align_up(at - offset + *extent.bytes, 4);
  if (size > device.facts().max_storage_range) return fail(ExitCode::internal, "more than one binding shows");
  return Bound{{block.work().handle(), offset, size},
               {static_cast<uint32_t>(at - offset), static_cast<uint32_t>(*extent.bytes)}};
}

// As the executor gives them to a module; none where a descriptor can't be read.
std::vector<uint32_t> descriptor_constants(const GuestRegion& region, const dispatch::DispatchState& state,
                                           const shader::Module& module) {
  const auto read = [&](GuestAddress at, std::span<std::byte> out) { return copy_guest(region, at.value, out); };
  std::vector<dispatch::TracedBuffer> traced;
  for (const auto& buffer : module.buffers) {
    const auto words = dispatch::read_descriptor(buffer.source, state, read);
    if (!words) return {};
    traced.push_back({.words = {words->begin(), words->end()}});
  }
  for (const auto& image : module.images) {
    const auto words = dispatch::read_image(image.source, state, read);
    if (!words) return {};
    traced.push_back({.words = {words->begin(), words->end()}});
  }
  for (const auto& sampler : module.samplers) {
    const auto words = dispatch::read_descriptor(sampler, state, read);
    if (!words) return {};
    traced.push_back({.words = {words->begin(), words->end()}});
  }
  return dispatch::descriptor_constants(module, traced);
}

Result<shader::Module> translate(const GuestRegion& region, const dispatch::DispatchState& state,
                                 const shader::TranslateOptions& options, double& microseconds) {
  const shader::CodeFetch fetch = [&](uint32_t offset, uint32_t dwords) -> std::span<const uint32_t> {
    const uint64_t at = state.program.value - GuestRegion::kAddress + offset;
    if (at > region.bytes().size() || region.bytes().size() - at < dwords * 4ull) return {};
    return {reinterpret_cast<const uint32_t*>(region.at(at)), dwords};
  };
  const auto start = std::chrono::steady_clock::now();
  const auto program = shader::read_program(fetch);
  const auto refused = [](const shader::ShaderRefusal& r) {
    return fail(ExitCode::internal, "refused: offset {:#x}: {}: {}", r.offset, r.mnemonic, r.reason);
  };
  if (!program) return refused(program.error());
  auto module = shader::translate(*program, options);
  microseconds = std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count();
  if (!module) return refused(module.error().empty() ? shader::ShaderRefusal{} : module.error().front());
  return std::move(*module);
}

}  // namespace

Result<std::unique_ptr<DeviceKernel>> translate_kernel(const vulkan::Device& device, const DeviceBlock& block,
                                                       const GuestRegion& region, const dispatch::DispatchState& state,
                                                       const shader::LaneLayout& layout,
                                                       std::optional<uint32_t> workgroup_memory) {
  using vulkan::Buffer, vulkan::BufferPlace;
  const auto& facts = device.facts();
  const auto geometry = dispatch::launch_geometry(state);
  if (!geometry) return fail(ExitCode::internal, "refused: {}", geometry.error());
  shader::TranslateOptions options;
  options.layout = layout;
  options.host = dispatch::host_features(facts);
  if (workgroup_memory) options.host.workgroup_memory = std::min(*workgroup_memory, facts.workgroup_memory);
  options.group_size = geometry->group_size;
  options.rsrc1 = state.rsrc1;
  options.rsrc2 = state.rsrc2;
  options.partial_groups = geometry->threads != std::array<uint32_t, 3>{};
  options.scratch_dwords = geometry->scratch_wave_bytes / 4 / geometry->wave;

  auto out = std::make_unique<DeviceKernel>(device);
  auto module = translate(region, state, options, out->translate_us);
  if (!module) return std::unexpected(std::move(module.error()));
  std::vector<Bound> bound;
  bool all = module->buffers.size() <= facts.max_storage_buffers;
  for (size_t i = 0; all && i < module->buffers.size(); ++i) {
    auto binding = bind(device, block, region, state, module->buffers[i]);
    all = binding.has_value();
    if (all) bound.push_back(*binding);
  }
  if (!all) {
    bound.clear();
    options.bind_buffers = false;
    module = translate(region, state, options, out->translate_us);
    if (!module) return std::unexpected(std::move(module.error()));
  }
  if (module->workgroup_bytes > facts.workgroup_memory) {
    return fail(ExitCode::internal, "refused: {} bytes of workgroup memory", module->workgroup_bytes);
  }

  const auto own = [&](uint64_t size, BufferPlace place, const char* name) -> Result<Buffer*> {
    auto made = Buffer::create(device, {size}, place, name);
    if (!made) return std::unexpected(std::move(made.error()));
    out->own.push_back(std::move(*made));
    return &out->own.back();
  };
  out->own.reserve(3);
  shader::PushConstants push{};
  push.user_data = state.user_data;
  push.page_table = block.page_table().value;
  const auto infos = own(std::max<size_t>(bound.size(), 1) * sizeof(shader::BoundInfo), BufferPlace::upload, "infos");
  if (!infos) return std::unexpected(infos.error());
  for (size_t i = 0; i < bound.size(); ++i) {
    std::memcpy((*infos)->mapped().data() + i * sizeof(shader::BoundInfo), &bound[i].info, sizeof(bound[i].info));
  }
  push.bound_info = (*infos)->address().value;
  const auto escapes = own(sizeof(shader::EscapeReport), BufferPlace::shared, "escapes");
  if (!escapes) return std::unexpected(escapes.error());
  std::memset((*escapes)->mapped().data(), 0, sizeof(shader::EscapeReport));
  out->escapes = reinterpret_cast<const shader::EscapeReport*>((*escapes)->mapped().data());
  push.escapes = (*escapes)->address().value;
  push.code_low = static_cast<uint32_t>(state.program.value);
  push.code_high = static_cast<uint32_t>(state.program.value >> 32);
  push.threads = geometry->threads;

  const uint64_t group_memory = module->group_memory;
  const uint64_t fits = group_memory != 0 ? kMostScratch / group_memory : 1u << 30;
  const auto most = dispatch::part_of_groups(*geometry, facts.max_groups, fits);
  uint64_t groups = 1;
  for (size_t i = 0; i < 3; ++i) groups *= std::min(most[i], geometry->count[i]);
  if (group_memory != 0) {
    const auto scratch = own(groups * group_memory, BufferPlace::device, "scratch");
    if (!scratch) return std::unexpected(scratch.error());
    push.scratch = (*scratch)->address().value;
  }
  dispatch::for_each_part(*geometry, most,
                          [&](const auto& first, const auto& count) { out->parts.push_back({first, count}); });
  out->push.resize(sizeof(push));
  std::memcpy(out->push.data(), &push, sizeof(push));
  out->first_group_at = offsetof(shader::PushConstants, first_group);
  out->parts_in_turn = out->scratch = group_memory != 0;
  out->instructions = module->guest_instructions;
  out->bound_buffers = bound.size();
  out->page_table = module->uses_page_table;
  std::vector<DeviceKernel::Range> ranges;
  for (const Bound& b : bound) ranges.push_back(b.range);
  ORRERY_TRY(out->compile(module->spirv, module->layout.required_subgroup(), ranges, "guest kernel",
                          descriptor_constants(region, state, *module)));
  return out;
}

}  // namespace orrery::bench
