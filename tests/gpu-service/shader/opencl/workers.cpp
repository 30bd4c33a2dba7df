#include "tests/gpu-service/shader/opencl/workers.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <csignal>
#include <cstring>
#include <ctime>
#include <deque>
#include <optional>
#include <stdexcept>
#include <vector>

namespace orrery::opencl {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kMostText = 2000;

// What a worker answers: one packet.
struct Answer {
  uint64_t item;
  Outcome outcome;
  double seconds;  // of its process's own time
  uint32_t length;
  char text[kMostText];
};

Answer answer_of(size_t item, const Verdict& verdict) {
  Answer answer{};
  answer.item = item;
  answer.outcome = verdict.outcome;
  answer.seconds = verdict.seconds;
  answer.length = static_cast<uint32_t>(std::min(verdict.text.size(), kMostText));
  std::memcpy(answer.text, verdict.text.data(), answer.length);
  return answer;
}

// Seconds of processor time of a process.
double work_of(pid_t pid) {
  clockid_t clock;
  timespec now{};
  if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &now) != 0) return 0;
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

[[noreturn]] void work_in_child(int socket, const Work& work) {
  std::function<Verdict(size_t)> run;
  std::string failed;
  try {
    run = work.start();
  } catch (const std::exception& error) {
    failed = error.what();
  }
  for (uint64_t item = 0; recv(socket, &item, sizeof item, 0) == sizeof item;) {
    Verdict verdict{Outcome::no_device, failed};
    const double begin = work_of(0);
    if (run) {
      try {
        verdict = run(item);
      } catch (const std::exception& error) {
        verdict = {Outcome::failed, error.what()};
      }
    }
    verdict.seconds = work_of(0) - begin;
    const Answer answer = answer_of(item, verdict);
    if (send(socket, &answer, sizeof answer, 0) != sizeof answer) break;
  }
  // Drivers may wait for ever in their destructors; nothing here needs them.
  _exit(0);
}

struct Worker {
  pid_t pid = 0;
  int socket = -1;
  std::deque<size_t> queue;  // its group's items; the first is being done
  bool busy = false;
  Clock::time_point begun;
  double work_before = 0;  // its process's own seconds when the item was given
};

class Pool {
 public:
  Pool(const Work& work, const WorkOptions& options) : work_(work), options_(options), workers_(options.workers) {}

  void run() {
    for (Worker& worker : workers_) give(worker);
    while (true) {
      std::vector<pollfd> waiting;
      for (const Worker& worker : workers_) {
        if (worker.busy) waiting.push_back({worker.socket, POLLIN, 0});
      }
      if (waiting.empty()) break;
      poll(waiting.data(), waiting.size(), 50);
      for (Worker& worker : workers_) {
        if (worker.busy) look_at(worker);
      }
    }
    for (Worker& worker : workers_) stop(worker, false);
  }

 private:
  // The next item of its group, or a new group.
  void give(Worker& worker) {
    if (worker.queue.empty()) {
      const size_t first = next_;
      while (next_ < work_.items && work_.group(next_) == work_.group(first)) worker.queue.push_back(next_++);
    }
    if (worker.queue.empty()) return;
    if (worker.pid == 0) start(worker);
    const uint64_t item = worker.queue.front();
    worker.begun = Clock::now();
    worker.work_before = work_of(worker.pid);
    worker.busy = true;
    if (send(worker.socket, &item, sizeof item, MSG_NOSIGNAL) != sizeof item) worker.begun = {};
  }

  void start(Worker& worker) {
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0) throw std::runtime_error("no socket pair");
    const pid_t pid = fork();
    if (pid < 0) throw std::runtime_error("no process for a worker");
    if (pid == 0) {
      close(pair[0]);
      for (const Worker& other : workers_) {
        if (other.socket >= 0) close(other.socket);
      }
      work_in_child(pair[1], work_);
    }
    close(pair[1]);
    worker.pid = pid;
    worker.socket = pair[0];
  }

  // The wait status of its process.
  int stop(Worker& worker, bool by_force) {
    if (worker.pid == 0) return 0;
    if (by_force) kill(worker.pid, SIGKILL);
    close(worker.socket);
    int status = 0;
    waitpid(worker.pid, &status, 0);
    worker.pid = 0;
    worker.socket = -1;
    return status;
  }

  void done(Worker& worker, const Verdict& verdict) {
    worker.busy = false;
    const size_t item = worker.queue.front();
    worker.queue.pop_front();
    work_.report(item, verdict);
    if (verdict.outcome == Outcome::too_slow || verdict.outcome == Outcome::crashed) {
      // What shares its program would cost as much again.
      std::deque<size_t> others;
      for (const size_t other : worker.queue) {
        if (work_.same_program(item, other)) {
          work_.report(other, {verdict.outcome, "as the case before it with the same program"});
        } else {
          others.push_back(other);
        }
      }
      worker.queue = std::move(others);
    }
    give(worker);
  }

  void look_at(Worker& worker) {
    Answer answer;
    const ssize_t got = recv(worker.socket, &answer, sizeof answer, MSG_DONTWAIT);
    if (got == static_cast<ssize_t>(sizeof answer)) {
      done(worker, {answer.outcome, std::string(answer.text, answer.length), answer.seconds});
    } else if (got >= 0 || (errno != EAGAIN && errno != EINTR)) {
      const int status = stop(worker, false);
      done(worker, {Outcome::crashed, WIFSIGNALED(status) ? fmt::format("signal {}", WTERMSIG(status)) : "exited"});
    } else {
      const double limit = std::chrono::duration<double>(options_.limit).count();
      const double taken = work_of(worker.pid) - worker.work_before;
      if (taken <= limit && Clock::now() - worker.begun <= options_.limit * 20) return;
      stop(worker, true);
      done(worker, {Outcome::too_slow, fmt::format("more than {} s", limit), taken});
    }
  }

  const Work& work_;
  const WorkOptions& options_;
  std::vector<Worker> workers_;
  size_t next_ = 0;
};

}  // namespace

void run_work(const Work& work, const WorkOptions& options) { Pool(work, options).run(); }

}  // namespace orrery::opencl
