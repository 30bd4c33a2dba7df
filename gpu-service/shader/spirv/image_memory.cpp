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

// Elements are aligned to their size, so one lies in one page.
Id ImageLibrary::load_element() {
  const Id u32 = m.type(Type::u32), u64 = m.type(Type::u64), boolean = e.bool_type(), four = m.vector(u32, 4);
  return write_function(four, {u64, u32, u32}, [&](const std::vector<Id>& p) {
    const Id at = e.value(spv::OpFunctionCall, u64, {e.routine(Routine::locate_read), p[0]});
    const Id present = e.value(spv::OpINotEqual, boolean, {at, m.u64(0)});
    auto behind = [&](uint32_t bytes) { return e.value(spv::OpIAdd, u64, {at, m.u64(bytes)}); };
    auto holds = [&](uint32_t bytes) { return e.value(spv::OpUGreaterThanEqual, boolean, {p[1], m.u32(bytes)}); };
    auto dword = [&](Id address) { return e.load_device(address, Type::u32, e.fresh_loads_); };
    const auto loaded = e.conditional(present, u32, 4, [&]() -> Emitter::Results {
      const Id start = e.value(spv::OpBitwiseAnd, u64, {at, m.u64(~3ull)});
      const Id whole = dword(start);
      const Id narrow = e.value(spv::OpUConvert, u32, {e.value(spv::OpBitwiseAnd, u64, {at, m.u64(3)})});
      const Id shift = e.binary(spv::OpShiftLeftLogical, narrow, m.u32(3));
      const Id shifted = e.binary(spv::OpShiftRightLogical, whole, shift);
      const Id is_byte = e.value(spv::OpIEqual, boolean, {p[1], m.u32(1)});
      const Id mask = e.select(u32, is_byte, m.u32(0xff), m.u32(0xffff));
      const Id first = e.select(u32, holds(4), whole, e.binary(spv::OpBitwiseAnd, shifted, mask));
      const Id second = e.conditional(holds(8), u32, 1, [&]() -> Emitter::Results { return {dword(behind(4))}; })[0];
      const auto rest =
          e.conditional(holds(16), u32, 2, [&]() -> Emitter::Results { return {dword(behind(8)), dword(behind(12))}; });
      return {first, second, rest[0], rest[1]};
    });
    const Id absent = e.value(spv::OpLogicalNot, boolean, {present});
    e.conditional(absent, 0, 0, [&]() -> Emitter::Results {
      e.code(spv::OpFunctionCall, {m.void_type(), m.new_id(), e.routine(Routine::escape), p[0], p[2]});
      return {};
    });
    e.code(spv::OpReturnValue,
           {e.value(spv::OpCompositeConstruct, four, {loaded[0], loaded[1], loaded[2], loaded[3]})});
  });
}

Id ImageLibrary::store_element() {
  const Id u32 = m.type(Type::u32), u64 = m.type(Type::u64), boolean = e.bool_type(), four = m.vector(u32, 4);
  return write_function(m.void_type(), {u64, u32, four, u32}, [&](const std::vector<Id>& p) {
    const Id at = e.value(spv::OpFunctionCall, u64, {e.routine(Routine::locate_write), p[0]});
    const Id present = e.value(spv::OpINotEqual, boolean, {at, m.u64(0)});
    auto part = [&](uint32_t n) { return e.value(spv::OpCompositeExtract, u32, {p[2], n}); };
    auto store = [&](Id condition, uint32_t first, uint32_t last) {
      const Id both = e.value(spv::OpLogicalAnd, boolean, {present, condition});
      e.conditional(both, 0, 0, [&]() -> Emitter::Results {
        for (uint32_t n = first; n <= last; ++n) {
          e.store_device(e.value(spv::OpIAdd, u64, {at, m.u64(4 * n)}), Type::u32, part(n));
        }
        return {};
      });
    };
    auto store_small = [&](uint32_t bits) {
      const Id condition = e.value(spv::OpIEqual, boolean, {p[1], m.u32(bits / 8)});
      e.conditional(e.value(spv::OpLogicalAnd, boolean, {present, condition}), 0, 0, [&]() -> Emitter::Results {
        e.store_device_small(at, bits, part(0));
        return {};
      });
    };
    auto holds = [&](uint32_t bytes) { return e.value(spv::OpUGreaterThanEqual, boolean, {p[1], m.u32(bytes)}); };
    store_small(8);
    store_small(16);
    store(holds(4), 0, 0);
    store(holds(8), 1, 1);
    store(holds(16), 2, 3);
    const Id absent = e.value(spv::OpLogicalNot, boolean, {present});
    e.conditional(absent, 0, 0, [&]() -> Emitter::Results {
      e.code(spv::OpFunctionCall, {m.void_type(), m.new_id(), e.routine(Routine::escape), p[0], p[3]});
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
