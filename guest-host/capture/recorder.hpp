// Captures a run: sees every entry on its way to the GPU service, and writes with it what changed in guest memory since
// the service last settled.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "guest-host/capture/capture_file.hpp"
#include "guest-host/link/submission_watcher.hpp"
#include "protocol/address_map.hpp"
#include "protocol/control_segment.hpp"

namespace orrery::capture {

// What `--capture` asks for: FILE or FILE:FROM-TO, flips FROM to before TO, counted from 0.
struct Wish {
  std::string path;
  uint64_t from = 0;
  uint64_t to = UINT64_MAX;
};
Result<Wish> parse_wish(const std::string& text);

class Recorder final : public link::SubmissionWatcher {
 public:
  // `arena` and `segment` must outlive it.
  static Result<std::unique_ptr<Recorder>> start(const Wish& wish, const std::string& title, const UniqueFd& arena,
                                                 Bytes arena_size, const protocol::ControlSegment& segment);
  void appended(protocol::EntryKind kind, uint32_t queue, std::chrono::nanoseconds guest_time,
                std::span<const std::span<const std::byte>> body) override;
  void settling() override;
  void settled(uint64_t open) override;
  // Closes the file and says what it holds: "300 flips, 601 submissions, 12 MiB, hash ...".
  Result<std::string> finish();

 private:
  Recorder(Wish wish, CaptureWriter writer, PageScan scan, const protocol::ControlSegment& segment, Bytes arena_size);
  void write_memory();
  void begin();
  void stop(const Error& error);

  std::mutex mutex_;  // the run may end while the title is in a call
  Wish wish_;
  CaptureWriter writer_;
  PageScan scan_;
  const protocol::ControlSegment& segment_;
  protocol::AddressMapReader map_reader_;
  std::vector<protocol::MapEntry> map_;
  uint64_t map_version_ = UINT64_MAX;
  bool recording_ = false, over_ = false;
  uint64_t flips_ = 0;         // that the title asked for
  uint64_t open_ = 0;          // entries that waited for the title when the service last settled
  uint64_t beside_ = 0;        // looks at memory while such entries might have gone on
  EndRecord given_, written_;  // given to the service; with results
  std::vector<MemoryHash> results_;
  std::optional<Error> failed_;
};

// One hash of all of a run's results, in 32 digits.
std::string hash_of(std::span<const MemoryHash> results);

}  // namespace orrery::capture
