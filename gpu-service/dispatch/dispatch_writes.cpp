// What a dispatch that is not recorded yet may write: from the same translations, routes and memo as its preparation,
// by another thread.
#include <fmt/format.h>
#include <algorithm>

#include "gpu-service/dispatch/executor_state.hpp"
#include "gpu-service/shader/binding_limit.hpp"
#include "gpu-service/vulkan/device.hpp"

namespace orrery::dispatch {
namespace {

DispatchWrites unbounded(std::string why) { return {{}, std::move(why)}; }

DispatchWrites written(const std::vector<TracedBuffer>& buffers) {
  DispatchWrites writes;
  for (const TracedBuffer& buffer : buffers) {
    if (buffer.written && buffer.span.size.value != 0) writes.spans.push_back(buffer.span);
  }
  return writes;
}

}  // namespace

DispatchWrites DispatchExecutor::State::writes_of(const DispatchState& dispatch, const memory::GuestMemory& asker,
                                                  const MayChange& may_change) {
  const auto geometry = launch_geometry(dispatch);
  // Refused when it is run, or nothing to run.
  if (!geometry || geometry->empty() || dispatch.program.value == 0) return {};
  const auto program =
      workers.threads() == 0 ? programs.read(asker, dispatch.program) : programs.known(asker, dispatch.program);
  if (program == nullptr) return unbounded("its program is being read");
  if (may_change({program->address, {program->copied}})) return unbounded("earlier work may write its program");
  if (!program->program) return {};
  const Wait wait = workers.threads() == 0 ? Wait::yes : Wait::no;
  const auto planned = plan(*program, *geometry, options_of(dispatch, *geometry, device.facts()), wait);
  if (!planned) return unbounded("its program is being looked at");
  if (!planned->choice) return {};
  const auto translation =
      wait == Wait::yes ? programs.translate(*program, planned->options) : programs.made(*program, planned->options);
  if (translation == nullptr) return unbounded("its program is being translated");
  const ProgramKey key{dispatch.program, program->content};
  const Route start = routes.start(key);
  const bool host_runs = !options.device_addressing || start == Route::host_run;
  const auto found_by_host_run = [&](std::string otherwise) {
    const TraceKey asked = trace_key(dispatch, program->content, true);
    if (const auto kept = traces.find(asked, asker, may_change, TraceAsker::queued_writes); kept && *kept) {
      return written(**kept);
    }
    return unbounded(std::move(otherwise));
  };
  if (translation->module && translation->module->writes_anywhere) {
    const auto& module = *translation->module;
    if (host_runs) return found_by_host_run("only a run of its waves on the host will tell");
    return unbounded(fmt::format("device-addressed: a store at {:#x}: {}", module.write_instruction,
                                 shader::text(module.write_reason)));
  }
  if (!translation->module || start == Route::device_addressed) return unbounded("device-addressed");
  TraceKey asked = trace_key(dispatch, program->content, false);
  auto kept = traces.find(asked, asker, may_change, TraceAsker::queued_writes);
  if (!kept) {
    bool changes = false;
    memory::RecordingMemory recording(asker, [&](GuestAddress at, std::span<std::byte> out) {
      changes = changes || may_change({at, {out.size()}});
      return !changes && asker.read(at, out).has_value();
    });
    kept = trace_descriptors(*translation->module, dispatch, most_bound_bytes(), recording);
    if (changes) return unbounded("what is queued before it may write a table that it reads");
    traces.keep(std::move(asked), *kept, recording.take_notes());
  }
  if (!*kept && !options.device_addressing) return found_by_host_run("host run: " + kept->error());
  if (!*kept) return unbounded("device-addressed: " + kept->error());
  return written(**kept);
}

}  // namespace orrery::dispatch
