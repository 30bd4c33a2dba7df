#include "guest-host/cpu/crossing.hpp"

extern "C" {
void orrery_import_fsgsbase();
void orrery_import_patch();
void orrery_import_arch_prctl();
uint64_t orrery_enter_fsgsbase(orrery::cpu::ThreadRecord*, const orrery::cpu::GuestEntry*);
uint64_t orrery_enter_patch(orrery::cpu::ThreadRecord*, const orrery::cpu::GuestEntry*);
uint64_t orrery_enter_arch_prctl(orrery::cpu::ThreadRecord*, const orrery::cpu::GuestEntry*);
void orrery_return_fsgsbase();
void orrery_return_patch();
void orrery_return_arch_prctl();
}

namespace orrery::cpu {

const Crossing& crossing_of(FsPolicy policy) {
  static constexpr Crossing kFsgsbase{orrery_import_fsgsbase, orrery_enter_fsgsbase, orrery_return_fsgsbase};
  static constexpr Crossing kPatch{orrery_import_patch, orrery_enter_patch, orrery_return_patch};
  static constexpr Crossing kArchPrctl{orrery_import_arch_prctl, orrery_enter_arch_prctl, orrery_return_arch_prctl};
  switch (policy) {
    case FsPolicy::fsgsbase:
      return kFsgsbase;
    case FsPolicy::patch:
      return kPatch;
    case FsPolicy::arch_prctl:
      break;
  }
  return kArchPrctl;
}

}  // namespace orrery::cpu
