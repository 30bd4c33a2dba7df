#include "guest-host/hle/user_service/library.hpp"

#include <array>

namespace orrery::hle::user_service {
namespace {

constexpr auto kLibrary = "libSceUserService";
constexpr int32_t kUser = 0x10000000;
constexpr int32_t kNobody = -1;
// As public headers name it.
constexpr int32_t kInvalidArgument = static_cast<int32_t>(0x80960005);

}  // namespace

void add_library(Registry& registry, Environment& env) {
  registry.add(kLibrary, "sceUserServiceInitialize", [](GuestAddress /*parameters*/) { return 0; });
  registry.add(kLibrary, "sceUserServiceTerminate", []() { return 0; });
  for (const char* name : {"sceUserServiceGetInitialUser", "sceUserServiceGetForegroundUser"}) {
    registry.add(kLibrary, name,
                 [&env](GuestAddress to) { return env.memory.write_value(to, kUser) ? 0 : kInvalidArgument; });
  }
  registry.add(kLibrary, "sceUserServiceGetLoginUserIdList", [&env](GuestAddress to) {
    return env.memory.write_value(to, std::array{kUser, kNobody, kNobody, kNobody}) ? 0 : kInvalidArgument;
  });
}

}  // namespace orrery::hle::user_service
