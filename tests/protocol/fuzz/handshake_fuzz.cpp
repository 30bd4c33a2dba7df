// Any bytes as a greeting, with descriptors of any number and kind.
#include <unistd.h>
#include <cstdlib>
#include <thread>

#include "fuzz_target.hpp"
#include "protocol/control_segment.hpp"
#include "protocol/control_socket.hpp"
#include "protocol/stretch.hpp"

using namespace orrery;
using namespace orrery::protocol;

namespace {

constexpr Bytes kArena{1 << 20};

const UniqueFd& memory_of(Bytes size) {
  static const UniqueFd arena = std::move(*make_memory_file("arena", kArena));
  static const UniqueFd redo = std::move(*make_memory_file("redo", redo_memory_size(kArena)));
  return size == kArena ? arena : redo;
}
const ControlSegment& segment() {
  static const ControlSegment made = std::move(*ControlSegment::create());
  return made;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  FuzzInput input(data, size);
  const auto kinds = input.take<uint8_t>();
  auto ends = ControlSocket::pair();
  if (!ends) return 0;
  static const int plain = ::dup(STDERR_FILENO);  // no memory
  std::vector<int> fds{memory_of(kArena).get(), segment().fd().get(), memory_of(Bytes{0}).get(),
                       memory_of(kArena).get()};
  fds.resize(kinds % 5);
  if ((kinds & 0x80) != 0 && !fds.empty()) fds.back() = plain;
  if (!ends->first.send(input.rest().first(std::min<size_t>(input.rest().size(), 60'000)), fds)) return 0;
  auto hello = greet_guest(ends->second, "a device", 0);
  if (!hello) {
    if (hello.error().message.empty()) std::abort();
    return 0;
  }
  // What was accepted can be mapped and touched.
  const auto arena = Mapping::of(hello->arena, {0}, hello->arena_size);
  auto view = ControlSegmentView::open(std::move(hello->segment), hello->segment_size, hello->parts);
  if (!arena || !view) return 0;
  volatile auto last = arena->bytes().back();
  for (uint32_t i = 0; i < static_cast<uint32_t>(PartName::count); ++i) {
    last = view->part(static_cast<PartName>(i)).back();
  }
  (void)last;
  // Both halves take any answer.
  return 0;
}

std::vector<std::vector<uint8_t>> fuzz_seeds() {
  auto ends = std::move(*ControlSocket::pair());
  const OfferedMemory memory{memory_of(kArena), kArena, memory_of(Bytes{0}), nullptr};
  RunOptions run;
  run.headless = true;
  run.title = "a title";
  run.keep_frames_directory = "/tmp/frames";
  (void)greet_service(ends.first, memory, segment(), 1, run, 0);  // nobody answers
  auto packet = ends.second.receive(0);
  if (!packet || !*packet) std::abort();
  const std::byte three{3};
  return {joined({std::span(&three, 1), (*packet)->bytes})};
}
