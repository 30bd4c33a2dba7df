#include "gpu-service/command/checkpoint.hpp"

#include <algorithm>
#include <cstring>

#include "gpu-service/command/queue.hpp"
#include "shared/injection.hpp"
#include "shared/quantity.hpp"

namespace orrery::command {
namespace {

constexpr uint64_t kBeingWritten = UINT64_MAX;

}  // namespace

void CheckpointStore::restore(RegisterFile& banks, protocol::QueueProgress& progress, uint64_t retired) {
  if (shared_ == nullptr) return;
  uint64_t newest = 0;
  for (uint32_t slot = 0; slot < 2; ++slot) {
    const uint64_t stretch = shared_->stretch[slot].load(std::memory_order_acquire);
    // The number will be another stretch's.
    if (stretch > retired) shared_->stretch[slot].store(0, std::memory_order_relaxed);
    if (stretch == 0 || stretch > retired || stretch < newest) continue;
    newest = stretch;
    newest_ = slot;
  }
  if (newest == 0) return;
  banks.take(shared_->banks[newest_]);
  progress = shared_->progress[newest_];
  if (progress.depth > progress.nested.size()) progress = {};
}

std::shared_ptr<const std::vector<uint32_t>> CheckpointStore::contents(const protocol::NestedBuffer& buffer) const {
  const auto place = fetched_[newest_];
  if (buffer.place > place.size() || buffer.dwords > (place.size() - buffer.place) / 4) return nullptr;
  auto words = std::make_shared<std::vector<uint32_t>>(buffer.dwords);
  if (buffer.dwords != 0) std::memcpy(words->data(), place.data() + buffer.place, buffer.dwords * 4);
  return words;
}

void CheckpointStore::touched(Bank bank, uint32_t first, uint32_t count) {
  for (auto& slot : changed_) {
    Range& range = slot[static_cast<size_t>(bank)];
    if (range.begin >= range.end) {
      range = {first, first + count};
    } else {
      range = {std::min(range.begin, first), std::max(range.end, first + count)};
    }
  }
}

void CheckpointStore::keep_contents(protocol::QueueProgress& progress, std::span<const Cursor> stack, uint32_t slot) {
  auto& kept = kept_[slot];
  const auto place = fetched_[slot];
  uint64_t end = 0;
  size_t same = 0;  // of what is kept, from the outermost on
  for (size_t level = 0; level < stack.size(); ++level) {
    if (!stack[level].indirect) continue;
    auto& nested = progress.nested[level];
    const uint64_t size = align_up(nested.dwords * 4, 8);
    if (same < kept.size() && kept[same].id == nested.id) {
      nested.place = kept[same].place;
    } else {
      kept.resize(same);
      nested.place = end;
      // More than a submission may fetch; the next life names the damage.
      if (end + size > place.size()) return;
      if (size != 0) std::memcpy(place.data() + end, stack[level].dwords->data(), nested.dwords * 4);
      kept.push_back(nested);
    }
    end = nested.place + size;
    ++same;
  }
}

void CheckpointStore::save(const RegisterFile& banks, protocol::QueueProgress progress, std::span<const Cursor> stack,
                           uint64_t stretch) {
  if (shared_ == nullptr) return;
  const uint32_t slot = newest_ ^ 1;
  shared_->stretch[slot].store(kBeingWritten, std::memory_order_release);
  std::atomic_thread_fence(std::memory_order_release);
  protocol::RegisterBanks& to = shared_->banks[slot];
  const auto copy = [&](Bank bank, const auto& source, auto& target) {
    Range& range = changed_[slot][static_cast<size_t>(bank)];
    source.copy_to(target, range.begin, std::min(range.end, source.size()));
    range = {0, 0};
  };
  copy(Bank::context, banks.context, to.context);
  copy(Bank::sh, banks.sh, to.sh);
  copy(Bank::uconfig, banks.uconfig, to.uconfig);
  to.index_base = banks.index_base;
  to.index_count = banks.index_count;
  to.instance_count = banks.instance_count;
  std::ranges::copy(banks.indirect_base, to.indirect_base);
  injection::point("checkpoint");
  keep_contents(progress, stack, slot);
  shared_->progress[slot] = progress;
  shared_->stretch[slot].store(stretch, std::memory_order_release);
  newest_ = slot;
}

}  // namespace orrery::command
