#include "tests/gpu-service/shader/opencl/launch.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cstring>
#include <numeric>
#include <stdexcept>

namespace orrery::opencl {
namespace {

// Layout of an AQL kernel dispatch packet (HSA Platform System Architecture, 2.9.6).
struct DispatchPacket {
  uint16_t header, setup;
  uint16_t group[3], reserved0;
  uint32_t grid[3];
  uint32_t private_bytes, group_bytes;
  uint64_t kernel_object, kernarg, reserved2, completion;
};
static_assert(sizeof(DispatchPacket) == 64);

}  // namespace

SmallGuest::SmallGuest() : map_bytes_(protocol::address_map_memory() / 8) {
  auto fd = make_memory_file("opencl-arena", Bytes{kSize});
  auto mapping = fd ? Mapping::of(*fd, Bytes{0}, Bytes{kSize}) : Result<Mapping>(std::unexpected(fd.error()));
  if (!mapping) throw std::runtime_error(mapping.error().describe());
  arena_ = std::move(*mapping);
  const auto map = std::as_writable_bytes(std::span(map_bytes_));
  const protocol::MapEntry entry{kBase, kSize, 0, 0x37, static_cast<uint32_t>(protocol::MapKind::direct)};
  auto published = protocol::AddressMapWriter(map).publish(std::span(&entry, 1));
  if (!published) throw std::runtime_error(published.error().describe());
  memory_.emplace(arena_.bytes(), protocol::AddressMapReader(map, Bytes{kSize}));
  if (auto fresh = memory_->refresh(); !fresh) throw std::runtime_error(fresh.error().describe());
}

GuestAddress SmallGuest::place(uint64_t size, uint64_t alignment) {
  next_ = align_up(next_ + 256, alignment);
  const GuestAddress address{next_};
  next_ += size + 256;
  if (next_ > kBase + kSize) throw std::runtime_error("the test needs more memory than the small guest has");
  return address;
}

std::array<uint32_t, 3> group_size_of(const KernelTest& test, const Kernel& kernel) {
  if (test.local) return *test.local;
  if (kernel.required_group[0] != 0) return kernel.required_group;
  std::array<uint32_t, 3> group{1, 1, 1};
  for (uint32_t x = std::min(test.global[0], 64u); x > 0; --x) {
    if (test.global[0] % x == 0) {
      group[0] = x;
      break;
    }
  }
  return group;
}

std::expected<Launch, std::string> prepare_launch(SmallGuest& guest, const CodeObject& object, const Kernel& kernel,
                                                  const KernelTest& test) {
  if (object.relocated) return std::unexpected("dynamic relocations");
  guest.clear();
  memory::GuestMemory& memory = guest.memory();
  Launch launch;
  auto write = [&](GuestAddress address, std::span<const std::byte> bytes) {
    if (auto written = memory.write(address, bytes); !written) throw std::runtime_error(written.error().describe());
  };
  const GuestAddress code = guest.place(object.image.size(), 4096);
  write(code, object.image);
  const auto group = group_size_of(test, kernel);

  std::vector<std::byte> kernarg(std::max<uint64_t>(kernel.kernarg_bytes, 256) + 512);
  uint64_t group_bytes = kernel.group_bytes;
  launch.buffers.resize(test.arguments.size());
  for (size_t i = 0; i < test.arguments.size(); ++i) {
    const Argument& argument = test.arguments[i];
    if (argument.index >= kernel.arguments.size()) return std::unexpected("more arguments than the kernel takes");
    const KernelArgument& place = kernel.arguments[argument.index];
    if (uint64_t{place.offset} + place.size > kernarg.size()) return std::unexpected("arguments outside their segment");
    if (place.local) {
      // LDS behind the kernel's own; the argument is where it starts.
      group_bytes = align_up(group_bytes, 128);
      const auto start = static_cast<uint32_t>(group_bytes);
      std::memcpy(kernarg.data() + place.offset, &start, std::min<uint32_t>(place.size, 4));
      group_bytes += argument.size();
    } else if (argument.buffer || argument.local || argument.null) {
      if (place.size != 8) return std::unexpected("a buffer for an argument that is no pointer");
      if (argument.null) continue;
      const GuestAddress address = guest.place(argument.size());
      write(address, argument.bytes.value_or(std::vector<std::byte>(argument.size(), std::byte{0xab})));
      launch.buffers[i] = address;
      std::memcpy(kernarg.data() + place.offset, &address.value, 8);
    } else if (argument.bytes) {
      std::memcpy(kernarg.data() + place.offset, argument.bytes->data(),
                  std::min<uint64_t>(place.size, argument.size()));
    }
  }
  if (kernel.hidden_arguments != 0 && kernel.hidden_arguments + 16 <= kernarg.size()) {
    // Debian's libclc reads dimensions and global offset from the first four words, whatever the code object's version;
    // sizes it takes from the dispatch packet.
    uint32_t words[] = {test.dimensions, 0, 0, 0};
    std::copy_n(test.offset.begin(), std::min(test.dimensions, 3u), words + 1);
    std::memcpy(kernarg.data() + kernel.hidden_arguments, words, sizeof words);
  }
  const GuestAddress arguments = guest.place(kernarg.size());
  write(arguments, kernarg);

  DispatchPacket packet{};
  packet.setup = static_cast<uint16_t>(test.dimensions);
  for (int i = 0; i < 3; ++i) {
    packet.group[i] = static_cast<uint16_t>(group[i]);
    packet.grid[i] = test.global[i];
  }
  packet.private_bytes = kernel.private_bytes;
  packet.group_bytes = static_cast<uint32_t>(group_bytes);
  packet.kernarg = arguments.value;
  const GuestAddress packet_address = guest.place(sizeof packet);
  write(packet_address, std::as_bytes(std::span(&packet, 1)));

  dispatch::DispatchState& state = launch.state;
  state.program = code + Bytes{kernel.entry};
  launch.code_bytes = object.image.size() - kernel.entry;
  launch.private_buffer = (kernel.properties & 1) != 0;
  state.rsrc1 = kernel.rsrc1;
  state.rsrc2 = kernel.rsrc2;
  // The packet processor, not the compiler, sets LDS_SIZE (bits 23:15, units of 128 dwords).
  state.rsrc2 = (state.rsrc2 & ~(0x1ffu << 15)) | static_cast<uint32_t>((group_bytes + 511) / 512) << 15;
  state.rsrc3 = kernel.rsrc3;
  state.initiator = 1 | (kernel.properties >> 10 & 1) << 15;
  const uint32_t wave = (kernel.properties >> 10 & 1) != 0 ? 32 : 64;
  if (kernel.private_bytes != 0) state.tmpring_size = 4095 | (kernel.private_bytes * wave + 1023) / 1024 << 12;
  state.group_size = group;
  for (int i = 0; i < 3; ++i) {
    if (test.global[i] % group[i] != 0) return std::unexpected("a global size that the group size does not divide");
    state.groups[i] = test.global[i] / group[i];
  }
  uint32_t user = 0;
  auto put = [&](uint64_t value) {
    state.user_data[user++] = static_cast<uint32_t>(value);
    state.user_data[user++] = static_cast<uint32_t>(value >> 32);
  };
  // Order: LLVM "AMDGPU usage", initial kernel execution state.
  if (kernel.properties & 1) user += 4;                  // private segment buffer: set up by the executor
  if (kernel.properties & 2) put(packet_address.value);  // dispatch pointer
  if (kernel.properties & 4) return std::unexpected("a queue pointer");  // nothing here needs it
  if (kernel.properties & 8) put(arguments.value);                       // kernarg segment
  if (kernel.properties & 16) put(0);                                    // dispatch id
  if (kernel.properties & 32) user += 2;                                 // flat scratch
  if (kernel.properties & 64) user += 1;                                 // private segment size
  return launch;
}

Verdict run_test(SmallGuest& guest, const CodeObject& object, const KernelTest& test, const Runner& runner) {
  const auto kernel = std::find_if(object.kernels.begin(), object.kernels.end(),
                                   [&](const Kernel& k) { return k.name == test.kernel; });
  if (kernel == object.kernels.end()) return {Outcome::not_launched, "no kernel '" + test.kernel + "'"};
  auto launch = prepare_launch(guest, object, *kernel, test);
  if (!launch) return {Outcome::not_launched, launch.error()};
  const auto refusals = runner(*launch);
  if (!refusals.empty()) {
    std::string text = refusals.front();
    if (refusals.size() > 1) text += fmt::format(" (and {} more)", refusals.size() - 1);
    return {Outcome::refused, text};
  }
  for (size_t i = 0; i < test.arguments.size(); ++i) {
    const Argument& argument = test.arguments[i];
    if (!argument.expected || launch->buffers[i].value == 0) continue;
    std::vector<std::byte> got(argument.size());
    if (auto read = guest.memory().read(launch->buffers[i], got); !read) return {Outcome::failed, read.error().message};
    if (auto wrong = difference(argument, got)) return {Outcome::failed, *wrong};
  }
  return {Outcome::passed, {}};
}

}  // namespace orrery::opencl
