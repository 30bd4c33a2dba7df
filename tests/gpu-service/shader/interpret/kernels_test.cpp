// Each kernel of the title `kernels`: interpreted, and as the same source on the CPU.
#include <gtest/gtest.h>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string_view>

#include "tests/gpu-service/shader/interpret/host_bytes.hpp"
#include "tests/gpu-service/shader/interpret/packet_state.hpp"

extern "C" {
#include "dispatch.h"
#include "kernel_cases.h"
}

namespace orrery::shader::testing {
namespace {

struct Prepared {
  std::array<argument, MOST_ARGUMENTS> arguments{};
  int count = 0;
  block_layout layout{};
  unsigned group_size[3]{}, groups[3]{}, threads[3]{};
};

Prepared prepare(const kernel_case& one, case_size size) {
  Prepared prepared;
  const double n = one.n[size];
  prepared.count = parse_arguments(one.arguments, n, prepared.arguments.data());
  EXPECT_GE(prepared.count, 0);
  lay_out(prepared.arguments.data(), prepared.count, &prepared.layout);
  constexpr std::string_view kByThreads = "threads:";
  const char* text = one.items;
  const bool by_threads = std::string_view(text).starts_with(kByThreads);
  if (by_threads) text += kByThreads.size();
  for (int i = 0; i < 3; ++i) {
    const auto items = *text != 0 ? static_cast<unsigned>(::evaluate(&text, n)) : 1u;
    text += *text == ',' ? 1 : 0;
    prepared.threads[i] = by_threads ? items : 0;
    prepared.group_size[i] = one.wave32->group_size[i];
    prepared.groups[i] = (items + prepared.group_size[i] - 1) / prepared.group_size[i];
  }
  return prepared;
}

struct Freed {
  void operator()(unsigned char* memory) const { std::free(memory); }
};
using Block = std::unique_ptr<unsigned char[], Freed>;
Block block_of(size_t bytes) {
  return Block(static_cast<unsigned char*>(std::aligned_alloc(256, (bytes + 255) / 256 * 256)));
}

Program program_of(const gpu_kernel& kernel) {
  const auto* image = static_cast<const uint32_t*>(kernel.image);
  const std::span words(image + kernel.entry / 4, (kernel.image_bytes - kernel.entry) / 4);
  auto program = read_program([&](uint32_t offset, uint32_t dwords) {
    const size_t first = offset / 4;
    return first < words.size() ? words.subspan(first, std::min<size_t>(dwords, words.size() - first))
                                : std::span<const uint32_t>{};
  });
  EXPECT_TRUE(program) << (program ? "" : program.error().reason);
  return program ? *program : Program{};
}

void interpret_kernel(const gpu_kernel& kernel, const Prepared& prepared, unsigned char* block) {
  const Program program = program_of(kernel);
  std::array<unsigned char, DISPATCH_ARGUMENT_BYTES> arguments{};
  const Block memory = block_of(DISPATCH_ARGUMENT_BYTES);
  ::dispatch description{};
  description.kernel = &kernel;
  description.arguments = arguments.data();
  std::copy_n(prepared.group_size, 3, description.group_size);
  std::copy_n(prepared.groups, 3, description.groups);
  std::copy_n(prepared.threads, 3, description.threads);
  description.memory = memory.get();
  const size_t scratch_bytes = dispatch_scratch_bytes(&description);
  const Block scratch = block_of(scratch_bytes + 256);
  description.scratch = scratch_bytes != 0 ? scratch.get() : nullptr;
  ASSERT_TRUE(
      write_arguments(arguments.data(), &kernel, prepared.arguments.data(), prepared.count, &prepared.layout, block));
  std::array<unsigned, 512> words{};
  packet_writer packets{words.data(), 0, static_cast<unsigned>(words.size()), 0};
  write_dispatch(&packets, &description);
  ASSERT_FALSE(packets.overflow);

  interpret::Dispatch dispatch = dispatch_of(std::span(words).first(packets.count));
  dispatch.program = &program;
  dispatch.step_limit = 200'000'000;
  HostBytes bytes;
  bytes.add(block, prepared.layout.total);
  bytes.add(memory.get(), DISPATCH_ARGUMENT_BYTES);
  bytes.add(scratch.get(), scratch_bytes);
  bytes.add(kernel.image, kernel.image_bytes);
  const interpret::Outcome outcome = interpret::run(dispatch, bytes);
  ASSERT_FALSE(outcome.refusal) << outcome.refusal->mnemonic << " at " << outcome.refusal->offset << ": "
                                << outcome.refusal->reason;
  EXPECT_EQ(outcome.escapes.count, 0u) << "at " << outcome.escapes.instruction << " address " << std::hex
                                       << outcome.escapes.address;
  EXPECT_GT(outcome.steps, 0u);
}

class InterpretedKernels : public ::testing::TestWithParam<std::tuple<unsigned, unsigned>> {};

TEST_P(InterpretedKernels, leave_the_memory_that_the_cpu_leaves) {
  const auto [index, wave] = GetParam();
  const kernel_case& one = kCases[index];
  const gpu_kernel& kernel = wave == 32 ? *one.wave32 : *one.wave64;
  const Prepared prepared = prepare(one, SIZE_SMALL);
  const size_t total = prepared.layout.total;
  const Block gpu = block_of(total), cpu = block_of(total), before = block_of(total);
  constexpr unsigned long kSeed = 7;
  fill_block(gpu.get(), prepared.arguments.data(), prepared.count, &prepared.layout, kSeed);
  std::memcpy(before.get(), gpu.get(), total);
  fill_block(cpu.get(), prepared.arguments.data(), prepared.count, &prepared.layout, kSeed);

  std::array<unsigned char, DISPATCH_ARGUMENT_BYTES> arguments{};
  ASSERT_TRUE(write_arguments(arguments.data(), &kernel, prepared.arguments.data(), prepared.count, &prepared.layout,
                              cpu.get()));
  run_on_cpu(one.on_cpu, arguments.data(), prepared.group_size, prepared.groups, prepared.threads[0], kernel.wave);
  interpret_kernel(kernel, prepared, gpu.get());
  if (HasFatalFailure()) {
    return;
  }
  comparison result{};
  compare_blocks(gpu.get(), cpu.get(), before.get(), prepared.arguments.data(), prepared.count, &prepared.layout,
                 one.tolerance, &result);
  EXPECT_EQ(result.outcome, OUTCOME_EQUAL) << result.difference;
}

INSTANTIATE_TEST_SUITE_P(EveryKernel, InterpretedKernels,
                         ::testing::Combine(::testing::Range(0u, kCaseCount), ::testing::Values(32u, 64u)),
                         [](const auto& info) {
                           return std::string(kCases[std::get<0>(info.param)].name) + "_wave" +
                                  std::to_string(std::get<1>(info.param));
                         });

}  // namespace
}  // namespace orrery::shader::testing
