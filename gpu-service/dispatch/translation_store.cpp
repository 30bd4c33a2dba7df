#include "gpu-service/dispatch/translation_store.hpp"

#include <elf.h>
#include <link.h>
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>

#include "gpu-service/dispatch/module_bytes.hpp"
#include "shared/log.hpp"
#include "shared/measure/span.hpp"
#include "shared/plain_file.hpp"

namespace orrery::dispatch {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kMagic = 0x314c5254'5252524f;  // "ORRRTRL1"
constexpr uint64_t kMostFileBytes = 64ull << 20;
constexpr const char* kSuffix = ".translation";

struct FileHeader {
  uint64_t magic = kMagic;
  uint64_t size = 0;      // bytes behind the header: the key, then the module
  uint64_t key_size = 0;  // bytes
  ContentHash hash;       // of those bytes
};

// The build id note of the first object, which is the program itself.
int find_build_id(dl_phdr_info* info, size_t, void* out) {
  auto& id = *static_cast<std::vector<std::byte>*>(out);
  for (size_t i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = info->dlpi_phdr[i];
    if (segment.p_type != PT_NOTE) continue;
    const auto* at = reinterpret_cast<const std::byte*>(info->dlpi_addr + segment.p_vaddr);
    const std::byte* const end = at + segment.p_memsz;
    while (static_cast<size_t>(end - at) >= sizeof(ElfW(Nhdr))) {
      ElfW(Nhdr) note;
      std::memcpy(&note, at, sizeof(note));
      const std::byte* const name = at + sizeof(note);
      const std::byte* const description = name + (note.n_namesz + 3) / 4 * 4;
      if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && std::memcmp(name, "GNU", 4) == 0) {
        id.assign(description, description + note.n_descsz);
        return 1;
      }
      at = description + (note.n_descsz + 3) / 4 * 4;
    }
  }
  return 1;  // only the first
}

}  // namespace

ContentHash translator_build() {
  static const ContentHash build = [] {
    std::vector<std::byte> id;
    dl_iterate_phdr(find_build_id, &id);
    if (id.empty()) {  // linked without one: the program's bytes
      std::ifstream self("/proc/self/exe", std::ios::binary);
      const std::vector<char> bytes{std::istreambuf_iterator<char>(self), {}};
      const auto raw = std::as_bytes(std::span(bytes));
      id.assign(raw.begin(), raw.end());
    }
    return hash_bytes(id, shader::translator_version());
  }();
  return build;
}

std::vector<std::byte> translation_key(const shader::Program& program, const shader::TranslateOptions& o,
                                       ContentHash build) {
  // A member that is added must be in the key; then these numbers change.
  static_assert(sizeof(shader::TranslateOptions) == 232 && sizeof(shader::HostFeatures) == 48);
  std::vector<std::byte> key;
  const auto put = [&](auto value) {
    const auto bytes = std::as_bytes(std::span(&value, 1));
    key.insert(key.end(), bytes.begin(), bytes.end());
  };
  for (const ContentHash& hash : {build, program.hash}) {
    put(hash.low);
    put(hash.high);
  }
  for (const uint32_t word :
       {o.layout.wave, o.layout.subgroup, o.layout.k, static_cast<uint32_t>(o.layout.exchange), o.group_size[0],
        o.group_size[1], o.group_size[2], o.rsrc1, o.rsrc2, o.scratch_dwords, o.host.workgroup_memory,
        o.host.max_invocations, o.host.min_subgroup, o.host.max_subgroup, o.host.max_subgroups, o.host.loop_limit,
        o.host.keeps_denormals_of, o.host.keeps_special_of}) {
    put(word);
  }
  put(static_cast<uint32_t>(o.stage.kind));
  put(o.stage.parameters);
  put(o.stage.inputs);
  for (const uint32_t control : o.stage.input_control) put(control);
  for (const bool flag :
       {o.partial_groups, o.bind_buffers, o.host.fuses_fma, o.host.fma_keeps_denormals, o.host.rounds_halves,
        o.host.orders_zeros, o.host.float16, o.host.float64, o.host.int8, o.host.int16, o.host.int64,
        o.host.buffer_int64_atomics, o.host.shared_int64_atomics, o.host.workgroup_views, o.host.lockstep_subgroups}) {
    put(static_cast<uint8_t>(flag));
  }
  return key;
}

TranslationStore::TranslationStore(fs::path directory, ContentHash build, uint64_t most_bytes)
    : directory_(std::move(directory)), build_(build), most_bytes_(most_bytes) {}

fs::path TranslationStore::path_of(const shader::Program& program, const shader::TranslateOptions& options) const {
  return path_of_key(translation_key(program, options, build_));
}
fs::path TranslationStore::path_of_key(std::span<const std::byte> key) const {
  return directory_ / (hash_bytes(key).hex() + kSuffix);
}

std::optional<shader::Module> TranslationStore::load(const shader::Program& program,
                                                     const shader::TranslateOptions& options) {
  if (directory_.empty()) return std::nullopt;
  const auto key = translation_key(program, options, build_);
  const fs::path path = path_of_key(key);
  const PlainFile file = open_plain_file(path);
  if (!file.fd) {
    if (errno != ENOENT && errno != ENOTDIR) log::warn("translation {}: {}", path.string(), std::strerror(errno));
    return std::nullopt;
  }
  if (!file.plain) {
    log::warn("translation {} is no plain file; it is ignored", path.string());
    return std::nullopt;
  }
  FileHeader header;
  if (file.size < sizeof(header) || file.size > kMostFileBytes ||
      read_all(file.fd.get(), std::as_writable_bytes(std::span(&header, 1))) != sizeof(header) ||
      header.magic != kMagic || header.size != file.size - sizeof(header) || header.key_size > header.size) {
    log::warn("translation {} is cut off or damaged; it is ignored", path.string());
    return std::nullopt;
  }
  std::vector<std::byte> bytes(header.size);
  if (read_all(file.fd.get(), bytes) != bytes.size() || hash_bytes(bytes) != header.hash) {
    log::warn("translation {} is damaged; it is ignored", path.string());
    return std::nullopt;
  }
  if (!std::ranges::equal(std::span(bytes).first(header.key_size), key)) {
    log::warn("translation {} is of something else; it is ignored", path.string());
    return std::nullopt;
  }
  auto module = module_of(std::span(bytes).subspan(header.key_size));
  if (!module || module->layout != options.layout) {
    log::warn("translation {} holds no module; it is ignored", path.string());
    return std::nullopt;
  }
  futimens(file.fd.get(), nullptr);  // what is used last is dropped last
  ++loaded_;
  return module;
}

void TranslationStore::save(const shader::Program& program, const shader::TranslateOptions& options,
                            const shader::Module& module) {
  if (directory_.empty() || failed_) return;
  std::vector<std::byte> body = translation_key(program, options, build_);
  const fs::path path = path_of_key(body);
  FileHeader header;
  header.key_size = body.size();
  append_module(body, module);
  header.size = body.size();
  header.hash = hash_bytes(body);
  const uint64_t file_bytes = sizeof(header) + body.size();
  if (file_bytes > std::min(kMostFileBytes, most_bytes_)) return;

  if (!publish_file(path, {std::as_bytes(std::span(&header, 1)), body})) {
    failed_ = true;
    log::warn("translations are not kept: {}: {}", path.string(), std::strerror(errno));
    return;
  }
  ++saved_;
  const measure::CountedLock lock(keeping_);
  held_ += file_bytes;
  if (!counted_ || held_ > most_bytes_) keep_within_bounds();
}

// Counts what is there; beyond the bound the files that were not used for longest go, down to three quarters. Files of
// a writer that died between its two steps go after an hour.
void TranslationStore::keep_within_bounds() {
  struct File {
    fs::file_time_type used;
    uint64_t size = 0;
    fs::path path;
  };
  std::vector<File> files;
  std::error_code error;
  held_ = 0;
  counted_ = true;
  const auto now = fs::file_time_type::clock::now();
  for (fs::directory_iterator entry(directory_, error), end; !error && entry != end; entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    const size_t at = name.find(kSuffix);
    std::error_code ignored;
    if (at == std::string::npos || !entry->is_regular_file(ignored)) continue;
    const File file{entry->last_write_time(ignored), entry->file_size(ignored), entry->path()};
    if (ignored) continue;
    if (!name.ends_with(kSuffix)) {
      if (now - file.used > std::chrono::hours(1)) fs::remove(file.path, ignored);
      continue;
    }
    held_ += file.size;
    files.push_back(file);
  }
  if (held_ <= most_bytes_) return;
  std::ranges::sort(files, {}, &File::used);
  for (const File& file : files) {
    if (held_ <= most_bytes_ / 4 * 3) break;
    std::error_code ignored;
    if (fs::remove(file.path, ignored)) held_ -= file.size;
  }
}

}  // namespace orrery::dispatch
