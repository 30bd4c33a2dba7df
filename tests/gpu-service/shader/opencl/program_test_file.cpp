#include "tests/gpu-service/shader/opencl/program_test_file.hpp"

#include <fmt/format.h>
#include <cctype>
#include <cmath>
#include <cstring>
#include <map>
#include <sstream>

namespace orrery::opencl {
namespace {

struct TypeWord {
  Scalar scalar;
  uint32_t components;
};

std::optional<TypeWord> type_of(std::string word) {
  size_t digits = word.size();
  while (digits > 0 && std::isdigit(static_cast<unsigned char>(word[digits - 1])) != 0) --digits;
  const uint32_t components = digits == word.size() ? 1 : static_cast<uint32_t>(std::stoul(word.substr(digits)));
  word.resize(digits);
  static const std::map<std::string, Scalar> kNames{
      {"char", Scalar::i8},  {"uchar", Scalar::u8},  {"short", Scalar::i16},  {"ushort", Scalar::u16},
      {"int", Scalar::i32},  {"uint", Scalar::u32},  {"long", Scalar::i64},   {"ulong", Scalar::u64},
      {"half", Scalar::f16}, {"float", Scalar::f32}, {"double", Scalar::f64}, {"bool", Scalar::i32}};
  const auto found = kNames.find(word);
  if (found == kNames.end()) return std::nullopt;
  return TypeWord{found->second, components};
}

template <class T>
void append(std::vector<std::byte>& out, T value) {
  const auto* raw = reinterpret_cast<const std::byte*>(&value);
  out.insert(out.end(), raw, raw + sizeof value);
}

// One number in the file's spelling; floats may be hexadecimal, nan or inf, integers larger than their type wrap.
bool append_number(std::vector<std::byte>& out, Scalar scalar, const std::string& word) {
  const char* begin = word.c_str();
  char* end = nullptr;
  if (scalar >= Scalar::f16) {
    const double value = std::strtod(begin, &end);
    if (end == begin) return false;
    if (scalar == Scalar::f16) append(out, static_cast<_Float16>(static_cast<float>(value)));
    if (scalar == Scalar::f32) append(out, std::strtof(begin, nullptr));
    if (scalar == Scalar::f64) append(out, value);
    return true;
  }
  uint64_t value = word[0] == '-' ? static_cast<uint64_t>(std::strtoll(begin, &end, 0)) : std::strtoull(begin, &end, 0);
  if (end == begin) return false;
  if (*end == '.' || *end == 'e') value = static_cast<uint64_t>(static_cast<int64_t>(std::strtod(begin, nullptr)));
  const auto* raw = reinterpret_cast<const std::byte*>(&value);
  out.insert(out.end(), raw, raw + bytes_of(scalar));
  return true;
}

// "N buffer TYPE[COUNT] values... [tolerance T [ulp]]" or "N TYPE value".
std::expected<Argument, std::string> parse_argument(Direction direction, const std::string& text) {
  std::istringstream words(text);
  Argument argument;
  argument.direction = direction;
  std::string kind, type;
  if (!(words >> argument.index >> kind)) return std::unexpected("argument '" + text + "'");
  if (kind == "buffer" || kind == "local") {
    argument.buffer = kind == "buffer";
    argument.local = kind == "local";
    words >> type;
    // "int4 [3]" and "int4[3]" both occur.
    if (type.find('[') == std::string::npos) {
      std::string count;
      words >> count;
      type += count;
    }
    const size_t bracket = type.find('[');
    if (bracket == std::string::npos) return std::unexpected("buffer without a size: '" + text + "'");
    argument.elements = static_cast<uint32_t>(std::strtoul(type.c_str() + bracket + 1, nullptr, 0));
    type.resize(bracket);
  } else {
    type = kind;
  }
  const auto known = type_of(type);
  if (!known) return std::unexpected("argument type '" + type + "'");
  argument.scalar = known->scalar;
  argument.components = known->components;
  if (argument.elements > 1u << 20) return std::unexpected("a buffer of " + std::to_string(argument.elements));

  std::vector<std::byte> bytes;
  std::string word;
  bool repeat = false;
  uint32_t in_element = 0;
  while (words >> word) {
    if (word == "NULL") {
      argument.null = true;
    } else if (word == "repeat") {
      repeat = true;
    } else if (word == "random") {
      return std::unexpected("random contents");
    } else if (word == "tolerance") {
      words >> argument.tolerance;
      if (words >> word && word == "ulp") argument.tolerance_in_ulp = true;
    } else if (!append_number(bytes, argument.scalar, word)) {
      return std::unexpected("number '" + word + "'");
    } else if (argument.components == 3 && ++in_element == 3) {
      bytes.resize(bytes.size() + bytes_of(argument.scalar));  // a 3-vector's padding
      in_element = 0;
    }
  }
  if (argument.null || argument.local) return argument;
  if (repeat) {
    if (bytes.empty()) return std::unexpected("nothing to repeat");
    const size_t pattern = bytes.size();
    bytes.reserve(argument.size() + pattern);
    while (bytes.size() < argument.size())
      bytes.insert(bytes.end(), bytes.begin(), bytes.begin() + static_cast<long>(pattern));
    bytes.resize(argument.size());
  }
  if (bytes.size() < argument.size()) return std::unexpected("too few numbers in '" + text.substr(0, 60) + "'");
  bytes.resize(argument.size());
  (direction == Direction::in ? argument.bytes : argument.expected) = std::move(bytes);
  return argument;
}

std::array<uint32_t, 3> sizes_of(const std::string& text) {
  std::array<uint32_t, 3> sizes{1, 1, 1};
  std::istringstream words(text);
  for (auto& size : sizes) {
    uint32_t value = 0;
    if (words >> value && value != 0) size = value;
  }
  return sizes;
}

// An inout argument is given as an arg_in and an arg_out of one index.
void merge(KernelTest& test, Argument argument) {
  for (Argument& other : test.arguments) {
    if (other.index != argument.index) continue;
    other.direction = Direction::inout;
    if (argument.bytes) other.bytes = argument.bytes;
    if (argument.expected) {
      other.expected = argument.expected;
      other.tolerance = argument.tolerance;
      other.tolerance_in_ulp = argument.tolerance_in_ulp;
    }
    return;
  }
  test.arguments.push_back(std::move(argument));
}

int64_t float_order(double value, Scalar scalar) {
  if (scalar == Scalar::f64) {
    int64_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    return bits < 0 ? INT64_MIN - bits : bits;
  }
  if (scalar == Scalar::f32) {
    const auto narrow = static_cast<float>(value);
    int32_t bits;
    std::memcpy(&bits, &narrow, sizeof bits);
    return bits < 0 ? int64_t{INT32_MIN} - bits : bits;
  }
  const auto narrow = static_cast<_Float16>(value);
  int16_t bits;
  std::memcpy(&bits, &narrow, sizeof bits);
  return bits < 0 ? int64_t{INT16_MIN} - bits : bits;
}

double float_at(const std::byte* at, Scalar scalar) {
  if (scalar == Scalar::f16) {
    _Float16 v;
    std::memcpy(&v, at, sizeof v);
    return static_cast<double>(v);
  }
  if (scalar == Scalar::f32) {
    float v;
    std::memcpy(&v, at, sizeof v);
    return v;
  }
  double v;
  std::memcpy(&v, at, sizeof v);
  return v;
}

int64_t integer_at(const std::byte* at, Scalar scalar) {
  int64_t value = 0;
  const uint32_t size = bytes_of(scalar);
  std::memcpy(&value, at, size);
  const bool is_signed = scalar == Scalar::i8 || scalar == Scalar::i16 || scalar == Scalar::i32;
  if (is_signed) value = value << (64 - 8 * size) >> (64 - 8 * size);
  return value;
}

}  // namespace

uint32_t bytes_of(Scalar scalar) {
  switch (scalar) {
    case Scalar::i8:
    case Scalar::u8:
      return 1;
    case Scalar::i16:
    case Scalar::u16:
    case Scalar::f16:
      return 2;
    case Scalar::i64:
    case Scalar::u64:
    case Scalar::f64:
      return 8;
    default:
      return 4;
  }
}

std::expected<TestFile, std::string> parse_program_test(const std::string& text) {
  const size_t begin = text.find("/*!"), end = text.find("!*/");
  if (begin == std::string::npos || end == std::string::npos) return std::unexpected("no test description");
  TestFile file;
  KernelTest defaults;
  KernelTest* current = &defaults;
  std::istringstream lines(text.substr(begin + 3, end - begin - 3));
  std::string line;
  // Without its comment; a backslash at the end, which may stand in front of one, goes on in the next line.
  auto next_line = [&lines](std::string& out) {
    if (!std::getline(lines, out)) return false;
    out.resize(std::min(out.find('#'), out.size()));
    while (!out.empty() && std::isspace(static_cast<unsigned char>(out.back())) != 0) out.pop_back();
    return true;
  };
  while (next_line(line)) {
    while (!line.empty() && line.back() == '\\') {
      line.pop_back();
      std::string more;
      if (!next_line(more)) break;
      line += ' ' + more;
    }
    const size_t first = line.find_first_not_of(" \t\r");
    if (first == std::string::npos) continue;
    line.erase(0, first);
    if (line.starts_with("[test]")) {
      file.tests.push_back(defaults);
      current = &file.tests.back();
      continue;
    }
    if (line.starts_with("[config]")) continue;
    const size_t colon = line.find(':');
    if (colon == std::string::npos) return std::unexpected("line '" + line + "'");
    const std::string key = line.substr(0, colon);
    std::string value = line.substr(colon + 1);
    value.erase(0, std::min(value.find_first_not_of(" \t"), value.size()));
    while (!value.empty() && std::isspace(static_cast<unsigned char>(value.back())) != 0) value.pop_back();
    if (key == "name")
      current->name = value;
    else if (key == "kernel_name")
      current->kernel = value;
    else if (key == "dimensions")
      current->dimensions = static_cast<uint32_t>(std::stoul(value));
    else if (key == "global_size")
      current->global = sizes_of(value);
    else if (key == "local_size")
      current->local = sizes_of(value);
    else if (key == "global_offset") {
      std::istringstream words(value);
      for (auto& offset : current->offset) words >> offset;
    } else if (key == "build_options")
      file.build_options = value;
    else if (key == "clc_version_min")
      file.version = std::max(file.version, static_cast<uint32_t>(std::stoul(value)));
    else if (key == "expect_build_fail")
      file.expect_build_failure = value == "true";
    else if (key == "expect_test_fail")
      current->expect_failure = value == "true";
    else if (key == "need_image_support")
      file.needs_images = value == "true";
    else if (key == "arg_in" || key == "arg_out" || key == "arg_inout") {
      auto argument = parse_argument(key == "arg_in" ? Direction::in : Direction::out, value);
      if (!argument) return std::unexpected(argument.error());
      merge(*current, std::move(*argument));
    }
  }
  return file;
}

std::optional<std::string> difference(const Argument& argument, const std::vector<std::byte>& got) {
  if (!argument.expected) return std::nullopt;
  const uint32_t size = bytes_of(argument.scalar);
  const uint32_t stride = argument.components == 3 ? 4 : argument.components;
  for (uint64_t i = 0; (i + 1) * size <= argument.expected->size(); ++i) {
    if (i % stride >= argument.components) continue;  // padding
    const std::byte* want = argument.expected->data() + i * size;
    const std::byte* have = got.data() + i * size;
    if (argument.scalar >= Scalar::f16) {
      const double a = float_at(want, argument.scalar), b = float_at(have, argument.scalar);
      if (a == b || (std::isnan(a) && std::isnan(b))) continue;
      const double distance =
          argument.tolerance_in_ulp
              ? std::fabs(static_cast<double>(float_order(a, argument.scalar) - float_order(b, argument.scalar)))
              : std::fabs(a - b);
      if (!std::isnan(a) && !std::isnan(b) && distance <= argument.tolerance) continue;
      return fmt::format("argument {}[{}]: expected {}, got {} (tolerance {}{})", argument.index, i, a, b,
                         argument.tolerance, argument.tolerance_in_ulp ? " ulp" : "");
    }
    const int64_t a = integer_at(want, argument.scalar), b = integer_at(have, argument.scalar);
    const uint64_t distance = a > b ? static_cast<uint64_t>(a) - static_cast<uint64_t>(b)
                                    : static_cast<uint64_t>(b) - static_cast<uint64_t>(a);
    if (static_cast<double>(distance) <= argument.tolerance) continue;
    return fmt::format("argument {}[{}]: expected {:#x}, got {:#x}", argument.index, i, static_cast<uint64_t>(a),
                       static_cast<uint64_t>(b));
  }
  return std::nullopt;
}

}  // namespace orrery::opencl
