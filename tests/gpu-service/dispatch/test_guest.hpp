// A guest without a guest process: an arena, an address map, and typed access to both.
#pragma once

#include <gtest/gtest.h>
#include <cstring>
#include <vector>

#include "gpu-service/memory/guest_memory.hpp"
#include "shared/unique_fd.hpp"

namespace orrery::dispatch {

class TestGuest {
 public:
  explicit TestGuest(uint64_t arena_size = 64 << 20)
      : arena_size_(arena_size), map_words_(protocol::address_map_memory() / 8 + 1) {
    file_ = std::move(make_memory_file("test arena", {arena_size}).value());
    service_ = Mapping::of(file_, {0}, {arena_size}).value();
    guest_ = Mapping::of(file_, {0}, {arena_size}).value();
    memory =
        std::make_unique<memory::GuestMemory>(service_.bytes(), protocol::AddressMapReader(map_bytes(), {arena_size}));
  }
  void map(std::vector<protocol::MapEntry> entries) {
    protocol::AddressMapWriter writer(map_bytes());
    const auto published = writer.publish(entries);
    if (!published) throw std::runtime_error(published.error().describe());
  }
  static protocol::MapEntry entry(uint64_t begin, uint64_t size, uint64_t offset) {
    return {begin, size, offset, 0x33, static_cast<uint32_t>(protocol::MapKind::direct)};
  }
  // Through the guest process's own mapping: word `index` behind an arena offset.
  uint32_t word(uint64_t offset, uint64_t index = 0) const {
    uint32_t value = 0;
    std::memcpy(&value, guest_.data() + offset + index * 4, 4);
    return value;
  }
  void set_word(uint64_t offset, uint64_t index, uint32_t value) {
    std::memcpy(guest_.data() + offset + index * 4, &value, 4);
  }
  std::byte* guest_bytes(uint64_t offset) { return guest_.data() + offset; }

  std::unique_ptr<memory::GuestMemory> memory;

 private:
  std::span<std::byte> map_bytes() { return std::as_writable_bytes(std::span(map_words_)); }
  uint64_t arena_size_;
  std::vector<uint64_t> map_words_;
  UniqueFd file_;
  Mapping service_, guest_;
};

}  // namespace orrery::dispatch
