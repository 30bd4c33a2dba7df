#include "gpu-service/lane_report/find_programs.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>

#include "gpu-service/lane_report/code_object.hpp"
#include "gpu-service/lane_report/title_kernels.hpp"
#include "shared/plain_file.hpp"

namespace orrery::lane_report {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kMostBytes = 4ull << 30;

// Never waits: a pipe in a file's place is refused, not read.
Result<std::vector<std::byte>> read_file(const fs::path& path) {
  const PlainFile file = open_plain_file(path);
  if (!file.fd) return fail(ExitCode::file_missing, "{}: {}", path.string(), std::strerror(errno));
  if (!file.plain) return fail(ExitCode::file_malformed, "{}: no plain file", path.string());
  if (file.size > kMostBytes) {
    return fail(ExitCode::file_malformed, "{}: {} bytes are too many", path.string(), file.size);
  }
  std::vector<std::byte> bytes(file.size);
  bytes.resize(read_all(file.fd.get(), bytes));
  return bytes;
}

// The facts that the corpus' build wrote beside the machine code (tests/gpu-service/shader/corpus/README.md).
Result<std::vector<ComputeProgram>> corpus_program(fs::path facts) {
  facts.replace_extension(".json");
  auto text = read_file(facts);
  if (!text) return std::unexpected(std::move(text.error()));
  // The image where there is one: a kernel may call functions that lie behind it.
  auto code = read_file(fs::path(facts).replace_extension(".image"));
  const bool whole = code.has_value();
  if (!whole) code = read_file(fs::path(facts).replace_extension(".bin"));
  if (!code) return std::unexpected(std::move(code.error()));
  ComputeProgram program;
  try {
    const auto* chars = reinterpret_cast<const char*>(text->data());
    const auto json = nlohmann::json::parse(chars, chars + text->size());
    program.name = json.at("name");
    program.wave = json.at("wave");
    program.rsrc1 = json.at("rsrc1");
    program.rsrc2 = json.at("rsrc2");
    program.private_bytes = json.at("private");
    program.group = json.at("group_size");
    if (whole) program.offset = json.at("entry");
  } catch (const nlohmann::json::exception& error) {
    return fail(ExitCode::file_malformed, "{}: {}", facts.string(), error.what());
  }
  if (program.wave != 32 && program.wave != 64) {
    return fail(ExitCode::file_malformed, "{}: a wave of {}", facts.string(), program.wave);
  }
  if (program.offset >= code->size()) {
    return fail(ExitCode::file_malformed, "{}: the entry lies outside the image", facts.string());
  }
  program.words = words_of(Bytes(*code).subspan(program.offset));
  return std::vector{std::move(program)};
}

bool facts_beside(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(fs::path(path).replace_extension(".json"), ignored) &&
         fs::is_regular_file(fs::path(path).replace_extension(".bin"), ignored);
}

// May a file of this name in a folder hold programs, and is it the one of its siblings that is taken?
bool worth_reading(const fs::path& path) {
  const std::string suffix = path.extension().string();
  if (suffix == ".json") return facts_beside(path);
  if (suffix == ".bin" || suffix == ".co" || suffix == ".image") return !facts_beside(path) && suffix != ".image";
  return suffix == ".elf" || suffix == ".self" || suffix == ".prx" || suffix == ".sprx" || suffix == ".hsaco";
}

}  // namespace

Result<std::vector<ComputeProgram>> programs_in(const fs::path& file) {
  const std::string suffix = file.extension().string();
  if (suffix == ".json" || (suffix == ".bin" && facts_beside(file))) return corpus_program(file);
  auto bytes = read_file(file);
  if (!bytes) return std::unexpected(std::move(bytes.error()));
  if (is_code_object(*bytes)) {
    auto programs = programs_of_code_object(*bytes, 0);
    if (!programs) return fail(ExitCode::file_malformed, "{}: {}", file.string(), programs.error());
    return std::move(*programs);
  }
  if (!is_executable(*bytes)) {
    return fail(ExitCode::file_malformed, "{}: no code object, no corpus program (.json and .bin) and no executable",
                file.string());
  }
  auto programs = programs_of_title(*bytes);
  if (programs.empty()) return fail(ExitCode::file_malformed, "{}: no compute program is embedded", file.string());
  return programs;
}

Result<std::vector<FoundFile>> find_programs(const fs::path& path) {
  std::error_code error;
  const auto status = fs::status(path, error);
  if (!fs::exists(status)) return fail(ExitCode::file_missing, "{}: no such file or folder", path.string());
  std::vector<FoundFile> out;
  if (!fs::is_directory(status)) {
    out.push_back({path, programs_in(path)});
    return out;
  }
  std::vector<fs::path> paths;
  const auto options = fs::directory_options::skip_permission_denied;
  for (fs::recursive_directory_iterator entry(path, options, error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code ignored;
    if (entry->is_regular_file(ignored) && worth_reading(entry->path())) paths.push_back(entry->path());
  }
  if (error) return fail(ExitCode::file_missing, "{}: {}", path.string(), error.message());
  std::ranges::sort(paths);
  for (const fs::path& one : paths) {
    auto programs = programs_in(one);
    // Executables and other files of a folder that hold nothing are no news; damaged code objects are.
    const std::string suffix = one.extension().string();
    if (!programs && suffix != ".json" && suffix != ".co" && suffix != ".hsaco") continue;
    out.push_back({one, std::move(programs)});
  }
  return out;
}

}  // namespace orrery::lane_report
