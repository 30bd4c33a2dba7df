#include <random>

#include "bench_of_one_queue.hpp"

namespace orrery::command::test {
namespace {

// Every submission ends retired or blocked in a wait; whatever was not done has a name.
TEST(RandomWords, random_command_buffers_never_crash_and_always_end_by_name) {
  std::mt19937 source(1);
  const auto random = [&] { return static_cast<uint32_t>(source()); };
  for (int round = 0; round < 400; ++round) {
    Bench bench;
    std::vector<uint32_t> words(1 + random() % 600);
    for (auto& word : words) word = random();
    bench.run(words);
    EXPECT_FALSE(bench.listener.refusals.empty());
    EXPECT_EQ(bench.listener.retirements.size() + bench.processor.blocked().size(), 1u);
  }
}

// Real headers with random bodies, of which half the addresses lie in the map.
TEST(RandomWords, known_packets_with_random_bodies_never_crash) {
  constexpr uint8_t kOpcodes[] = {0x10, 0x11, 0x12, 0x13, 0x15, 0x16, 0x22, 0x26, 0x28, 0x2a, 0x2d,
                                  0x2f, 0x37, 0x3c, 0x3f, 0x46, 0x47, 0x49, 0x50, 0x58, 0x63, 0x64,
                                  0x69, 0x76, 0x79, 0x7a, 0x93, 0x9b, 0x9f, 0x1e, 0x40, 0xff};
  std::mt19937 source(2);
  const auto random = [&] { return static_cast<uint32_t>(source()); };
  for (int round = 0; round < 300; ++round) {
    Bench bench;
    bench.put(kData, std::vector<uint32_t>(4096, 0xffff1000));
    for (uint32_t queue = 0; queue < 3; ++queue) {
      std::vector<uint32_t> words;
      for (int packet = 0; packet < 60; ++packet) {
        const uint32_t body = 1 + random() % 9;
        words.push_back(header(kOpcodes[random() % std::size(kOpcodes)], body));
        for (uint32_t i = 0; i < body; ++i) {
          switch (random() % 4) {
            case 0:
              words.push_back(random());
              break;
            case 1:
              words.push_back(low(kData) + random() % kDataSize);
              break;
            case 2:
              words.push_back(high(kData));
              break;
            default:
              words.push_back(random() % 64);
              break;
          }
        }
      }
      bench.submit(words, queue);
    }
    bench.settle();
    EXPECT_EQ(bench.listener.retirements.size() + bench.processor.blocked().size(), 3u);
    EXPECT_FALSE(bench.listener.refusals.empty());
  }
}

}  // namespace
}  // namespace orrery::command::test
