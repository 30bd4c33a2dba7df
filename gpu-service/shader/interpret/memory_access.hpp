// One lane's memory access: registers in, registers out, whatever the address space. `Space` offers
// bool load(address, span) and void store(address, span); false: the lane reads 0.
#pragma once

#include "gpu-service/shader/interpret/lanes.hpp"

namespace orrery::shader::interpret {

// A byte, a half or a dword, extended to a dword.
template <class Space>
uint32_t load_value(const MemoryShape& shape, Space&& space, uint64_t address) {
  uint32_t value = 0;
  space.load(address, std::as_writable_bytes(std::span(&value, 1)).first(std::min<size_t>(shape.bytes, 4)));
  if (!shape.is_signed) {
    return value;
  }
  return shape.bytes == 1 ? static_cast<uint32_t>(static_cast<int8_t>(value))
                          : static_cast<uint32_t>(static_cast<int16_t>(value));
}

// Loads `shape` from `address` into the VGPRs from `to` on.
template <class Space>
void load_lane(Wave& wave, const MemoryShape& shape, Space&& space, uint64_t address, uint32_t to, uint32_t lane) {
  if (shape.bytes < 4) {
    const uint32_t value = load_value(shape, space, address);
    uint32_t& reg = wave.row(to)[lane];
    if (!shape.d16) {
      reg = value;
    } else {
      reg = shape.high ? (reg & 0xffffu) | value << 16 : (reg & 0xffff0000u) | (value & 0xffffu);
    }
    return;
  }
  std::array<uint32_t, 4> values{};
  space.load(address, std::as_writable_bytes(std::span(values)).first(shape.bytes));
  for (uint32_t i = 0; i < shape.bytes / 4u; ++i) {
    wave.row(to + i)[lane] = values[i];
  }
}

template <class Space>
void store_lane(Wave& wave, const MemoryShape& shape, Space&& space, uint64_t address, uint32_t from, uint32_t lane) {
  std::array<uint32_t, 4> values{};
  for (uint32_t i = 0; i < (shape.bytes + 3u) / 4u; ++i) {
    values[i] = wave.row(from + i)[lane];
  }
  if (shape.high) {
    values[0] >>= 16;
  }
  space.store(address, std::as_bytes(std::span(values)).first(shape.bytes));
}

inline uint64_t read_value(Wave& wave, uint32_t vgpr, uint32_t lane, unsigned bytes) {
  const uint64_t low = wave.row(vgpr)[lane];
  return bytes == 8 ? low | uint64_t{wave.row(vgpr + 1)[lane]} << 32 : low;
}
inline void write_value(Wave& wave, uint32_t vgpr, uint32_t lane, unsigned bytes, uint64_t value) {
  wave.row(vgpr)[lane] = static_cast<uint32_t>(value);
  if (bytes == 8) {
    wave.row(vgpr + 1)[lane] = static_cast<uint32_t>(value >> 32);
  }
}

// Applies the atomic and gives the old contents. Its address is a multiple of its size: the lowest bits do not count.
template <class Space>
uint64_t atomic_lane(const MemoryShape& shape, Space&& space, uint64_t address, uint64_t data, uint64_t data2) {
  address &= ~uint64_t{shape.bytes - 1u};
  uint64_t old = 0;
  const auto bytes = std::as_writable_bytes(std::span(&old, 1)).first(shape.bytes);
  space.load(address, bytes);
  const uint64_t changed = shape.atomic(old, data, data2);
  space.store(address, std::as_bytes(std::span(&changed, 1)).first(shape.bytes));
  return old;
}

// The whole instruction: `address_of(lane)` for every active lane.
template <class Space, class AddressOf>
void access(Wave& wave, const Step& step, Space&& space, AddressOf address_of) {
  const MemoryShape& shape = step.memory;
  const Instruction& instruction = *step.instruction;
  const uint64_t exec = wave.exec();
  const uint32_t data = instruction.data.index;
  for (uint32_t lane = 0; lane < wave.lanes; ++lane) {
    if (!active(exec, lane)) {
      continue;
    }
    const uint64_t address = address_of(lane);
    switch (shape.kind) {
      case MemoryShape::Kind::load:
        load_lane(wave, shape, space, address, instruction.destination.index, lane);
        break;
      case MemoryShape::Kind::store:
        store_lane(wave, shape, space, address, data, lane);
        break;
      case MemoryShape::Kind::atomic: {
        const uint64_t first = read_value(wave, data, lane, shape.bytes);
        const uint64_t second = shape.compares ? read_value(wave, data + shape.bytes / 4u, lane, shape.bytes) : 0;
        const uint64_t old = atomic_lane(shape, space, address, first, second);
        if (step.has_destination) {
          write_value(wave, instruction.destination.index, lane, shape.bytes, old);
        }
        break;
      }
    }
  }
}

// Guest memory, private memory included.
struct GuestSpace {
  Wave& wave;
  const Step& step;
  void load(uint64_t address, std::span<std::byte> out) const { wave.load(step, address, out); }
  void store(uint64_t address, std::span<const std::byte> bytes) const { wave.store(step, address, bytes); }
};

// The group's LDS: behind its end loads give 0 and stores are dropped, byte by byte where an access is partly behind.
// Base and offset add up to 32 bits: from gfx7 on the sum wraps, and LLVM relies on it (hasUsableDSOffset).
struct LocalSpace {
  Group& group;
  void load(uint64_t sum, std::span<std::byte> out) const {
    const uint64_t address = sum & 0xffffffff;
    for (size_t i = 0; i < out.size(); ++i) {
      out[i] = address + i < group.lds.size() ? group.lds[address + i] : std::byte{0};
    }
  }
  void store(uint64_t sum, std::span<const std::byte> bytes) const {
    const uint64_t address = sum & 0xffffffff;
    for (size_t i = 0; i < bytes.size(); ++i) {
      if (address + i < group.lds.size()) {
        group.lds[address + i] = bytes[i];
      }
    }
  }
};

// Loads with the LDS bit: lane n's dword goes to M0[15:0] + the instruction's offset + 4 n.
template <class Load>
void load_to_local(Wave& wave, const Step& step, Load load) {
  const LocalSpace space{*wave.group};
  const uint64_t base = (wave.sgpr[kM0] & 0xffff) + static_cast<uint64_t>(int64_t{step.instruction->memory_offset});
  const uint64_t exec = wave.exec();
  for (uint32_t lane = 0; lane < wave.lanes; ++lane) {
    if (active(exec, lane)) {
      const uint32_t value = load(lane);
      space.store(base + 4 * lane, std::as_bytes(std::span(&value, 1)));
    }
  }
}

}  // namespace orrery::shader::interpret
