// How the guest's thread pointer (FS) and the host's share one processor register. Host code never runs on a guest FS.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "shared/error.hpp"

namespace orrery::cpu {

enum class FsPolicy {
  fsgsbase,    // wrfsbase on every crossing; only where the kernel keeps it (AT_HWCAP2 bit 1)
  patch,       // the guest's FS prefixes become GS when its code is loaded; nothing to do at a crossing
  arch_prctl,  // a system call on every crossing: slow, always right
};
std::string_view name_of(FsPolicy policy);
// "fsgsbase", "patch" or "arch-prctl".
std::optional<FsPolicy> parse_fs_policy(std::string_view text);

// AT_HWCAP2 bit 1: the kernel preserves FS and GS bases that user code wrote. (That the instruction does not fault
// proves nothing.)
bool kernel_keeps_fsgsbase();

struct FsChoice {
  FsPolicy policy{};
  std::string reason;
};
// `patchable`: all the image's FS accesses are known to lie in known code. Error (usage) when the forced policy can't
// be had on this machine.
Result<FsChoice> choose_fs_policy(std::optional<FsPolicy> forced, bool kernel_keeps_bases, bool patchable);

}  // namespace orrery::cpu
