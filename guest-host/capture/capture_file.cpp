#include "guest-host/capture/capture_file.hpp"

#include <unistd.h>
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "guest-host/capture/check_sum.hpp"
#include "shared/plain_file.hpp"

namespace orrery::capture {
namespace {

constexpr uint64_t kMagic = 0x3150'4143'5952'524f;  // "ORRYCAP1"
// More is no record of ours.
constexpr uint64_t kMostPayload = 1ull << 32;

enum RecordKind : uint32_t {
  kFacts = 1,
  kMap = 2,
  kContents = 3,  // pages' bytes, numbered on
  kPages = 4,
  kRegisters = 5,
  kEntry = 6,
  kSettled = 7,
  kEnd = 8,
};

struct Head {
  uint32_t kind;
  uint32_t check;  // of the payload
  uint64_t size;   // of the payload, which is padded to 8
};
struct FactsOnDisk {
  uint64_t magic, arena_size, first_flip;
  std::array<char, 64> title;
};
struct EntryOnDisk {
  uint32_t kind, queue;
  uint64_t guest_time_ns;
};
struct RegistersOnDisk {
  uint32_t protocol, reserved;
};

template <class T>
std::span<const std::byte> bytes_of(const T& value) {
  return std::as_bytes(std::span(&value, 1));
}

template <class T>
bool take(std::span<const std::byte>& from, T& to) {
  if (from.size() < sizeof to) return false;
  std::memcpy(&to, from.data(), sizeof to);
  from = from.subspan(sizeof to);
  return true;
}

template <class T>
bool take_all(std::span<const std::byte> from, std::vector<T>& to) {
  if (from.size() % sizeof(T) != 0) return false;
  to.resize(from.size() / sizeof(T));
  if (!to.empty()) std::memcpy(to.data(), from.data(), from.size());
  return true;
}

}  // namespace

Result<CaptureWriter> CaptureWriter::create(const std::string& path, const Facts& facts) {
  std::unique_ptr<std::FILE, CloseFile> file(std::fopen(path.c_str(), "wb"));
  if (!file) return fail(ExitCode::usage, "cannot write the capture {}: {}", path, std::strerror(errno));
  CaptureWriter writer(std::move(file), path);
  FactsOnDisk disk{kMagic, facts.arena_size, facts.first_flip, {}};
  std::strncpy(disk.title.data(), facts.title.c_str(), disk.title.size() - 1);
  writer.put(kFacts, std::array{bytes_of(disk)});
  return writer;
}

void CaptureWriter::put(uint32_t kind, std::span<const std::span<const std::byte>> pieces) {
  Head head{kind, 0, 0};
  CheckSum check;
  for (const auto piece : pieces) {
    head.size += piece.size();
    check.add(piece);
  }
  head.check = check.value();
  const auto write = [this](std::span<const std::byte> piece) {
    if (failed_ == 0 && std::fwrite(piece.data(), 1, piece.size(), file_.get()) != piece.size()) failed_ = errno;
    bytes_ += piece.size();
  };
  write(bytes_of(head));
  for (const auto piece : pieces) write(piece);
  constexpr std::array<std::byte, 8> kPadding{};
  write(std::span(kPadding).first((8 - head.size % 8) % 8));
}

void CaptureWriter::map(std::span<const protocol::MapEntry> entries) { put(kMap, std::array{std::as_bytes(entries)}); }

void CaptureWriter::pages(std::span<const ChangedPage> changed) {
  if (changed.empty()) return;
  std::vector<std::span<const std::byte>> fresh;
  std::vector<StoredPage> stored;
  // Contents as they were hashed: a page that the title's other threads change meanwhile would be another one.
  for (const ChangedPage& page : changed) {
    uint64_t number = 0;
    if (!page.zero) {
      const auto [known, added] = contents_.try_emplace(page.hash, contents_.size() + 1);
      if (added) fresh.push_back(page.bytes);
      number = known->second;
    }
    stored.push_back({page.offset, number});
  }
  if (!fresh.empty()) put(kContents, fresh);
  put(kPages, std::array{std::as_bytes(std::span(stored))});
}

void CaptureWriter::registers(uint32_t protocol, std::span<const std::byte> checkpoints) {
  const RegistersOnDisk disk{protocol, 0};
  put(kRegisters, std::array{bytes_of(disk), checkpoints});
}

void CaptureWriter::entry(protocol::EntryKind kind, uint32_t queue, uint64_t guest_time_ns,
                          std::span<const std::span<const std::byte>> body) {
  const EntryOnDisk disk{static_cast<uint32_t>(kind), queue, guest_time_ns};
  std::vector<std::span<const std::byte>> pieces{bytes_of(disk)};
  pieces.insert(pieces.end(), body.begin(), body.end());
  put(kEntry, pieces);
}

void CaptureWriter::settled(const SettledRecord& record) {
  put(kSettled, std::array{bytes_of(record)});
  // What is there when the process is killed can be replayed.
  if (std::fflush(file_.get()) != 0 && failed_ == 0) failed_ = errno;
}

Result<void> CaptureWriter::end(const EndRecord& record) {
  put(kEnd, std::array{bytes_of(record)});
  if (std::fflush(file_.get()) != 0 && failed_ == 0) failed_ = errno;
  if (failed_ == 0) return {};
  return fail(ExitCode::internal, "the capture {} is cut off: {}", path_, std::strerror(failed_));
}

Result<CaptureReader> CaptureReader::open(const std::string& path) {
  PlainFile file = open_plain_file(path);
  if (!file.fd) return fail(ExitCode::file_missing, "cannot open the capture {}: {}", path, std::strerror(errno));
  CaptureReader reader(std::move(file.fd), file.plain ? file.size : 0);
  const auto first = reader.raw();
  FactsOnDisk disk{};
  std::span<const std::byte> bytes;
  if (first && first->kind == kFacts) bytes = first->payload;
  if (!take(bytes, disk) || disk.magic != kMagic) {
    return fail(ExitCode::file_malformed, "{} is no capture that this build reads", path);
  }
  disk.title.back() = 0;
  reader.facts_ = {disk.title.data(), disk.arena_size, disk.first_flip};
  return reader;
}

std::optional<CaptureReader::Raw> CaptureReader::raw() {
  const auto read_at = [this](uint64_t at, std::span<std::byte> to) {
    return ::lseek(fd_.get(), static_cast<off_t>(at), SEEK_SET) >= 0 && read_all(fd_.get(), to) == to.size();
  };
  Head head{};
  if (size_ - at_ < sizeof head || !read_at(at_, std::as_writable_bytes(std::span(&head, 1)))) return std::nullopt;
  const uint64_t begin = at_ + sizeof head;
  if (head.size > kMostPayload || head.size > size_ - begin) return std::nullopt;
  Raw raw{head.kind, std::vector<std::byte>(head.size), begin};
  if (!read_at(begin, raw.payload)) return std::nullopt;
  CheckSum check;
  check.add(raw.payload);
  if (check.value() != head.check) return std::nullopt;
  at_ = std::min(size_, begin + align_up(head.size, 8));
  return raw;
}

bool CaptureReader::note_contents(const Raw& raw) {
  if (raw.payload.size() % kPageBytes != 0) return false;
  for (uint64_t at = 0; at < raw.payload.size(); at += kPageBytes) contents_.push_back(raw.begin + at);
  return true;
}

std::optional<Record> CaptureReader::next() {
  while (!ended_) {
    const uint64_t here = at_;
    auto read = raw();
    if (!read) return std::nullopt;
    if (read->kind == kContents && note_contents(*read)) continue;
    auto record = convert(*read);
    if (!record) at_ = here;  // stays at what it can't read
    return record;
  }
  return std::nullopt;
}

std::optional<Record> CaptureReader::convert(const Raw& raw) {
  std::span<const std::byte> bytes = raw.payload;
  switch (raw.kind) {
    case kMap: {
      MapRecord map;
      if (!take_all(bytes, map.entries)) return std::nullopt;
      return map;
    }
    case kPages: {
      PagesRecord pages;
      if (!take_all(bytes, pages.pages)) return std::nullopt;
      for (const StoredPage& page : pages.pages) {
        const bool inside = page.offset < facts_.arena_size && facts_.arena_size - page.offset >= kPageBytes;
        if (!inside || page.offset % kPageBytes != 0 || page.content > contents_.size()) return std::nullopt;
      }
      return pages;
    }
    case kRegisters: {
      RegistersOnDisk disk{};
      RegistersRecord registers;
      if (!take(bytes, disk)) return std::nullopt;
      registers.protocol = disk.protocol;
      registers.checkpoints.assign(bytes.begin(), bytes.end());
      return registers;
    }
    case kEntry: {
      EntryOnDisk disk{};
      if (!take(bytes, disk)) return std::nullopt;
      const auto kind = static_cast<protocol::EntryKind>(disk.kind);
      if (kind != protocol::EntryKind::submission && kind != protocol::EntryKind::flip) return std::nullopt;
      return EntryRecord{kind, disk.queue, disk.guest_time_ns, {bytes.begin(), bytes.end()}};
    }
    case kSettled: {
      SettledRecord settled;
      if (!take(bytes, settled)) return std::nullopt;
      return settled;
    }
    case kEnd: {
      EndRecord end;
      if (!take(bytes, end)) return std::nullopt;
      ended_ = true;
      return end;
    }
    default:
      return std::nullopt;
  }
}

Result<void> CaptureReader::content(uint64_t number, std::span<std::byte> page) const {
  const auto at = static_cast<off_t>(contents_.at(number - 1));
  if (::lseek(fd_.get(), at, SEEK_SET) == at && read_all(fd_.get(), page) == page.size()) return {};
  return fail(ExitCode::file_malformed, "content {} of the capture cannot be read again", number);
}

}  // namespace orrery::capture
