// The control segment: one memfd. The guest process allocates its parts with Boost.Interprocess; the service is told
// offset and size of each at the handshake and never calls the segment manager.
#pragma once

#include <array>
#include <memory>
#include <span>
#include <string_view>

#include "shared/error.hpp"
#include "shared/unique_fd.hpp"

namespace orrery::measure {
struct Region;
}

namespace orrery::protocol {

enum class PartName : uint32_t {
  guest_to_service,
  service_to_guest,
  journal,
  journal_bytes,
  address_map,
  checkpoints,
  stretch,
  ledger,
  quarantine,
  status,
  window,
  window_pixels,
  reported_writes,
  arm_requests,
  measures,
  questions,
  answers,
  count,
};
std::string_view name_of(PartName part);

struct PartPlace {
  uint64_t offset = 0;
  uint64_t size = 0;
};
using PartTable = std::array<PartPlace, static_cast<size_t>(PartName::count)>;

inline constexpr uint64_t kRingCapacity = 1 << 20;  // bytes, each direction
inline constexpr uint64_t kQuestionRing = 64 << 10;
inline constexpr uint64_t kAnswerRing = 1 << 20;            // an answer names thousands of ranges
inline constexpr uint64_t kWindowPixels = 3840 * 2160 * 4;  // the last frame, at most

// The guest process's: creates the memfd and the parts (zeroed).
class ControlSegment {
 public:
  static Result<ControlSegment> create();
  std::span<std::byte> part(PartName name) const;
  measure::Region& measures() const;
  const PartTable& parts() const;
  const UniqueFd& fd() const;
  Bytes size() const;
  ControlSegment(ControlSegment&&) noexcept;
  ControlSegment& operator=(ControlSegment&&) noexcept;
  ~ControlSegment();

 private:
  struct State;
  explicit ControlSegment(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// The service's: maps the memfd it was given and checks that every part lies inside it, aligned and large enough.
class ControlSegmentView {
 public:
  static Result<ControlSegmentView> open(UniqueFd fd, Bytes size, const PartTable& parts);
  std::span<std::byte> part(PartName name) const;
  measure::Region& measures() const;

 private:
  UniqueFd fd_;
  Mapping mapping_;
  PartTable parts_{};
};

}  // namespace orrery::protocol
