// The compiled kernels of tests/titles through the whole translator: refusals by name, valid modules in every layout.
#include <gtest/gtest.h>

#include <filesystem>
#include <set>

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

TranslateOptions options_for(const Kernel& kernel, uint32_t subgroup) {
  TranslateOptions o;
  o.layout = {.wave = kernel.facts.wave, .subgroup = subgroup, .k = kernel.facts.wave / subgroup};
  o.group_size = kernel.facts.group_size;
  if (o.group_size[0] == 0) o.group_size = {64, 1, 1};
  o.rsrc1 = kernel.facts.rsrc1;
  o.rsrc2 = kernel.facts.rsrc2;
  o.scratch_dwords = (kernel.facts.private_bytes + 3) / 4;
  o.host.workgroup_memory = 65536;
  return o;
}

TEST(Corpus, every_kernel_is_translated_and_valid_in_every_layout) {
  const auto kernels = corpus();
  ASSERT_GE(kernels.size(), 40u) << "build the target shader_corpus";
  std::set<std::string> refusals;
  for (const Kernel& kernel : kernels) {
    for (const uint32_t subgroup : {8u, 32u}) {
      const auto module = translate(kernel.program, options_for(kernel, subgroup));
      if (!module) {
        for (const ShaderRefusal& r : module.error())
          refusals.insert(kernel.facts.name.substr(0, kernel.facts.name.find('.')) + ": " + r.mnemonic + ": " +
                          r.reason);
        continue;
      }
      EXPECT_EQ(validate(module->spirv), "") << kernel.facts.name << " subgroup " << subgroup;
    }
  }
  // What is not translated yet, by kernel.
  const std::set<std::string> known = {
      "bound_records: buffer_load_format_xyzw: no semantics",
      "image_load_store: image_load: no semantics",
      "image_load_store: image_store: no semantics",
  };
  EXPECT_EQ(refusals, known);
}

}  // namespace
}  // namespace orrery::shader::test
