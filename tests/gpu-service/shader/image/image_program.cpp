#include "tests/gpu-service/shader/image/image_program.hpp"

#include <fmt/format.h>
#include <bit>

#include "gpu-service/shader/interpret/numbers.hpp"
#include "tests/gpu-service/shader/interpret/assembled.hpp"

namespace orrery::shader::image_test {
namespace {

constexpr uint32_t kLanes = 64, kInputBytes = 64, kResultBytes = 32, kTableBytes = 64;

}  // namespace

TSharp t_sharp(const ImageShape& s) {
  const uint64_t base = memory_test::kMemory + s.offset;
  return {static_cast<uint32_t>(base >> 8),
          static_cast<uint32_t>(base >> 40) | s.format << 20 | (s.width - 1) << 30,
          (s.width - 1) >> 2 | (s.height - 1) << 14 | 1u << 31,
          s.select | s.base_level << 12 | s.last_level << 16 | s.tiling << 20 | s.type << 28,
          s.last | s.first_layer << 16,
          s.max_mip << 4,
          0,
          0};
}

SSharp s_sharp(const SamplerShape& s) {
  return {s.clamp[0] | s.clamp[1] << 3 | s.clamp[2] << 6 | s.compare << 12 | (s.unnormalised ? 1u << 15 : 0) |
              (s.truncates ? 1u << 27 : 0) | (s.no_cube_wrap ? 1u << 28 : 0),
          s.min_lod | s.max_lod << 12,
          (static_cast<uint32_t>(s.lod_bias) & 0x3fff) | s.magnify << 20 | s.minify << 22 | s.z_filter << 24 |
              s.mip_filter << 26,
          s.border << 30};
}

MemoryProgram rounds_program(const RoundsProgram& p) {
  const auto count = static_cast<uint32_t>(p.rounds.size());
  const uint32_t table = kTexelBytes, input = table + count * kTableBytes,
                 results = (input + count * kLanes * kInputBytes + 0x3fff) & ~0x3fffu;
  MemoryProgram out;
  out.whole_wave = false;
  out.only_narrow = true;
  out.memory = p.texels;
  out.memory.resize((results + count * kLanes * kResultBytes) / 4);
  for (uint32_t r = 0; r < count; ++r) {
    std::ranges::copy(p.rounds[r].image, out.memory.begin() + (table + r * kTableBytes) / 4);
    std::ranges::copy(p.rounds[r].sampler, out.memory.begin() + (table + r * kTableBytes) / 4 + 8);
    if (!p.input) continue;
    for (uint32_t lane = 0; lane < kLanes; ++lane) {
      const size_t at = (input + (r * kLanes + lane) * kInputBytes) / 4;
      p.input(r, lane, std::span<uint32_t, 16>(out.memory.data() + at, 16));
    }
  }
  out.text = fmt::format(
      "v_lshlrev_b32 v1, 6, v0\nv_add_nc_u32 v1, {:#x}, v1\nv_lshlrev_b32 v2, 5, v0\nv_add_nc_u32 v2, {:#x}, v2\n"
      "s_add_u32 s32, s0, {:#x}\ns_addc_u32 s33, s1, 0\ns_mov_b32 s34, 0\nL:\n"
      "s_load_dwordx8 s[20:27], s[32:33], 0\ns_load_dwordx4 s[28:31], s[32:33], 32\n"
      "global_load_dwordx4 v[8:11], v1, s[0:1]\nglobal_load_dwordx4 v[12:15], v1, s[0:1] offset:16\n"
      "global_load_dwordx4 v[16:19], v1, s[0:1] offset:32\nglobal_load_dwordx4 v[20:23], v1, s[0:1] offset:48\n",
      input, results, table);
  for (uint32_t n = 40; n < 48; ++n) out.text += fmt::format("v_mov_b32 v{}, 0x5a5a5a5a\n", n);
  out.text += "s_waitcnt lgkmcnt(0) vmcnt(0)\n" + p.body +
              "\ns_waitcnt vmcnt(0)\nglobal_store_dwordx4 v2, v[40:43], s[0:1]\n"
              "global_store_dwordx4 v2, v[44:47], s[0:1] offset:16\n";
  out.text += fmt::format(
      "v_add_nc_u32 v1, {:#x}, v1\nv_add_nc_u32 v2, {:#x}, v2\ns_add_u32 s32, s32, {}\ns_addc_u32 s33, s33, 0\n"
      "s_add_u32 s34, s34, 1\ns_cmp_lt_u32 s34, {}\ns_cbranch_scc1 L\n",
      kLanes * kInputBytes, kLanes * kResultBytes, kTableBytes, count);
  return out;
}

AddressWriter::AddressWriter(const std::string& text, const std::string& processor)
    : instruction_(testing::program_of(testing::assemble(text, 32, processor),
                                       processor == "gfx1030" ? Target::gfx1030 : Target::gfx1013)
                       .instructions.front()),
      form_(image_form(instruction_)) {}

void AddressWriter::write(const AddressValues& values, std::span<uint32_t, 16> input) const {
  const bool real = form_.kind == ImageForm::Kind::sample || form_.kind == ImageForm::Kind::gather;
  const auto put = [&](const std::optional<ImageComponent>& at, uint32_t value) {
    if (!at) return;
    uint32_t& dword = input[at->vgpr - 8];
    const uint32_t half = real ? interpret::half_from_double(std::bit_cast<float>(value), 0) : value & 0xffff;
    if (at->part == ImageComponent::Part::whole) dword = value;
    if (at->part == ImageComponent::Part::low) dword = (dword & 0xffff0000) | half;
    if (at->part == ImageComponent::Part::high) dword = (dword & 0xffff) | half << 16;
  };
  put(form_.offset, values.offset);
  put(form_.bias, values.bias);
  put(form_.compare, values.compare);
  put(form_.level, values.level);
  put(form_.clamp, values.clamp);
  for (size_t n = 0; n < 3; ++n) put(form_.coordinates[n], values.coordinates[n]);
  const size_t dimensions = form_.gradient_count / 2u;
  for (size_t n = 0; n < form_.gradient_count; ++n) {
    put(form_.gradients[n], values.gradients[n / dimensions * 3 + n % dimensions]);
  }
}

}  // namespace orrery::shader::image_test
