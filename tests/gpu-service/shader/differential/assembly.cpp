#include "tests/gpu-service/shader/differential/assembly.hpp"

#include <fmt/format.h>
#include <unistd.h>
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include "gpu-service/shader/decode/decoder.hpp"

namespace orrery::shader::differential {
namespace {

std::string contents(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<uint32_t> machine_code(const std::string& text, uint32_t wave) {
  const auto base = (std::filesystem::temp_directory_path() / fmt::format("orrery-differential-{}", getpid())).string();
  std::ofstream(base + ".s") << text;
  const std::string command = fmt::format(
      "(llvm-mc-19 -triple=amdgcn -mcpu=gfx1013 -mattr={1} -filetype=obj {0}.s -o {0}.o && llvm-objcopy-19 -O binary "
      "--only-section=.text {0}.o {0}.bin) 2> {0}.err",
      base, wave == 32 ? "+wavefrontsize32" : "+wavefrontsize64,-wavefrontsize32");
  const int status = std::system(command.c_str());
  const std::string complaint = contents(base + ".err"), code = contents(base + ".bin");
  for (const char* suffix : {".s", ".o", ".bin", ".err"}) std::filesystem::remove(base + suffix);
  if (status != 0) throw std::runtime_error("llvm-mc-19: " + complaint.substr(0, 2000));
  std::vector<uint32_t> words(code.size() / 4);
  std::memcpy(words.data(), code.data(), words.size() * 4);
  return words;
}

bool is_label(const Line& line) { return line.text.ends_with(':'); }

// The program's own part of the code, from word `next` on.
AssembledProgram taken(const ProgramText& text, std::span<const uint32_t> code, size_t& next) {
  AssembledProgram program;
  program.name = text.name;
  program.launch = text.launch;
  program.approximations = text.approximations;
  const size_t first = next;
  for (const Line& line : text.lines) {
    if (is_label(line)) continue;
    auto instruction = decode(code.subspan(std::min(next, code.size())), 0);
    // gfx10.1 can't branch by 0x3f dwords: the assembler puts an s_nop behind such a branch.
    if (instruction && instruction->opcode == Opcode::s_nop && !line.text.starts_with("s_nop")) {
      program.places.push_back({static_cast<uint32_t>(next++ - first), 1, 0});
      instruction = decode(code.subspan(std::min(next, code.size())), 0);
    }
    if (!instruction) throw std::runtime_error(text.name + ": not decoded: " + line.text);
    const uint32_t words = instruction->size / 4u;
    program.places.push_back({static_cast<uint32_t>(next - first), words, line.unit});
    next += words;
  }
  program.words.assign(code.begin() + static_cast<std::ptrdiff_t>(first),
                       code.begin() + static_cast<std::ptrdiff_t>(next));
  return program;
}

constexpr uint32_t kMagic = 0x44696666, kVersion = 1;

class Writer {
 public:
  explicit Writer(const std::filesystem::path& file) : out_(file, std::ios::binary) {}
  void word(uint32_t value) { out_.write(reinterpret_cast<const char*>(&value), 4); }
  template <typename T>
  void all(const std::vector<T>& values) {
    static_assert(std::is_trivially_copyable_v<T>);
    word(static_cast<uint32_t>(values.size()));
    out_.write(reinterpret_cast<const char*>(values.data()), static_cast<std::streamsize>(values.size() * sizeof(T)));
  }
  bool good() const { return out_.good(); }

 private:
  std::ofstream out_;
};

class Reader {
 public:
  explicit Reader(const std::string& bytes) : bytes_(bytes.begin(), bytes.end()) {}
  uint32_t word() {
    uint32_t value = 0;
    take(&value, 4);
    return value;
  }
  template <typename T>
  std::vector<T> all() {
    const uint32_t count = word();
    if (count > bytes_.size() / sizeof(T)) throw std::runtime_error("a cut file of programs");
    std::vector<T> values(count);
    take(values.data(), count * sizeof(T));
    return values;
  }
  void take(void* to, size_t size) {
    if (size > bytes_.size() - at_) throw std::runtime_error("a cut file of programs");
    std::memcpy(to, bytes_.data() + at_, size);
    at_ += size;
  }

 private:
  std::vector<char> bytes_;
  size_t at_ = 0;
};

}  // namespace

std::vector<AssembledProgram> assemble(std::span<const ProgramText> programs) {
  std::vector<AssembledProgram> assembled(programs.size());
  for (const uint32_t wave : {32u, 64u}) {
    std::string text;
    for (const ProgramText& program : programs) {
      if (program.launch.wave != wave) continue;
      for (const Line& line : program.lines) text += line.text + "\n";
    }
    if (text.empty()) continue;
    const std::vector<uint32_t> code = machine_code(text, wave);
    size_t next = 0;
    for (size_t n = 0; n < programs.size(); ++n) {
      if (programs[n].launch.wave == wave) assembled[n] = taken(programs[n], code, next);
    }
  }
  return assembled;
}

AssembledProgram assemble(const ProgramText& program) { return assemble(std::span(&program, 1)).front(); }

void save(const std::filesystem::path& file, std::span<const AssembledProgram> programs) {
  Writer out(file);
  out.word(kMagic);
  out.word(kVersion);
  out.word(static_cast<uint32_t>(programs.size()));
  for (const AssembledProgram& program : programs) {
    out.all(std::vector<char>(program.name.begin(), program.name.end()));
    out.all(std::vector<Launch>{program.launch});
    out.all(program.words);
    out.all(program.places);
    out.all(program.approximations);
    out.word(program.memory_seed);
  }
  if (!out.good()) throw std::runtime_error("can't write " + file.string());
}

std::vector<AssembledProgram> load(const std::filesystem::path& file) {
  Reader in(contents(file));
  if (in.word() != kMagic || in.word() != kVersion)
    throw std::runtime_error(file.string() + ": not a file of programs");
  std::vector<AssembledProgram> programs(in.word());
  for (AssembledProgram& program : programs) {
    const auto name = in.all<char>();
    program.name.assign(name.begin(), name.end());
    program.launch = in.all<Launch>().at(0);
    program.words = in.all<uint32_t>();
    program.places = in.all<Place>();
    program.approximations = in.all<Approximation>();
    program.memory_seed = in.word();
  }
  return programs;
}

Program read(const AssembledProgram& assembled) {
  const std::span<const uint32_t> words(assembled.words);
  auto program = read_program([&](uint32_t offset, uint32_t dwords) {
    const size_t first = offset / 4;
    return first < words.size() ? words.subspan(first, std::min<size_t>(dwords, words.size() - first))
                                : std::span<const uint32_t>{};
  });
  if (!program) throw std::runtime_error(assembled.name + ": " + program.error().reason);
  return *program;
}

std::string listing(const AssembledProgram& assembled) {
  std::string text;
  size_t next = 0;
  for (const Instruction& instruction : read(assembled).instructions) {
    while (next < assembled.places.size() && assembled.places[next].word * 4 < instruction.offset) ++next;
    const bool kept = next >= assembled.places.size() || assembled.places[next].unit != 0;
    if (!kept || instruction.opcode == Opcode::s_nop) continue;
    text += fmt::format("{:5x}  {}\n", instruction.offset, to_text(instruction, assembled.launch.wave));
  }
  return text;
}

}  // namespace orrery::shader::differential
