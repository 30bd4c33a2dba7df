// What packet handlers work with: memory, executor, the one flag of unfinished work, refusals with their place.
#pragma once

#include <fmt/format.h>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "gpu-service/command/processor.hpp"
#include "gpu-service/command/queue.hpp"

namespace orrery::command {

// Limits that no real stream reaches; they keep cyclic and hostile ones finite.
inline constexpr size_t kMaxDepth = 16;                 // nested indirect buffers
inline constexpr uint64_t kMaxFetchedDwords = 1 << 22;  // per submission, indirect buffers and register tables included

struct PacketInfo;

struct Packet {
  const PacketInfo* info = nullptr;
  uint32_t header = 0;
  uint32_t offset = 0;  // dwords from the start of its buffer
  std::span<const uint32_t> body;
};

// Told what a stream does when it is run ahead of its time, in place of doing it.
class AheadOfTime {
 public:
  virtual ~AheadOfTime() = default;
  // False: not mapped.
  virtual bool read(GuestAddress address, std::span<std::byte> out) = 0;
  // `known`: these are the bytes that will be written, not only their place.
  virtual bool write(GuestAddress address, std::span<const std::byte> bytes, bool known) = 0;
  // What the stream does from here on depends on something that is not known yet.
  virtual void unknown(std::string why) = 0;
};

struct Machine {
  ProcessorParts parts;
  AheadOfTime* ahead = nullptr;        // set: nothing is done, it is told
  bool unfinished = false;             // the executor holds work that may not be visible yet
  uint64_t fetches = 0;                // of indirect buffers
  Queue* turn = nullptr;               // whose packets run
  std::optional<size_t> packet_start;  // of the packet whose handler runs, in its innermost buffer

  // "queue 0, dword 12: WRITE_DATA (0x37) writes ... [c0033700 ...]"
  void refuse(const Queue& queue, const Packet& packet, std::string_view kind, std::string_view text);
  void refused(std::span<const dispatch::Refusal> refusals);
  // Guest memory as the packets see and change it. False: not mapped.
  bool read(GuestAddress address, std::span<std::byte> out) const;
  bool write(GuestAddress address, std::span<const std::byte> bytes, bool known = true) const;
  // Everything recorded before is complete. With stretches it may still have to be committed to be seen: by settle(),
  // or behind the packet, together with what the packet itself stores.
  Result<void> complete();
  // Everything before is complete and visible in guest memory.
  Result<void> settle();
  // Ends the stretch, if it has come to anything: the guest process applies and publishes it.
  Result<void> commit();
  // Ends the stretch for the sake of where `queue` stands now.
  Result<void> commit_place(Queue& queue);
  Result<void> queue_event(const Queue& queue, uint32_t context_id);
  Result<void> retired(uint64_t sequence);
  // The CPU may have written, the map may have changed.
  Result<void> acquire();
  // The GPU clock, 100 MHz.
  uint64_t gpu_clock(const Queue& queue) const;
};

// Runs the next packet of the front submission, or enters or leaves a buffer. False: it is at its end.
Result<bool> advance(Machine& machine, Queue& queue);

// Where a queue stands: "queue 0, dword 12" and the indirect buffer, if it is in one.
std::string place_of(const Queue& queue, uint32_t offset);
uint64_t host_time_ns();

bool compare(Compare function, uint64_t value, uint64_t reference);
std::string describe(const Wait& wait);

// Writes registers [first, first + values) of a bank; false when they leave it (then none was written).
bool set_registers(Queue& queue, Bank bank, uint32_t first, std::span<const uint32_t> values);

}  // namespace orrery::command
