#include "protocol/ring.hpp"

#include <gtest/gtest.h>
#include <cstring>
#include <random>
#include <thread>

namespace orrery::protocol {
namespace {

struct Memory {
  explicit Memory(uint64_t capacity) : words(ring_memory(capacity) / 8) {}
  std::span<std::byte> bytes() { return std::as_writable_bytes(std::span(words)); }
  RingHeader& header() { return *reinterpret_cast<RingHeader*>(words.data()); }
  std::vector<uint64_t> words;
};

std::vector<std::byte> record_of(std::mt19937& random, size_t size) {
  std::vector<std::byte> record(size);
  for (auto& b : record) b = static_cast<std::byte>(random());
  return record;
}

TEST(Ring, records_of_random_sizes_come_out_as_they_went_in_across_many_wraps) {
  Memory memory(1024);
  RingProducer producer(memory.bytes());
  producer.reset();
  RingConsumer consumer(memory.bytes());
  std::mt19937 random(7);
  std::vector<std::vector<std::byte>> waiting;
  size_t passed = 0;
  for (int i = 0; i < 20000; ++i) {
    auto record = record_of(random, random() % 300);
    if (producer.try_push(record)) {
      waiting.push_back(std::move(record));
    } else {
      ASSERT_FALSE(waiting.empty());
    }
    if (random() % 2 == 0) continue;
    auto out = consumer.try_pop();
    ASSERT_TRUE(out);
    if (!*out) continue;
    ASSERT_FALSE(waiting.empty());
    EXPECT_EQ(**out, waiting.front());
    waiting.erase(waiting.begin());
    ++passed;
  }
  EXPECT_GT(passed, 5000u);
}

TEST(Ring, a_record_that_can_never_fit_is_refused) {
  Memory memory(1024);
  RingProducer producer(memory.bytes());
  producer.reset();
  EXPECT_FALSE(producer.try_push(std::vector<std::byte>(1024)));
  EXPECT_FALSE(producer.push(std::vector<std::byte>(1024), std::chrono::milliseconds(1)));
  EXPECT_TRUE(producer.try_push(std::vector<std::byte>(1000)));
}

TEST(Ring, a_sleeping_consumer_is_woken_by_the_producer) {
  Memory memory(4096);
  RingProducer producer(memory.bytes());
  producer.reset();
  std::thread other([&] {
    for (uint32_t i = 0; i < 200; ++i) {
      std::this_thread::sleep_for(std::chrono::microseconds(200));
      ASSERT_TRUE(producer.push(std::as_bytes(std::span(&i, 1)), std::chrono::seconds(10)));
    }
  });
  RingConsumer consumer(memory.bytes(), {.spins = 0});
  for (uint32_t i = 0; i < 200; ++i) {
    auto record = consumer.pop(std::chrono::seconds(10));
    ASSERT_TRUE(record && *record);
    uint32_t value = 0;
    std::memcpy(&value, (*record)->data(), sizeof value);
    EXPECT_EQ(value, i);
  }
  other.join();
}

TEST(Ring, a_producer_that_waits_for_room_is_woken_by_the_consumer) {
  Memory memory(256);
  RingProducer producer(memory.bytes(), {.spins = 0});
  producer.reset();
  std::thread other([&] {
    RingConsumer consumer(memory.bytes(), {.spins = 0});
    for (int i = 0; i < 300; ++i) {
      auto record = consumer.pop(std::chrono::seconds(10));
      ASSERT_TRUE(record && *record);
      EXPECT_EQ((*record)->size(), 100u);
    }
  });
  for (int i = 0; i < 300; ++i) ASSERT_TRUE(producer.push(std::vector<std::byte>(100), std::chrono::seconds(10)));
  other.join();
}

TEST(Ring, an_empty_ring_answers_nothing_at_the_deadline) {
  Memory memory(256);
  RingProducer(memory.bytes()).reset();
  RingConsumer consumer(memory.bytes());
  auto record = consumer.pop(std::chrono::milliseconds(2));
  ASSERT_TRUE(record);
  EXPECT_FALSE(*record);
}

// A peer may write anything into the ring: the reader answers an error, or records, and never leaves the ring's bytes.
TEST(Ring, a_damaged_ring_is_an_error_and_never_a_stray_read) {
  std::mt19937_64 random(11);
  size_t errors = 0;
  for (int round = 0; round < 5000; ++round) {
    Memory memory(256);
    RingProducer producer(memory.bytes());
    producer.reset();
    for (int i = 0; i < 4; ++i) producer.try_push(std::vector<std::byte>(random() % 40));
    const size_t hits = 1 + random() % 3;
    for (size_t i = 0; i < hits; ++i)
      memory.words[random() % memory.words.size()] = random() % 2 ? random() : random() % 512;
    RingConsumer consumer(memory.bytes());
    for (int i = 0; i < 64; ++i) {
      auto record = consumer.try_pop();
      if (!record) {
        EXPECT_EQ(record.error().code, ExitCode::protocol_mismatch);
        ++errors;
        break;
      }
      if (!*record) break;
      EXPECT_LE((*record)->size(), 256u);
    }
    // Nor may a damaged `read` position make the producer write anywhere else (checked by the sanitizer build).
    producer.try_push(std::vector<std::byte>(30));
  }
  EXPECT_GT(errors, 100u);
}

}  // namespace
}  // namespace orrery::protocol
