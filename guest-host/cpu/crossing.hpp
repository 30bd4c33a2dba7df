// The C++ side of crossing.S: the entries of each FS policy.
#pragma once

#include <cstdint>

#include "guest-host/cpu/fs_policy.hpp"

namespace orrery::cpu {

struct ThreadRecord;

// Where guest code starts and with what.
struct GuestEntry {
  uint64_t address = 0;
  uint64_t stack = 0;  // rsp; the return address lies there
  uint64_t integer[6] = {};
};

struct Crossing {
  void (*import_entry)();  // stubs jump here
  uint64_t (*enter)(ThreadRecord*, const GuestEntry*);
  void (*guest_return)();  // the return address of guest functions that host code calls
};
const Crossing& crossing_of(FsPolicy policy);

}  // namespace orrery::cpu
