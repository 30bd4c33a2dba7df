#include "gpu-service/dispatch/device_page_table.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>

namespace orrery::dispatch {
namespace {

constexpr uint64_t kLevel2Entries = 1ull << (shader::kLevel1Shift - shader::kPageBits);
constexpr uint64_t kTableBytes = kLevel2Entries * sizeof(shader::PageEntry);
constexpr uint32_t kTablesPerChunk = 64;
using shader::kLevel1Entries;
constexpr uint64_t kPage = 1ull << shader::kPageBits;

}  // namespace

Result<DevicePageTable> DevicePageTable::create(const vulkan::Device& device) {
  DevicePageTable table(device);
  constexpr uint64_t kBytes = kLevel1Entries * 8 + sizeof(shader::PageTableWindow);
  auto level1 = vulkan::Buffer::create(device, {kBytes}, vulkan::BufferPlace::upload, "page table level 1");
  if (!level1) return std::unexpected(std::move(level1.error()));
  table.level1_ = std::move(*level1);
  std::memset(table.level1_.mapped().data(), 0, kBytes);
  return table;
}

shader::PageEntry* DevicePageTable::entries(const Table& table) const {
  return reinterpret_cast<shader::PageEntry*>(chunks_[table.chunk].mapped().data() + table.slot * kTableBytes);
}

Result<DevicePageTable::Table*> DevicePageTable::table_for(uint64_t index) {
  if (const auto found = tables_.find(index); found != tables_.end()) return &found->second;
  if (free_.empty()) {
    auto chunk = vulkan::Buffer::create(*device_, {kTablesPerChunk * kTableBytes}, vulkan::BufferPlace::upload,
                                        "page table level 2");
    if (!chunk) return std::unexpected(std::move(chunk.error()));
    std::memset(chunk->mapped().data(), 0, chunk->size().value);
    for (uint32_t slot = kTablesPerChunk; slot-- > 0;) free_.emplace_back(static_cast<uint32_t>(chunks_.size()), slot);
    chunks_.push_back(std::move(*chunk));
  }
  const auto [chunk, slot] = free_.back();
  free_.pop_back();
  Table& table = tables_.emplace(index, Table{chunk, slot, 0}).first->second;
  const uint64_t address = chunks_[chunk].address().value + slot * kTableBytes;
  std::memcpy(level1_.mapped().data() + index * 8, &address, 8);
  return &table;
}

Result<void> DevicePageTable::write(const Shown& shown, bool present) {
  uint64_t page = shown.first_page, address = shown.device_address;
  const uint64_t end = shown.first_page + shown.pages;
  while (page < end) {
    const uint64_t index = page / kLevel2Entries;
    auto table = table_for(index);
    if (!table) return std::unexpected(std::move(table.error()));
    shader::PageEntry* entry = entries(**table);
    for (const uint64_t stop = std::min(end, (index + 1) * kLevel2Entries); page < stop; ++page, address += kPage) {
      entry[page % kLevel2Entries] =
          present ? shader::PageEntry{address, shown.stores ? address : 0} : shader::PageEntry{0, 0};
      (*table)->used += present ? 1 : UINT32_MAX;
    }
    if ((*table)->used == 0) {
      // All entries are absent again, as the next user expects them.
      free_.emplace_back((*table)->chunk, (*table)->slot);
      std::memset(level1_.mapped().data() + index * 8, 0, 8);
      tables_.erase(index);
    }
  }
  return {};
}

Result<void> DevicePageTable::update(std::span<const PageRun> runs, const ArenaBuffers& arena,
                                     bool stores_in_mirrors_only) {
  std::vector<Shown> wanted;
  for (const PageRun& run : runs) {
    for (uint64_t done = 0; done < run.pages;) {
      const auto slice = arena.find({run.arena_offset + done * kPage});
      // A page that straddles two buffers can't be shown by one address.
      const uint64_t pages = slice ? std::min(slice->available / kPage, run.pages - done) : 0;
      if (pages > 0) {
        const bool stores = !stores_in_mirrors_only || arena.mirrored({run.arena_offset + done * kPage,
                                                                       run.arena_offset + (done + pages) * kPage});
        wanted.push_back({run.first_page + done, pages, slice->address.value, stores});
      }
      done += std::max<uint64_t>(pages, 1);
    }
  }
  std::vector<Shown> gone, come;
  std::set_difference(shown_.begin(), shown_.end(), wanted.begin(), wanted.end(), std::back_inserter(gone));
  std::set_difference(wanted.begin(), wanted.end(), shown_.begin(), shown_.end(), std::back_inserter(come));
  for (const Shown& shown : gone) ORRERY_TRY(write(shown, false));
  for (const Shown& shown : come) ORRERY_TRY(write(shown, true));
  shown_ = std::move(wanted);
  shader::PageTableWindow window{};
  for (const Shown& shown : shown_) {
    if (shown.pages * kPage <= window.size || !shown.stores) continue;
    const uint64_t begin = shown.first_page * kPage;
    window = {begin, shown.pages * kPage, shown.device_address - begin};
  }
  std::memcpy(level1_.mapped().data() + kLevel1Entries * 8, &window, sizeof(window));
  return {};
}

void DevicePageTable::let_store(uint64_t page, bool allowed) {
  const auto found = tables_.find(page / kLevel2Entries);
  if (found == tables_.end()) return;
  shader::PageEntry& entry = entries(found->second)[page % kLevel2Entries];
  entry.write = allowed ? entry.read : 0;
}

void DevicePageTable::let_store_only(std::vector<uint64_t> pages) {
  if (!std::exchange(chosen_, true)) {
    for (const auto& [index, table] : tables_) {
      for (shader::PageEntry& entry : std::span(entries(table), kLevel2Entries)) entry.write = 0;
    }
    // The window knows no pages that can't be stored to.
    const shader::PageTableWindow none{};
    std::memcpy(level1_.mapped().data() + kLevel1Entries * 8, &none, sizeof(none));
  }
  for (const uint64_t page : storable_) let_store(page, false);
  for (const uint64_t page : pages) let_store(page, true);
  storable_ = std::move(pages);
}

shader::PageTableWindow DevicePageTable::window() const {
  shader::PageTableWindow window{};
  std::memcpy(&window, level1_.mapped().data() + kLevel1Entries * 8, sizeof(window));
  return window;
}

shader::PageEntry DevicePageTable::entry(GuestAddress address) const {
  const uint64_t page = address.value >> shader::kPageBits;
  const auto found = tables_.find(page / kLevel2Entries);
  if (found == tables_.end()) return {};
  return entries(found->second)[page % kLevel2Entries];
}

}  // namespace orrery::dispatch
