// The compiled kernels of tests/titles through the whole translator: refusals by name, valid modules in every layout.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>
#include <spirv/unified1/spirv.hpp>

#include "gpu-service/shader/translate.hpp"
#include "tests/gpu-service/dispatch/corpus_kernel.hpp"
#include "tests/gpu-service/shader/corpus/shader_corpus.hpp"
#include "tests/gpu-service/shader/spirv/validate.hpp"

namespace orrery::shader::test {
namespace {

struct Kernel {
  dispatch::CorpusKernel facts;
  Program program;
};

std::vector<Kernel> corpus() {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(shader_corpus())) {
    if (entry.path().extension() == ".json") names.insert(entry.path().stem().string());
  }
  std::vector<Kernel> kernels;
  for (const std::string& name : names) {
    auto facts = dispatch::CorpusKernel::load(shader_corpus() + "/" + name);
    EXPECT_TRUE(facts.has_value()) << name;
    if (!facts) continue;
    facts->name = name;
    std::vector<uint32_t> words((facts->image.size() - facts->entry) / 4);
    std::memcpy(words.data(), facts->image.data() + facts->entry, words.size() * 4);
    auto program = read_program([&](uint32_t offset, uint32_t dwords) {
      const auto all = std::span<const uint32_t>(words);
      if (offset / 4 >= all.size()) return std::span<const uint32_t>{};
      return all.subspan(offset / 4, std::min<size_t>(dwords, all.size() - offset / 4));
    });
    EXPECT_TRUE(program.has_value()) << name;
    if (program) kernels.push_back({std::move(*facts), std::move(*program)});
  }
  return kernels;
}

// Is there an instruction `op` whose first operand is `operand` (~0: any)?
bool holds(std::span<const uint32_t> spirv, uint32_t op, uint32_t operand = ~0u) {
  for (size_t at = 5; at < spirv.size(); at += spirv[at] >> 16) {
    if ((spirv[at] & 0xffff) == op && (operand == ~0u || spirv[at + 1] == operand)) return true;
  }
  return false;
}

TranslateOptions options_for(const Kernel& kernel, const LaneLayout& layout) {
  TranslateOptions o;
  o.layout = layout;
  o.group_size = kernel.facts.group_size;
  if (o.group_size[0] == 0) o.group_size = {64, 1, 1};
  o.rsrc1 = kernel.facts.rsrc1;
  o.rsrc2 = kernel.facts.rsrc2;
  o.scratch_dwords = (kernel.facts.private_bytes + 3) / 4;
  o.host.workgroup_memory = 65536;
  return o;
}

// Every layout that the gate allows the kernel somewhere.
std::vector<LaneLayout> layouts_of(const Kernel& kernel) {
  const uint32_t wave = kernel.facts.wave;
  std::vector<LaneLayout> layouts;
  // Long programs make modules of megabytes with every lane unrolled; ORRERY_LONG_TESTS=1 validates those too.
  constexpr size_t kShort = 64;
  if (kernel.program.instructions.size() <= kShort || std::getenv("ORRERY_LONG_TESTS") != nullptr) {
    layouts.push_back(whole_wave_layout(wave));
  }
  for (const uint32_t subgroup : {8u, 16u, 32u, 64u}) {
    if (subgroup <= wave) layouts.push_back(subgroup_layout(wave, subgroup));
  }
  TranslateOptions o = options_for(kernel, workgroup_layout(wave));
  const auto analysis = analyse(kernel.program, o);
  for (const LaneLayout& layout : {workgroup_layout(wave), separate_layout(wave)}) {
    if (analysis && why_not(layout, analysis->needs, group_shape(o), host_lanes(o.host)).empty()) {
      layouts.push_back(layout);
    }
  }
  return layouts;
}

TEST(Corpus, every_kernel_is_translated_and_valid_in_every_layout) {
  const auto kernels = corpus();
  ASSERT_GE(kernels.size(), 40u) << "build the target shader_corpus";
  std::set<std::string> refusals;
  for (const Kernel& kernel : kernels) {
    for (const LaneLayout& layout : layouts_of(kernel)) {
      const auto module = translate(kernel.program, options_for(kernel, layout));
      if (!module) {
        for (const ShaderRefusal& r : module.error())
          refusals.insert(kernel.facts.name.substr(0, kernel.facts.name.find('.')) + ": " + r.mnemonic + ": " +
                          r.reason);
        continue;
      }
      EXPECT_EQ(validate(module->spirv), "") << kernel.facts.name << ": " << layout.text();
    }
  }
  EXPECT_EQ(refusals, std::set<std::string>());
}

// A mask is a number only where the program reads it as one; structured control flow takes votes and conditions.
TEST(Corpus, only_kernels_that_read_a_mask_as_a_number_have_ballots) {
  const std::map<std::string, std::string> reasons = {
      {"atomics", "LLVM adds up an atomic's lanes first: mbcnt, s_ff1 and s_bcnt1 of exec"},
      {"reduction", "one atomic for the group: mbcnt and s_bcnt1 of exec"},
      {"masked_copy", "a ballot in its source, counted and stored"},
      {"masked_fill", "a ballot in its source, counted and stored"},
      {"guarded_fill", "the seed's program: the mask of a guard is counted and stored"},
      {"guarded_copy", "the seed's program: the mask of a guard is counted and stored"},
      {"raymarch", "v_readfirstlane: the first lane of exec"},
  };
  std::set<std::string> with_ballots;
  for (const Kernel& kernel : corpus()) {
    const auto module = translate(kernel.program, options_for(kernel, subgroup_layout(kernel.facts.wave, 32)));
    if (!module) continue;  // refused: named by the test above
    const bool ballots = holds(module->spirv, spv::OpGroupNonUniformBallot);
    EXPECT_EQ(ballots, module->needs.masks_whole) << kernel.facts.name;
    if (ballots) with_ballots.insert(kernel.facts.name.substr(0, kernel.facts.name.find('.')));
  }
  std::set<std::string> expected;
  for (const auto& [name, reason] : reasons) expected.insert(name);
  EXPECT_EQ(with_ballots, expected);
}

// With one lane an invocation, branches are the lanes' own: a vote is left only where lanes must stay together.
TEST(Corpus, only_kernels_whose_lanes_must_stay_together_vote) {
  const std::map<std::string, std::string> reasons = {
      {"atomics", "masks read whole and lanes' values in its branches"},
      {"reduction", "a mask read whole, and fences, in its branches"},
      {"masked_copy", "a ballot inside of the guard"},
      {"masked_fill", "a ballot inside of the guard"},
      {"guarded_copy", "the guard's mask is read whole"},
      {"raymarch", "v_readfirstlane in a loop"},
      {"scan", "fences between LDS accesses in its branches"},
      {"large_local", "fences between LDS accesses in its loops"},
      {"wide_local", "fences between LDS accesses in its branches"},
      {"bitonic", "a fence between the guard's loads and stores"},
      {"collatz", "the same"},
      {"ptrtable", "the same"},
      {"saxpy", "the same"},
      {"saxpy_packet", "the same"},
      {"saxpy_sgpr", "the same"},
      {"stencil", "the same"},
      {"transc", "the same"},
      {"unaligned", "the same"},
  };
  std::set<std::string> with_votes;
  for (const Kernel& kernel : corpus()) {
    if (kernel.facts.wave != 32) continue;
    const auto module = translate(kernel.program, options_for(kernel, subgroup_layout(32, 32)));
    if (!module) continue;  // refused: named by the first test
    EXPECT_EQ(holds(module->spirv, spv::OpGroupNonUniformAny), module->needs.votes) << kernel.facts.name;
    if (module->needs.votes) with_votes.insert(kernel.facts.name.substr(0, kernel.facts.name.find('.')));
  }
  std::set<std::string> expected;
  for (const auto& [name, reason] : reasons) expected.insert(name);
  EXPECT_EQ(with_votes, expected);
}

// Where one invocation holds the wave, and where workgroup memory exchanges its lanes, nothing asks for a subgroup.
TEST(Corpus, layouts_without_subgroups_use_no_subgroup_operation) {
  for (const Kernel& kernel : corpus()) {
    for (const LaneLayout& layout : layouts_of(kernel)) {
      if (layout.required_subgroup() != 0) continue;
      const auto module = translate(kernel.program, options_for(kernel, layout));
      if (!module) continue;  // refused: named by the test above
      EXPECT_FALSE(holds(module->spirv, spv::OpCapability, spv::CapabilityGroupNonUniform)) << kernel.facts.name;
    }
  }
}

// Its descriptor is traced wherever it is used, also in loops: in the module's own buffer when it is large, else in
// variables.
TEST(Corpus, private_memory_of_compiled_kernels_is_never_guest_memory) {
  uint32_t checked = 0;
  for (const Kernel& kernel : corpus()) {
    if (!kernel.facts.name.starts_with("spill.") && !kernel.facts.name.starts_with("sha256.")) continue;
    TranslateOptions o = options_for(kernel, subgroup_layout(kernel.facts.wave, 32));
    const auto small = translate(kernel.program, o);
    o.scratch_dwords = 4096;
    const auto large = translate(kernel.program, o);
    ASSERT_TRUE(small && large) << kernel.facts.name;
    EXPECT_EQ(small->group_memory, 0u) << kernel.facts.name;
    EXPECT_NE(large->group_memory, 0u) << kernel.facts.name;
    ++checked;
  }
  EXPECT_EQ(checked, 4u);
}

}  // namespace
}  // namespace orrery::shader::test
