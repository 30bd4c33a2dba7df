// A capture: what a run gave the GPU service, in order, with the guest memory it found there, and a hash of the memory
// after each step. Records one behind the other, each with a check sum, so that a file cut off or damaged anywhere is
// good up to there. Equal pages are stored once.
#pragma once

#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

#include "guest-host/capture/page_scan.hpp"
#include "shared/error.hpp"

namespace orrery::capture {

struct Facts {
  std::string title;  // at most 63 bytes are kept
  uint64_t arena_size = 0;
  uint64_t first_flip = 0;
};
struct MapRecord {
  std::vector<protocol::MapEntry> entries;  // as published
};
struct StoredPage {
  uint64_t offset = 0;   // into the arena
  uint64_t content = 0;  // number of the content in the file, from 1; 0: all zero
};
struct PagesRecord {
  std::vector<StoredPage> pages;
};
// The queues' registers where the capture begins, when it does not begin with the run.
struct RegistersRecord {
  uint32_t protocol = 0;
  std::vector<std::byte> checkpoints;  // the control segment's part
};
struct EntryRecord {
  protocol::EntryKind kind{};
  uint32_t queue = 0;
  uint64_t guest_time_ns = 0;
  std::vector<std::byte> body;
};
// The service has done all it can.
struct SettledRecord {
  MemoryHash memory;
  uint64_t open = 0;  // entries that wait for the title's CPU
};
struct EndRecord {
  uint64_t entries = 0, flips = 0;
};
using Record = std::variant<MapRecord, PagesRecord, RegistersRecord, EntryRecord, SettledRecord, EndRecord>;

class CaptureWriter {
 public:
  static Result<CaptureWriter> create(const std::string& path, const Facts& facts);
  void map(std::span<const protocol::MapEntry> entries);
  void pages(std::span<const ChangedPage> changed);
  void registers(uint32_t protocol, std::span<const std::byte> checkpoints);
  void entry(protocol::EntryKind kind, uint32_t queue, uint64_t guest_time_ns,
             std::span<const std::span<const std::byte>> body);
  void settled(const SettledRecord& record);
  // Closes the file. Error: something could not be written.
  Result<void> end(const EndRecord& record);
  uint64_t bytes() const { return bytes_; }

 private:
  struct CloseFile {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  CaptureWriter(std::unique_ptr<std::FILE, CloseFile> file, std::string path)
      : file_(std::move(file)), path_(std::move(path)) {}
  void put(uint32_t kind, std::span<const std::span<const std::byte>> pieces);

  std::unique_ptr<std::FILE, CloseFile> file_;
  std::string path_;
  std::unordered_map<ContentHash, uint64_t> contents_;  // number by hash
  uint64_t bytes_ = 0;
  int failed_ = 0;  // errno of the first write that did
};

class CaptureReader {
 public:
  // Error: not a capture, or one of another version of the format.
  static Result<CaptureReader> open(const std::string& path);
  const Facts& facts() const { return facts_; }
  // The next record; nothing at the end of what can be read.
  std::optional<Record> next();
  // Bytes of a content, at most one page.
  Result<void> content(uint64_t number, std::span<std::byte> page) const;
  // Whether there was something that could not be read, or the last record is missing.
  bool cut_off() const { return !ended_; }

 private:
  struct Raw {
    uint32_t kind = 0;
    std::vector<std::byte> payload;
    uint64_t begin = 0;  // of the payload in the file
  };
  explicit CaptureReader(UniqueFd fd, uint64_t size) : fd_(std::move(fd)), size_(size) {}
  std::optional<Raw> raw();
  std::optional<Record> convert(const Raw& raw);
  bool note_contents(const Raw& raw);

  UniqueFd fd_;
  uint64_t size_, at_ = 0;
  Facts facts_;
  std::vector<uint64_t> contents_;  // where in the file
  bool ended_ = false;
};

}  // namespace orrery::capture
