#include "gpu-service/command/submission.hpp"

#include <cstring>

namespace orrery::command {
namespace {

template <class T>
bool take(std::span<const std::byte>& bytes, T& out) {
  if (bytes.size() < sizeof out) return false;
  std::memcpy(&out, bytes.data(), sizeof out);
  bytes = bytes.subspan(sizeof out);
  return true;
}

}  // namespace

Result<Submission> parse_submission(const protocol::EntryCopy& entry) {
  std::span<const std::byte> rest = entry.body;
  const auto cut_off = [&](const char* where) {
    return fail(ExitCode::protocol_mismatch, "submission {} is cut off in {} ({} bytes)", entry.sequence, where,
                entry.body.size());
  };
  Submission submission{entry.sequence, entry.queue, entry.guest_time_ns, {}};
  protocol::SubmissionBody head{};
  if (!take(rest, head)) return cut_off("its header");
  for (uint32_t i = 0; i < head.count; ++i) {
    protocol::SubmittedBuffer from{};
    if (!take(rest, from)) return cut_off("a buffer's header");
    CommandBuffer buffer{{from.guest_address}, from.dwords, from.readable != 0, {}};
    if (buffer.readable) {
      const uint64_t size = uint64_t{from.dwords} * 4;
      if (rest.size() < size) return cut_off("a buffer's dwords");
      buffer.dwords.resize(from.dwords);
      if (size != 0) std::memcpy(buffer.dwords.data(), rest.data(), size);
      rest = rest.subspan(size);
    }
    submission.buffers.push_back(std::move(buffer));
  }
  return submission;
}

}  // namespace orrery::command
