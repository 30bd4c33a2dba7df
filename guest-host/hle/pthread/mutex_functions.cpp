#include "guest-host/hle/pthread/attributes.hpp"
#include "guest-host/hle/pthread/both_names.hpp"
#include "guest-host/hle/pthread/library.hpp"

namespace orrery::hle::pthread {
namespace {

struct TimeSpec {
  int64_t seconds, nanoseconds;
};

int init_mutex(Environment& env, Threads& threads, GuestAddress variable, GuestAddress attributes) {
  MutexType type = MutexType::error_check;
  if (attributes.value != 0) {
    const auto value = env.memory.read_value<uint64_t>(attributes);
    const auto wish = value ? unpack_mutex(*value) : std::nullopt;
    if (!wish) return kEinval;
    type = *wish;
  }
  return threads.objects().create_mutex(variable, type);
}

int lock_mutex(Threads& threads, GuestAddress variable, const clock::Deadline& deadline) {
  const auto mutex = threads.objects().mutex(variable);
  return mutex ? mutex->lock(threads.self(), deadline) : kEinval;
}

int wait_condition(Threads& threads, GuestAddress condition_at, GuestAddress mutex_at,
                   const clock::Deadline& deadline) {
  const auto condition = threads.objects().condition(condition_at);
  const auto mutex = threads.objects().mutex(mutex_at);
  if (!condition || !mutex) return kEinval;
  return condition->wait(*mutex, threads.self(), deadline);
}

// An absolute time of the calendar clock as a deadline; nothing for a bad pointer or value.
std::optional<clock::Deadline> absolute(Environment& env, Threads& threads, GuestAddress at) {
  constexpr int64_t kSecond = 1'000'000'000, kMostSeconds = 1ll << 33;
  const auto spec = env.memory.read_value<TimeSpec>(at);
  if (!spec || spec->nanoseconds < 0 || spec->nanoseconds >= kSecond) return std::nullopt;
  if (spec->seconds < 0 || spec->seconds >= kMostSeconds) return std::nullopt;
  const auto due = std::chrono::seconds(spec->seconds) + std::chrono::nanoseconds(spec->nanoseconds);
  return clock::Deadline(threads.clock(), due - threads.clock().since_epoch());
}

clock::Deadline relative(Threads& threads, uint32_t micros) {
  return {threads.clock(), std::chrono::microseconds(micros)};
}

}  // namespace

void add_mutexes(Registry& registry, Environment& env, Threads& threads) {
  registry.add("libkernel", "scePthreadMutexInit",
               [&](GuestAddress variable, GuestAddress attributes, GuestAddress /*name*/) {
                 const int error = init_mutex(env, threads, variable, attributes);
                 return error == 0 ? 0 : kernel_error(error);
               });
  registry.add("libScePosix", "pthread_mutex_init", [&](GuestAddress variable, GuestAddress attributes) -> int32_t {
    return init_mutex(env, threads, variable, attributes);
  });
  add_both<GuestAddress>(registry, "scePthreadMutexDestroy", "pthread_mutex_destroy",
                         [&](GuestAddress variable) { return threads.objects().destroy_mutex(variable); });
  add_both<GuestAddress>(registry, "scePthreadMutexLock", "pthread_mutex_lock", [&](GuestAddress variable) {
    return lock_mutex(threads, variable, clock::Deadline::never(threads.clock()));
  });
  add_both<GuestAddress>(registry, "scePthreadMutexTrylock", "pthread_mutex_trylock", [&](GuestAddress variable) {
    threads.clock().asked();
    const auto mutex = threads.objects().mutex(variable);
    return mutex ? mutex->try_lock(threads.self()) : kEinval;
  });
  registry.add("libkernel", "scePthreadMutexTimedlock", [&](GuestAddress variable, uint32_t micros) {
    const int error = lock_mutex(threads, variable, relative(threads, micros));
    return error == 0 ? 0 : kernel_error(error);
  });
  add_both<GuestAddress>(registry, "scePthreadMutexUnlock", "pthread_mutex_unlock", [&](GuestAddress variable) {
    const auto mutex = threads.objects().mutex(variable);
    return mutex ? mutex->unlock(threads.self()) : kEinval;
  });
}

void add_conditions(Registry& registry, Environment& env, Threads& threads) {
  registry.add("libkernel", "scePthreadCondInit",
               [&](GuestAddress variable, GuestAddress /*attributes*/, GuestAddress /*name*/) {
                 const int error = threads.objects().create_condition(variable);
                 return error == 0 ? 0 : kernel_error(error);
               });
  registry.add("libScePosix", "pthread_cond_init", [&](GuestAddress variable, GuestAddress /*attributes*/) -> int32_t {
    return threads.objects().create_condition(variable);
  });
  add_both<GuestAddress>(registry, "scePthreadCondDestroy", "pthread_cond_destroy",
                         [&](GuestAddress variable) { return threads.objects().destroy_condition(variable); });
  add_both<GuestAddress, GuestAddress>(
      registry, "scePthreadCondWait", "pthread_cond_wait", [&](GuestAddress condition, GuestAddress mutex) {
        return wait_condition(threads, condition, mutex, clock::Deadline::never(threads.clock()));
      });
  registry.add("libkernel", "scePthreadCondTimedwait",
               [&](GuestAddress condition, GuestAddress mutex, uint32_t micros) {
                 const int error = wait_condition(threads, condition, mutex, relative(threads, micros));
                 return error == 0 ? 0 : kernel_error(error);
               });
  registry.add("libScePosix", "pthread_cond_timedwait",
               [&](GuestAddress condition, GuestAddress mutex, GuestAddress due) -> int32_t {
                 const auto deadline = absolute(env, threads, due);
                 return deadline ? wait_condition(threads, condition, mutex, *deadline) : kEinval;
               });
  add_both<GuestAddress>(registry, "scePthreadCondSignal", "pthread_cond_signal", [&](GuestAddress variable) {
    const auto condition = threads.objects().condition(variable);
    if (condition) condition->signal();
    return condition ? 0 : kEinval;
  });
  add_both<GuestAddress>(registry, "scePthreadCondBroadcast", "pthread_cond_broadcast", [&](GuestAddress variable) {
    const auto condition = threads.objects().condition(variable);
    if (condition) condition->broadcast();
    return condition ? 0 : kEinval;
  });
}

}  // namespace orrery::hle::pthread
