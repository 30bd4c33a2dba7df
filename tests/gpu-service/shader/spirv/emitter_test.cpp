#include <gtest/gtest.h>
#include <spirv/unified1/spirv.hpp>

#include "tests/gpu-service/shader/spirv/hand_program.hpp"
#include "tests/gpu-service/shader/spirv/validate.hpp"

namespace orrery::shader::test {
namespace {

using ir::Access;
using ir::AtomicOp;
using ir::Builder;
using ir::Op;
using ir::Space;
using ir::Type;
using ir::Value;

constexpr Access kGuest{.space = Space::guest};

Value own_address(Builder& b) {
  const Value index = b.zext(Type::u64, b.shl(b.vgpr(0), b.u32(2)));
  return b.add(b.sgpr(0, Type::u64), index);
}

void store_v1(Builder& b) {
  const Value data[] = {b.vgpr(1)};
  b.store(kGuest, b.exec(), own_address(b), data);
}

// Every layout of both wave widths: native, two lanes, lavapipe's, the whole wave.
struct Layout {
  uint32_t wave, subgroup;
};
constexpr Layout kLayouts[] = {{32, 32}, {64, 32}, {64, 64}, {32, 16}, {32, 8}, {64, 8}, {32, 1}, {64, 1}};

void valid_everywhere(const HandProgram& program) {
  for (const auto& [wave, subgroup] : kLayouts) {
    for (const bool partial : {false, true}) {
      TranslateOptions o = options_for(wave, subgroup);
      o.partial_groups = partial;
      o.host.fuses_fma = partial;
      o.host.fma_keeps_denormals = !partial;
      o.scratch_dwords = 16;
      const Module m = module_of(program, o);
      EXPECT_EQ(validate(m.spirv), "") << "wave " << wave << " subgroup " << subgroup << " partial " << partial;
    }
  }
}

TEST(Emitter, a_store_of_each_lanes_float_sum_is_valid_in_every_layout) {
  valid_everywhere(straight([](Builder& b) {
    const Value v = b.op(Op::fadd, b.sgpr(2, Type::f32), b.as(Type::f32, b.vgpr(0)));
    b.set_vgpr(1, b.op(Op::ffma, v, v, b.f32(2.5f)));
    b.set_vgpr(2, b.op(Op::ffma, b.vgpr(0, Type::f64), b.f64(3), b.f64(4)));
    b.set_vgpr(1, b.lxor(b.vgpr(1), b.vgpr(2)));
    store_v1(b);
  }));
}

TEST(Emitter, loads_and_stores_of_every_width_are_valid_in_every_layout) {
  valid_everywhere(straight([](Builder& b) {
    for (uint8_t n = 1; n <= 4; ++n) {
      const Access a{.space = Space::guest, .components = n, .offset = -8};
      const auto parts = b.load(a, b.exec(), own_address(b));
      b.store(a, b.exec(), own_address(b), std::span(parts).first(n));
      const Access lds{.space = Space::lds, .components = n, .offset = 8};
      const auto local = b.load(lds, b.exec(), b.vgpr(0));
      b.store(lds, b.exec(), b.vgpr(0), std::span(local).first(n));
      const Access own{.space = Space::scratch, .components = n};
      const auto kept = b.load(own, b.exec(), b.vgpr(0));
      b.store(own, b.exec(), b.u32(4), std::span(kept).first(n));
    }
    for (uint8_t bytes : {uint8_t{1}, uint8_t{2}}) {
      for (Space space : {Space::guest, Space::lds, Space::scratch}) {
        const Access a{.space = space, .bytes = bytes};
        const Value address = space == Space::guest ? own_address(b) : b.vgpr(0);
        const Value v[] = {b.load(a, b.exec(), address)[0]};
        b.store(a, b.exec(), address, v);
      }
    }
  }));
}

TEST(Emitter, atomics_in_memory_and_lds_are_valid_in_every_layout) {
  valid_everywhere(straight([](Builder& b) {
    for (auto op = AtomicOp::swap; op <= AtomicOp::fmax; op = static_cast<AtomicOp>(static_cast<int>(op) + 1)) {
      const Value compare = op == AtomicOp::compare_swap ? b.vgpr(2) : Value{};
      b.set_vgpr(1, b.atomic({.space = Space::guest, .atomic = op, .returns = true}, b.exec(), own_address(b),
                             b.vgpr(1), compare));
      b.set_vgpr(2, b.atomic({.space = Space::lds, .atomic = op}, b.exec(), b.vgpr(0), b.vgpr(1), compare));
    }
    const Value wide =
        b.atomic({.space = Space::guest, .bytes = 8, .atomic = AtomicOp::add}, b.exec(), own_address(b), b.u64(1));
    b.set_vgpr(1, b.low32(wide));
    store_v1(b);
  }));
}

TEST(Emitter, bound_buffers_are_one_binding_per_source) {
  const HandProgram program = straight([](Builder& b) {
    const uint32_t first = b.binding(DescriptorSource::user(0)), second = b.binding(DescriptorSource::chain(4, {16}));
    EXPECT_EQ(b.binding(DescriptorSource::user(0)), first);
    for (uint8_t bytes : {uint8_t{1}, uint8_t{2}, uint8_t{4}}) {
      const Value v[] = {b.load({.space = Space::buffer, .bytes = bytes, .binding = first}, b.exec(), b.vgpr(0))[0]};
      b.store({.space = Space::buffer, .bytes = bytes, .coherent = true, .binding = second}, b.exec(), b.vgpr(0), v);
    }
    b.atomic({.space = Space::buffer, .atomic = AtomicOp::inc, .binding = second}, b.exec(), b.vgpr(0), b.u32(7));
  });
  valid_everywhere(program);
  const Module m = module_of(program, options_for(32, 32));
  ASSERT_EQ(m.buffers.size(), 2u);
  EXPECT_TRUE(m.buffers[0].read && !m.buffers[0].written && m.buffers[1].written);
}

TEST(Emitter, cross_lane_operations_are_valid_in_every_layout) {
  valid_everywhere(straight([](Builder& b) {
    const Value odd = b.compare(Op::ine, b.land(b.lane_id(), b.u32(1)), b.u32(0));
    b.set_mask(10, odd);
    Value v = b.op(Op::shuffle, b.vgpr(0), b.lxor(b.lane_id(), b.u32(5)));
    v = b.add(v, b.read_lane(v, b.sgpr(3)));
    v = b.add(v, b.read_lane(v, b.u32(31)));
    v = b.add(v, b.op(Op::bit_count, b.sgpr(10)));
    v = b.add(v, b.op(Op::first_lane, Type::u32, {odd}));
    b.set_sgpr(12, b.u64(0x5555555500000001));
    v = b.select(b.mask(12), v, b.u32(3));
    v = b.select(b.any(odd), v, b.read_first_lane(v));
    b.set_vgpr(1, v);
    store_v1(b);
    b.effect(Op::group_barrier);
    b.effect(Op::memory_barrier);
  }));
}

// Compares of a module whose lanes store into 1 KiB of LDS, `stride` bytes apart.
uint32_t compares(uint32_t threads, uint32_t stride) {
  TranslateOptions o = options_for(32, 32);
  o.group_size = {threads, 1, 1};
  const Module m = module_of(straight([stride](Builder& b) {
                               const Value data[] = {b.vgpr(0)};
                               b.store({.space = Space::lds, .offset = 4}, b.exec(),
                                       b.op(Op::imul, b.land(b.vgpr(0), b.u32(63)), b.u32(stride)), data);
                             }),
                             o);
  EXPECT_EQ(validate(m.spirv), "");
  uint32_t count = 0;
  for (size_t at = 5; at < m.spirv.size(); at += m.spirv[at] >> 16) count += (m.spirv[at] & 0xffff) == spv::OpULessThan;
  return count;
}

TEST(Emitter, an_lds_address_that_cannot_lie_outside_is_not_tested) {
  EXPECT_EQ(compares(64, 12), 0u);   // the last dword at 760
  EXPECT_EQ(compares(64, 16), 0u);   // at 1012
  EXPECT_EQ(compares(64, 20), 1u);   // at 1264
  EXPECT_EQ(compares(32, 20), 1u);   // a group's last wave may be longer than the group
  EXPECT_EQ(compares(128, 16), 0u);  // masked
}

TEST(Emitter, a_divergent_if_and_a_loop_are_valid_in_every_layout) {
  auto odd = [](Builder& b) { return b.compare(Op::ine, b.land(b.vgpr(0), b.u32(1)), b.u32(0)); };
  valid_everywhere(if_then(
      cfg::Condition::execnz,
      [&](Builder& b) {
        b.set_vgpr(1, b.u32(1));
        const Value saved = b.exec();
        b.set_mask(Builder::kExec, b.land(saved, odd(b)));
        b.set_mask(20, saved);
      },
      [](Builder& b) { b.set_vgpr(1, b.load(kGuest, b.exec(), own_address(b))[0]); },
      [](Builder& b) {
        b.set_mask(Builder::kExec, b.lor(b.exec(), b.mask(20)));
        store_v1(b);
      }));
  valid_everywhere(loop(
      cfg::Condition::execnz,
      [](Builder& b) {
        b.set_vgpr(1, b.f32(0));
        b.set_sgpr(30, b.u32(0));
      },
      [&](Builder& b) {
        b.set_vgpr(1, b.op(Op::fadd, b.vgpr(1, Type::f32),
                           b.load(kGuest, b.exec(), own_address(b))[0].id ? b.f32(1) : b.f32(2)));
        b.set_sgpr(30, b.add(b.sgpr(30), b.u32(1)));
        const Value more = b.compare(Op::ult, b.sgpr(30), b.vgpr(0));
        b.set_mask(Builder::kExec, b.land(b.exec(), more));
      },
      [](Builder& b) {
        b.set_sgpr(Builder::kExec, b.wave64() ? b.u64(~0ull) : b.u32(~0u));
        store_v1(b);
      }));
}

}  // namespace
}  // namespace orrery::shader::test
