// The module's own functions: the walk through the device page table, loads and stores on top of it, and fused
// multiply-add for devices that round twice.
#include <spirv/unified1/GLSL.std.450.h>

#include "gpu-service/shader/spirv/conditional.hpp"

namespace orrery::shader::spirv {

using ir::Type;

// Writes one function: parameters have been declared by the caller through begin().
class RoutineWriter {
 public:
  RoutineWriter(Emitter& emitter, Routine which) : e(emitter), m(emitter.module_), which_(which) {}
  Id write();

 private:
  void begin(Id result, std::initializer_list<Id> parameters);
  void end();
  Id u32() { return m.type(Type::u32); }
  Id u64() { return m.type(Type::u64); }
  Id wide(Id v) { return e.value(spv::OpUConvert, u64(), {v}); }
  Id narrow(Id v) { return e.value(spv::OpUConvert, u32(), {v}); }
  Id add64(Id a, uint64_t b) { return b ? e.value(spv::OpIAdd, u64(), {a, m.u64(b)}) : a; }
  Id call(Routine r, Id type, std::initializer_list<Id> args) {
    const Id target = e.routine(r);
    const Id result = m.new_id();
    put(*e.code_, spv::OpFunctionCall, {type, result, target}, {args.begin(), args.size()});
    return result;
  }
  Id present(Id address) { return e.value(spv::OpINotEqual, e.bool_type(), {address, m.u64(0)}); }

  void escape();
  void report();
  void locate(bool write);
  Id walk(bool write);
  void locate_atomic();
  void load(uint32_t components, uint32_t component_bytes);
  void store(uint32_t components, uint32_t component_bytes);
  Emitter::Results load_any(Id first, uint32_t components, uint32_t component_bytes);
  void store_any(Id first, uint32_t components, uint32_t component_bytes);
  // On hosts where a branch is cheaper than the general code.
  Id is_plain(Id at, uint32_t components);
  void store_small(Id at, uint32_t bits, Id v);
  void store_if(Id condition, Id at, uint32_t bits, Id v) {
    e.conditional(condition, 0, 0, [&]() -> Emitter::Results {
      store_small(at, bits, v);
      return {};
    });
  }
  Id absent(Id address) { return e.value(spv::OpIEqual, e.bool_type(), {address, m.u64(0)}); }
  void escape_if(Id condition) {
    e.conditional(condition, 0, 0, [&]() -> Emitter::Results {
      call(Routine::escape, m.void_type(), {p[0], p[1]});
      return {};
    });
  }
  void fma(Type type);

  Emitter& e;
  Module& m;
  Routine which_;
  Id id_ = 0;
  std::array<Id, 8> p{};
  Words own_;
};

void RoutineWriter::begin(Id result, std::initializer_list<Id> parameters) {
  id_ = m.new_id();
  put(own_, spv::OpFunction, {result, id_, 0, m.function_type(result, parameters)});
  size_t n = 0;
  for (Id type : parameters) put(own_, spv::OpFunctionParameter, {type, p[n++] = m.new_id()});
  e.label(m.new_id());
}

void RoutineWriter::end() { put(own_, spv::OpFunctionEnd, {}); }

Id RoutineWriter::write() {
  Words* const code = std::exchange(e.code_, &own_);
  const Id label = e.current_label_;
  switch (which_) {
    case Routine::escape:
      escape();
      break;
    case Routine::report:
      report();
      break;
    case Routine::locate_read:
      locate(false);
      break;
    case Routine::locate_write:
      locate(true);
      break;
    case Routine::locate_atomic:
      locate_atomic();
      break;
    case Routine::load_byte:
      load(1, 1);
      break;
    case Routine::load_half:
      load(1, 2);
      break;
    case Routine::load_1:
    case Routine::load_2:
    case Routine::load_3:
    case Routine::load_4:
      load(static_cast<uint32_t>(which_) - static_cast<uint32_t>(Routine::load_1) + 1, 4);
      break;
    case Routine::store_byte:
      store(1, 1);
      break;
    case Routine::store_half:
      store(1, 2);
      break;
    case Routine::store_1:
    case Routine::store_2:
    case Routine::store_3:
    case Routine::store_4:
      store(static_cast<uint32_t>(which_) - static_cast<uint32_t>(Routine::store_1) + 1, 4);
      break;
    case Routine::fma_16:
      fma(Type::f16);
      break;
    case Routine::fma_32:
      fma(Type::f32);
      break;
    case Routine::fma_64:
      fma(Type::f64);
      break;
    case Routine::count:
      break;
  }
  end();
  e.code_ = code;
  e.current_label_ = label;
  e.routines_.insert(e.routines_.end(), own_.begin(), own_.end());
  return id_;
}

// The first access outside the map is described, all are counted. The notes stay in private variables until the end of
// the invocation: memory written here would stand in the way of every access (and each store in line costs a CPU device
// a loop over its lanes).
void RoutineWriter::escape() {
  begin(m.void_type(), {u64(), u32()});
  auto note = [&](uint32_t which) { return e.escape_note(which); };
  const Id before = e.value(spv::OpLoad, u32(), {note(0)});
  e.code(spv::OpStore, {note(0), e.binary(spv::OpIAdd, before, m.u32(1))});
  const Id first = e.value(spv::OpIEqual, e.bool_type(), {before, m.u32(0)});
  e.conditional(first, 0, 0, [&]() -> Emitter::Results {
    e.code(spv::OpStore, {note(1), p[1]});
    e.code(spv::OpStore, {note(2), narrow(p[0])});
    e.code(spv::OpStore, {note(3), narrow(e.value(spv::OpShiftRightLogical, u64(), {p[0], m.u32(32)}))});
    return {};
  });
  e.code(spv::OpReturn, {});
}

void RoutineWriter::report() {
  begin(m.void_type(), {});
  const Id count = e.value(spv::OpLoad, u32(), {e.escape_note(0)});
  const Id any = e.value(spv::OpINotEqual, e.bool_type(), {count, m.u32(0)});
  e.conditional(any, 0, 0, [&]() -> Emitter::Results {
    const Id report = e.push_here(Emitter::kEscapes);
    const Id counter = e.device_pointer(report, u32());
    const Id before = e.value(spv::OpAtomicIAdd, u32(), {counter, m.u32(spv::ScopeDevice), m.u32(0), count});
    const Id first = e.value(spv::OpIEqual, e.bool_type(), {before, m.u32(0)});
    return e.conditional(first, 0, 0, [&]() -> Emitter::Results {
      auto word = [&](uint32_t offset, Id v) { e.store_device(add64(report, offset), Type::u32, v); };
      const Id where = e.value(spv::OpLoad, u32(), {e.escape_note(1)});
      word(4, e.binary(spv::OpShiftRightLogical, where, m.u32(1)));
      word(8, e.value(spv::OpLoad, u32(), {e.escape_note(2)}));
      word(12, e.value(spv::OpLoad, u32(), {e.escape_note(3)}));
      word(16, e.binary(spv::OpBitwiseAnd, where, m.u32(1)));
      return {};
    });
  });
  e.code(spv::OpReturn, {});
}

// The walk alone: who asks has tried the window, and reports what is absent (0).
void RoutineWriter::locate(bool write) {
  begin(u64(), {u64()});
  e.code(spv::OpReturnValue, {walk(write)});
}

Id RoutineWriter::walk(bool write) {
  const Id table = e.push_here(Emitter::kPageTable);
  const Id high = e.value(spv::OpShiftRightLogical, u64(), {p[0], m.u32(kAddressBits)});
  const Id low = e.value(spv::OpIEqual, e.bool_type(), {high, m.u64(0)});
  const Id found = e.conditional(low, u64(), 1, [&]() -> Emitter::Results {
    const Id first = e.value(spv::OpShiftRightLogical, u64(), {p[0], m.u32(kLevel1Shift)});
    const Id first_at =
        e.value(spv::OpIAdd, u64(), {table, e.value(spv::OpShiftLeftLogical, u64(), {first, m.u32(3)})});
    const Id second = e.load_device(first_at, Type::u64);
    return e.conditional(present(second), u64(), 1, [&]() -> Emitter::Results {
      const Id page = e.value(spv::OpShiftRightLogical, u64(), {p[0], m.u32(kPageBits)});
      const Id index = e.value(spv::OpBitwiseAnd, u64(), {page, m.u64(2047)});
      const Id entry =
          e.value(spv::OpIAdd, u64(), {second, e.value(spv::OpShiftLeftLogical, u64(), {index, m.u32(4)})});
      return {e.load_device(add64(entry, write ? 8 : 0), Type::u64)};
    });
  })[0];
  const Id within = e.value(spv::OpBitwiseAnd, u64(), {p[0], m.u64((1u << kPageBits) - 1)});
  const Id sum = e.value(spv::OpIAdd, u64(), {found, within});
  return e.select(u64(), present(found), sum, m.u64(0));
}

// Whole dwords of one page that is present.
Id RoutineWriter::is_plain(Id at, uint32_t components) {
  const Id in_page = e.binary(spv::OpBitwiseAnd, narrow(p[0]), m.u32((1u << kPageBits) - 1));
  const Id aligned = e.value(spv::OpIEqual, e.bool_type(), {e.binary(spv::OpBitwiseAnd, in_page, m.u32(3)), m.u32(0)});
  const Id fits = e.value(spv::OpULessThanEqual, e.bool_type(), {in_page, m.u32((1u << kPageBits) - 4 * components)});
  return e.value(spv::OpLogicalAnd, e.bool_type(),
                 {e.value(spv::OpLogicalAnd, e.bool_type(), {aligned, fits}), present(at)});
}

void RoutineWriter::locate_atomic() {
  begin(u64(), {u64(), u32()});
  const Id at = call(Routine::locate_write, u64(), {p[0]});
  escape_if(absent(at));
  e.code(spv::OpReturnValue, {at});
}

// The low 8, 16 or 32 bits of v, at a device address that is a multiple of their size.
void RoutineWriter::store_small(Id at, uint32_t bits, Id v) {
  if (bits == 32) return e.store_device(at, Type::u32, v);
  e.store_device_small(at, bits, v);
}

// Straight code for any address, as a loop here costs a CPU device's compiler more than all else in a module: the
// dwords that hold the bytes are loaded (one more than asked for when the address is odd), from one page or from two,
// and shifted into place. What is absent reads 0.
void RoutineWriter::load(uint32_t components, uint32_t component_bytes) {
  const Id type = components == 1 ? u32() : m.vector(u32(), components);
  begin(type, {u64(), u32()});
  const Id first = call(Routine::locate_read, u64(), {p[0]});
  Emitter::Results parts{};
  if (component_bytes < 4 || e.o_.host.lockstep_subgroups) {
    parts = load_any(first, components, component_bytes);
  } else {
    const auto plain = [&] {
      Emitter::Results dwords{};
      for (uint32_t n = 0; n < components; ++n) {
        dwords[n] = e.load_device(add64(first, 4 * n), Type::u32, e.fresh_loads_);
      }
      return dwords;
    };
    parts = e.either(is_plain(first, components), u32(), components, plain,
                     [&] { return load_any(first, components, component_bytes); });
  }
  Id result = parts[0];
  if (components > 1) {
    result = m.new_id();
    put(*e.code_, spv::OpCompositeConstruct, {type, result}, {parts.data(), components});
  }
  e.code(spv::OpReturnValue, {result});
}

Emitter::Results RoutineWriter::load_any(Id first, uint32_t components, uint32_t component_bytes) {
  const Id boolean = e.bool_type();
  const Id odd = e.binary(spv::OpBitwiseAnd, narrow(p[0]), m.u32(3));
  const Id in_page = e.binary(spv::OpBitwiseAnd, narrow(p[0]), m.u32(((1u << kPageBits) - 1) & ~3u));
  // The dword behind the last one asked for, where the bytes reach into it; single bytes never do.
  const Id spills =
      component_bytes == 1 ? 0 : e.value(spv::OpUGreaterThan, boolean, {odd, m.u32(component_bytes == 2 ? 2 : 0)});
  const Id last = component_bytes == 1 ? in_page
                                       : e.select(u32(), spills, e.binary(spv::OpIAdd, in_page, m.u32(4 * components)),
                                                  e.binary(spv::OpIAdd, in_page, m.u32(4 * (components - 1))));
  Id second = 0;
  if (component_bytes > 1) {
    const Id crosses = e.value(spv::OpUGreaterThanEqual, boolean, {last, m.u32(1u << kPageBits)});
    second = e.conditional(crosses, u64(), 1, [&]() -> Emitter::Results {
      const Id start = e.value(spv::OpBitwiseAnd, u64(), {p[0], m.u64(~((1ull << kPageBits) - 1))});
      return {call(Routine::locate_read, u64(), {add64(start, 1u << kPageBits)})};
    })[0];
  }
  const Id begin_of_dword = e.value(spv::OpBitwiseAnd, u64(), {first, m.u64(~3ull)});
  const uint32_t count = component_bytes == 1 ? 1 : components + 1;
  std::array<Id, 5> dwords{};
  Id missed = absent(first);
  for (uint32_t n = 0; n < count; ++n) {
    Id base = first, at = begin_of_dword;
    if (n > 0) {
      const Id offset = e.binary(spv::OpIAdd, in_page, m.u32(4 * n));
      const Id beyond = e.value(spv::OpUGreaterThanEqual, boolean, {offset, m.u32(1u << kPageBits)});
      const Id rest = wide(e.binary(spv::OpBitwiseAnd, offset, m.u32((1u << kPageBits) - 1)));
      base = e.select(u64(), beyond, second, first);
      at = e.select(u64(), beyond, e.value(spv::OpIAdd, u64(), {second, rest}), add64(begin_of_dword, 4 * n));
    }
    Id wanted = present(base);
    if (n == components) wanted = e.value(spv::OpLogicalAnd, boolean, {wanted, spills});
    dwords[n] = e.conditional(wanted, u32(), 1,
                              [&]() -> Emitter::Results { return {e.load_device(at, Type::u32, e.fresh_loads_)}; })[0];
    if (n == 0) continue;
    Id gone = absent(base);
    if (n == components) gone = e.value(spv::OpLogicalAnd, boolean, {gone, spills});
    missed = e.value(spv::OpLogicalOr, boolean, {missed, gone});
  }
  escape_if(missed);
  const Id shift = e.binary(spv::OpShiftLeftLogical, odd, m.u32(3));
  const Id back = e.binary(spv::OpBitwiseAnd, e.binary(spv::OpISub, m.u32(32), shift), m.u32(31));
  const Id whole = e.value(spv::OpIEqual, boolean, {odd, m.u32(0)});
  Emitter::Results parts{};
  for (uint32_t n = 0; n < components; ++n) {
    const Id low = e.binary(spv::OpShiftRightLogical, dwords[n], shift);
    if (component_bytes == 1) {
      parts[n] = e.binary(spv::OpBitwiseAnd, low, m.u32(255));
      continue;
    }
    const Id high = e.binary(spv::OpShiftLeftLogical, dwords[n + 1], back);
    parts[n] = e.select(u32(), whole, dwords[n], e.binary(spv::OpBitwiseOr, low, high));
    if (component_bytes == 2) parts[n] = e.binary(spv::OpBitwiseAnd, parts[n], m.u32(0xffff));
  }
  return parts;
}

// Like load: the dwords that the bytes touch are stored whole where they are covered whole, the odd ends of an odd
// address as a byte and a pair of bytes. What lies on an absent page is dropped.
void RoutineWriter::store(uint32_t components, uint32_t component_bytes) {
  switch (components) {
    case 1:
      begin(m.void_type(), {u64(), u32(), u32()});
      break;
    case 2:
      begin(m.void_type(), {u64(), u32(), u32(), u32()});
      break;
    case 3:
      begin(m.void_type(), {u64(), u32(), u32(), u32(), u32()});
      break;
    default:
      begin(m.void_type(), {u64(), u32(), u32(), u32(), u32(), u32()});
      break;
  }
  const Id first = call(Routine::locate_write, u64(), {p[0]});
  if (component_bytes == 1) {
    store_if(present(first), first, 8, p[2]);
    escape_if(absent(first));
    e.code(spv::OpReturn, {});
    return;
  }
  if (component_bytes == 2 || e.o_.host.lockstep_subgroups) {
    store_any(first, components, component_bytes);
  } else {
    const auto plain = [&]() -> Emitter::Results {
      for (uint32_t n = 0; n < components; ++n) e.store_device(add64(first, 4 * n), Type::u32, p[2 + n]);
      return {};
    };
    e.either(is_plain(first, components), 0, 0, plain, [&]() -> Emitter::Results {
      store_any(first, components, component_bytes);
      return {};
    });
  }
  e.code(spv::OpReturn, {});
}

void RoutineWriter::store_any(Id first, uint32_t components, uint32_t component_bytes) {
  const Id boolean = e.bool_type();
  const uint32_t bytes = components * component_bytes;
  constexpr uint32_t kPage = 1u << kPageBits;
  const Id odd = e.binary(spv::OpBitwiseAnd, narrow(p[0]), m.u32(3));
  const Id in_page = e.binary(spv::OpBitwiseAnd, narrow(p[0]), m.u32(kPage - 1));
  const Id crosses = e.value(spv::OpUGreaterThan, boolean, {in_page, m.u32(kPage - bytes)});
  const Id second = e.conditional(crosses, u64(), 1, [&]() -> Emitter::Results {
    const Id start = e.value(spv::OpBitwiseAnd, u64(), {p[0], m.u64(~uint64_t{kPage - 1})});
    return {call(Routine::locate_write, u64(), {add64(start, kPage)})};
  })[0];
  // Device address of the byte `offset` behind the first, 0: absent.
  auto place = [&](Id offset) {
    const Id at = e.binary(spv::OpIAdd, in_page, offset);
    const Id beyond = e.value(spv::OpUGreaterThanEqual, boolean, {at, m.u32(kPage)});
    const Id base = e.select(u64(), beyond, second, first);
    const Id rest = wide(e.binary(spv::OpBitwiseAnd, at, m.u32(kPage - 1)));
    const Id there = e.select(u64(), beyond, e.value(spv::OpIAdd, u64(), {second, rest}),
                              e.value(spv::OpIAdd, u64(), {first, wide(offset)}));
    return e.select(u64(), present(base), there, m.u64(0));
  };
  auto both = [&](Id a, Id b) { return e.value(spv::OpLogicalAnd, boolean, {a, b}); };
  auto equal = [&](Id a, uint32_t b) { return e.value(spv::OpIEqual, boolean, {a, m.u32(b)}); };
  auto shifted = [&](Id v, Id count) { return e.binary(spv::OpShiftRightLogical, v, count); };
  const Id odd_bit = e.value(spv::OpINotEqual, boolean, {e.binary(spv::OpBitwiseAnd, odd, m.u32(1)), m.u32(0)});
  if (component_bytes == 2) {
    // An even address holds the pair; an odd one two bytes, the second perhaps on the next page.
    store_if(both(present(first), e.value(spv::OpLogicalNot, boolean, {odd_bit})), first, 16, p[2]);
    store_if(both(present(first), odd_bit), first, 8, p[2]);
    const Id other = place(m.u32(1));
    store_if(both(present(other), odd_bit), other, 8, shifted(p[2], m.u32(8)));
    escape_if(e.value(spv::OpLogicalOr, boolean, {absent(first), absent(other)}));
    return;
  }
  const Id whole = equal(odd, 0);
  const Id lead =
      e.binary(spv::OpBitwiseAnd, e.binary(spv::OpISub, m.u32(4), odd), m.u32(3));  // bytes of the first dword
  const Id shift = e.binary(spv::OpShiftLeftLogical, lead, m.u32(3));
  const Id back = e.binary(spv::OpBitwiseAnd, e.binary(spv::OpISub, m.u32(32), shift), m.u32(31));
  Id missed = absent(first);
  // Dwords at multiples of four: from the address itself, or from the first multiple behind it.
  for (uint32_t n = 0; n < components; ++n) {
    const Id at = place(e.binary(spv::OpIAdd, lead, m.u32(4 * n)));
    Id data = p[2 + n], wanted = present(at);
    if (n + 1 < components) {
      const Id joined =
          e.binary(spv::OpBitwiseOr, shifted(p[2 + n], shift), e.binary(spv::OpShiftLeftLogical, p[3 + n], back));
      data = e.select(u32(), whole, data, joined);
      missed = e.value(spv::OpLogicalOr, boolean, {missed, absent(at)});
    } else {
      wanted = both(wanted, whole);
      missed = e.value(spv::OpLogicalOr, boolean, {missed, both(whole, absent(at))});
    }
    store_if(wanted, at, 32, data);
  }
  // The ends of an odd address: `lead` bytes in front, 4 - lead behind, each as a byte, a pair, or both.
  const Id there = present(first);
  store_if(both(there, odd_bit), first, 8, p[2]);
  const Id pair_at = e.binary(spv::OpBitwiseAnd, odd, m.u32(1));  // the pair follows the byte
  const Id has_pair =
      both(e.value(spv::OpLogicalNot, boolean, {whole}), e.value(spv::OpULessThanEqual, boolean, {odd, m.u32(2)}));
  store_if(both(there, has_pair), e.value(spv::OpIAdd, u64(), {first, wide(pair_at)}), 16,
           shifted(p[2], e.binary(spv::OpShiftLeftLogical, pair_at, m.u32(3))));
  const Id last = p[1 + components];
  const Id behind = place(e.binary(spv::OpIAdd, lead, m.u32(4 * components - 4)));
  const Id tail = shifted(last, shift);  // the bytes that are left, from the low end
  const Id tail_pair = e.value(spv::OpUGreaterThanEqual, boolean, {odd, m.u32(2)});
  store_if(both(present(behind), tail_pair), behind, 16, tail);
  const Id skip = e.select(u32(), tail_pair, m.u32(2), m.u32(0));
  store_if(both(present(behind), odd_bit), e.value(spv::OpIAdd, u64(), {behind, wide(skip)}), 8,
           shifted(tail, e.binary(spv::OpShiftLeftLogical, skip, m.u32(3))));
  const Id behind_gone = both(e.value(spv::OpLogicalNot, boolean, {whole}), absent(behind));
  escape_if(e.value(spv::OpLogicalOr, boolean, {missed, behind_gone}));
}

// One rounding out of two. f32 and f16: the product is exact in the next wider type; the sum is rounded to odd there
// (the last bit is set when anything was lost), after which rounding again is harmless as the wider type has two bits
// more than needed (Boldo and Melquiond, "Emulation of FMA and correctly rounded sums", 2008). f64: the same paper's
// algorithm with Dekker's exact product; it is not exact where the splitting overflows (above 2^996) or the product's
// tail underflows (below 2^-969).
void RoutineWriter::fma(Type type) {
  const Id t = m.type(type);
  begin(t, {t, t, t});
  const Type work = type == Type::f16 ? Type::f32 : Type::f64;
  const Id w = m.type(work);
  auto exact = [&](spv::Op op, Id a, Id b) {
    const Id r = e.value(op, w, {a, b});
    return m.exact(r);
  };
  auto add = [&](Id a, Id b) { return exact(spv::OpFAdd, a, b); };
  auto sub = [&](Id a, Id b) { return exact(spv::OpFSub, a, b); };
  auto mul = [&](Id a, Id b) { return exact(spv::OpFMul, a, b); };
  struct Pair {
    Id high, low;
  };
  auto two_sum = [&](Id a, Id b) -> Pair {
    const Id s = add(a, b), bb = sub(s, a);
    return {s, add(sub(a, sub(s, bb)), sub(b, bb))};
  };
  const Type bits_type = work == Type::f32 ? Type::u32 : Type::u64;
  const Id bits = m.type(bits_type), zero = m.constant(work, 0);
  auto odd = [&](const Pair& sum) {
    const Id raw = e.value(spv::OpBitcast, bits, {sum.high});
    const Id last = e.value(spv::OpBitwiseAnd, bits, {raw, m.constant(bits_type, 1)});
    const Id even = e.value(spv::OpIEqual, e.bool_type(), {last, m.constant(bits_type, 0)});
    // An infinite sum makes the error a NaN, which compares unequal to nothing here.
    const Id lost = e.value(spv::OpFOrdNotEqual, e.bool_type(), {sum.low, zero});
    const Id same = e.value(spv::OpLogicalEqual, e.bool_type(),
                            {e.value(spv::OpFOrdGreaterThan, e.bool_type(), {sum.low, zero}),
                             e.value(spv::OpFOrdGreaterThan, e.bool_type(), {sum.high, zero})});
    const Id up = e.value(spv::OpIAdd, bits, {raw, m.constant(bits_type, 1)});
    const Id down = e.value(spv::OpISub, bits, {raw, m.constant(bits_type, 1)});
    const Id moved = e.select(bits, same, up, down);
    const Id adjust = e.value(spv::OpLogicalAnd, e.bool_type(), {even, lost});
    return e.value(spv::OpBitcast, w, {e.select(bits, adjust, moved, raw)});
  };
  if (type != Type::f64) {
    auto widen = [&](Id v) { return e.value(spv::OpFConvert, w, {v}); };
    const Id product = mul(widen(p[0]), widen(p[1]));
    const Id sum = odd(two_sum(product, widen(p[2])));
    e.code(spv::OpReturnValue, {e.value(spv::OpFConvert, t, {sum})});
    return;
  }
  const Id splitter = m.constant(Type::f64, 0x41A0000002000000u);  // 2^27 + 1
  auto split = [&](Id v) -> Pair {
    const Id c = mul(splitter, v), high = sub(c, sub(c, v));
    return {high, sub(v, high)};
  };
  const Id plain_product = mul(p[0], p[1]);
  const Pair a = split(p[0]), b = split(p[1]);
  const Id low =
      sub(mul(a.low, b.low), sub(sub(sub(plain_product, mul(a.high, b.high)), mul(a.low, b.high)), mul(a.high, b.low)));
  const Pair t1 = two_sum(p[2], low);
  const Pair v = two_sum(plain_product, t1.high);
  const Id z = odd(two_sum(t1.low, v.low));
  const Id fused = add(v.high, z);
  // Infinities, NaNs and the sign of zero come out of the plain operations.
  const Id plain = add(plain_product, p[2]);
  const Id nan = e.value(spv::OpIsNan, e.bool_type(), {fused});
  const Id nothing = e.value(spv::OpFOrdEqual, e.bool_type(), {fused, zero});
  e.code(spv::OpReturnValue, {e.select(t, e.value(spv::OpLogicalOr, e.bool_type(), {nan, nothing}), plain, fused)});
}

Id Emitter::routine(Routine r) {
  Id& id = routine_[static_cast<size_t>(r)];
  if (!id) id = RoutineWriter(*this, r).write();
  return id;
}

}  // namespace orrery::shader::spirv
