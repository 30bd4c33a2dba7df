#include "gpu-service/shader/interpret/memory_shape.hpp"

#include <algorithm>
#include <bit>
#include <string>

namespace orrery::shader::interpret {
namespace {

using u32 = uint32_t;
using u64 = uint64_t;

template <class T>
u64 minimum(u64 old, u64 data, u64) {
  return static_cast<std::make_unsigned_t<T>>(std::min(static_cast<T>(old), static_cast<T>(data)));
}
template <class T>
u64 maximum(u64 old, u64 data, u64) {
  return static_cast<std::make_unsigned_t<T>>(std::max(static_cast<T>(old), static_cast<T>(data)));
}
template <class F, class U>
F as_float(u64 bits) {
  return std::bit_cast<F>(static_cast<U>(bits));
}
// A NaN in memory stays, a NaN as data changes nothing.
template <class F, class U>
u64 float_minimum(u64 old, u64 data, u64) {
  return as_float<F, U>(data) < as_float<F, U>(old) ? static_cast<U>(data) : old;
}
template <class F, class U>
u64 float_maximum(u64 old, u64 data, u64) {
  return as_float<F, U>(data) > as_float<F, U>(old) ? static_cast<U>(data) : old;
}
template <class U>
u64 increment(u64 old, u64 data, u64) {
  return static_cast<U>(old) >= static_cast<U>(data) ? 0 : static_cast<U>(old + 1);
}
template <class U>
u64 decrement(u64 old, u64 data, u64) {
  return static_cast<U>(old) == 0 || static_cast<U>(old) > static_cast<U>(data) ? static_cast<U>(data)
                                                                                : static_cast<U>(old - 1);
}
u64 add(u64 old, u64 data, u64) { return old + data; }
u64 subtract(u64 old, u64 data, u64) { return old - data; }
u64 subtract_reversed(u64 old, u64 data, u64) { return data - old; }
u64 subtract_clamped(u64 old, u64 data, u64) {
  const u32 a = static_cast<u32>(old), b = static_cast<u32>(data);
  return a < b ? 0 : a - b;
}
u64 bits_and(u64 old, u64 data, u64) { return old & data; }
u64 bits_or(u64 old, u64 data, u64) { return old | data; }
u64 bits_xor(u64 old, u64 data, u64) { return old ^ data; }
u64 masked_or(u64 old, u64 data, u64 data2) { return (old & ~data) | data2; }
u64 exchange(u64, u64 data, u64) { return data; }
u64 wrap(u64 old, u64 data, u64 data2) {
  return static_cast<u32>(old) >= static_cast<u32>(data) ? old - data : old + data2;
}
u64 float_add(u64 old, u64 data, u64) {
  return std::bit_cast<u32>(as_float<float, u32>(old) + as_float<float, u32>(data));
}
// Buffer and flat: data is the new value, data2 what memory must hold.
u64 compare_swap(u64 old, u64 data, u64 data2) { return old == data2 ? data : old; }
template <class F, class U>
u64 float_compare_swap(u64 old, u64 data, u64 data2) {
  return as_float<F, U>(old) == as_float<F, U>(data2) ? data : old;
}
// LDS: the other way round.
u64 compare_store(u64 old, u64 data, u64 data2) { return old == data ? data2 : old; }
template <class F, class U>
u64 float_compare_store(u64 old, u64 data, u64 data2) {
  return as_float<F, U>(old) == as_float<F, U>(data) ? data2 : old;
}

struct Named {
  std::string_view name;
  AtomicFunction narrow, wide;
  bool compares = false;
};
constexpr Named kGlobalAtomics[] = {
    {"swap", exchange, exchange},
    {"cmpswap", compare_swap, compare_swap, true},
    {"add", add, add},
    {"sub", subtract, subtract},
    {"csub", subtract_clamped, nullptr},
    {"smin", minimum<int32_t>, minimum<int64_t>},
    {"umin", minimum<u32>, minimum<u64>},
    {"smax", maximum<int32_t>, maximum<int64_t>},
    {"umax", maximum<u32>, maximum<u64>},
    {"and", bits_and, bits_and},
    {"or", bits_or, bits_or},
    {"xor", bits_xor, bits_xor},
    {"inc", increment<u32>, increment<u64>},
    {"dec", decrement<u32>, decrement<u64>},
    {"fcmpswap", float_compare_swap<float, u32>, float_compare_swap<double, u64>, true},
    {"fmin", float_minimum<float, u32>, float_minimum<double, u64>},
    {"fmax", float_maximum<float, u32>, float_maximum<double, u64>},
};
constexpr Named kLocalAtomics[] = {
    {"add_u", add, add},
    {"sub_u", subtract, subtract},
    {"rsub_u", subtract_reversed, subtract_reversed},
    {"inc_u", increment<u32>, increment<u64>},
    {"dec_u", decrement<u32>, decrement<u64>},
    {"min_i", minimum<int32_t>, minimum<int64_t>},
    {"max_i", maximum<int32_t>, maximum<int64_t>},
    {"min_u", minimum<u32>, minimum<u64>},
    {"max_u", maximum<u32>, maximum<u64>},
    {"and_b", bits_and, bits_and},
    {"or_b", bits_or, bits_or},
    {"xor_b", bits_xor, bits_xor},
    {"mskor_b", masked_or, masked_or},
    {"cmpst_b", compare_store, compare_store},
    {"cmpst_f", float_compare_store<float, u32>, float_compare_store<double, u64>},
    {"min_f", float_minimum<float, u32>, float_minimum<double, u64>},
    {"max_f", float_maximum<float, u32>, float_maximum<double, u64>},
    {"wrxchg_b", exchange, exchange},
    {"wrap_b", wrap, nullptr},
    {"add_f", float_add, nullptr},
};

bool take(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) {
    return false;
  }
  text.remove_prefix(prefix.size());
  return true;
}

std::optional<MemoryShape> atomic_shape(AtomicFunction function, bool wide, bool compares) {
  if (function == nullptr) {
    return std::nullopt;
  }
  MemoryShape shape;
  shape.kind = MemoryShape::Kind::atomic;
  shape.bytes = wide ? 8 : 4;
  shape.atomic = function;
  shape.compares = compares;
  return shape;
}

// "ubyte", "sshort", "dwordx3", "byte_d16_hi", "format_xyz", "format_d16_xy", ...
std::optional<MemoryShape> global_access(std::string_view rest, MemoryShape::Kind kind) {
  MemoryShape shape;
  shape.kind = kind;
  if (take(rest, "format_")) {
    shape.format = true;
    shape.d16 = take(rest, "d16_");
    shape.high = take(rest, "hi_");
    shape.components = static_cast<uint8_t>(rest.size());
    shape.bytes = static_cast<uint8_t>(4 * rest.size());
    return shape;
  }
  if (take(rest, "dword")) {
    shape.by_lane = take(rest, "_addtid");
    shape.bytes = static_cast<uint8_t>(4 * (take(rest, "x") ? rest[0] - '0' : 1));
    return shape;
  }
  shape.is_signed = take(rest, "s") && (rest.starts_with("byte") || rest.starts_with("short"));
  if (!shape.is_signed && rest.starts_with("hort")) {
    rest = rest.substr(4);  // "short" without sign: its first letter was taken
    shape.bytes = 2;
  } else {
    take(rest, "u");
    if (take(rest, "byte")) {
      shape.bytes = 1;
    } else if (take(rest, "short")) {
      shape.bytes = 2;
    } else {
      return std::nullopt;
    }
  }
  shape.d16 = take(rest, "_d16") && kind == MemoryShape::Kind::load;
  shape.high = rest == "_hi" || rest == "_d16_hi";
  return shape;
}

std::optional<MemoryShape> local_access(std::string_view rest, MemoryShape::Kind kind) {
  MemoryShape shape;
  shape.kind = kind;
  if (take(rest, "2")) {
    shape.addresses = 2;
    shape.stride64 = take(rest, "st64");
  }
  if (!take(rest, "_")) {
    return std::nullopt;
  }
  shape.is_signed = rest.starts_with('i');
  rest.remove_prefix(1);
  for (const auto& [width, bytes] : {std::pair{"8", 1}, {"16", 2}, {"32", 4}, {"64", 8}, {"96", 12}, {"128", 16}}) {
    if (rest == width || rest.starts_with(std::string(width) + "_")) {
      shape.bytes = static_cast<uint8_t>(bytes);
      rest.remove_prefix(std::string_view(width).size());
      shape.d16 = take(rest, "_d16") && kind == MemoryShape::Kind::load;
      shape.high = rest == "_hi" || rest == "_d16_hi";
      return shape;
    }
  }
  return std::nullopt;
}

std::optional<MemoryShape> local_shape(std::string_view rest) {
  for (const std::string_view other : {"read_addtid", "write_addtid", "swizzle", "permute", "bpermute"}) {
    if (rest.starts_with(other)) {
      return std::nullopt;
    }
  }
  if (rest.starts_with("write_src2_")) {
    auto shape = atomic_shape(exchange, rest.ends_with("64"), false);
    shape->from_lds = true;
    return shape;
  }
  if (take(rest, "read")) {
    return local_access(rest, MemoryShape::Kind::load);
  }
  if (take(rest, "write")) {
    return local_access(rest, MemoryShape::Kind::store);
  }
  const bool exchanges_pair = rest.starts_with("wrxchg2");
  for (const Named& named : kLocalAtomics) {
    const size_t split = named.name.rfind('_');
    std::string_view tail = rest;
    if (!take(tail, named.name.substr(0, split))) {
      continue;
    }
    if (exchanges_pair) {
      const bool stride64 = take(tail, "2st64");
      take(tail, "2");
      auto shape = atomic_shape(named.narrow, tail.ends_with("64"), false);
      if (shape) {
        shape->addresses = 2;
        shape->stride64 = stride64;
      }
      return shape;
    }
    take(tail, "_rtn");
    const bool from_lds = take(tail, "_src2");
    if (!take(tail, named.name.substr(split))) {
      continue;
    }
    if (tail == "32" || tail == "64") {
      auto shape = atomic_shape(tail == "64" ? named.wide : named.narrow, tail == "64", false);
      if (shape) {
        shape->from_lds = from_lds;
      }
      return shape;
    }
  }
  return std::nullopt;
}

std::optional<MemoryShape> global_atomic(std::string_view rest, bool wide) {
  for (const Named& named : kGlobalAtomics) {
    if (rest == named.name) {
      return atomic_shape(wide ? named.wide : named.narrow, wide, named.compares);
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<MemoryShape> image_atomic_shape(Opcode opcode, bool wide) {
  std::string_view rest = mnemonic(opcode);
  return take(rest, "image_atomic_") ? global_atomic(rest, wide) : std::nullopt;
}

std::optional<MemoryShape> memory_shape(Opcode opcode) {
  std::string_view rest = mnemonic(opcode);
  if (take(rest, "ds_")) {
    return local_shape(rest);
  }
  if (take(rest, "s_")) {
    take(rest, "buffer_");
    const bool wide = rest.ends_with("_x2");
    if (wide) {
      rest.remove_suffix(3);
    }
    return take(rest, "atomic_") ? global_atomic(rest, wide) : std::nullopt;
  }
  bool known = false;
  for (const std::string_view prefix : {"buffer_", "tbuffer_", "global_", "flat_", "scratch_"}) {
    known = known || take(rest, prefix);
  }
  if (!known) {
    return std::nullopt;
  }
  if (take(rest, "load_")) {
    return global_access(rest, MemoryShape::Kind::load);
  }
  if (take(rest, "store_")) {
    return rest.starts_with("lds") ? std::nullopt : global_access(rest, MemoryShape::Kind::store);
  }
  if (take(rest, "atomic_")) {
    const bool wide = rest.ends_with("_x2");
    if (wide) {
      rest.remove_suffix(3);
    }
    return global_atomic(rest, wide);
  }
  return std::nullopt;
}

}  // namespace orrery::shader::interpret
