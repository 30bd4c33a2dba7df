#include "gpu-service/dispatch/descriptor_source.hpp"

#include <fmt/format.h>
#include <cstring>

namespace orrery::dispatch {

std::expected<std::array<uint32_t, 4>, std::string> read_descriptor(const shader::DescriptorSource& source,
                                                                    std::span<const uint32_t> user_data,
                                                                    const SettledRead& read) {
  std::array<uint32_t, 4> words{};
  const size_t wanted = source.loads.empty() ? 4 : 2;
  if (source.user_sgpr > user_data.size() || user_data.size() - source.user_sgpr < wanted) {
    return std::unexpected(fmt::format("user SGPR {} is none of the {}", source.user_sgpr, user_data.size()));
  }
  const auto from = user_data.subspan(source.user_sgpr, wanted);
  if (source.loads.empty()) {
    std::memcpy(words.data(), from.data(), 16);
    return words;
  }
  uint64_t address = from[0] | static_cast<uint64_t>(from[1]) << 32;
  for (size_t i = 0; i < source.loads.size(); ++i) {
    // Scalar loads ignore the low two address bits.
    address = (address + source.loads[i]) & ~3ull;
    const bool last = i + 1 == source.loads.size();
    const auto out = last ? std::as_writable_bytes(std::span(words)) : std::as_writable_bytes(std::span(&address, 1));
    const uint64_t at = address;
    if (!read({at}, out)) return std::unexpected(fmt::format("address {:#x} is not mapped", at));
  }
  return words;
}

}  // namespace orrery::dispatch
