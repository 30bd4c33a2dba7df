#include "guest-host/title_run.hpp"

#include <sys/random.h>
#include <unistd.h>
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <thread>

#include "guest-host/capture/recorder.hpp"
#include "guest-host/cpu/guest_thread.hpp"
#include "guest-host/cpu/signals.hpp"
#include "guest-host/end_signals.hpp"
#include "guest-host/hle/console.hpp"
#include "guest-host/hle/environment.hpp"
#include "guest-host/hle/kernel/library.hpp"
#include "guest-host/hle/libc/library.hpp"
#include "guest-host/hle/registry_binder.hpp"
#include "guest-host/link/link.hpp"
#include "guest-host/link/run_report.hpp"
#include "guest-host/loader/fs_scan.hpp"
#include "guest-host/loader/image_loader.hpp"
#include "protocol/page_states.hpp"
#include "shared/log.hpp"
#include "shared/measure/snapshot.hpp"
#include "shared/write_watch.hpp"

namespace orrery {

namespace {

constexpr Bytes kFirstStack{2 << 20};
constexpr std::chrono::milliseconds kHurriedWait{500};
constexpr unsigned kLongestEnd = 30;  // seconds

uint64_t random_guard() {
  uint64_t value = 0;
  if (::getrandom(&value, sizeof value, 0) != sizeof value) value = 0x9d3c'51ab'77e2'4f00;
  return value & ~0xffull;  // a zero byte stops overruns by strings
}

loader::ImportResolver resolver_of(hle::ImportBinder& binder) {
  return [&binder](const loader::ImportRequest& import) {
    return import.plain ? binder.bind_name(import.name, import.weak)
                        : binder.bind(import.library, import.name, import.weak);
  };
}

std::string folder_of(const std::string& title) {
  const std::filesystem::path path(title);
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) return title;
  return path.has_parent_path() ? path.parent_path().string() : ".";
}

// The name of the title's folder: what the window shows.
std::string name_of_title(const std::string& folder) {
  std::error_code ignored;
  const auto whole = std::filesystem::weakly_canonical(folder, ignored);
  return whole.has_filename() ? whole.filename().string() : folder;
}

void add_libraries(hle::Registry& registry, hle::Environment& environment, hle::Console& console) {
  hle::kernel::add_process_functions(registry, environment);
  hle::kernel::add_memory_functions(registry, environment);
  hle::libc::add_string_functions(registry);
  hle::libc::add_print_functions(registry, environment);
  hle::libc::add_heap_functions(registry, environment);
  hle::libc::add_general_functions(registry, environment);
  hle::libc::add_math_functions(registry);
  console.add_libraries(registry);
}

// Kept to the end of the process: the title's threads may fault at any time.
struct FaultTracking {
  memory::FaultWatch watch;
  std::jthread server;  // arms pages as the GPU service asks
};

Result<void> watch_by_faults(memory::GuestMemory& memory, link::Link& link) {
  auto watch = memory::FaultWatch::create();
  if (!watch) return std::unexpected(std::move(watch.error()));
  auto* tracking = new FaultTracking{std::move(*watch), {}};
  cpu::set_write_fault_hook(
      [](void* context, uint64_t address) {
        return static_cast<memory::FaultWatch*>(context)->on_write_fault(address);
      },
      &tracking->watch);
  memory.watch_by_faults(tracking->watch);
  link.offer_page_states(tracking->watch.states());
  const auto requests = link.segment().part(protocol::PartName::arm_requests);
  tracking->server = std::jthread([&memory, requests](const std::stop_token& stop) {
    protocol::ArmServer server(requests);
    while (!stop.stop_requested()) {
      server.serve(std::chrono::seconds(1),
                   [&](const protocol::GuestRange& range) { memory.arm({range.begin}, {range.end}); });
    }
  });
  return {};
}

Result<void> watch_writes(const std::string& tracker, memory::GuestMemory& memory, link::Link& link) {
  if (tracker == "hash") return {};
  if (tracker == "mprotect") return watch_by_faults(memory, link);
  if (auto probed = probe_write_watch(); !probed) {
    if (tracker == "uffd") return forward(std::move(probed), "--tracker=uffd");
    log::info("the kernel can't track the title's writes alone, faults will: {}", probed.error().describe());
    return watch_by_faults(memory, link);
  }
  auto watch = WriteWatch::open();
  if (!watch) return std::unexpected(std::move(watch.error()));
  auto pagemap = watch->pagemap();
  if (!pagemap) return std::unexpected(std::move(pagemap.error()));
  link.offer_pagemap(std::move(*pagemap));
  return memory.watch_writes(std::move(*watch));
}

// Nothing when there is no launcher, and so no GPU service.
Result<std::unique_ptr<link::Link>> connect(const CommandLine& line, memory::GuestMemory& memory,
                                            const std::string& name) {
  if (line.launcher_fd < 0) return nullptr;
  link::LinkOptions options;
  options.run = {.headless = line.headless,
                 .logical_clock = line.logical_clock,
                 .keep_frames_directory = line.keep_frames_directory,
                 .keep_every = line.keep_every,
                 .title = name};
  options.trace_file = line.trace_file;
  auto link = link::Link::create(UniqueFd(line.launcher_fd), memory.arena(), memory.arena_size(), options);
  if (!link) return forward(std::move(link), "joining the launcher");
  link::Link& joined = **link;
  joined.set_hang_limit(std::chrono::seconds(line.hang_limit));
  ORRERY_TRY(watch_writes(line.tracker, memory, joined));
  memory.report_to(&joined.reported_writes());
  memory.settle_before([&joined](GuestAddress begin, Bytes size, memory::GuestMemory::Settle why) {
    const bool change = why == memory::GuestMemory::Settle::change;
    (void)joined.queued_writes().settle(begin, size, change ? link::Unbounded::wait : link::Unbounded::go_on);
  });
  ORRERY_TRY(memory.publish_to(&joined.map_writer(), [&joined](uint64_t version) { joined.map_changed(version); }));
  return link;
}

// Nothing when none is asked for.
Result<std::unique_ptr<capture::Recorder>> start_capture(const CommandLine& line, const std::string& title,
                                                         const memory::GuestMemory& memory, link::Link* link) {
  if (line.capture.empty()) return nullptr;
  if (link == nullptr) return fail(ExitCode::usage, "--capture: there is no GPU service whose work could be captured");
  auto wish = capture::parse_wish(line.capture);
  if (!wish) return std::unexpected(std::move(wish.error()));
  // What the title does behind its last flip depends on when the run ends.
  if (line.frames != 0) wish->to = std::min(wish->to, line.frames);
  auto recorder = capture::Recorder::start(*wish, title, memory.arena(), memory.arena_size(), link->segment());
  if (recorder) link->set_watcher(recorder->get());
  return recorder;
}

void say_spans(const link::Link& link) {
  const auto measures = measure::snapshot(link.segment().measures());
  if (measures) fmt::print(stderr, "[guest] spans:\n{}", measure::table_of(*measures));
}

// What the title asked for and did not get.
void say_refusals(const cpu::Refusals& refusals) {
  const std::string summary = refusals.summary();
  if (!summary.empty()) fmt::print(stderr, "[guest] refused during the run:\n{}", summary);
}

}  // namespace

Result<int> run_title(const CommandLine& line) {
  auto title = loader::read_title(line.title);
  if (!title) return std::unexpected(std::move(title.error()));
  const auto scan = loader::scan_fs_uses(title->elf, loader::known_code(title->elf, title->dynamic));
  auto choice = cpu::choose_fs_policy(line.fs_policy, cpu::kernel_keeps_fsgsbase(), scan.complete());
  if (!choice) return std::unexpected(std::move(choice.error()));
  log::info("thread pointer policy {}: {}", cpu::name_of(choice->policy), choice->reason);
  const bool patch = choice->policy == cpu::FsPolicy::patch;
  if (patch && !scan.complete()) {
    log::warn("{} places outside known code look like uses of FS and are not patched", scan.doubtful);
  }

  auto memory = memory::GuestMemory::create({line.arena_size});
  if (!memory) return std::unexpected(std::move(memory.error()));
  cpu::Refusals refusals;
  cpu::GuestProcess process(**memory, refusals, choice->policy);
  process.set_stack_guard(random_guard());
  watch_end_signals(process);
  hle::Environment environment{.memory = **memory, .process = process, .refusals = refusals};
  environment.logical_clock = line.logical_clock;
  environment.title_directory = folder_of(line.title);

  auto link = connect(line, **memory, name_of_title(environment.title_directory));
  if (!link) return std::unexpected(std::move(link.error()));
  environment.link = link->get();
  auto recorder = start_capture(line, name_of_title(environment.title_directory), **memory, link->get());
  if (!recorder) return std::unexpected(std::move(recorder.error()));
  hle::Registry registry;
  hle::Console console(environment, {.headless = line.headless, .frames = line.frames});
  add_libraries(registry, environment, console);

  auto binder = hle::ImportBinder::create(registry, process, line.strict_imports);
  if (!binder) return std::unexpected(std::move(binder.error()));
  environment.binder = binder->get();
  auto image =
      loader::load_image(*title, **memory, resolver_of(**binder), patch ? scan.prefixes : std::vector<uint64_t>{});
  if (!image) return forward(std::move(image), "loading " + line.title);
  process.set_tls(image->tls);
  process.add_module({"eboot.bin", image->begin, image->end});
  environment.process_parameters = image->process_parameters;
  auto exit_function = (*binder)->bind_name("exit", false);
  if (!exit_function) return std::unexpected(std::move(exit_function.error()));

  ORRERY_TRY(cpu::install_signal_handlers(choice->policy));
  std::vector<std::string> argv{"/app0/eboot.bin"};
  argv.insert(argv.end(), line.arguments.begin(), line.arguments.end());
  auto first = cpu::GuestThread::start(process, {.entry = image->entry,
                                                 .stack_size = kFirstStack,
                                                 .name = "main",
                                                 .program = cpu::ProgramArguments{std::move(argv), {*exit_function}}});
  if (!first) return forward(std::move(first), "starting the title's first thread");
  // Last, so that nothing above can return while the link's threads know the console.
  if (*link) (*link)->start(console);
  const cpu::RunEnd end = process.wait_for_end();
  // A fault may have stopped a thread that held a lock of ours, even the heap's: the end must come all the same.
  ::alarm(kLongestEnd);
  if (*link) {
    // Who ends the run by a signal does not want to wait for the GPU.
    const bool in_a_hurry = end.exit_code >= kEndedBySignal;
    (*link)->finish(end.exit_code, in_a_hurry ? kHurriedWait : (*link)->options().exit_wait);
    if (*recorder) {
      const auto captured = (*recorder)->finish();
      fmt::print(stderr, "[guest] capture: {}\n", captured ? *captured : captured.error().describe());
    }
    const std::string refused = (*link)->refusal_summary();
    if (!refused.empty()) fmt::print(stderr, "[guest] refused by the GPU service:\n{}", refused);
    if (!line.report.empty()) {
      if (auto written = link::write_run_report(line.report, (*link)->segment()); !written) {
        fmt::print(stderr, "[guest] {}\n", written.error().describe());
      }
    }
  }
  say_refusals(refusals);
  if (*link && (line.spans || log::should_log(log::level::info))) say_spans(**link);
  std::fflush(nullptr);
  // The title's threads may still use all of this.
  ::_exit(end.exit_code);
}

}  // namespace orrery
