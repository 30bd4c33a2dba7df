#include "shared/error.hpp"

#include <gtest/gtest.h>

namespace orrery {
namespace {

Result<int> inner() { return fail(ExitCode::file_missing, "no file {}", "x.elf"); }
Result<void> outer() {
  auto value = inner();
  if (!value) return forward(std::move(value), "loading the title");
  return {};
}

TEST(Error, a_context_chain_reads_from_outer_to_inner) {
  auto result = outer();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ExitCode::file_missing);
  EXPECT_EQ(std::move(result.error()).with("starting").describe(),
            "while starting: while loading the title: no file x.elf");
}

}  // namespace
}  // namespace orrery
