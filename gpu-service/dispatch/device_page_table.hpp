// The two-level page table in device memory (layout: shader/translate.hpp): guest page -> device addresses of its
// bytes.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "gpu-service/dispatch/arena_buffers.hpp"
#include "gpu-service/dispatch/page_runs.hpp"
#include "gpu-service/shader/page_table_window.hpp"
#include "gpu-service/shader/translate.hpp"
#include "gpu-service/vulkan/buffer.hpp"
#include "shared/error.hpp"

namespace orrery::dispatch {

class DevicePageTable {
 public:
  static Result<DevicePageTable> create(const vulkan::Device& device);

  // Makes the table show `runs` where `arena` has buffers; only what changed is written. Only while the device is idle.
  // The pages' protection is not looked at: every page that is shown can be read, and written unless it is not mirrored
  // and `stores_in_mirrors_only`.
  Result<void> update(std::span<const PageRun> runs, const ArenaBuffers& arena, bool stores_in_mirrors_only = false);
  // Of the pages that are shown now only these, by number, can be stored to; no window. For a table of its own, which
  // is not updated any more; only while no recorded work walks it.
  void let_store_only(std::vector<uint64_t> pages);
  DeviceAddress level1() const { return level1_.address(); }
  // What the device would find, for tests and reports.
  shader::PageEntry entry(GuestAddress address) const;
  shader::PageTableWindow window() const;
  size_t tables() const { return tables_.size(); }

 private:
  // Consecutive pages at consecutive device addresses.
  struct Shown {
    uint64_t first_page = 0, pages = 0, device_address = 0;
    bool stores = true;
    friend auto operator<=>(const Shown&, const Shown&) = default;
  };
  struct Table {
    uint32_t chunk = 0, slot = 0;
    uint32_t used = 0;  // entries that are not absent
  };
  explicit DevicePageTable(const vulkan::Device& device) : device_(&device) {}
  Result<Table*> table_for(uint64_t index);
  Result<void> write(const Shown& shown, bool present);
  shader::PageEntry* entries(const Table& table) const;
  void let_store(uint64_t page, bool allowed);

  const vulkan::Device* device_;
  vulkan::Buffer level1_;
  std::vector<vulkan::Buffer> chunks_;               // level-2 tables, kTablesPerChunk each
  std::vector<std::pair<uint32_t, uint32_t>> free_;  // chunk, slot
  std::map<uint64_t, Table> tables_;                 // by level-1 index
  std::vector<Shown> shown_;                         // sorted
  std::vector<uint64_t> storable_;                   // by let_store_only
  bool chosen_ = false;                              // it was called
};

}  // namespace orrery::dispatch
