#include "guest-host/hle/nid.hpp"

#include <unordered_map>

#include "guest-host/hle/sha1.hpp"

namespace orrery::hle {

namespace {

constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+-";
constexpr size_t kLength = 11;
constexpr std::string_view kSuffix("\x51\x8D\x64\xA6\x35\xDE\xD8\xC1\xE6\xB0\x39\xB1\xC3\xE5\x52\x30", 16);

constexpr std::string_view kKnownNames[] = {
#include "guest-host/hle/known_names.inc"
};

}  // namespace

std::string nid_of(std::string_view name) {
  if (name.size() == kLength + 1 && name.front() == '$') return std::string(name.substr(1));
  std::string salted(name);
  salted += kSuffix;
  const auto digest = sha1(salted);
  uint64_t value = 0;  // the first eight bytes, reversed
  for (size_t i = 8; i-- > 0;) value = value << 8 | digest[i];
  std::string text;
  for (int shift = 58; shift >= 0; shift -= 6) text.push_back(kDigits[value >> shift & 63]);
  text.push_back(kDigits[(value & 15) << 2]);
  return text;
}

std::optional<std::string_view> known_name(std::string_view nid) {
  static const auto names = [] {
    std::unordered_map<std::string, std::string_view> map;
    for (const auto name : kKnownNames) map.emplace(nid_of(name), name);
    return map;
  }();
  const auto it = names.find(std::string(nid));
  if (it == names.end()) return {};
  return it->second;
}

}  // namespace orrery::hle
