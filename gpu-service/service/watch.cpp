#include "gpu-service/service/watch.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "shared/log.hpp"

namespace orrery::service {
namespace {

// How long the main thread has for an orderly end before the process is ended under it.
constexpr int kGraceMs = 700;

sigset_t term() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  return set;
}

}  // namespace

void block_signals() {
  const sigset_t set = term();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  signal(SIGINT, SIG_IGN);
  signal(SIGPIPE, SIG_IGN);
}

Result<std::unique_ptr<Watch>> Watch::start(int socket) {
  std::unique_ptr<Watch> made(new Watch);
  const sigset_t set = term();
  made->stop_ = UniqueFd(eventfd(0, EFD_CLOEXEC));
  made->signals_ = UniqueFd(signalfd(-1, &set, SFD_CLOEXEC));
  if (!made->stop_ || !made->signals_) {
    return fail(ExitCode::internal, "can't watch for signals: {}", std::strerror(errno));
  }
  made->thread_ = std::thread([watch = made.get(), socket] { watch->watch(socket); });
  return made;
}

void Watch::watch(int socket) {
  pollfd fds[] = {{stop_.get(), POLLIN, 0}, {signals_.get(), POLLIN, 0}, {socket, POLLRDHUP, 0}};
  while (poll(fds, 3, -1) < 0 && errno == EINTR) {
  }
  if (fds[0].revents != 0) return;
  const bool gone = fds[2].revents != 0;
  (gone ? guest_gone_ : asked_to_end_).store(true, std::memory_order_release);
  // The main loop looks at the flags often; a thread inside a driver call can't.
  if (poll(fds, 1, kGraceMs) != 0) return;
  log::warn("{}, and the GPU is still busy: ending at once",
            gone ? "the guest process is gone" : "asked to end by SIGTERM");
  _exit(static_cast<int>(gone ? ExitCode::peer_gone : ExitCode::ok));
}

Watch::~Watch() {
  const uint64_t one = 1;
  if (write(stop_.get(), &one, sizeof one) != sizeof one) log::warn("can't stop the watch: {}", std::strerror(errno));
  thread_.join();
}

}  // namespace orrery::service
