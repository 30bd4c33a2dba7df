// libSceAgc and libSceAgcDriver: names and prototypes. See README.md for where each prototype comes from.
#pragma once

#include "guest-host/hle/agc/command_writer.hpp"
#include "guest-host/hle/agc/driver.hpp"
#include "guest-host/hle/environment.hpp"
#include "guest-host/hle/equeue/event_queues.hpp"
#include "guest-host/hle/registry.hpp"
#include "guest-host/hle/video_out/video_out.hpp"

namespace orrery::hle::agc {

// What the builders need; lives as long as the registry.
struct Builders {
  CommandWriter writer;
  memory::GuestMemory& memory;
  Refusals& refusals;
  video_out::VideoOut& video_out;
};

void add_state_builders(Registry& registry, Builders& builders);
void add_work_builders(Registry& registry, Builders& builders);
void add_sync_builders(Registry& registry, Builders& builders);
void add_patches(Registry& registry, Builders& builders);
void add_shader_functions(Registry& registry, Builders& builders);
void add_driver(Registry& registry, Driver& driver, equeue::EventQueues& queues, Builders& builders);

}  // namespace orrery::hle::agc
