// The guest process write-protects its pages and notes faults; here its notes are read and pages are armed again.
#include <chrono>

#include "gpu-service/memory/harvester.hpp"
#include "gpu-service/memory/window_index.hpp"
#include "protocol/page_states.hpp"

namespace orrery::memory {
namespace {

// The guest process may be stopped, by a debugger for one; what it does not arm is compared instead from then on.
constexpr std::chrono::seconds kPatience{10};

class FaultHarvester final : public Harvester {
 public:
  FaultHarvester(Mapping states, protocol::ArmRequester requester)
      : states_(std::move(states)), requester_(requester) {}

  std::string_view name() const override { return "mprotect"; }
  void map_changed(std::span<const protocol::MapEntry> entries) override { windows_ = WindowIndex(entries); }

  Result<void> arm(ArenaRange range) override {
    ranges_.clear();
    windows_.for_each(
        range, [&](const WindowIndex::Window&, AddressRange guest) { ranges_.push_back({guest.begin, guest.end}); });
    return requester_.arm(ranges_, kPatience);
  }

  Result<void> harvest(std::span<const ArenaRange> runs, std::vector<ArenaRange>& written) override {
    ranges_.clear();
    for (const ArenaRange& run : runs) {
      windows_.for_each(run, [&](const WindowIndex::Window& window, AddressRange guest) {
        for (uint64_t at = guest.begin; at < guest.end; at += kHostPage) {
          if (!is_written(at)) continue;
          const uint64_t begin = at - window.guest_begin + window.arena.begin;
          written.push_back({begin, begin + kHostPage});
          if (!ranges_.empty() && ranges_.back().end == at) {
            ranges_.back().end = at + kHostPage;
          } else {
            ranges_.push_back({at, at + kHostPage});
          }
        }
      });
    }
    return requester_.arm(ranges_, kPatience);
  }

 private:
  // What is not armed counts as written; what no window shows any more was not written through it.
  bool is_written(uint64_t address) const {
    if (address / kHostPage >= states_.size()) return false;
    auto& byte = *reinterpret_cast<uint8_t*>(states_.data() + address / kHostPage);
    const uint8_t state = std::atomic_ref(byte).load(std::memory_order_acquire);
    return (state & protocol::kPageMapped) != 0 &&
           ((state & protocol::kPageWritten) != 0 || (state & protocol::kPageArmed) == 0);
  }

  Mapping states_;
  protocol::ArmRequester requester_;
  WindowIndex windows_;
  std::vector<protocol::GuestRange> ranges_;
};

}  // namespace

Result<std::unique_ptr<Harvester>> make_fault_harvester(const UniqueFd& states, std::span<std::byte> requests) {
  ORRERY_TRY(check_memory_file(states, {protocol::kPageStateBytes}));
  auto mapping = Mapping::of(states, {0}, {protocol::kPageStateBytes});
  if (!mapping) return std::unexpected(std::move(mapping.error()));
  return std::make_unique<FaultHarvester>(std::move(*mapping), protocol::ArmRequester(requests));
}

}  // namespace orrery::memory
