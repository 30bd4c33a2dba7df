#include "gpu-service/command/checkpoint.hpp"

#include <algorithm>

namespace orrery::command {

void CheckpointStore::restore(RegisterFile& banks, uint64_t first_open) {
  if (shared_ == nullptr) return;
  const uint64_t generation = shared_->generation.load(std::memory_order_acquire);
  if (generation == 0) return;
  uint64_t slot = generation % 2;
  // The last life may have saved a submission and died before it was marked retired: then it runs again from the banks
  // before it. The other slot becomes the newest, so that the next save overwrites this one, not the banks that a third
  // life may need.
  if (first_open != 0 && shared_->sequence[slot] >= first_open) {
    shared_->generation.store(generation - 1, std::memory_order_release);
    if (generation == 1) return;
    slot ^= 1;
  }
  banks.take(shared_->banks[slot]);
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

void CheckpointStore::save(const RegisterFile& banks, uint64_t sequence) {
  if (shared_ == nullptr) return;
  const uint64_t generation = shared_->generation.load(std::memory_order_relaxed) + 1;
  const uint64_t slot = generation % 2;
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
  shared_->sequence[slot] = sequence;
  shared_->generation.store(generation, std::memory_order_release);
}

}  // namespace orrery::command
