#include "gpu-service/service/guard_of_life.hpp"

#include <fmt/format.h>
#include <algorithm>

#include "shared/injection.hpp"

namespace orrery::service {

void GuardOfLife::running(const dispatch::DispatchState& dispatch, const ContentHash& program) {
  const auto put = [](auto& to, auto value) { to.store(value, std::memory_order_relaxed); };
  put(status_.current_program, dispatch.program.value);
  put(status_.current_hash_low, program.low);
  put(status_.current_hash_high, program.high);
  put(status_.current_queue, dispatch.queue);
  put(status_.current_packet, dispatch.packet_offset);
  put(status_.current_sequence, dispatch.sequence);
  if (injection::active) injection::point(fmt::format("program-{:016x}{:016x}", program.high, program.low));
}

void GuardOfLife::over() {
  status_.current_hash_low.store(0, std::memory_order_relaxed);
  status_.current_hash_high.store(0, std::memory_order_relaxed);
}

bool GuardOfLife::forbidden(const ContentHash& program) const {
  const uint32_t count = quarantine_.count.load(std::memory_order_acquire);
  const auto known = std::span(quarantine_.programs).first(std::min(count, protocol::kMostQuarantined));
  return std::ranges::any_of(known, [&](const protocol::ProgramHash& hash) {
    return hash.low.load(std::memory_order_relaxed) == program.low &&
           hash.high.load(std::memory_order_relaxed) == program.high;
  });
}

bool GuardOfLife::quarantined(const ContentHash& program) {
  const bool found = forbidden(program);
  if (found) stretches_.quarantined();
  return found;
}

}  // namespace orrery::service
