#include "guest-host/link/trace_writer.hpp"

#include <pthread.h>
#include <chrono>

#include "shared/log.hpp"

namespace orrery::link {
namespace {

// A slot's ring holds 4096 events: 400,000 a second of one thread before any is lost.
constexpr auto kEvery = std::chrono::milliseconds(10);

}  // namespace

Result<std::unique_ptr<TraceWriter>> TraceWriter::start(measure::Region& region, const std::string& path) {
  auto file = measure::TraceFile::create(region, path);
  if (!file) return std::unexpected(std::move(file.error()));
  std::unique_ptr<TraceWriter> writer(new TraceWriter(std::move(*file)));
  writer->thread_ = std::jthread([raw = writer.get()](const std::stop_token& stop) { raw->work(stop); });
  return writer;
}

void TraceWriter::work(const std::stop_token& stop) {
  ::pthread_setname_np(::pthread_self(), "trace");
  while (!stop.stop_requested()) {
    std::this_thread::sleep_for(kEvery);
    const std::lock_guard lock(mutex_);
    if (!finished_) file_.drain();
  }
}

void TraceWriter::life_ended() {
  const std::lock_guard lock(mutex_);
  if (!finished_) file_.life_ended();
}

void TraceWriter::finish() {
  const std::lock_guard lock(mutex_);
  if (finished_) return;
  finished_ = true;
  if (auto written = file_.finish(); !written) log::warn("{}", written.error().describe());
  if (file_.lost() != 0) log::warn("the trace lacks {} events, which came too fast", file_.lost());
}

}  // namespace orrery::link
