#include "bench_of_one_queue.hpp"

#include <sys/mman.h>

#include <cstdlib>

namespace orrery::command::test {
namespace {

std::span<std::byte> bytes_of(std::vector<uint64_t>& words) { return std::as_writable_bytes(std::span(words)); }

memory::GuestMemory make_memory(std::vector<uint64_t>& map_memory, std::byte* arena, uint64_t arena_size,
                                std::span<const protocol::MapEntry> map) {
  map_memory.assign(protocol::address_map_memory() / 8 + 1, 0);
  protocol::AddressMapWriter writer(bytes_of(map_memory));
  EXPECT_TRUE(writer.publish(map));
  memory::GuestMemory memory({arena, arena_size}, protocol::AddressMapReader(bytes_of(map_memory), {arena_size}));
  EXPECT_TRUE(memory.refresh());
  return memory;
}

Mapping make_arena(uint64_t size) {
  void* base = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED) std::abort();
  return Mapping(base, size);
}

}  // namespace

std::vector<dispatch::Refusal> RecordingExecutor::dispatch(const dispatch::DispatchState& state) {
  log.push_back(fmt::format("dispatch {:#x}", state.program.value));
  dispatches.push_back(state);
  for (auto [address, value] : stores_of_next_dispatch) pending_.push_back({address, {0}, 4, value, false});
  stores_of_next_dispatch.clear();
  if (state.program.value == 0) return {{"program", "program address 0"}};
  return {};
}
std::vector<dispatch::Refusal> RecordingExecutor::fill(GuestAddress destination, Bytes size, uint32_t value) {
  log.push_back(fmt::format("fill {:#x} {:#x} {:#x}", destination.value, size.value, value));
  pending_.push_back({destination, {0}, size.value, value, false});
  return {};
}
std::vector<dispatch::Refusal> RecordingExecutor::copy(GuestAddress destination, GuestAddress source, Bytes size) {
  log.push_back(fmt::format("copy {:#x} {:#x} {:#x}", destination.value, source.value, size.value));
  pending_.push_back({destination, source, size.value, 0, true});
  return {};
}
Result<void> RecordingExecutor::acquire() {
  log.push_back("acquire");
  return {};
}
Result<std::vector<dispatch::Refusal>> RecordingExecutor::finish() {
  log.push_back("finish");
  if (lost) return fail(ExitCode::internal, "device lost");
  for (const auto& write : pending_) {
    std::vector<uint32_t> words((write.size + 3) / 4, write.value);
    const auto bytes = std::as_writable_bytes(std::span(words)).first(write.size);
    if (write.is_copy) {
      EXPECT_TRUE(memory_.read(write.from, bytes));
    }
    EXPECT_TRUE(memory_.write(write.to, bytes));
  }
  pending_.clear();
  return std::vector<dispatch::Refusal>{};
}

Bench::Bench(std::vector<protocol::MapEntry> map, uint64_t arena_size)
    : own_arena(make_arena(arena_size)),
      arena(own_arena.bytes()),
      memory(make_memory(map_memory, arena.data(), arena_size, map)),
      executor(memory),
      processor({memory, executor, listener, nullptr, {}, true}) {}

Bench::Bench(StretchGuest& guest)
    : arena(guest.arena.bytes()),
      stretches(std::in_place, guest.slot, guest.redo.bytes(), Bytes{kDataSize}),
      memory(make_memory(map_memory, arena.data(), kDataSize,
                         std::array{protocol::MapEntry{kData, kDataSize, 0, 0x33, 4}})),
      executor(memory),
      processor({memory, executor, listener, nullptr, guest.checkpoints, true, &*stretches,
                 [&guest] { return !guest.commits.load(); }}) {
  memory.hand_stores_to(
      [this](ArenaOffset to, std::span<const std::byte> bytes) { return stretches->bytes(to, bytes); });
  for (uint32_t queue = 0; queue < guest.checkpoints.size(); ++queue) {
    processor.restore(queue, stretches->number() - 1);
  }
}

StretchGuest::StretchGuest()
    : redo_file(std::move(*make_memory_file("redo", protocol::redo_memory_size({kDataSize})))),
      arena(make_arena(kDataSize)),
      redo(std::move(*Mapping::of(redo_file, {0}, protocol::redo_memory_size({kDataSize})))) {
  committer_.emplace(slot, ledger, redo.bytes(), arena.bytes());
  thread_ = std::jthread([this](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      committer_->wait(std::chrono::milliseconds(2));
      if (commits) take();
    }
  });
}

void StretchGuest::take() {
  const std::lock_guard lock(mutex_);
  auto stretch = committer_->take();
  if (!stretch || !*stretch) return;
  for (const auto& effect : (*stretch)->effects) {
    if (const auto* event = std::get_if<protocol::StretchEvent>(&effect)) {
      events.emplace_back(event->queue, event->context_id);
    } else {
      done.push_back(std::get<protocol::StretchDone>(effect).sequence);
    }
  }
  committer_->retire(**stretch);
}

void StretchGuest::life_ended() {
  take();
  const std::lock_guard lock(mutex_);
  committer_->life_ended();
}

uint64_t Bench::submit(std::vector<uint32_t> dwords, uint32_t queue, uint64_t guest_time_ns) {
  Submission submission{next_sequence++, queue, guest_time_ns, {}};
  const auto size = static_cast<uint32_t>(dwords.size());
  submission.buffers.push_back({{0x7000}, size, true, std::move(dwords)});
  processor.submit(std::move(submission));
  return next_sequence - 1;
}

void Bench::settle() {
  for (;;) {
    auto moved = processor.run();
    ASSERT_TRUE(moved) << moved.error().describe();
    if (!*moved) return;
  }
}

void Bench::put(uint64_t address, std::vector<uint32_t> words) {
  ASSERT_TRUE(memory.write({address}, std::as_bytes(std::span(words))));
}

std::string Bench::refusals() const {
  std::string all;
  for (const auto& refusal : listener.refusals) all += refusal.kind + ": " + refusal.text + "\n";
  return all;
}

uint32_t header(uint32_t opcode, uint32_t body_dwords) { return 3u << 30 | (body_dwords - 1) << 16 | opcode << 8; }

std::vector<uint32_t> stream(std::initializer_list<std::vector<uint32_t>> packets) {
  std::vector<uint32_t> all;
  for (const auto& packet : packets) all.insert(all.end(), packet.begin(), packet.end());
  return all;
}
std::vector<uint32_t> release_mem(uint64_t address, uint64_t value, uint32_t data_select, uint32_t interrupt,
                                  uint32_t context_id) {
  return {0xc0064900,  0x06603514, data_select << 29 | interrupt << 24, low(address), high(address), low(value),
          high(value), context_id};
}
std::vector<uint32_t> wait_reg_mem(uint64_t address, uint32_t reference, uint32_t function, uint32_t mask) {
  return {0xc0053c00, 0x10 | function, low(address), high(address), reference, mask, 4};
}
std::vector<uint32_t> write_data(uint64_t address, std::vector<uint32_t> values) {
  std::vector<uint32_t> packet{header(0x37, static_cast<uint32_t>(values.size()) + 3), 0x00100500, low(address),
                               high(address)};
  packet.insert(packet.end(), values.begin(), values.end());
  return packet;
}
std::vector<uint32_t> indirect_buffer(uint64_t address, size_t dwords, bool chain) {
  return {header(0x3f, 3), low(address), high(address), static_cast<uint32_t>(dwords) | (chain ? 1u << 20 : 0)};
}
std::vector<uint32_t> fill(uint64_t address, uint32_t value, uint32_t size) {
  return {0xc0055000, 0xc0300000, value, 0, low(address), high(address), size};
}

}  // namespace orrery::command::test
