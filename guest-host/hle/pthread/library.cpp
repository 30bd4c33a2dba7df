#include "guest-host/hle/pthread/library.hpp"

#include <algorithm>
#include <thread>

#include "guest-host/hle/pthread/attributes.hpp"
#include "guest-host/hle/pthread/both_names.hpp"

namespace orrery::hle::pthread {
namespace {

constexpr uint64_t kSmallestStack = 16 << 10;
constexpr uint64_t kLargestStack = 1ull << 30;

int create(Environment& env, Threads& threads, GuestAddress out, GuestAddress attributes, GuestAddress entry,
           uint64_t argument, std::string name) {
  ThreadRequest request{.entry = entry, .argument = argument, .name = std::move(name)};
  if (attributes.value != 0) {
    const auto value = env.memory.read_value<uint64_t>(attributes);
    const auto wish = value ? unpack_thread(*value) : std::nullopt;
    if (!wish) return kEinval;
    request.stack_size = Bytes{std::clamp(wish->stack_size, kSmallestStack, kLargestStack)};
    request.detached = wish->detached;
  }
  if (!env.memory.covers(out, Bytes{8}, memory::kCpuWrite)) return kEfault;
  uint64_t handle = 0;
  if (const int error = threads.create(request, handle); error != 0) return error;
  return env.memory.write_value(out, handle) ? 0 : kEfault;
}

int join(Environment& env, Threads& threads, uint64_t handle, GuestAddress out) {
  if (out.value != 0 && !env.memory.covers(out, Bytes{8}, memory::kCpuWrite)) return kEfault;
  uint64_t result = 0;
  if (const int error = threads.join(handle, result); error != 0) return error;
  return out.value == 0 || env.memory.write_value(out, result) ? 0 : kEfault;
}

// The attribute variable at `at`, changed by `change(ThreadAttributes&)`.
template <class Change>
int change_attributes(Environment& env, GuestAddress at, Change change) {
  const auto value = env.memory.read_value<uint64_t>(at);
  auto attributes = value ? unpack_thread(*value) : std::nullopt;
  if (!attributes) return kEinval;
  if (const int error = change(*attributes); error != 0) return error;
  return env.memory.write_value(at, pack(*attributes)) ? 0 : kEfault;
}

int write_word(Environment& env, GuestAddress at, uint64_t value) {
  return env.memory.write_value(at, value) ? 0 : kEfault;
}

int check_mark(Environment& env, GuestAddress at, uint64_t mark) {
  const auto value = env.memory.read_value<uint64_t>(at);
  return value && has_mark(*value, mark) ? write_word(env, at, 0) : kEinval;
}

void add_threads(Registry& registry, Environment& env, Threads& threads) {
  registry.add(
      "libkernel", "scePthreadCreate",
      [&](GuestAddress out, GuestAddress attributes, GuestAddress entry, uint64_t argument, GuestAddress name) {
        auto text = name.value == 0 ? Result<std::string>("") : env.memory.read_string(name, 64);
        const int error = text ? create(env, threads, out, attributes, entry, argument, std::move(*text)) : kEfault;
        return error == 0 ? 0 : kernel_error(error);
      });
  registry.add("libScePosix", "pthread_create",
               [&](GuestAddress out, GuestAddress attributes, GuestAddress entry, uint64_t argument) -> int32_t {
                 return create(env, threads, out, attributes, entry, argument, "");
               });
  add_both<uint64_t, GuestAddress>(registry, "scePthreadJoin", "pthread_join",
                                   [&](uint64_t thread, GuestAddress out) { return join(env, threads, thread, out); });
  add_both<uint64_t>(registry, "scePthreadDetach", "pthread_detach",
                     [&](uint64_t thread) { return threads.detach(thread); });
  for (const char* name : {"scePthreadSelf", "pthread_self"}) {
    registry.add("libkernel", name, [&]() { return threads.self(); });
  }
  for (const char* name : {"scePthreadExit", "pthread_exit"}) {
    registry.add("libkernel", name, [&](uint64_t result) { threads.exit(result); });
  }
  for (const char* name : {"scePthreadEqual", "pthread_equal"}) {
    registry.add("libkernel", name, [](uint64_t a, uint64_t b) { return a == b ? 1 : 0; });
  }
  for (const char* name : {"scePthreadYield", "sched_yield", "pthread_yield"}) {
    registry.add("libkernel", name, [&]() {
      threads.clock().sleep(clock::nanoseconds::zero());
      return 0;
    });
  }
}

void add_attributes(Registry& registry, Environment& env) {
  add_both<GuestAddress>(registry, "scePthreadAttrInit", "pthread_attr_init",
                         [&](GuestAddress at) { return write_word(env, at, pack(ThreadAttributes{})); });
  add_both<GuestAddress>(registry, "scePthreadAttrDestroy", "pthread_attr_destroy",
                         [&](GuestAddress at) { return check_mark(env, at, kThreadAttribute); });
  add_both<GuestAddress, uint64_t>(registry, "scePthreadAttrSetstacksize", "pthread_attr_setstacksize",
                                   [&](GuestAddress at, uint64_t size) {
                                     return change_attributes(env, at, [size](ThreadAttributes& a) {
                                       if (size < kSmallestStack || size > kLargestStack) return int{kEinval};
                                       a.stack_size = align_up(size, 4096);
                                       return 0;
                                     });
                                   });
  add_both<GuestAddress, int32_t>(registry, "scePthreadAttrSetdetachstate", "pthread_attr_setdetachstate",
                                  [&](GuestAddress at, int32_t state) {
                                    return change_attributes(env, at, [state](ThreadAttributes& a) {
                                      if (state != 0 && state != 1) return int{kEinval};
                                      a.detached = state == 1;
                                      return 0;
                                    });
                                  });
  add_both<GuestAddress>(registry, "scePthreadMutexattrInit", "pthread_mutexattr_init",
                         [&](GuestAddress at) { return write_word(env, at, pack(MutexType::error_check)); });
  add_both<GuestAddress>(registry, "scePthreadMutexattrDestroy", "pthread_mutexattr_destroy",
                         [&](GuestAddress at) { return check_mark(env, at, kMutexAttribute); });
  add_both<GuestAddress, int32_t>(registry, "scePthreadMutexattrSettype", "pthread_mutexattr_settype",
                                  [&](GuestAddress at, int32_t type) -> int {
                                    const auto value = env.memory.read_value<uint64_t>(at);
                                    if (!value || !unpack_mutex(*value) || type < 1 || type > 4) return kEinval;
                                    return write_word(env, at, pack(static_cast<MutexType>(type)));
                                  });
  add_both<GuestAddress>(registry, "scePthreadCondattrInit", "pthread_condattr_init",
                         [&](GuestAddress at) { return write_word(env, at, kConditionAttribute); });
  add_both<GuestAddress>(registry, "scePthreadCondattrDestroy", "pthread_condattr_destroy",
                         [&](GuestAddress at) { return check_mark(env, at, kConditionAttribute); });
}

}  // namespace

void add_mutexes(Registry& registry, Environment& env, Threads& threads);
void add_conditions(Registry& registry, Environment& env, Threads& threads);

void add_library(Registry& registry, Environment& env, Threads& threads) {
  add_threads(registry, env, threads);
  add_attributes(registry, env);
  add_mutexes(registry, env, threads);
  add_conditions(registry, env, threads);
}

}  // namespace orrery::hle::pthread
