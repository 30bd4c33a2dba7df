#include "protocol/ring.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "shared/futex.hpp"
#include "shared/quantity.hpp"

namespace orrery::protocol {
namespace {

struct RecordHeader {
  uint32_t size;
  uint32_t state;
};
constexpr uint64_t kAlign = 8;

uint64_t record_bytes(uint64_t payload) { return sizeof(RecordHeader) + align_up(payload, kAlign); }

// The largest power of two that fits behind the header.
uint64_t capacity_of(std::span<std::byte> memory) {
  if (memory.size() < sizeof(RingHeader) + 64) return 0;
  return std::bit_floor(static_cast<uint64_t>(memory.size() - sizeof(RingHeader)));
}

}  // namespace

RingProducer::RingProducer(std::span<std::byte> memory, WaitPolicy policy)
    : header_(reinterpret_cast<RingHeader*>(memory.data())),
      bytes_(memory.data() + sizeof(RingHeader)),
      capacity_(capacity_of(memory)),
      policy_(policy) {}

void RingProducer::reset() {
  header_->written.store(0, std::memory_order_relaxed);
  header_->read.store(0, std::memory_order_relaxed);
  header_->consumer_sleeps.store(0, std::memory_order_relaxed);
  header_->producer_sleeps.store(0, std::memory_order_relaxed);
  header_->capacity = capacity_;
}

bool RingProducer::try_push(std::span<const std::byte> record) {
  const uint64_t need = record_bytes(record.size());
  if (record.size() > UINT32_MAX - kAlign || need > capacity_) return false;
  const uint64_t written = header_->written.load(std::memory_order_relaxed);
  const uint64_t read = header_->read.load(std::memory_order_seq_cst);
  // A peer that moved `read` out of range gets no more records; it can't make us write elsewhere.
  if (read > written || written - read > capacity_) return false;
  const uint64_t at = written % capacity_;
  const uint64_t to_end = capacity_ - at;
  const uint64_t skip = to_end < need ? to_end : 0;
  if (capacity_ - (written - read) < need + skip) return false;
  uint64_t position = at;
  if (skip != 0) {
    const RecordHeader filler{static_cast<uint32_t>(skip - sizeof(RecordHeader)),
                              static_cast<uint32_t>(ChunkState::skip)};
    std::memcpy(bytes_ + position, &filler, sizeof filler);
    position = 0;
  }
  RecordHeader head{static_cast<uint32_t>(record.size()), static_cast<uint32_t>(ChunkState::writing)};
  std::memcpy(bytes_ + position, &head, sizeof head);
  if (!record.empty()) std::memcpy(bytes_ + position + sizeof head, record.data(), record.size());
  head.state = static_cast<uint32_t>(ChunkState::complete);
  std::memcpy(bytes_ + position, &head, sizeof head);
  // In one order with the consumer's announcement of its sleep and its second look: either it sees the record, or we
  // see that it sleeps.
  header_->written.store(written + skip + need, std::memory_order_seq_cst);
  if (header_->consumer_sleeps.load(std::memory_order_seq_cst) != 0) {
    header_->data_futex.fetch_add(1, std::memory_order_release);
    futex_wake(header_->data_futex);
  }
  return true;
}

bool RingProducer::push(std::span<const std::byte> record, std::chrono::milliseconds timeout) {
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  for (uint32_t spin = 0; spin < policy_.spins; ++spin) {
    if (try_push(record)) return true;
    spin_pause();
  }
  for (;;) {
    header_->producer_sleeps.store(1, std::memory_order_seq_cst);
    const uint32_t seen = header_->space_futex.load(std::memory_order_acquire);
    if (try_push(record)) break;
    const auto now = std::chrono::steady_clock::now();
    if (now >= deadline) {
      header_->producer_sleeps.store(0, std::memory_order_relaxed);
      return false;
    }
    futex_wait(header_->space_futex, seen, deadline - now);
  }
  header_->producer_sleeps.store(0, std::memory_order_relaxed);
  return true;
}

RingConsumer::RingConsumer(std::span<std::byte> memory, WaitPolicy policy)
    : header_(reinterpret_cast<RingHeader*>(memory.data())),
      bytes_(memory.data() + sizeof(RingHeader)),
      capacity_(capacity_of(memory)),
      policy_(policy) {}

Result<std::optional<std::vector<std::byte>>> RingConsumer::try_pop() {
  for (;;) {
    const uint64_t read = header_->read.load(std::memory_order_relaxed);
    const uint64_t written = header_->written.load(std::memory_order_seq_cst);
    if (read == written) return std::nullopt;
    const uint64_t at = read % capacity_;
    const uint64_t available = written - read;
    if (available > capacity_ || read % kAlign != 0) {
      return fail(ExitCode::protocol_mismatch, "ring damaged: positions {} and {} of capacity {}", read, written,
                  capacity_);
    }
    RecordHeader head;
    std::memcpy(&head, bytes_ + at, sizeof head);
    const uint64_t size = record_bytes(head.size);
    if (size > available || at + size > capacity_) {
      return fail(ExitCode::protocol_mismatch, "ring damaged: a record of {} bytes where {} are published", head.size,
                  available);
    }
    std::optional<std::vector<std::byte>> record;
    if (head.state == static_cast<uint32_t>(ChunkState::complete)) {
      const std::byte* begin = bytes_ + at + sizeof head;
      record.emplace(begin, begin + head.size);
    } else if (head.state != static_cast<uint32_t>(ChunkState::skip)) {
      return fail(ExitCode::protocol_mismatch, "ring damaged: a published record in state {}", head.state);
    }
    header_->read.store(read + size, std::memory_order_seq_cst);
    if (header_->producer_sleeps.load(std::memory_order_seq_cst) != 0) {
      header_->space_futex.fetch_add(1, std::memory_order_release);
      futex_wake(header_->space_futex);
    }
    if (record) return record;
  }
}

Result<std::optional<std::vector<std::byte>>> RingConsumer::pop(std::chrono::milliseconds timeout) {
  for (uint32_t spin = 0; spin < policy_.spins; ++spin) {
    auto record = try_pop();
    if (!record || *record) return record;
    spin_pause();
  }
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  for (;;) {
    header_->consumer_sleeps.store(1, std::memory_order_seq_cst);
    const uint32_t seen = header_->data_futex.load(std::memory_order_acquire);
    auto record = try_pop();
    const auto now = std::chrono::steady_clock::now();
    if (!record || *record || now >= deadline) {
      header_->consumer_sleeps.store(0, std::memory_order_relaxed);
      return record;
    }
    futex_wait(header_->data_futex, seen, deadline - now);
  }
}

}  // namespace orrery::protocol
