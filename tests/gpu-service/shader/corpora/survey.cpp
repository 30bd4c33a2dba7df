#include "tests/gpu-service/shader/corpora/survey.hpp"

#include <algorithm>
#include <cstring>
#include <ctime>

#include "tests/gpu-service/shader/spirv/validate.hpp"

namespace orrery::corpora {
namespace {

// Seconds of this thread's own work: others may use the machine too.
double work_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

shader::TranslateOptions options_for(const opencl::Kernel& kernel, uint32_t subgroup) {
  shader::TranslateOptions options;
  const uint32_t wave = (kernel.properties >> 10 & 1) != 0 ? 32 : 64;
  options.layout = {.wave = wave, .subgroup = subgroup, .k = wave / subgroup};
  options.group_size = kernel.required_group;
  if (options.group_size[0] == 0) {
    options.group_size = {kernel.most_threads != 0 ? std::min(kernel.most_threads, 1024u) : 256, 1, 1};
  }
  options.rsrc1 = kernel.rsrc1;
  options.rsrc2 = (kernel.rsrc2 & ~(0x1ffu << 15)) | (kernel.group_bytes + 511) / 512 << 15;
  options.scratch_dwords = (kernel.private_bytes + 3) / 4;
  options.host.workgroup_memory = 65536;
  return options;
}

// The validator's first line, without the place.
std::string first_message(const std::string& text) {
  std::string line = text.substr(0, text.find('\n'));
  if (const size_t colon = line.find(": "); colon != std::string::npos) line.erase(0, colon + 2);
  return line;
}

}  // namespace

std::expected<shader::Program, shader::ShaderRefusal> read_kernel(const opencl::CodeObject& object,
                                                                  const opencl::Kernel& kernel) {
  // Functions that it calls may lie behind it, or in front of it, where no program reaches.
  const size_t bytes = std::min<size_t>(object.image.size() - kernel.entry, shader::kMaxProgramBytes) / 4 * 4;
  std::vector<uint32_t> words(bytes / 4);
  std::memcpy(words.data(), object.image.data() + kernel.entry, bytes);
  return shader::read_program(
      [&](uint32_t offset, uint32_t dwords) {
        const auto all = std::span<const uint32_t>(words);
        const size_t first = offset / 4;
        return first < all.size() ? all.subspan(first, std::min<size_t>(dwords, all.size() - first))
                                  : std::span<const uint32_t>{};
      },
      shader::Target::gfx1030);
}

Finding survey(const opencl::CodeObject& object, const opencl::Kernel& kernel, const SurveyOptions& options) {
  Finding finding;
  double begin = work_seconds();
  const auto program = read_kernel(object, kernel);
  finding.read_seconds = work_seconds() - begin;
  if (!program) {
    finding.unread = program.error().mnemonic + ": " + program.error().reason;
    return finding;
  }
  finding.instructions = program->instructions.size();
  for (const uint32_t subgroup : options.subgroups) {
    LayoutFinding& layout = finding.layouts.emplace_back();
    begin = work_seconds();
    const auto module = shader::translate(*program, options_for(kernel, subgroup));
    layout.seconds = work_seconds() - begin;
    layout.translated = module.has_value();
    if (!module) {
      for (const auto& refusal : module.error()) layout.reasons.push_back(refusal.mnemonic + ": " + refusal.reason);
      continue;
    }
    layout.words = module->spirv.size();
    layout.dispatcher_loop = module->dispatcher_loop;
    if (!options.validate) continue;
    const std::string wrong = shader::test::validate_only(module->spirv);
    layout.valid = wrong.empty();
    if (!layout.valid) layout.reasons.push_back("invalid: " + first_message(wrong));
  }
  return finding;
}

}  // namespace orrery::corpora
