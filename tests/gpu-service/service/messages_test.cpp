#include "gpu-service/service/messages.hpp"

#include <gtest/gtest.h>

#include <random>

namespace orrery::service::test {
namespace {

TEST(Messages, random_bytes_are_an_error_or_a_message_never_a_crash) {
  std::mt19937 source(1);
  for (int i = 0; i < 20000; ++i) {
    std::vector<std::byte> bytes(8 * (source() % 8) + (i % 10 == 0 ? 3 : 0));
    for (auto& byte : bytes) byte = static_cast<std::byte>(source() % (i % 2 == 0 ? 256 : 4));
    const auto decoded = decode_from_guest(bytes);
    if (!decoded) {
      EXPECT_EQ(decoded.error().code, ExitCode::protocol_mismatch);
    }
  }
  EXPECT_FALSE(decode_from_guest({}));
}

}  // namespace
}  // namespace orrery::service::test
