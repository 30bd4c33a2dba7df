#include "gpu-service/shader/decode/decoder.hpp"

#include <fmt/format.h>
#include <algorithm>

#include "gpu-service/shader/decode/encoding.hpp"
#include "gpu-service/shader/decode/operands.hpp"

namespace orrery::shader {
std::expected<Instruction, DecodeError> decode(std::span<const uint32_t> words, uint32_t offset, Target target) {
  if (words.empty()) {
    return std::unexpected(DecodeError{offset, "truncated: no word left"});
  }
  const uint32_t word = words[0];
  const Encoding encoding = encoding_of(word, words.size() > 1 ? words[1] : 0);
  std::expected<Instruction, DecodeError> result{std::in_place};
  Instruction& out = *result;
  Decoding decoding{words, out, target};
  decoding.entry = encoding.known ? table::find(encoding.format, encoding.number, target) : nullptr;
  if (decoding.entry == nullptr) {
    return std::unexpected(DecodeError{offset, fmt::format("reserved encoding {:08x}", word)});
  }
  out.opcode = decoding.entry->opcode;
  out.format = encoding.format;
  out.offset = offset;
  switch (out.format) {
    case Format::sop1:
    case Format::sop2:
    case Format::sopc:
    case Format::sopk:
    case Format::sopp:
      decode_scalar(decoding);
      break;
    case Format::vop1:
    case Format::vop2:
    case Format::vopc:
      decode_vector_short(decoding);
      break;
    case Format::vop3:
    case Format::vop3p:
    case Format::vintrp:
      decode_vector_long(decoding);
      break;
    case Format::mimg:
      decode_image(decoding);
      break;
    default:
      decode_memory(decoding);
      break;
  }
  if (decoding.error != nullptr) {
    return std::unexpected(
        DecodeError{offset, fmt::format("{}: {} {:08x}", mnemonic(out.opcode), decoding.error, word)});
  }
  std::copy_n(words.begin(), out.size / 4, out.words.begin());
  return result;
}

}  // namespace orrery::shader
