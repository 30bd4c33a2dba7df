#include "guest-host/loader/import_name.hpp"

namespace orrery::loader {

namespace {

constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+-";
constexpr size_t kLength = 11;

std::optional<uint16_t> number_of(std::string_view digits) {
  if (digits.empty() || digits.size() > 3) return {};
  uint32_t value = 0;
  for (const char c : digits) {
    const size_t digit = kDigits.find(c);
    if (digit == kDigits.npos) return {};
    value = value * 64 + static_cast<uint32_t>(digit);
  }
  if (value > 0xffff) return {};
  return static_cast<uint16_t>(value);
}

}  // namespace

std::optional<ImportName> parse_import_name(std::string_view text) {
  if (text.size() < kLength + 4 || text[kLength] != '#') return {};
  const std::string_view nid = text.substr(0, kLength);
  if (nid.find_first_not_of(kDigits) != nid.npos) return {};
  const size_t second = text.find('#', kLength + 1);
  if (second == text.npos) return {};
  const auto library = number_of(text.substr(kLength + 1, second - kLength - 1));
  const auto module = number_of(text.substr(second + 1));
  if (!library || !module) return {};
  return ImportName{nid, *library, *module};
}

}  // namespace orrery::loader
