// Errors as values: what went wrong, the exit code it maps to, and a chain of context from inner to outer.
#pragma once

#include <fmt/format.h>
#include <expected>
#include <string>
#include <utility>
#include <vector>

namespace orrery {

// Process exit codes of orrery-guest, orrery-gpu and the launcher. A title's own exit code is 0..63;
// any other is reported as 63 with a log line, so that ours stay distinct.
enum class ExitCode : int {
  ok = 0,
  usage = 64,              // wrong command line or environment
  file_missing = 65,       // the title's file cannot be opened
  file_malformed = 66,     // not an ELF, truncated, overlapping or huge segments, bad relocations
  wrong_machine = 67,      // an ELF for another machine
  guest_fault = 68,        // the title's CPU code faulted
  unresolved_import = 69,  // the title called an import that nobody implements, and asked to stop on it
  no_device = 70,          // no usable Vulkan device
  service_lost = 71,       // the GPU service died too often
  protocol_mismatch = 72,  // the two processes do not speak the same protocol
  internal = 73,           // our own bug or the host's refusal (out of memory, no memfd, ...)
  peer_gone = 74,          // the other process went away
  device_lost = 75,        // the Vulkan device or its driver failed while running; the launcher starts a new service
  no_display = 76,         // a picture is to be shown in a window, and no display can be opened
};

struct Error {
  ExitCode code = ExitCode::internal;
  std::string message;               // what went wrong and what to do about it
  std::vector<std::string> context;  // from inner to outer

  // Adds what was being done; returns itself so that it can be forwarded in one line.
  Error&& with(std::string what) && {
    context.push_back(std::move(what));
    return std::move(*this);
  }
  // "while starting X: while loading Y: message"
  std::string describe() const;
};

template <class T>
using Result = std::expected<T, Error>;

template <class... Args>
[[nodiscard]] std::unexpected<Error> fail(ExitCode code, fmt::format_string<Args...> format, Args&&... args) {
  return std::unexpected(Error{code, fmt::format(format, std::forward<Args>(args)...), {}});
}

// Forwards the error of a Result with one more line of context.
template <class T>
[[nodiscard]] std::unexpected<Error> forward(Result<T>&& failed, std::string what) {
  return std::unexpected(std::move(failed.error()).with(std::move(what)));
}

}  // namespace orrery

// Returns the error from the calling function when `expression` (a Result) failed.
#define ORRERY_TRY(expression)                                  \
  do {                                                          \
    if (auto orrery_result = (expression); !orrery_result) {    \
      return std::unexpected(std::move(orrery_result.error())); \
    }                                                           \
  } while (false)
