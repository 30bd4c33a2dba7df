// The one layout header: every structure that both processes see in shared memory. Plain data and lock-free atomics;
// no pointers, no cross-process mutex. Change anything here and protocolVersion in messages.capnp changes with it.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "protocol/stretch_layout.hpp"

namespace orrery::protocol {

static_assert(std::atomic<uint32_t>::is_always_lock_free && std::atomic<uint64_t>::is_always_lock_free);

// --- Byte ring: single producer, single consumer ------------------------------------------------------------------
// Positions grow for ever; an index is position % capacity. Followed by `capacity` bytes of records.
// A record is { u32 size, u32 state } and `size` payload bytes, padded to 8; a record never wraps (a skip record fills
// up).
struct RingHeader {
  std::atomic<uint64_t> written;      // bytes published by the producer
  std::atomic<uint64_t> read;         // bytes released by the consumer
  std::atomic<uint32_t> data_futex;   // bumped by the producer when the consumer sleeps
  std::atomic<uint32_t> space_futex;  // bumped by the consumer when the producer sleeps
  std::atomic<uint32_t> consumer_sleeps;
  std::atomic<uint32_t> producer_sleeps;
  uint64_t capacity;  // bytes, a power of two
};
enum class ChunkState : uint32_t { free = 0, writing = 1, complete = 2, skip = 3 };

// --- Journal -------------------------------------------------------------------------------------------------------
// Entries are a ring of kJournalEntries; entry of sequence s is at s % kJournalEntries. Sequence numbers start at 1.
inline constexpr uint32_t kJournalEntries = 4096;
inline constexpr uint64_t kJournalBytes = 64ull << 20;  // ring of bodies
inline constexpr uint32_t kMaxQueues = 64;

enum class EntryState : uint32_t {
  free = 0,
  writing = 1,    // the guest process fills it in
  submitted = 2,  // complete; may be executed, and executed again by a later life
  retired = 3,    // done and visible to the guest; set by the guest process, never executed again
};
enum class EntryKind : uint32_t { submission = 1, flip = 2 };

struct JournalEntry {
  std::atomic<uint32_t> state;  // EntryState
  uint32_t kind;                // EntryKind
  uint64_t sequence;
  uint32_t queue;  // 0 is the graphics queue; compute queues count from 1
  uint32_t reserved;
  uint64_t guest_time_ns;  // guest clock at submission (logical clock: depends on completed flips only)
  uint64_t body_position;  // into the body ring, monotonic; body never wraps
  uint64_t body_size;      // bytes: SubmissionBody or FlipBody
};

// A submission: `count` command buffers; this header, then per buffer a SubmittedBuffer followed by its dwords.
struct SubmissionBody {
  uint32_t count;
  uint32_t reserved;
};
struct SubmittedBuffer {
  uint64_t guest_address;  // where the title had it
  uint32_t dwords;
  uint32_t readable;  // 0: the address was outside the map, no dwords follow; the service refuses it by name
};

// A flip of one registered VideoOut buffer.
struct FlipBody {
  uint64_t guest_address;
  uint32_t width, height;
  uint32_t pitch;         // pixels per row when linear
  uint32_t tiling;        // 0: 64KB_R_X tiles, 1: linear
  uint64_t pixel_format;  // VideoOut pixel format, 0x8000000000000000 is 8:8:8:8 (B,G,R,A in memory order)
  int64_t flip_argument;
  uint64_t flip_index;  // counts the title's flips from 0; names the kept frame
  uint32_t buffer_index;
  uint32_t vsync;  // 1: the guest process paces it
};

// --- Address map ---------------------------------------------------------------------------------------------------
inline constexpr uint32_t kMaxMapEntries = 16384;
enum class MapKind : uint32_t { image = 1, stack = 2, heap = 3, direct = 4, flexible = 5, other = 6 };
// Guest protection bits (the console's): CPU read 1, write 2, execute 4; GPU read 0x10, write 0x20.
struct MapEntry {
  uint64_t guest_begin;  // multiple of 4 KiB
  uint64_t size;         // bytes
  uint64_t arena_offset;
  uint32_t protection;
  uint32_t kind;  // MapKind
};
// Two tables; `version` is even when table (version/2)%2 is current. Sorted by guest_begin, never overlapping.
struct AddressMapHeader {
  std::atomic<uint64_t> version;
  std::array<uint32_t, 2> counts;
};

// --- Changes of the arena that tracking can't see --------------------------------------------------------------------
// Stored by the guest process through another mapping than the title's, punched out, or shown by a new window: a ring
// of ranges; entry n is at n % kReportedWrites. A reader that lags by kReportedWrites or more has lost some.
inline constexpr uint64_t kReportedWrites = 4096;
enum class ReportKind : uint32_t {
  changed = 1,    // its bytes are other ones, or are seen through another mapping
  discarded = 2,  // its host pages were given back: who holds on to them must take new ones
};
struct ReportedWrite {
  std::atomic<uint64_t> begin, end;  // bytes into the arena
  std::atomic<uint32_t> kind;        // ReportKind
};
struct ReportedWrites {
  std::atomic<uint64_t> count;  // of all that were ever reported
  std::array<ReportedWrite, kReportedWrites> ring;
};

// Where the kernel can't track writes alone (page_states.hpp): guest ranges that the service wants armed. `asked` and
// `done` are futex words; a request is served when they are equal.
inline constexpr uint32_t kMostArmRanges = 1024;
struct ArmRange {
  std::atomic<uint64_t> begin, end;  // guest addresses, whole host pages
};
struct ArmRequests {
  std::atomic<uint32_t> asked, done;
  std::atomic<uint32_t> count;  // of ranges
  std::array<ArmRange, kMostArmRanges> ranges;
};

// --- Register checkpoints, one per queue -----------------------------------------------------------------------------
inline constexpr uint32_t kContextRegisters = 0x400;   // base 0xA000
inline constexpr uint32_t kShRegisters = 0x400;        // base 0x2C00
inline constexpr uint32_t kUconfigRegisters = 0x4000;  // base 0xC000
struct RegisterBanks {
  std::array<uint32_t, kContextRegisters> context;
  std::array<uint32_t, kShRegisters> sh;
  std::array<uint32_t, kUconfigRegisters> uconfig;
  // Packet state that is not a register.
  uint64_t index_base;
  uint32_t index_count;
  uint32_t instance_count;
  uint64_t indirect_base[4];
};
// Where a queue stands in a submission that is not done.
inline constexpr uint32_t kMostNested = 16;  // indirect buffers inside each other
struct NestedBuffer {
  uint64_t address;  // guest address
  uint64_t at;       // dwords behind its next packet's start
  uint64_t dwords;
  uint64_t id;        // tells contents of this life apart, so that what is saved is not saved again
  uint64_t place;     // bytes into the queue's place in the redo memory; for indirect ones
  uint32_t indirect;  // 0: buffer next_buffer - 1 of the journal entry
  uint32_t reserved;
};
struct QueueProgress {
  uint64_t sequence;  // of the submission it stands in; 0: none
  uint64_t next_buffer;
  uint64_t fetched;  // dwords
  uint32_t depth;    // of `nested`
  uint32_t reserved;
  std::array<NestedBuffer, kMostNested + 1> nested;
};
struct QueueCheckpoint {
  // The stretch behind which slot i was saved; it counts once that stretch is retired. 0: none, UINT64_MAX: being
  // written.
  std::array<std::atomic<uint64_t>, 2> stretch;
  std::array<RegisterBanks, 2> banks;
  std::array<QueueProgress, 2> progress;
};

// Programs that the service does not run any more, by the hash of their bytes: written by the guest process.
inline constexpr uint32_t kMostQuarantined = 64;
struct ProgramHash {
  std::atomic<uint64_t> low, high;
};
struct Quarantine {
  std::atomic<uint32_t> count;
  std::array<ProgramHash, kMostQuarantined> programs;
};

// What the service's main thread is doing.
enum class Activity : uint32_t { starting = 0, idle, packets, preparing, device, commit, present };

// --- Counters and last words, readable from outside ------------------------------------------------------------------
struct ServiceStatus {
  std::atomic<uint64_t> lives;
  std::atomic<uint64_t> heartbeat;  // bumped by the service's main loop
  std::atomic<uint64_t> dispatches;
  std::atomic<uint64_t> refusals;
  std::atomic<uint64_t> flips;
  std::atomic<uint64_t> escapes;  // device accesses outside the map
  // Of the last life: what dispatches bound, what went to mirrors and came back, and bytes that CPU and GPU both wrote.
  std::atomic<uint64_t> bound_bytes, uploaded_bytes, written_back_bytes, write_conflicts;
  std::atomic<uint64_t> harvests, harvest_scans, harvested_pages;
  // What the service is doing now: written before it is done, read after a death.
  std::atomic<uint64_t> current_sequence;
  std::atomic<uint64_t> current_program;
  std::atomic<uint64_t> current_hash_low, current_hash_high;  // of the program; 0: not known yet
  std::atomic<uint32_t> current_packet;                       // dword offset
  std::atomic<uint32_t> current_queue;
  std::atomic<uint32_t> activity;        // Activity
  std::atomic<uint32_t> process;         // of the service
  std::atomic<uint64_t> device_open_ns;  // what this life took for its Vulkan instance and device
};

// The spans and counters of both processes are a part of their own: shared/measure/layout.hpp.

// --- Window state, so that a new life looks like the old one
// -----------------------------------------------------------
struct WindowState {
  std::atomic<uint32_t> valid;
  int32_t x, y;
  uint32_t width, height;
  uint32_t full_screen;
  // The last frame shown, to be shown again by a new life: RGBA8, rows of last_width.
  uint32_t last_width, last_height;
};

// --- Directory ------------------------------------------------------------------------------------------------------
// The segment's last kDirectoryBytes: where the parts lie, for tools that look in from outside and take no part in the
// handshake.
inline constexpr uint64_t kDirectoryBytes = 4096;
inline constexpr uint64_t kDirectoryMagic = 0x3152'4944'5952'524f;  // "ORRYDIR1"
struct DirectoryEntry {
  std::array<char, 32> name;
  uint64_t offset, size;
};
struct SegmentDirectory {
  std::atomic<uint64_t> magic;  // kDirectoryMagic once the entries are there
  uint32_t protocol_version;
  uint32_t count;
  std::array<DirectoryEntry, 64> parts;
};
static_assert(sizeof(SegmentDirectory) <= kDirectoryBytes);

}  // namespace orrery::protocol
