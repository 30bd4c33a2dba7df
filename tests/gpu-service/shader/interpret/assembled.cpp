#include "tests/gpu-service/shader/interpret/assembled.hpp"

#include <fmt/format.h>
#include <unistd.h>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "tests/gpu-service/shader/interpret/host_bytes.hpp"

namespace orrery::shader::testing {

std::vector<uint32_t> assemble(const std::string& text, uint32_t wave, const std::string& processor) {
  const std::string path =
      (std::filesystem::temp_directory_path() / fmt::format("orrery-snippet-{}", getpid())).string();
  std::ofstream(path + ".s") << text << "\ns_endpgm\n";
  const std::string command = fmt::format(
      "llvm-mc-19 -triple=amdgcn -mcpu={} -mattr={} -filetype=obj {}.s -o {}.o && llvm-objcopy-19 -O binary "
      "--only-section=.text {}.o {}.bin",
      processor, wave == 32 ? "+wavefrontsize32" : "+wavefrontsize64,-wavefrontsize32", path, path, path, path);
  if (std::system(command.c_str()) != 0) {
    throw std::runtime_error("llvm-mc-19 does not assemble: " + text);
  }
  std::ifstream binary(path + ".bin", std::ios::binary);
  const std::string code{std::istreambuf_iterator<char>(binary), {}};
  std::vector<uint32_t> words(code.size() / 4);
  std::memcpy(words.data(), code.data(), words.size() * 4);
  for (const char* suffix : {".s", ".o", ".bin"}) {
    std::filesystem::remove(path + suffix);
  }
  return words;
}

Program program_of(std::span<const uint32_t> words, Target target) {
  auto program = read_program(
      [&](uint32_t offset, uint32_t dwords) {
        const size_t first = offset / 4;
        return first < words.size() ? words.subspan(first, std::min<size_t>(dwords, words.size() - first))
                                    : std::span<const uint32_t>{};
      },
      target);
  if (!program) {
    throw std::runtime_error(program.error().reason);
  }
  return *program;
}

Values each_lane(uint32_t wave, const std::function<uint32_t(uint32_t)>& value) {
  Values values;
  for (uint32_t lane = 0; lane < wave; ++lane) {
    values.push_back(value(lane));
  }
  return values;
}

Result run_snippet(const std::string& text, const Snippet& snippet) {
  std::string whole = "v_lshlrev_b32 v255, 2, v0\n";
  std::array<uint32_t, 7 * 64> memory{};
  for (uint32_t i = 0; i < 4; ++i) {
    if (!snippet.vgprs[i].empty()) {
      whole += fmt::format("global_load_dword v{}, v255, s[0:1] offset:{}\n", i + 1, 256 * i);
      std::copy_n(snippet.vgprs[i].begin(), snippet.wave, memory.begin() + 64 * i);
    }
  }
  whole += text + "\n";
  for (uint32_t i = 0; i < 3; ++i) {
    whole += fmt::format("global_store_dword v255, v{}, s[0:1] offset:{}\n", 10 + i, 1024 + 256 * i);
  }
  const std::vector<uint32_t> words = assemble(whole, snippet.wave);
  const Program program = program_of(words);
  interpret::Dispatch dispatch;
  dispatch.program = &program;
  dispatch.program_address = reinterpret_cast<uint64_t>(words.data());
  dispatch.wave = snippet.wave;
  dispatch.rsrc1 = snippet.float_mode << 12 | (snippet.dx10_clamp ? 1u << 21 : 0) | (snippet.ieee ? 1u << 23 : 0);
  dispatch.rsrc2 = 16u << 1 | (snippet.lds_bytes + 511) / 512 << 15;
  const auto base = reinterpret_cast<uint64_t>(memory.data());
  dispatch.user_data[0] = static_cast<uint32_t>(base);
  dispatch.user_data[1] = static_cast<uint32_t>(base >> 32);
  for (const auto& [index, value] : snippet.sgprs) {
    dispatch.user_data[index] = value;
  }
  dispatch.group_size = {snippet.threads != 0 ? snippet.threads : snippet.wave, 1, 1};
  dispatch.step_limit = 1'000'000;
  HostBytes bytes;
  bytes.add(memory.data(), sizeof memory);
  bytes.add(words.data(), words.size() * 4);
  Result result;
  result.outcome = interpret::run(dispatch, bytes);
  for (uint32_t i = 0; i < 3; ++i) {
    result.vgprs[i].assign(memory.begin() + 256 + 64 * i, memory.begin() + 256 + 64 * i + snippet.wave);
  }
  return result;
}

}  // namespace orrery::shader::testing
