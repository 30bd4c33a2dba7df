#include "tests/gpu-service/shader/semantics/expectation.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <bit>
#include <cmath>

#include "tests/gpu-service/shader/semantics/assemble.hpp"
#include "tests/gpu-service/shader/semantics/device_run.hpp"
#include "tests/gpu-service/vulkan/test_device.hpp"

namespace orrery::shader::semantics::test {
namespace {

constexpr uint32_t kPerModule = 12;  // instructions; larger modules take the driver too long

}  // namespace

vulkan::Device* test_device() {
  static std::unique_ptr<vulkan::Device> device = [] {
    auto opened = vulkan::Device::open(vulkan::test_options());
    if (!opened) ADD_FAILURE() << opened.error().describe();
    return opened ? std::move(*opened) : nullptr;
  }();
  return device.get();
}

namespace {

bool close(uint64_t x, uint64_t y, uint32_t exponent, uint32_t mantissa, uint32_t ulp) {
  const uint64_t sign = 1ull << (exponent + mantissa), infinity = ((1ull << exponent) - 1) << mantissa;
  const uint64_t u = x & (sign - 1), v = y & (sign - 1);
  if (u > infinity || v > infinity) return u > infinity && v > infinity;
  if ((x ^ y) & sign) return ulp > 0 && u + v <= ulp;
  return (u > v ? u - v : v - u) <= ulp;
}

bool same(Comparison c, uint64_t x, uint64_t y) {
  switch (c.as) {
    case Comparison::As::bits:
      return x == y;
    case Comparison::As::f16:
      return x >> 16 == y >> 16 && close(x & 0xffff, y & 0xffff, 5, 10, c.ulp);
    case Comparison::As::packed_f16:
      return close(x >> 16, y >> 16, 5, 10, c.ulp) && close(x & 0xffff, y & 0xffff, 5, 10, c.ulp);
    case Comparison::As::f32:
      return close(x, y, 8, 23, c.ulp);
    case Comparison::As::f64:
      return close(x, y, 11, 52, c.ulp);
  }
  return false;
}

}  // namespace

std::string difference(Comparison comparison, const WaveState& before, const WaveState& want, const WaveState& got) {
  auto inputs = [&](uint32_t lane) {
    std::string text;
    for (uint32_t n = 1; n < kFirstWritten; ++n) text += fmt::format(" v{}={:08x}", n, before.vgprs[n][lane]);
    return text;
  };
  const bool pairs = comparison.as == Comparison::As::f64;
  for (uint32_t n = kFirstWritten; n < kVgprs; n += pairs ? 2 : 1) {
    for (uint32_t l = 0; l < before.lanes; ++l) {
      const uint64_t w = pairs ? wide(want, n, l) : want.vgprs[n][l], g = pairs ? wide(got, n, l) : got.vgprs[n][l];
      const Comparison exact;
      const bool off = !lane_on(before.exec, l);
      if (same(off ? exact : comparison, w, g)) continue;
      return fmt::format("v{} lane {} ({}): wanted {:x}, got {:x};{}", n, l, off ? "off" : "on", w, g, inputs(l));
    }
  }
  auto scalars = [&] {
    std::string text;
    for (uint32_t n = 0; n < 6; ++n) text += fmt::format(" s{}={:08x}", n, before.sgprs[n]);
    return text + fmt::format(" vcc={:x} exec={:x} scc={}", before.vcc, before.exec, before.scc);
  };
  for (uint32_t n = kFirstWrittenSgpr; n < kSgprs; ++n) {
    if (want.sgprs[n] != got.sgprs[n]) {
      return fmt::format("s{}: wanted {:08x}, got {:08x};{}", n, want.sgprs[n], got.sgprs[n], scalars());
    }
  }
  if (want.vcc != got.vcc) return fmt::format("vcc: wanted {:x}, got {:x};{}", want.vcc, got.vcc, scalars());
  if (want.exec != got.exec) return fmt::format("exec: wanted {:x}, got {:x};{}", want.exec, got.exec, scalars());
  if (want.scc != got.scc) return fmt::format("scc: wanted {}, got {};{}", want.scc, got.scc, scalars());
  if (want.m0 != got.m0) return fmt::format("m0: wanted {:x}, got {:x};{}", want.m0, got.m0, scalars());
  return {};
}

namespace {

void check_width(std::span<const Expectation> expectations, Values values, uint32_t count, uint32_t lanes) {
  vulkan::Device* const device = test_device();
  ASSERT_NE(device, nullptr);
  std::vector<std::string> lines;
  for (const Expectation& e : expectations) lines.push_back(e.line);
  const Assembled assembled = assemble(lines, lanes);
  ASSERT_EQ(assembled.error, "");
  const auto states = random_states(7 + lanes, count, lanes, values);
  const uint32_t subgroup = std::min(lanes, device->facts().max_subgroup_size);
  const DeviceRun run = run_on_device(*device, assembled.instructions, states, subgroup);
  ASSERT_EQ(run.error, "");
  for (size_t n = 0; n < expectations.size(); ++n) {
    for (size_t s = 0; s < states.size(); ++s) {
      WaveState want = states[s];
      expectations[n].expected(want);
      const std::string text = difference(expectations[n].comparison, states[s], want, run.after[n][s]);
      if (text.empty()) continue;
      ADD_FAILURE() << "wave" << lanes << ", state " << s << ": " << expectations[n].line << "\n  " << text;
      break;
    }
  }
}

}  // namespace

void check(const std::vector<Expectation>& expectations, Values values, uint32_t count) {
  for (size_t first = 0; first < expectations.size(); first += kPerModule) {
    const size_t size = std::min<size_t>(kPerModule, expectations.size() - first);
    for (uint32_t lanes : {32u, 64u}) check_width(std::span(expectations).subspan(first, size), values, count, lanes);
  }
}

}  // namespace orrery::shader::semantics::test
