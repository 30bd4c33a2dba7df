// What handlers may use. One of these lives for the whole run; handlers capture a reference to it.
#pragma once

#include <string>

#include "guest-host/cpu/guest_process.hpp"
#include "guest-host/hle/refusals.hpp"
#include "guest-host/memory/guest_memory.hpp"

namespace orrery::link {
class Link;
}

namespace orrery::hle {

class ImportBinder;

struct Environment {
  memory::GuestMemory& memory;
  cpu::GuestProcess& process;
  Refusals& refusals;
  link::Link* link = nullptr;       // nothing when the title runs without a GPU service
  ImportBinder* binder = nullptr;   // set before the title starts
  GuestAddress process_parameters;  // 0: the title has none
  bool logical_clock = false;
  std::string title_directory;  // the host's folder behind /app0
};

}  // namespace orrery::hle
