#include "protocol/control_segment.hpp"

#include <boost/interprocess/managed_external_buffer.hpp>

#include <algorithm>
#include <cstring>

#include "protocol/address_map.hpp"
#include "protocol/messages.capnp.h"
#include "protocol/ring.hpp"
#include "protocol/segment_layout.hpp"
#include "shared/measure/span.hpp"

namespace orrery::protocol {
namespace {

struct PartFact {
  std::string_view name;
  size_t size;
};

constexpr std::array<PartFact, static_cast<size_t>(PartName::count)> kParts{{
    {"guest-to-service", ring_memory(kRingCapacity)},
    {"service-to-guest", ring_memory(kRingCapacity)},
    {"journal", sizeof(JournalEntry) * kJournalEntries},
    {"journal-bytes", kJournalBytes},
    {"address-map", address_map_memory()},
    {"checkpoints", sizeof(QueueCheckpoint) * kMaxQueues},
    {"stretch", sizeof(StretchSlot)},
    {"ledger", sizeof(Ledger)},
    {"quarantine", sizeof(Quarantine)},
    {"status", sizeof(ServiceStatus)},
    {"window", sizeof(WindowState)},
    {"window-pixels", kWindowPixels},
    {"reported-writes", sizeof(ReportedWrites)},
    {"arm-requests", sizeof(ArmRequests)},
    {"measures", sizeof(measure::Region)},
    {"questions", ring_memory(kQuestionRing)},
    {"answers", ring_memory(kAnswerRing)},
}};
constexpr size_t kPartAlign = 4096;

constexpr size_t segment_bytes() {
  size_t total = 1 << 20;  // the segment manager's own needs
  for (const PartFact& part : kParts) total += align_up(part.size, kPartAlign) + 2 * kPartAlign;
  return align_up(total + kDirectoryBytes, 1 << 20);
}

void write_directory(const Mapping& mapping, const PartTable& parts) {
  auto& directory = *reinterpret_cast<SegmentDirectory*>(mapping.data() + mapping.size() - kDirectoryBytes);
  static_assert(kParts.size() <= std::tuple_size_v<decltype(directory.parts)>);
  directory.protocol_version = wire::PROTOCOL_VERSION;
  directory.count = kParts.size();
  for (size_t i = 0; i < kParts.size(); ++i) {
    std::ranges::copy(kParts[i].name, directory.parts[i].name.begin());
    directory.parts[i].offset = parts[i].offset;
    directory.parts[i].size = parts[i].size;
  }
  directory.magic.store(kDirectoryMagic, std::memory_order_release);
}

}  // namespace

std::string_view name_of(PartName part) { return kParts[static_cast<size_t>(part)].name; }

struct ControlSegment::State {
  UniqueFd fd;
  Mapping mapping;
  PartTable parts{};
};

ControlSegment::ControlSegment(std::unique_ptr<State> state) : state_(std::move(state)) {}
ControlSegment::ControlSegment(ControlSegment&&) noexcept = default;
ControlSegment& ControlSegment::operator=(ControlSegment&&) noexcept = default;
ControlSegment::~ControlSegment() = default;

Result<ControlSegment> ControlSegment::create() {
  auto state = std::make_unique<State>();
  constexpr Bytes size{segment_bytes()};
  auto fd = make_memory_file("orrery-control", size);
  if (!fd) return forward(std::move(fd), "making the control segment");
  auto mapping = Mapping::of(*fd, Bytes{0}, size);
  if (!mapping) return forward(std::move(mapping), "mapping the control segment");
  state->fd = std::move(*fd);
  state->mapping = std::move(*mapping);
  try {
    boost::interprocess::managed_external_buffer manager(boost::interprocess::create_only, state->mapping.data(),
                                                         state->mapping.size() - kDirectoryBytes);
    for (size_t i = 0; i < kParts.size(); ++i) {
      // Fresh memfd pages are zero, so the parts need no clearing (and stay sparse).
      auto* at = static_cast<std::byte*>(manager.allocate_aligned(kParts[i].size, kPartAlign));
      state->parts[i] = {static_cast<uint64_t>(at - state->mapping.data()), kParts[i].size};
    }
  } catch (const std::exception& error) {
    return fail(ExitCode::internal, "the control segment cannot hold its parts: {}", error.what());
  }
  write_directory(state->mapping, state->parts);
  ControlSegment segment(std::move(state));
  measure::format(segment.measures());
  return segment;
}

measure::Region& ControlSegment::measures() const {
  return *reinterpret_cast<measure::Region*>(part(PartName::measures).data());
}

std::span<std::byte> ControlSegment::part(PartName name) const {
  const PartPlace place = state_->parts[static_cast<size_t>(name)];
  return state_->mapping.bytes().subspan(place.offset, place.size);
}
const PartTable& ControlSegment::parts() const { return state_->parts; }
const UniqueFd& ControlSegment::fd() const { return state_->fd; }
Bytes ControlSegment::size() const { return Bytes{state_->mapping.size()}; }

Result<ControlSegmentView> ControlSegmentView::open(UniqueFd fd, Bytes size, const PartTable& parts) {
  for (size_t i = 0; i < kParts.size(); ++i) {
    const PartPlace place = parts[i];
    if (place.offset % kPartAlign != 0 || place.size < kParts[i].size || place.offset > size.value ||
        place.size > size.value - place.offset) {
      return fail(ExitCode::protocol_mismatch, "the control segment's part {} ({} bytes at {}) is not usable",
                  kParts[i].name, place.size, place.offset);
    }
  }
  auto mapping = Mapping::of(fd, Bytes{0}, size);
  if (!mapping) return forward(std::move(mapping), "mapping the control segment");
  ControlSegmentView view;
  view.fd_ = std::move(fd);
  view.mapping_ = std::move(*mapping);
  view.parts_ = parts;
  // Sizes are ours, whatever the peer offers.
  for (size_t i = 0; i < kParts.size(); ++i) view.parts_[i].size = kParts[i].size;
  return view;
}

measure::Region& ControlSegmentView::measures() const {
  return *reinterpret_cast<measure::Region*>(part(PartName::measures).data());
}

std::span<std::byte> ControlSegmentView::part(PartName name) const {
  const PartPlace place = parts_[static_cast<size_t>(name)];
  return mapping_.bytes().subspan(place.offset, place.size);
}

}  // namespace orrery::protocol
