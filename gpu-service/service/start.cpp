#include "gpu-service/service/start.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <thread>

#include "gpu-service/dispatch/dispatch_executor.hpp"
#include "gpu-service/dispatch/redo.hpp"
#include "gpu-service/dispatch/traced_buffers.hpp"
#include "gpu-service/memory/write_tracker.hpp"
#include "gpu-service/service/guard_of_life.hpp"
#include "gpu-service/service/sandbox.hpp"
#include "gpu-service/service/service.hpp"
#include "gpu-service/service/watch.hpp"
#include "gpu-service/vulkan/device.hpp"
#include "protocol/control_socket.hpp"
#include "shared/injection.hpp"
#include "shared/log.hpp"
#include "shared/measure/span.hpp"

namespace orrery::service {
namespace {

constexpr int kGreetingTimeoutMs = 30'000;

// The launcher's descriptor: a SOCK_SEQPACKET socket, ours alone.
Result<protocol::ControlSocket> take_control_socket(int fd) {
  int type = 0;
  socklen_t size = sizeof type;
  if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) != 0 || type != SOCK_SEQPACKET) {
    return fail(ExitCode::usage, "--control-fd {} is no SOCK_SEQPACKET socket; start titles with `orrery run TITLE`",
                fd);
  }
  fcntl(fd, F_SETFD, FD_CLOEXEC);
  return protocol::ControlSocket(UniqueFd(fd));
}

// Without a display the device is opened all the same: only a title that shows a frame needs one.
Result<std::unique_ptr<vulkan::Device>> open_device(const Options& options, const protocol::RunOptions& run,
                                                    std::optional<Error>& no_display) {
  vulkan::DeviceOptions wanted;
  wanted.choice = {options.gpu, options.cpu};
  wanted.validation |= options.validation;
  if (!run.headless) {
    auto extensions = present::window_instance_extensions();
    if (extensions) {
      wanted.instance_extensions = std::move(*extensions);
    } else {
      no_display = std::move(extensions.error());
    }
  }
  return vulkan::Device::open(wanted);
}

// What the guest process offers, if it is what was asked for; else contents are compared.
Result<std::unique_ptr<memory::Harvester>> make_harvester(const std::string& wish, protocol::GuestHello& hello,
                                                          std::span<std::byte> arena,
                                                          const protocol::ControlSegmentView& segment) {
  Result<std::unique_ptr<memory::Harvester>> offered =
      fail(ExitCode::usage, "the guest process does not let its writes be watched like that");
  if (hello.pagemap && (wish == "auto" || wish == "uffd")) {
    offered = memory::make_page_table_harvester(std::move(hello.pagemap));
  } else if (hello.page_states && (wish == "auto" || wish == "mprotect")) {
    offered = memory::make_fault_harvester(hello.page_states, segment.part(protocol::PartName::arm_requests));
  }
  if (offered) return offered;
  if (wish != "auto" && wish != "hash") return forward(std::move(offered), "--tracker=" + wish);
  if (wish == "auto") log::warn("the title's writes are found by comparing contents: {}", offered.error().describe());
  return memory::make_content_harvester(arena);
}

Result<std::unique_ptr<memory::WriteTracker>> make_tracker(const Options& options, protocol::GuestHello& hello,
                                                           std::span<std::byte> arena,
                                                           const protocol::ControlSegmentView& segment) {
  auto harvester = make_harvester(options.tracker, hello, arena, segment);
  if (!harvester) return std::unexpected(std::move(harvester.error()));
  protocol::ReportedWritesReader reports(segment.part(protocol::PartName::reported_writes));
  return std::make_unique<memory::WriteTracker>(arena, std::move(*harvester), reports);
}

void publish(const dispatch::DispatchExecutor& executor, const memory::WriteTracker& tracker,
             protocol::ServiceStatus& status) {
  const auto put = [](std::atomic<uint64_t>& to, uint64_t value) { to.store(value, std::memory_order_relaxed); };
  const auto& counters = executor.counters();
  put(status.escapes, counters.escapes);
  put(status.bound_bytes, counters.bound_bytes);
  put(status.uploaded_bytes, counters.mirrors.uploaded_bytes);
  put(status.written_back_bytes, counters.mirrors.written_back_bytes);
  put(status.write_conflicts, counters.mirrors.conflicts);
  put(status.harvests, tracker.counters().harvests);
  put(status.harvest_scans, tracker.counters().scans);
  put(status.harvested_pages, tracker.counters().written_pages);
}

// Nothing tells a slow dispatch of a software device from one that never ends.
std::chrono::seconds patience_of(const Options& options, const vulkan::Device& device) {
  constexpr std::chrono::seconds kHardware{10}, kSoftware{300};
  if (options.patience) return std::chrono::seconds(*options.patience);
  return device.facts().type == vulkan::DeviceType::cpu ? kSoftware : kHardware;
}

// What the device changed goes into the stretch that is being made.
class RedoOfStretches final : public dispatch::Redo {
 public:
  explicit RedoOfStretches(protocol::StretchWriter& stretches) : stretches_(stretches) {}
  Result<void> changed(ArenaOffset page, std::span<const std::byte> now, std::span<const std::byte> twin) override {
    return stretches_.changed(page, now, twin);
  }
  void direct() override { stretches_.direct(); }
  Result<void> commit(bool always) override { return service != nullptr ? service->commit(always) : Result<void>{}; }
  Service* service = nullptr;

 private:
  protocol::StretchWriter& stretches_;
};

present::DeviceHandles handles_of(const vulkan::Device& device) {
  return {device.instance().handle(), device.physical(), device.handle(), device.queue(), device.queue_family()};
}

}  // namespace

Result<void> start(const Options& options) {
  auto socket = take_control_socket(options.control_fd);
  if (!socket) return std::unexpected(std::move(socket.error()));
  auto watch = Watch::start(socket->fd());
  if (!watch) return std::unexpected(std::move(watch.error()));

  std::unique_ptr<vulkan::Device> device;
  std::optional<Error> no_display;
  uint64_t opening_ns = measure::now_ns();
  uint64_t opened_ns = opening_ns;
  auto hello = protocol::greet_guest(
      *socket,
      [&](const protocol::GuestHello& greeting) -> Result<std::string> {
        injection::start(greeting.life);
        injection::point("hello");
        // Landlock holds for threads that start later: for the software device's too. A hardware driver may need more
        // rights while it starts.
        const bool early = options.sandbox != "off" && options.cpu;
        if (early) log::info("{}", enter_sandbox(greeting.options.keep_frames_directory));
        opening_ns = measure::now_ns();
        auto opened = open_device(options, greeting.options, no_display);
        if (!opened) return std::unexpected(std::move(opened.error()));
        const bool software = (*opened)->facts().type == vulkan::DeviceType::cpu;
        if (!early && (options.sandbox == "on" || (options.sandbox == "auto" && software))) {
          log::info("{}", enter_sandbox(greeting.options.keep_frames_directory));
        }
        device = std::move(*opened);
        opened_ns = measure::now_ns();
        return device->facts().name;
      },
      kGreetingTimeoutMs);
  if (!hello) return forward(std::move(hello), "greeting the guest process");
  injection::point("greeted");
  log::info("life {} on {}", hello->life, device->facts().name);

  auto arena = Mapping::of(hello->arena, {0}, hello->arena_size);
  if (!arena) return forward(std::move(arena), "mapping the guest arena");
  auto segment = protocol::ControlSegmentView::open(std::move(hello->segment), hello->segment_size, hello->parts);
  if (!segment) return forward(std::move(segment), "mapping the control segment");
  const measure::Attachment measuring(segment->measures(), measure::Process::service, hello->life);
  measure::record(measure::SpanName::device_open, opening_ns, opened_ns - opening_ns, 0, {});
  memory::GuestMemory memory(
      arena->bytes(), protocol::AddressMapReader(segment->part(protocol::PartName::address_map), hello->arena_size));
  ORRERY_TRY(memory.refresh());
  auto tracker = make_tracker(options, *hello, arena->bytes(), *segment);
  if (!tracker) return std::unexpected(std::move(tracker.error()));
  auto redo_memory = Mapping::of(hello->redo, {0}, protocol::redo_memory_size(hello->arena_size));
  if (!redo_memory) return forward(std::move(redo_memory), "mapping the redo memory");
  protocol::StretchWriter stretches(
      *reinterpret_cast<protocol::StretchSlot*>(segment->part(protocol::PartName::stretch).data()),
      redo_memory->bytes(), hello->arena_size);
  RedoOfStretches redo(stretches);
  auto& status = *reinterpret_cast<protocol::ServiceStatus*>(segment->part(protocol::PartName::status).data());
  status.process.store(static_cast<uint32_t>(getpid()), std::memory_order_relaxed);
  status.device_open_ns.store(opened_ns - opening_ns, std::memory_order_relaxed);
  GuardOfLife guard(
      stretches, status,
      *reinterpret_cast<const protocol::Quarantine*>(segment->part(protocol::PartName::quarantine).data()));
  dispatch::ExecutorOptions wanted;
  wanted.redo = options.exactly_once ? &redo : nullptr;
  wanted.guard = &guard;
  wanted.heartbeat = &status.heartbeat;
  wanted.coherence = options.coherence;
  wanted.tracker = tracker->get();
  wanted.preparation_threads = std::max(1u, std::thread::hardware_concurrency() / 2);
  wanted.device_addressing = options.device_addressing;
  wanted.patience = patience_of(options, *device);
  auto executor = dispatch::DispatchExecutor::create(*device, memory, wanted);
  if (!executor) return forward(std::move(executor), "preparing the device");
  log::info("guest memory is {}, the title's writes are found by {}", dispatch::name((*executor)->coherence()),
            (*tracker)->method());
  auto* window = reinterpret_cast<protocol::WindowState*>(segment->part(protocol::PartName::window).data());
  auto presenter =
      present::make_presenter({hello->options, window, segment->part(protocol::PartName::window_pixels), hello->life},
                              handles_of(*device), std::move(no_display));
  if (!presenter) return std::unexpected(std::move(presenter.error()));

  Service service(
      {*segment, memory, **executor, **presenter, stretches, hello->life, hello->options.logical_clock,
       !hello->options.headless, [&] { return (*watch)->guest_gone(); }, [&] { return (*watch)->asked_to_end(); },
       [&](protocol::ServiceStatus& status) { publish(**executor, **tracker, status); }, options.exactly_once});
  redo.service = &service;
  injection::point("started");
  auto ended = service.run();
  if ((*executor)->given_up()) {
    // The device may still write to the arena, and every destructor from here on would wait for it.
    log::error("work on the device does not end: ending at once");
    const int status = tell_end(ended);
    std::fflush(nullptr);
    _exit(status);
  }
  if (options.routes) {
    const auto& counters = (*executor)->counters();
    fmt::print(
        stderr, "[gpu] routes: {} trace, {} device-addressed, {} host run, {} refused; memo: {}; queued writes: {}\n{}",
        counters.bound, counters.device_addressed, counters.host_runs, counters.refused,
        dispatch::describe((*executor)->trace_counters()), service.queued_writes_text(), (*executor)->routes_text());
  }
  log::debug("traced buffers: {}", dispatch::describe((*executor)->trace_counters()));
  if (const auto messages = device->instance().validation_messages(); messages != 0) {
    log::warn("{} validation messages", messages);
  }
  return ended;
}

int tell_end(const Result<void>& ended) {
  if (ended) return 0;
  // The guest process's end is no news of ours.
  if (ended.error().code == ExitCode::peer_gone) {
    log::info("{}", ended.error().describe());
  } else {
    std::fprintf(stderr, "orrery-gpu: %s\n", ended.error().describe().c_str());
  }
  return static_cast<int>(ended.error().code);
}

Result<void> print_devices(const Options& options) {
  auto devices = vulkan::list_devices();
  if (!devices) return std::unexpected(std::move(devices.error()));
  const std::string text = options.json ? vulkan::devices_json(*devices) : vulkan::devices_text(*devices);
  std::fwrite(text.data(), 1, text.size(), stdout);
  if (!text.ends_with('\n')) std::fputc('\n', stdout);
  return {};
}

}  // namespace orrery::service
