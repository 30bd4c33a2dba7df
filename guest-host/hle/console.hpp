// The state behind the libraries that deal in time, threads, events, display, controller and GPU; one for the whole
// run. It also listens to the GPU service and the launcher.
#pragma once

#include <cstdint>
#include <memory>

#include "guest-host/hle/environment.hpp"
#include "guest-host/hle/registry.hpp"
#include "guest-host/link/listener.hpp"

namespace orrery::hle {

struct ConsoleOptions {
  bool headless = false;  // flips do not wait for a vertical blank
  uint64_t frames = 0;    // the run ends with exit code 0 after so many flips; 0: no limit
};

class Console final : public link::Listener {
 public:
  // `environment` outlives the console; its `link` and `logical_clock` are set.
  Console(Environment& environment, ConsoleOptions options);
  ~Console() override;

  // Adds the libraries: libSceAgc, libSceAgcDriver, libSceVideoOut, libScePad, libSceUserService, libSceSystemService,
  // and libkernel's threads, synchronisation, event queues and clocks. The console outlives the registry's use.
  void add_libraries(Registry& registry);
  // Threads that wait for the display stop waiting and get an error: before the console is destroyed. A title's run
  // never does that: its threads stay where they are until the process ends.
  void stop();

  void retired(uint64_t sequence, protocol::EntryKind kind) override;
  void queue_event(uint32_t queue, uint32_t context_id) override;
  void input(const link::PadInput& pad) override;
  void window_closed() override;
  void run_must_end(const Error& why) override;

  struct State;

 private:
  std::unique_ptr<State> state_;
};

}  // namespace orrery::hle
