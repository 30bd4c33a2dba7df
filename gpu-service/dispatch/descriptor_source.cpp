#include "gpu-service/dispatch/descriptor_source.hpp"

#include <fmt/format.h>
#include <algorithm>

namespace orrery::dispatch {

std::expected<std::array<uint32_t, 4>, std::string> read_descriptor(const shader::DescriptorSource& source,
                                                                    const DispatchState& dispatch,
                                                                    const SettledRead& read) {
  const shader::SliceInput input{dispatch.user_data, dispatch.program.value,
                                 [&](uint64_t address, std::span<std::byte> out) { return read({address}, out); }};
  const auto values = shader::evaluate(source.steps, source.words, input);
  if (!values) {
    if (values.error().kind == shader::SliceError::Kind::unmapped) {
      return std::unexpected(fmt::format("address {:#x} is not mapped", values.error().value));
    }
    return std::unexpected(std::string("its source is no slice of scalar code"));
  }
  std::array<uint32_t, 4> words{};
  for (size_t i = 0; i < words.size(); ++i) words[i] = static_cast<uint32_t>((*values)[i]);
  return words;
}

std::expected<std::array<uint32_t, 8>, std::string> read_image(const shader::ImageSource& source,
                                                               const DispatchState& dispatch, const SettledRead& read) {
  std::array<uint32_t, 8> words{};
  for (size_t half = 0; half < 2; ++half) {
    const auto four = read_descriptor(half == 0 ? source.low : source.high, dispatch, read);
    if (!four) return std::unexpected(four.error());
    std::ranges::copy(*four, words.begin() + static_cast<ptrdiff_t>(half) * 4);
  }
  return words;
}

}  // namespace orrery::dispatch
