// What modules provide to the image library: elements of images in guest memory, and notes of what was refused.
#include "gpu-service/shader/image_refusal.hpp"
#include "gpu-service/shader/spirv/conditional.hpp"
#include "gpu-service/shader/spirv/image_library.hpp"

namespace orrery::shader::spirv {

using ir::Type;

Id ImageLibrary::provided(std::string_view name) {
  if (name == "load_element") return load_element();
  if (name == "store_element") return store_element();
  if (name == "refuse") return refuse();
  if (name == "count_round") return count_round();
  return 0;
}

// body(parameters) writes the code after the first label.
Id ImageLibrary::write_function(Id result, std::initializer_list<Id> parameters, auto body) {
  const Id id = m.new_id();
  Words own;
  std::vector<Id> p;
  put(own, spv::OpFunction, {result, id, 0, m.function_type(result, parameters)});
  for (const Id type : parameters) put(own, spv::OpFunctionParameter, {type, p.emplace_back(m.new_id())});
  Words* const code = std::exchange(e.code_, &own);
  const Id label = e.current_label_;
  e.label(m.new_id());
  body(p);
  put(own, spv::OpFunctionEnd, {});
  e.code_ = code;
  e.current_label_ = label;
  e.routines_.insert(e.routines_.end(), own.begin(), own.end());
  return id;
}

Id ImageLibrary::holds(Id bytes, uint32_t least) {
  return e.value(spv::OpUGreaterThanEqual, e.bool_type(), {bytes, m.u32(least)});
}

// The element's dwords at a device address; of smaller elements the bytes alone.
Emitter::Results ImageLibrary::load_at(Id at, Id bytes) {
  const Id u32 = m.type(Type::u32), u64 = m.type(Type::u64);
  const auto vector = [&](uint32_t count) -> Emitter::Results {
    const Id type = m.vector(u32, count);
    const uint32_t access =
        spv::MemoryAccessAlignedMask | (e.fresh_loads_ ? static_cast<uint32_t>(spv::MemoryAccessVolatileMask) : 0u);
    const Id whole = e.value(spv::OpLoad, type, {e.device_pointer(at, type), access, 4 * count});
    Emitter::Results parts{m.u32(0), m.u32(0), m.u32(0), m.u32(0)};
    for (uint32_t n = 0; n < count; ++n) parts[n] = e.value(spv::OpCompositeExtract, u32, {whole, n});
    return parts;
  };
  const auto single = [&]() -> Emitter::Results {
    const Id whole = e.load_device(e.value(spv::OpBitwiseAnd, u64, {at, m.u64(~3ull)}), Type::u32, e.fresh_loads_);
    const Id odd = e.binary(spv::OpBitwiseAnd, e.value(spv::OpUConvert, u32, {at}), m.u32(3));
    const Id shifted = e.binary(spv::OpShiftRightLogical, whole, e.binary(spv::OpShiftLeftLogical, odd, m.u32(3)));
    const Id is_byte = e.value(spv::OpIEqual, e.bool_type(), {bytes, m.u32(1)});
    const Id mask = e.select(u32, is_byte, m.u32(0xff), m.u32(0xffff));
    const Id narrow = e.binary(spv::OpBitwiseAnd, shifted, mask);
    return {e.select(u32, holds(bytes, 4), whole, narrow), m.u32(0), m.u32(0), m.u32(0)};
  };
  if (!e.o_.host.lockstep_subgroups) {
    return e.either(
        holds(bytes, 16), u32, 4, [&] { return vector(4); },
        [&] { return e.either(holds(bytes, 8), u32, 4, [&] { return vector(2); }, single); });
  }
  // A CPU's vector takes both ways of a branch.
  Emitter::Results parts = single();
  const auto dword = [&](uint32_t n) {
    return e.load_device(e.value(spv::OpIAdd, u64, {at, m.u64(4 * n)}), Type::u32, e.fresh_loads_);
  };
  parts[1] = e.conditional(holds(bytes, 8), u32, 1, [&]() -> Emitter::Results { return {dword(1)}; })[0];
  const auto rest = e.conditional(holds(bytes, 16), u32, 2, [&]() -> Emitter::Results { return {dword(2), dword(3)}; });
  return {parts[0], parts[1], rest[0], rest[1]};
}

void ImageLibrary::store_at(Id at, Id bytes, const Emitter::Results& data) {
  const Id u64 = m.type(Type::u64);
  const auto where = [&](Id condition, auto store) {
    e.conditional(condition, 0, 0, [&]() -> Emitter::Results {
      store();
      return {};
    });
  };
  const auto dwords = [&](uint32_t first, uint32_t last) {
    where(holds(bytes, 4 * last + 4), [&] {
      for (uint32_t n = first; n <= last; ++n) {
        e.store_device(e.value(spv::OpIAdd, u64, {at, m.u64(4 * n)}), Type::u32, data[n]);
      }
    });
  };
  for (const uint32_t bits : {8u, 16u}) {
    where(e.value(spv::OpIEqual, e.bool_type(), {bytes, m.u32(bits / 8)}),
          [&] { e.store_device_small(at, bits, data[0]); });
  }
  dwords(0, 0);
  dwords(1, 1);
  dwords(2, 3);
}

// Elements are aligned to their size, so one lies in one page. On a GPU most lie in the page table's window.
template <class At>
Emitter::Results ImageLibrary::reach(const std::vector<Id>& p, Id where, bool stores, uint32_t results, At at) {
  const Id u32 = m.type(Type::u32), u64 = m.type(Type::u64), boolean = e.bool_type();
  const auto walk = [&]() -> Emitter::Results {
    const Routine locate = stores ? Routine::locate_write : Routine::locate_read;
    const Id found = e.value(spv::OpFunctionCall, u64, {e.routine(locate), p[0]});
    const Id absent = e.value(spv::OpIEqual, boolean, {found, m.u64(0)});
    e.conditional(absent, 0, 0, [&]() -> Emitter::Results {
      e.code(spv::OpFunctionCall, {m.void_type(), m.new_id(), e.routine(Routine::escape), p[0], where});
      return {};
    });
    return e.conditional(e.value(spv::OpLogicalNot, boolean, {absent}), u32, results, [&] { return at(found); });
  };
  if (e.o_.host.lockstep_subgroups) return walk();
  const auto window = [&](uint32_t which) { return e.value(spv::OpLoad, u64, {e.window_variable(which)}); };
  const Id offset = e.value(spv::OpISub, u64, {p[0], window(0)});
  const Id inside = e.value(spv::OpULessThan, boolean, {offset, window(1)});
  return e.either(inside, u32, results, [&] { return at(e.value(spv::OpIAdd, u64, {p[0], window(2)})); }, walk);
}

Id ImageLibrary::load_element() {
  const Id u32 = m.type(Type::u32), u64 = m.type(Type::u64), four = m.vector(u32, 4);
  return write_function(four, {u64, u32, u32}, [&](const std::vector<Id>& p) {
    const auto parts = reach(p, p[2], false, 4, [&](Id at) { return load_at(at, p[1]); });
    e.code(spv::OpReturnValue, {e.value(spv::OpCompositeConstruct, four, {parts[0], parts[1], parts[2], parts[3]})});
  });
}

Id ImageLibrary::store_element() {
  const Id u32 = m.type(Type::u32), u64 = m.type(Type::u64), four = m.vector(u32, 4);
  return write_function(m.void_type(), {u64, u32, four, u32}, [&](const std::vector<Id>& p) {
    Emitter::Results data{};
    for (uint32_t n = 0; n < 4; ++n) data[n] = e.value(spv::OpCompositeExtract, u32, {p[2], n});
    reach(p, p[3], true, 0, [&](Id at) -> Emitter::Results {
      store_at(at, p[1], data);
      return {};
    });
    e.code(spv::OpReturn, {});
  });
}

// Kept in the invocation's own variable until its end, like escapes.
Id ImageLibrary::refuse() {
  const Id u32 = m.type(Type::u32);
  return write_function(m.void_type(), {u32, u32}, [&](const std::vector<Id>& p) {
    const Id urgency = e.binary(spv::OpISub, m.u32(255), p[0]);
    const Id offset = e.binary(spv::OpShiftRightLogical, p[1], m.u32(1));
    const Id note =
        e.binary(spv::OpBitwiseOr, e.binary(spv::OpShiftLeftLogical, urgency, m.u32(kRefusalShift)), offset);
    const Id variable = e.image_note();
    const Id before = e.value(spv::OpLoad, u32, {variable});
    const Id later = e.value(spv::OpUGreaterThan, e.bool_type(), {before, note});
    e.code(spv::OpStore, {variable, e.select(u32, later, before, note)});
    e.code(spv::OpReturn, {});
  });
}

Id ImageLibrary::count_round() {
  return write_function(m.void_type(), {}, [&](const std::vector<Id>&) {
    e.count_round();
    e.code(spv::OpReturn, {});
  });
}

}  // namespace orrery::shader::spirv
