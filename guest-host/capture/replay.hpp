// Runs a capture: gives a GPU service what a run gave it, in the same order, with the same memory, and compares the
// memory after each step with the run's.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "guest-host/capture/capture_file.hpp"
#include "guest-host/link/link.hpp"

namespace orrery::capture {

struct ReplayOptions {
  std::string file;
  // Only the first so many steps (settled points); 0: all.
  uint64_t steps = 0;
  // With `steps`: of the last submission of the last step only the packets up to this dword of its last command buffer.
  std::optional<uint32_t> cut;
};

struct Step {
  uint64_t entries = 0;  // given before and in it
  uint64_t flips = 0;
  MemoryHash memory;
  bool equal = true;  // to the run's
};

struct ReplayResult {
  std::vector<Step> steps;
  uint64_t entries = 0, flips = 0;
  bool cut_off = false;           // the file was
  bool ended_early = false;       // the run ended before the file did: the launcher, a person
  std::vector<uint32_t> packets;  // dwords at which packets of the last submission's last buffer begin
  std::vector<uint32_t> words;    // their headers
  uint64_t different() const;
  std::string hash() const;
};

// What the service says to nobody but its listener; it must outlive the link.
class Audience final : public link::Listener {
 public:
  void retired(uint64_t, protocol::EntryKind) override {}
  void queue_event(uint32_t, uint32_t) override {}
  void input(const link::PadInput&) override {}
  void window_closed() override { over_ = true; }
  void run_must_end(const Error& why) override;
  bool over() const { return over_; }

 private:
  std::atomic<bool> over_{false};
};

// `link` was made with `arena` and is started here.
Result<ReplayResult> replay(CaptureReader& reader, const ReplayOptions& options, const UniqueFd& arena,
                            link::Link& link, Audience& audience);

// {"title": ..., "hash": ..., "steps": [...], ...}
std::string json_of(const ReplayResult& result, const Facts& facts);
// "300 flips, 601 submissions, hash ..., equal to the run's", or where it first differs.
std::string words_of(const ReplayResult& result);

}  // namespace orrery::capture
