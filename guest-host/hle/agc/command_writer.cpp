#include "guest-host/hle/agc/command_writer.hpp"

#include <cstddef>

namespace orrery::hle::agc {
namespace {

constexpr GuestAddress kNothing{0};

bool has_room(const WriterObject& writer, uint64_t dwords) {
  if (writer.limit < writer.cursor) return false;
  const uint64_t free = (writer.limit - writer.cursor) / 4;
  return free >= writer.reserved_dwords && free - writer.reserved_dwords >= dwords;
}

}  // namespace

GuestAddress CommandWriter::put(GuestAddress object, std::span<const uint32_t> words, uint64_t advance) {
  auto writer = memory_.read_value<WriterObject>(object);
  if (!writer) {
    refusals_.refuse("command-buffer builder", "the writer object: " + writer.error().describe());
    return kNothing;
  }
  if (!has_room(*writer, advance) && writer->callback != 0 && call_) {
    // The callback gives the object another buffer; its answer says whether it did.
    const uint64_t answer = call_({writer->callback}, {object.value, advance, writer->context, 0, 0, 0});
    if ((answer & 0xff) != 0) writer = memory_.read_value<WriterObject>(object);
  }
  if (!writer || !has_room(*writer, advance)) {
    refusals_.refuse("command-buffer builder", "no room in the title's command buffer");
    return kNothing;
  }
  const GuestAddress packet{writer->cursor};
  if (auto written = memory_.write(packet, std::as_bytes(words)); !written) {
    refusals_.refuse("command-buffer builder", "the command buffer: " + written.error().describe());
    return kNothing;
  }
  const uint64_t cursor = writer->cursor + 4 * advance;
  if (!memory_.write_value(object + Bytes{offsetof(WriterObject, cursor)}, cursor)) return kNothing;
  return packet;
}

}  // namespace orrery::hle::agc
