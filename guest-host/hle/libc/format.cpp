#include "guest-host/hle/libc/format.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace orrery::hle::libc {

namespace {

constexpr int kWidest = 1 << 20;  // a title that asks for more gets this much

enum class Length { none, char_, short_, long_, long_double };

struct Conversion {
  std::string flags;
  int width = -1;
  int precision = -1;
  Length length = Length::none;
  char letter = 0;
};

class Formatter {
 public:
  Formatter(VariableArguments arguments, Refusals& refusals) : arguments_(arguments), refusals_(refusals) {}

  std::string run(const char* format) {
    const char* at = format;
    while (*at != 0) {
      const char* const percent = std::strchr(at, '%');
      if (percent == nullptr) {
        out_.append(at);
        break;
      }
      out_.append(at, percent);
      at = percent + 1;
      if (*at == '%') {
        out_.push_back('%');
        ++at;
        continue;
      }
      const Conversion conversion = parse(at);
      if (conversion.letter == 0) break;
      convert(conversion);
    }
    return std::move(out_);
  }

 private:
  int number(const char*& at) {
    if (*at == '*') {
      ++at;
      return std::clamp(static_cast<int>(arguments_.next_integer()), -kWidest, kWidest);
    }
    int value = 0;
    for (; *at >= '0' && *at <= '9'; ++at) value = std::min(value * 10 + (*at - '0'), kWidest);
    return value;
  }

  Conversion parse(const char*& at) {
    Conversion c;
    while (*at != 0 && std::strchr("-+ #0", *at) != nullptr) {
      if (c.flags.find(*at) == c.flags.npos) c.flags.push_back(*at);
      ++at;
    }
    if (*at == '*' || (*at >= '1' && *at <= '9')) c.width = number(at);
    if (c.width < -1) {
      c.flags.push_back('-');
      c.width = -c.width;
    }
    if (*at == '.') {
      ++at;
      c.precision = std::max(number(at), -1);
    }
    for (;; ++at) {
      switch (*at) {
        case 'h':
          c.length = c.length == Length::short_ ? Length::char_ : Length::short_;
          continue;
        case 'l':
        case 'j':
        case 'z':
        case 't':
          c.length = Length::long_;
          continue;
        case 'L':
          c.length = Length::long_double;
          continue;
        default:
          break;
      }
      break;
    }
    c.letter = *at;
    if (*at != 0) ++at;
    return c;
  }

  // Lets the host's snprintf do one conversion of a value that C promotes as the guest did.
  template <class T>
  void print(const Conversion& c, const char* length, T value) {
    std::string spec = "%" + c.flags;
    if (c.width >= 0) spec += std::to_string(c.width);
    if (c.precision >= 0) spec += "." + std::to_string(c.precision);
    spec += length;
    spec.push_back(c.letter);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#pragma GCC diagnostic ignored "-Wformat-security"
    const int size = std::snprintf(nullptr, 0, spec.c_str(), value);
    if (size <= 0) return;
    const size_t old = out_.size();
    out_.resize(old + static_cast<size_t>(size) + 1);
    std::snprintf(out_.data() + old, static_cast<size_t>(size) + 1, spec.c_str(), value);
    out_.pop_back();
#pragma GCC diagnostic pop
  }

  void print_signed(const Conversion& c) {
    const uint64_t raw = arguments_.next_integer();
    switch (c.length) {
      case Length::char_:
        return print(c, "ll", static_cast<long long>(static_cast<int8_t>(raw)));
      case Length::short_:
        return print(c, "ll", static_cast<long long>(static_cast<int16_t>(raw)));
      case Length::none:
        return print(c, "ll", static_cast<long long>(static_cast<int32_t>(raw)));
      default:
        return print(c, "ll", static_cast<long long>(raw));
    }
  }

  void print_unsigned(const Conversion& c) {
    const uint64_t raw = arguments_.next_integer();
    switch (c.length) {
      case Length::char_:
        return print(c, "ll", static_cast<unsigned long long>(static_cast<uint8_t>(raw)));
      case Length::short_:
        return print(c, "ll", static_cast<unsigned long long>(static_cast<uint16_t>(raw)));
      case Length::none:
        return print(c, "ll", static_cast<unsigned long long>(static_cast<uint32_t>(raw)));
      default:
        return print(c, "ll", static_cast<unsigned long long>(raw));
    }
  }

  void print_string(const Conversion& c) {
    const auto* text = reinterpret_cast<const char*>(arguments_.next_integer());
    if (c.length != Length::long_) return print(c, "", text == nullptr ? "(null)" : text);
    // The guest's wide characters have two bytes; shown as Latin-1 where they fit.
    std::string narrow;
    const auto limit = c.precision < 0 ? size_t{kWidest} : static_cast<size_t>(c.precision);
    for (const auto* wide = reinterpret_cast<const char16_t*>(text); narrow.size() < limit && *wide != 0; ++wide) {
      narrow.push_back(*wide < 0x100 ? static_cast<char>(*wide) : '?');
    }
    print(c, "", narrow.c_str());
  }

  void convert(const Conversion& c) {
    switch (c.letter) {
      case 'd':
      case 'i':
        return print_signed(c);
      case 'u':
      case 'o':
      case 'x':
      case 'X':
        return print_unsigned(c);
      case 'c':
        return print(c, "", static_cast<int>(arguments_.next_integer()));
      case 's':
        return print_string(c);
      case 'p':
        return print(c, "", reinterpret_cast<void*>(arguments_.next_integer()));
      case 'f':
      case 'F':
      case 'e':
      case 'E':
      case 'g':
      case 'G':
      case 'a':
      case 'A':
        if (c.length == Length::long_double) return print(c, "L", arguments_.next_long_double());
        return print(c, "", arguments_.next_double());
      case 'n':
        arguments_.next_integer();
        refusals_.refuse("printf conversion %n", "it stores nothing");
        return;
      default:
        refusals_.refuse(std::string("printf conversion %") + c.letter, "not defined by C");
        out_.push_back('%');
        out_.push_back(c.letter);
    }
  }

  VariableArguments arguments_;
  Refusals& refusals_;
  std::string out_;
};

}  // namespace

std::string format_text(const char* format, VariableArguments arguments, Refusals& refusals) {
  return Formatter(arguments, refusals).run(format);
}

}  // namespace orrery::hle::libc
