#include "tests/gpu-service/dispatch/corpus_kernel.hpp"

#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "gpu-service/dispatch/launch_geometry.hpp"

namespace orrery::dispatch {
namespace {

constexpr uint64_t kImageAt = 0x2'0000'0000, kImageOffset = 1 << 20;
constexpr uint64_t kDataAt = 0x40'0000'0000, kDataOffset = 16 << 20;

// Layout of an AQL kernel dispatch packet (HSA Platform System Architecture, 2.9.6), as far as compiled code reads it.
struct DispatchPacket {
  uint16_t header = 0, setup = 3, group[3]{}, reserved = 0;
  uint32_t grid[3]{}, private_bytes = 0, group_bytes = 0;
  uint64_t kernel_object = 0, arguments = 0, reserved2 = 0, completion = 0;
};
static_assert(sizeof(DispatchPacket) == 64);

// Hands out guest memory behind kDataAt.
class Placing {
 public:
  explicit Placing(TestGuest& guest) : guest_(guest) {}
  // Room with unused bytes around it.
  uint64_t room(uint64_t size) {
    const uint64_t at = next_;
    next_ = align_up(next_ + size + 256, 256);
    return at;
  }
  void write(uint64_t at, std::span<const std::byte> bytes) {
    if (!bytes.empty()) std::memcpy(guest_.guest_bytes(kDataOffset + at), bytes.data(), bytes.size());
  }
  uint64_t used() const { return align_up(next_ + 256, kGuestPage); }

 private:
  TestGuest& guest_;
  uint64_t next_ = 256;
};

template <class T>
void put(std::vector<std::byte>& out, uint64_t at, const T& value) {
  if (out.size() < at + sizeof(value)) out.resize(at + sizeof(value));
  std::memcpy(out.data() + at, &value, sizeof(value));
}

}  // namespace

Result<CorpusKernel> CorpusKernel::load(const std::string& base) {
  std::ifstream facts(base + ".json"), image(base + ".image", std::ios::binary);
  if (!facts || !image) {
    return fail(ExitCode::file_missing, "{}.json or .image is missing; `ninja shader_corpus` makes them", base);
  }
  CorpusKernel kernel;
  try {
    const auto json = nlohmann::json::parse(facts);
    kernel.name = json.at("name");
    kernel.in_sgprs = json.at("convention") == "pal";
    kernel.entry = json.at("entry");
    kernel.rsrc1 = json.at("rsrc1");
    kernel.rsrc2 = json.at("rsrc2");
    kernel.rsrc3 = json.at("rsrc3");
    kernel.wave = json.at("wave");
    kernel.lds = json.at("lds");
    kernel.private_bytes = json.at("private");
    kernel.argument_bytes = json.at("argument_bytes");
    kernel.group_size = json.at("group_size");
    kernel.registers = json.at("registers");
    for (const auto& argument : json.at("arguments")) {
      kernel.arguments.push_back({argument.at("offset"), argument.at("size"), argument.at("type")});
    }
  } catch (const nlohmann::json::exception& error) {
    return fail(ExitCode::file_malformed, "{}.json: {}", base, error.what());
  }
  std::vector<char> bytes{std::istreambuf_iterator<char>(image), {}};
  const auto raw = std::as_bytes(std::span(bytes));
  kernel.image.assign(raw.begin(), raw.end());
  return kernel;
}

Result<std::string> run_kernel(Executor& executor, TestGuest& guest, const CorpusKernel& kernel,
                               const KernelLaunch& launch, const std::vector<KernelValue>& values) {
  if (values.size() != kernel.arguments.size()) {
    return fail(ExitCode::usage, "{} takes {} arguments, not {}", kernel.name, kernel.arguments.size(), values.size());
  }
  DispatchState state;
  state.program = {kImageAt + kernel.entry};
  state.rsrc1 = kernel.rsrc1;
  state.rsrc2 = kernel.rsrc2;
  state.rsrc3 = kernel.rsrc3;
  state.initiator = 1 | kStartAtZero | (kernel.wave == 32 ? kWave32 : 0);
  // 4095 waves; the size of one in KiB.
  const uint32_t wave_kib = (kernel.private_bytes * kernel.wave + 1023) / 1024;
  state.tmpring_size = 4095 | (launch.wave_scratch_kib != 0 ? launch.wave_scratch_kib : wave_kib) << 12;
  state.group_size = launch.group_size[0] != 0 ? launch.group_size : kernel.group_size;
  state.groups = launch.groups;
  if (launch.threads[0] != 0) {
    state.groups = launch.threads;
    state.initiator |= kThreadDimensions;
  }

  std::memcpy(guest.guest_bytes(kImageOffset), kernel.image.data(), kernel.image.size());
  Placing placing(guest);
  std::vector<uint64_t> places(values.size());
  std::vector<std::byte> arguments(kernel.argument_bytes);
  for (size_t i = 0; i < values.size(); ++i) {
    const CorpusArgument& argument = kernel.arguments[i];
    if (const auto* image = std::get_if<KernelImage>(&values[i])) {
      if (argument.type != "image") return fail(ExitCode::usage, "argument {} of {} is no image", i, kernel.name);
      places[i] = align_up(placing.room(image->texels->size() + 256), 256);
      placing.write(places[i], *image->texels);
      std::array<uint32_t, 8> words = image->words;
      words[0] = static_cast<uint32_t>((kDataAt + places[i]) >> 8);
      words[1] |= static_cast<uint32_t>((kDataAt + places[i]) >> 40);
      put(arguments, argument.offset, words);
      continue;
    }
    if (const auto* sampler = std::get_if<KernelSampler>(&values[i])) {
      if (argument.type != "sampler") return fail(ExitCode::usage, "argument {} of {} is no sampler", i, kernel.name);
      put(arguments, argument.offset, *sampler);
      continue;
    }
    if (const auto* buffer = std::get_if<std::vector<std::byte>*>(&values[i])) {
      places[i] = placing.room((*buffer)->size());
      placing.write(places[i], **buffer);
      const uint64_t address = kDataAt + places[i];
      put(arguments, argument.offset, address);
      if (argument.type == "descriptor") {
        put(arguments, argument.offset + 8, static_cast<uint32_t>((*buffer)->size()));
        put(arguments, argument.offset + 12, 3u << 28 | 0x16u << 12);  // raw bounds, 32-bit format
      } else if (argument.type != "pointer") {
        return fail(ExitCode::usage, "argument {} of {} is a {}, not a buffer", i, kernel.name, argument.type);
      }
    } else if (argument.size != 4) {
      return fail(ExitCode::usage, "argument {} of {} is a {} of {} bytes", i, kernel.name, argument.type,
                  argument.size);
    } else if (const auto* number = std::get_if<uint32_t>(&values[i])) {
      put(arguments, argument.offset, *number);
    } else {
      put(arguments, argument.offset, std::get<float>(values[i]));
    }
  }
  if (kernel.in_sgprs) {
    std::memcpy(state.user_data.data(), arguments.data(), std::min(arguments.size(), sizeof(state.user_data)));
  } else {
    const uint64_t argument_place = placing.room(arguments.size());
    placing.write(argument_place, arguments);
    DispatchPacket packet;
    for (size_t i = 0; i < 3; ++i) {
      packet.group[i] = static_cast<uint16_t>(state.group_size[i]);
      packet.grid[i] = launch.threads[0] != 0 ? launch.threads[i] : state.group_size[i] * state.groups[i];
    }
    packet.arguments = kDataAt + argument_place;
    const uint64_t packet_place = placing.room(sizeof(packet));
    placing.write(packet_place, std::as_bytes(std::span(&packet, 1)));
    const auto pointer = [&](const char* name, uint64_t address) {
      const auto found = kernel.registers.find(name);
      if (found == kernel.registers.end() || found->second + 1 >= state.user_data.size()) return;
      state.user_data[found->second] = static_cast<uint32_t>(address);
      state.user_data[found->second + 1] = static_cast<uint32_t>(address >> 32);
    };
    pointer("kernarg", kDataAt + argument_place);
    pointer("dispatch_packet", kDataAt + packet_place);
  }
  guest.map({TestGuest::entry(kImageAt, align_up(kernel.image.size(), kGuestPage), kImageOffset),
             TestGuest::entry(kDataAt, placing.used(), kDataOffset)});
  ORRERY_TRY(executor.acquire());
  std::string text;
  for (const Refusal& refusal : executor.dispatch(state)) text += refusal.kind + ": " + refusal.text + "\n";
  const auto found = executor.finish();
  if (!found) return std::unexpected(found.error());
  for (const Refusal& refusal : *found) text += refusal.kind + ": " + refusal.text + "\n";
  for (size_t i = 0; i < values.size(); ++i) {
    if (const auto* buffer = std::get_if<std::vector<std::byte>*>(&values[i])) {
      std::memcpy((*buffer)->data(), guest.guest_bytes(kDataOffset + places[i]), (*buffer)->size());
    }
    if (const auto* image = std::get_if<KernelImage>(&values[i])) {
      std::memcpy(image->texels->data(), guest.guest_bytes(kDataOffset + places[i]), image->texels->size());
    }
  }
  return text;
}

}  // namespace orrery::dispatch
