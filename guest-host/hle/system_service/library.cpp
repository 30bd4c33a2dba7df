#include "guest-host/hle/system_service/library.hpp"

namespace orrery::hle::system_service {
namespace {

constexpr auto kLibrary = "libSceSystemService";
// As public headers name it: the argument is not acceptable.
constexpr int32_t kInvalidParameter = static_cast<int32_t>(0x80a10003);

}  // namespace

void add_library(Registry& registry, Environment& env) {
  // There is no splash screen to hide.
  registry.add(kLibrary, "sceSystemServiceHideSplashScreen", []() { return 0; });
  registry.add(kLibrary, "sceSystemServiceLoadExec", [&env](GuestAddress path, GuestAddress /*arguments*/) {
    const auto text = env.memory.read_string(path, 1024);
    env.refusals.refuse("sceSystemServiceLoadExec", text ? "starting " + *text : "a bad path");
    return kInvalidParameter;
  });
}

}  // namespace orrery::hle::system_service
