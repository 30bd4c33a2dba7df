#include "gpu-service/memory/harvester.hpp"

#include <utility>

#include "gpu-service/memory/page_bits.hpp"
#include "gpu-service/memory/scan_plan.hpp"
#include "shared/content_hash.hpp"

namespace orrery::memory {
namespace {

class PageTableHarvester final : public Harvester {
 public:
  explicit PageTableHarvester(WriteScan scan) : scan_(std::move(scan)) {}

  std::string_view name() const override { return "uffd"; }

  void map_changed(std::span<const protocol::MapEntry> entries) override {
    windows_ = WindowIndex(entries);
    plan_ = {};
  }

  Result<void> arm(ArenaRange range) override {
    Result<void> done;
    windows_.for_each(range, [&](const WindowIndex::Window&, AddressRange guest) {
      if (done) done = scan_.arm(guest);
    });
    return done;
  }

  Result<void> harvest(std::span<const ArenaRange> runs, std::vector<ArenaRange>& written) override {
    if (!plan_.is_for(runs)) plan_ = ScanPlan(runs, windows_);
    for (const ScanPlan::Scan& scan : plan_.scans()) {
      if (scan.gaps) {
        ORRERY_TRY(look_then_harvest(scan, written));
      } else {
        ORRERY_TRY(harvest_parts(scan.guest, scan.parts, written));
      }
    }
    return {};
  }

 private:
  // `guest` is armed throughout.
  Result<void> harvest_parts(AddressRange guest, std::span<const ScanPlan::Part> parts,
                             std::vector<ArenaRange>& written) {
    found_.clear();
    ORRERY_TRY(scan_.harvest(guest, found_));
    for_each_met(found_, parts, [&](const ScanPlan::Part& part, AddressRange met) {
      const uint64_t begin = met.begin - part.guest.begin + part.arena;
      written.push_back({begin, begin + (met.end - met.begin)});
    });
    return {};
  }

  // What is written in the gaps is nobody's business; parts without a written page are done.
  Result<void> look_then_harvest(const ScanPlan::Scan& scan, std::vector<ArenaRange>& written) {
    found_.clear();
    ORRERY_TRY(scan_.harvest(scan.guest, found_, false));
    const ScanPlan::Part* last = nullptr;
    touched_.clear();
    for_each_met(found_, scan.parts, [&](const ScanPlan::Part& part, AddressRange) {
      if (std::exchange(last, &part) != &part) touched_.push_back(part);
    });
    for (const ScanPlan::Part& part : touched_) ORRERY_TRY(harvest_parts(part.guest, {&part, 1}, written));
    return {};
  }

  WriteScan scan_;
  WindowIndex windows_;
  ScanPlan plan_;
  std::vector<AddressRange> found_;
  std::vector<ScanPlan::Part> touched_;
};

class ContentHarvester final : public Harvester {
 public:
  explicit ContentHarvester(std::span<const std::byte> arena)
      : arena_(arena), hashes_(arena.size() / kHostPage), stored_(arena.size()) {}

  std::string_view name() const override { return "hash"; }
  void map_changed(std::span<const protocol::MapEntry>) override {}

  Result<void> arm(ArenaRange range) override {
    for (uint64_t at = range.begin; at < range.end; at += kHostPage) hashes_[at / kHostPage] = hash_at(at);
    stored_.set(range, false);
    return {};
  }

  Result<void> harvest(std::span<const ArenaRange> runs, std::vector<ArenaRange>& written) override {
    for (const ArenaRange& run : runs) {
      for (uint64_t at = run.begin; at < run.end; at += kHostPage) {
        const uint64_t now = hash_at(at);
        if (std::exchange(hashes_[at / kHostPage], now) != now || stored_.test(at)) {
          written.push_back({at, at + kHostPage});
        }
      }
      stored_.set(run, false);
    }
    return {};
  }

  // Contents can't tell who wrote; the title may have put back what was there before, and then they say nothing at all.
  void stored(ArenaRange range) override { stored_.set(range, true); }

 private:
  uint64_t hash_at(uint64_t at) const { return hash_bytes(arena_.subspan(at, kHostPage)).low; }

  std::span<const std::byte> arena_;
  std::vector<uint64_t> hashes_;  // by page
  PageBits stored_;
};

}  // namespace

Result<std::unique_ptr<Harvester>> make_page_table_harvester(UniqueFd pagemap) {
  auto scan = WriteScan::open(std::move(pagemap));
  if (!scan) return std::unexpected(std::move(scan.error()));
  return std::make_unique<PageTableHarvester>(std::move(*scan));
}

std::unique_ptr<Harvester> make_content_harvester(std::span<const std::byte> arena) {
  return std::make_unique<ContentHarvester>(arena);
}

}  // namespace orrery::memory
