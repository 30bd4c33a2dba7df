#include "guest-host/end_signals.hpp"

#include <signal.h>
#include <unistd.h>
#include <thread>

namespace orrery {

void watch_end_signals(cpu::GuestProcess& process) {
  sigset_t signals;
  ::sigemptyset(&signals);
  ::sigaddset(&signals, SIGTERM);
  ::sigaddset(&signals, SIGINT);
  ::sigaddset(&signals, SIGALRM);
  ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  std::thread([&process, signals] {
    for (int number = 0; ::sigwait(&signals, &number) == 0;) {
      if (number == SIGALRM) ::_exit(process.exit_code());
      process.end({kEndedBySignal + number});
    }
  }).detach();
}

}  // namespace orrery
