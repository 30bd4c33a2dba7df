#include "tests/gpu-service/dispatch/abi_kernels.hpp"

namespace orrery::dispatch {
namespace {

constexpr uint32_t kPageCopy8[] = {
#include "page_copy_8.inc"
};
constexpr uint32_t kPageCopy32[] = {
#include "page_copy_32.inc"
};
constexpr uint32_t kBoundAdd8[] = {
#include "bound_add_8.inc"
};
constexpr uint32_t kBoundAdd32[] = {
#include "bound_add_32.inc"
};

constexpr uint32_t kSpin8[] = {
#include "spin_8.inc"
};
constexpr uint32_t kSpin32[] = {
#include "spin_32.inc"
};

constexpr uint32_t kPrivateSum8[] = {
#include "private_sum_8.inc"
};
constexpr uint32_t kPrivateSum32[] = {
#include "private_sum_32.inc"
};

constexpr uint32_t kByteStripes8[] = {
#include "byte_stripes_8.inc"
};
constexpr uint32_t kByteStripes32[] = {
#include "byte_stripes_32.inc"
};

using Refused = std::unexpected<std::vector<shader::ShaderRefusal>>;

std::expected<shader::Program, shader::ShaderRefusal> read(const shader::CodeFetch& fetch) {
  const auto words = fetch(0, 2);
  if (words.size() < 2) return std::unexpected(shader::ShaderRefusal{0, "program", "truncated"});
  if (words[0] == kUnreadable) return std::unexpected(shader::ShaderRefusal{4, "program", "a reserved encoding"});
  shader::Program program;
  program.instructions.resize(1);
  program.instructions[0].words[0] = words[0];
  program.instructions[0].words[1] = words[1];
  program.extent = 8;
  program.hash = hash_bytes(std::as_bytes(words));
  return program;
}

std::expected<shader::Module, std::vector<shader::ShaderRefusal>> translate(const shader::Program& program,
                                                                            const shader::TranslateOptions& options) {
  shader::Module module;
  module.layout = options.layout;
  module.local_size = {options.layout.subgroup, 1, 1};
  const bool narrow = options.layout.subgroup == 8;
  if (options.layout.wave != 32 || (!narrow && options.layout.subgroup != 32)) {
    return Refused({{0, "program", "a layout that no test kernel has"}});
  }
  switch (program.instructions[0].words[0]) {
    case kTableAdd:
    case kBoundAdd:
      if (options.bind_buffers) {
        const std::span<const uint32_t> words = narrow ? std::span<const uint32_t>(kBoundAdd8) : kBoundAdd32;
        module.spirv.assign(words.begin(), words.end());
        using Source = shader::DescriptorSource;
        const bool table = program.instructions[0].words[0] == kTableAdd;
        module.buffers = {{table ? Source::chain(0, {0}) : Source::user(0), true, false},
                          {table ? Source::chain(0, {16}) : Source::user(4), false, true}};
        return module;
      }
      [[fallthrough]];  // the same by address: the low two words of each descriptor are its base
    case kPageCopy: {
      const std::span<const uint32_t> words = narrow ? std::span<const uint32_t>(kPageCopy8) : kPageCopy32;
      module.spirv.assign(words.begin(), words.end());
      module.uses_page_table = module.writes_anywhere = true;
      return module;
    }
    case kPrivateSum: {
      const std::span<const uint32_t> words = narrow ? std::span<const uint32_t>(kPrivateSum8) : kPrivateSum32;
      module.spirv.assign(words.begin(), words.end());
      module.uses_page_table = module.writes_anywhere = true;
      module.group_memory = uint64_t{options.scratch_dwords} * 32 * 4;
      return module;
    }
    case kByteStripes: {
      const std::span<const uint32_t> words = narrow ? std::span<const uint32_t>(kByteStripes8) : kByteStripes32;
      module.spirv.assign(words.begin(), words.end());
      module.uses_page_table = module.writes_anywhere = true;
      return module;
    }
    case kSpin: {
      const std::span<const uint32_t> words = narrow ? std::span<const uint32_t>(kSpin8) : kSpin32;
      module.spirv.assign(words.begin(), words.end());
      module.uses_page_table = module.writes_anywhere = true;
      return module;
    }
    default:
      return Refused({{0, "v_test_b32", "no semantics"}, {4, "s_test_b32", "no semantics"}});
  }
}

}  // namespace

Translator abi_kernel_translator() { return {read, translate}; }

}  // namespace orrery::dispatch
