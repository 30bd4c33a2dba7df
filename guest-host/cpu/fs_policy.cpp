#include "guest-host/cpu/fs_policy.hpp"

#include <sys/auxv.h>

namespace orrery::cpu {

std::string_view name_of(FsPolicy policy) {
  switch (policy) {
    case FsPolicy::fsgsbase:
      return "fsgsbase";
    case FsPolicy::patch:
      return "patch";
    case FsPolicy::arch_prctl:
      return "arch-prctl";
  }
  return "?";
}

std::optional<FsPolicy> parse_fs_policy(std::string_view text) {
  for (const auto policy : {FsPolicy::fsgsbase, FsPolicy::patch, FsPolicy::arch_prctl}) {
    if (text == name_of(policy)) return policy;
  }
  return {};
}

bool kernel_keeps_fsgsbase() { return (::getauxval(AT_HWCAP2) & 2) != 0; }

Result<FsChoice> choose_fs_policy(std::optional<FsPolicy> forced, bool kernel_keeps_bases, bool patchable) {
  if (forced == FsPolicy::fsgsbase && !kernel_keeps_bases) {
    return fail(ExitCode::usage,
                "--fs-policy=fsgsbase: this kernel does not keep bases that user code writes (AT_HWCAP2 bit 1 is "
                "clear); use patch or arch-prctl");
  }
  if (forced) return FsChoice{*forced, "asked for on the command line"};
  if (kernel_keeps_bases) return FsChoice{FsPolicy::fsgsbase, "the kernel keeps FS bases (AT_HWCAP2 bit 1)"};
  if (patchable) return FsChoice{FsPolicy::patch, "all the title's code ranges are known"};
  return FsChoice{FsPolicy::arch_prctl, "the title has code outside its unwind tables and function symbols"};
}

}  // namespace orrery::cpu
