#include "gpu-service/dispatch/program_cache.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cstring>

#include "gpu-service/vulkan/device.hpp"
#include "shared/log.hpp"
#include "shared/measure/span.hpp"

namespace orrery::dispatch {
namespace {

constexpr uint64_t kMostInstructions = 1 << 19;  // kept decoded; about 400 bytes each
constexpr size_t kMostTranslations = 4096;
constexpr size_t kMostPipelines = 64;  // of one translation

uint64_t size_of(const ReadProgram& read) { return read.program ? (*read.program)->instructions.size() + 1 : 1; }

// Bytes mapped from `address` on without a gap, at most kMaxProgramBytes.
uint64_t mapped_from(const memory::GuestMemory& memory, GuestAddress address) {
  uint64_t found = 0;
  while (found < shader::kMaxProgramBytes) {
    if (address.value > UINT64_MAX - found) break;
    const protocol::MapEntry* entry = protocol::find_entry(memory.entries(), address + Bytes{found});
    if (entry == nullptr) break;
    found += entry->size - (address.value + found - entry->guest_begin);
  }
  return std::min<uint64_t>(found, shader::kMaxProgramBytes);
}

// The program's words, copied as far as they are asked for. The memory is reserved whole, so that spans stay valid.
class CodeCopy {
 public:
  CodeCopy(const memory::GuestMemory& memory, GuestAddress address, uint64_t mapped)
      : memory_(memory),
        address_(address),
        dwords_(mapped / 4),
        words_(std::make_unique_for_overwrite<uint32_t[]>(dwords_)) {}

  std::span<const uint32_t> fetch(uint32_t offset, uint32_t wanted) {
    const uint64_t first = offset / 4;
    if (offset % 4 != 0 || first >= dwords_) return {};
    const uint64_t count = std::min<uint64_t>(wanted, dwords_ - first);
    while (copied_ < first + count) {
      constexpr uint64_t kStep = 1024;
      const uint64_t step = std::min(kStep, dwords_ - copied_);
      const std::span<uint32_t> to(words_.get() + copied_, step);
      if (!memory_.read(address_ + Bytes{copied_ * 4}, std::as_writable_bytes(to))) return {};
      copied_ += step;
    }
    looked_at_ = std::max(looked_at_, first + count);
    return {words_.get() + first, count};
  }
  std::span<const std::byte> looked_at() const { return std::as_bytes(std::span(words_.get(), looked_at_)); }

 private:
  const memory::GuestMemory& memory_;
  GuestAddress address_;
  uint64_t dwords_, copied_ = 0, looked_at_ = 0;
  std::unique_ptr<uint32_t[]> words_;
};

std::shared_ptr<const MadePipeline> compile(const vulkan::Device& device, const shader::Module& module,
                                            GuestAddress program, const std::string& name,
                                            std::span<const uint32_t> constants) {
  const measure::Span span(measure::SpanName::pipeline_compile, program.value);
  measure::count(measure::Counter::pipelines);
  auto out = std::make_shared<MadePipeline>();
  auto pipeline = vulkan::ComputePipeline::create(device, {module.spirv, static_cast<uint32_t>(module.buffers.size()),
                                                           module.layout.required_subgroup(), name, constants});
  if (pipeline) {
    out->pipeline = std::move(*pipeline);
  } else {
    log::error("program {}: {}", name, pipeline.error().describe());
    out->refusal = "the driver refused it: " + pipeline.error().message;
  }
  return out;
}

}  // namespace

ProgramCache::ProgramCache(const vulkan::Device& device, Translator translator)
    : device_(device), translator_(std::move(translator)) {}

bool ProgramCache::unchanged(const memory::GuestMemory& memory, const ReadProgram& program) {
  std::vector<std::byte> now(program.copied);
  return memory.read(program.address, now) && hash_bytes(now) == program.content;
}

std::shared_ptr<const ReadProgram> ProgramCache::known(const memory::GuestMemory& memory, GuestAddress address) {
  std::shared_ptr<const ReadProgram> found;
  {
    const measure::CountedLock lock(mutex_);
    const auto at = programs_.find(address);
    if (at == programs_.end()) return nullptr;
    found = at->second;
  }
  // A refusal may have been for want of mapped bytes; a program was read whole.
  if (!found->program && found->mapped != mapped_from(memory, address)) return nullptr;
  return unchanged(memory, *found) ? found : nullptr;
}

std::shared_ptr<const ReadProgram> ProgramCache::read(const memory::GuestMemory& memory, GuestAddress address) {
  if (auto found = known(memory, address)) return found;
  const measure::Span span(measure::SpanName::read_program, address.value);
  const uint64_t mapped = mapped_from(memory, address);
  if (mapped < 4) return nullptr;
  CodeCopy copy(memory, address, mapped);
  auto program = translator_.read([&](uint32_t offset, uint32_t dwords) { return copy.fetch(offset, dwords); });
  auto read = std::make_shared<ReadProgram>();
  read->address = address;
  read->mapped = mapped;
  read->copied = copy.looked_at().size();
  read->content = hash_bytes(copy.looked_at());
  if (program) {
    read->program = std::make_shared<const shader::Program>(std::move(*program));
  } else {
    read->program = std::unexpected(std::move(program.error()));
  }
  const measure::CountedLock lock(mutex_);
  if (instructions_ > kMostInstructions) {
    programs_.clear();
    instructions_ = 0;
  }
  auto& slot = programs_[address];
  if (slot != nullptr) instructions_ -= size_of(*slot);
  instructions_ += size_of(*read);
  slot = read;
  return read;
}

void ProgramCache::trim() {
  const measure::CountedLock lock(mutex_);
  if (translations_.size() > kMostTranslations) translations_.clear();
  if (needs_.size() > kMostTranslations) needs_.clear();
}

uint64_t ProgramCache::translations() const {
  const measure::CountedLock lock(mutex_);
  return made_;
}

ProgramCache::Key ProgramCache::key_of(const ReadProgram& program, const shader::TranslateOptions& options) {
  return {(*program.program)->hash, options.layout.wave,    options.layout.subgroup, options.layout.k,
          options.layout.exchange,  options.group_size,     options.rsrc1,           options.rsrc2,
          options.bind_buffers,     options.scratch_dwords, options.partial_groups};
}

std::optional<shader::ProgramNeeds> ProgramCache::known_needs(const ReadProgram& program,
                                                              const shader::TranslateOptions& options) {
  const measure::CountedLock lock(mutex_);
  const auto known = needs_.find(key_of(program, options));
  if (known == needs_.end()) return std::nullopt;
  return known->second;
}

shader::ProgramNeeds ProgramCache::needs(const ReadProgram& program, const shader::TranslateOptions& options) {
  if (const auto known = known_needs(program, options)) return *known;
  shader::ProgramNeeds needs;
  if (const auto analysis = shader::analyse(**program.program, options)) needs = analysis->needs;
  const measure::CountedLock lock(mutex_);
  return needs_.try_emplace(key_of(program, options), needs).first->second;
}

std::shared_ptr<Translation> ProgramCache::made(const ReadProgram& program, const shader::TranslateOptions& options) {
  const measure::CountedLock lock(mutex_);
  const auto known = translations_.find(key_of(program, options));
  if (known == translations_.end()) return nullptr;
  const bool done = known->second.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
  return done ? known->second.get() : nullptr;
}

std::shared_ptr<Translation> ProgramCache::translate(const ReadProgram& program,
                                                     const shader::TranslateOptions& options) {
  std::promise<std::shared_ptr<Translation>> promise;
  Made made;
  bool ours = false;
  {
    const measure::CountedLock lock(mutex_);
    auto& slot = translations_[key_of(program, options)];
    if (!slot.valid()) {
      slot = promise.get_future().share();
      ours = true;
      ++made_;
    }
    made = slot;
  }
  if (ours) {
    promise.set_value(make(program, options));
  } else if (made.wait_for(std::chrono::seconds(0)) != std::future_status::ready) {
    const measure::Span span(measure::SpanName::live_pipeline_wait);
    made.wait();
  }
  return made.get();
}

std::shared_ptr<Translation> ProgramCache::make(const ReadProgram& program, const shader::TranslateOptions& options) {
  auto translation = std::make_shared<Translation>();
  translation->address = program.address;
  translation->name = fmt::format("{:#x} {}", program.address.value, (*program.program)->hash.hex());
  measure::count(measure::Counter::translations);
  auto module = [&] {
    const measure::Span span(measure::SpanName::translate, program.address.value);
    return translator_.translate(**program.program, options);
  }();
  if (!module) {
    translation->refusals = std::move(module.error());
    if (translation->refusals.empty()) translation->refusals.push_back({0, "program", "refused without a reason"});
  } else if (module->workgroup_bytes > options.host.workgroup_memory) {
    translation->refusals.push_back({0, "program",
                                     fmt::format("wants {} bytes of workgroup memory; the device has {}",
                                                 module->workgroup_bytes, options.host.workgroup_memory)});
  } else if (!module->has_constants() && module->buffers.size() <= device_.facts().max_storage_buffers) {
    // A module with more buffers gets no pipeline; the executor turns to the page table.
    auto made = compile(device_, *module, program.address, translation->name, {});
    if (!made->refusal.empty()) {
      translation->refusals.push_back({0, "program", made->refusal});
    } else {
      std::promise<std::shared_ptr<const MadePipeline>> promise;
      promise.set_value(std::move(made));
      translation->pipelines.emplace(std::vector<uint32_t>{}, promise.get_future().share());
    }
  }
  if (module && translation->refusals.empty()) {
    log::debug("program {:#x} {}: wave{} {} group {}x{}x{}: {} instructions, {} words of SPIR-V, {} buffers{}{}{}",
               program.address.value, (*program.program)->hash.hex(), options.layout.wave, options.layout.text(),
               options.group_size[0], options.group_size[1], options.group_size[2], module->guest_instructions,
               module->spirv.size(), module->buffers.size(), module->uses_page_table ? ", page table" : "",
               module->lds_in_memory ? ", LDS in device memory" : "",
               module->dispatcher_loop ? ", dispatcher loop" : "");
    if (!module->has_constants()) module->spirv = {};
    translation->module = std::move(*module);
  }
  return translation;
}

PipelineAsk ProgramCache::pipeline(const std::shared_ptr<Translation>& translation, std::vector<uint32_t> constants) {
  const measure::CountedLock lock(mutex_);
  auto& made = translation->pipelines;
  if (!translation->module->has_constants()) constants.clear();
  if (made.size() >= kMostPipelines && !made.contains(constants)) constants.clear();
  if (const auto known = made.find(constants); known != made.end()) return {known->second, {}};
  auto promise = std::make_shared<std::promise<std::shared_ptr<const MadePipeline>>>();
  const PipelineFuture future = promise->get_future().share();
  made.emplace(constants, future);
  return {
      future, [this, translation, promise, constants = std::move(constants)] {
        promise->set_value(compile(device_, *translation->module, translation->address, translation->name, constants));
      }};
}

}  // namespace orrery::dispatch
