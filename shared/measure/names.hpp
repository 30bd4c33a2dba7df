// What is measured: the one table of spans and counters. Names are shown to people and kept in traces: what a name
// means never changes. New ones come last, so that two builds of one protocol agree on the numbers.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace orrery::measure {

enum class SpanName : uint8_t {
  queue_full,
  queued_writes,
  lock_wait,
  live_pipeline_wait,
  packets,
  submission,
  label_wait,
  acquire,
  dispatch_buffers,
  settled_read,
  harvest,
  upload,
  read_program,
  translate,
  pipeline_compile,
  dispatch_on_device,
  device_wait,
  device_run,
  write_back,
  commit,
  read_frame,
  present,
  keep_frame,
  device_open,
  host_run,
  count,
};

struct SpanFact {
  std::string_view name;
  std::string_view detail;  // what a span's number says; empty: nothing
  std::string_view meaning;
};

inline constexpr std::array<SpanFact, static_cast<size_t>(SpanName::count)> kSpanFacts{{
    {"queue full", "queue", "a submitter waits until the journal has room"},
    {"queued writes", "submission", "asking what submissions not yet retired may still write, to the answer"},
    {"lock wait", "", "waiting for another thread's lock; taken out of the spans around it"},
    {"live pipeline: wait", "submission", "a queue waits until its next program is prepared; on its queue's track"},
    {"packets", "submission", "the command processor on a queue's packets, at most 256 at a time"},
    {"submission", "submission", "from its start on the command processor to its retirement; on its queue's track"},
    {"label wait", "submission", "a queue waits for a label (WAIT_REG_MEM); on its queue's track"},
    {"acquire", "map version", "taking the newest address map and the CPU's writes"},
    {"dispatch: buffers", "program", "tracing a dispatch's descriptors, or the memo's check"},
    {"settled read", "address", "waiting for device work before the CPU reads what it may write"},
    {"harvest", "pages", "asking which pages the guest's CPU wrote"},
    {"upload", "bytes", "guest memory to the device's mirrors"},
    {"read program", "program", "copying, hashing and decoding a program's words"},
    {"translate", "program", "a program to SPIR-V, or its load from the store"},
    {"pipeline compile", "program", "the driver makes a pipeline"},
    {"dispatch on device", "program", "preparing and recording a dispatch, all of the host's part"},
    {"device: wait", "steps", "the service waits for the device"},
    {"device: run", "program", "the device's own time for one dispatch, fill or copy, by its time stamps"},
    {"write back", "bytes", "changed bytes of mirrors to guest memory"},
    {"commit", "submission", "applying a stretch's bytes and effects"},
    {"read frame", "flip", "a flipped buffer out of guest memory, its tiling undone"},
    {"present", "flip", "showing a frame"},
    {"keep frame", "flip", "writing a frame as PNG"},
    {"open device", "", "opening the Vulkan device"},
    {"host run", "program", "running a dispatch's waves on the host to find where they store"},
}};

enum class Counter : uint8_t {
  submissions,
  flips,
  journal_bytes,
  batches,
  trace_hits,
  trace_misses,
  translations,
  translations_loaded,
  pipelines,
  count,
};

inline constexpr std::array<std::string_view, static_cast<size_t>(Counter::count)> kCounterNames{
    "submissions",          "flips",        "journal bytes",       "batches",   "traced buffers: hit",
    "traced buffers: miss", "translations", "translations loaded", "pipelines",
};

constexpr const SpanFact& fact_of(SpanName name) { return kSpanFacts[static_cast<size_t>(name)]; }
constexpr std::string_view name_of(Counter counter) { return kCounterNames[static_cast<size_t>(counter)]; }

}  // namespace orrery::measure
