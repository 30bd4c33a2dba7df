#include "service_process.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

namespace orrery::service::test {
namespace {

[[noreturn]] void become_orrery_gpu(const std::vector<std::string>& arguments) {
  std::vector<char*> words{const_cast<char*>(ORRERY_GPU)};
  for (const auto& argument : arguments) words.push_back(const_cast<char*>(argument.c_str()));
  words.push_back(nullptr);
  unsetenv("DISPLAY");
  unsetenv("WAYLAND_DISPLAY");
  execv(ORRERY_GPU, words.data());
  _exit(127);
}

int status_of(int wait_status) {
  return WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : 128 + WTERMSIG(wait_status);
}

}  // namespace

Ended run_orrery_gpu(std::vector<std::string> arguments) {
  int ends[2];
  EXPECT_EQ(pipe(ends), 0);
  const pid_t pid = fork();
  if (pid == 0) {
    dup2(ends[1], 1);
    dup2(ends[1], 2);
    close(ends[0]);
    close(ends[1]);
    become_orrery_gpu(arguments);
  }
  close(ends[1]);
  Ended ended;
  char buffer[4096];
  for (ssize_t got; (got = read(ends[0], buffer, sizeof buffer)) > 0;) {
    ended.output.append(buffer, static_cast<size_t>(got));
  }
  close(ends[0]);
  int status = 0;
  waitpid(pid, &status, 0);
  ended.status = status_of(status);
  return ended;
}

ServiceProcess::ServiceProcess(GuestSide& guest, uint32_t life, const protocol::RunOptions& options,
                               std::vector<std::string> more) {
  guest.attach();
  auto pair = protocol::ControlSocket::pair();
  EXPECT_TRUE(pair);
  const int theirs = pair->second.fd();
  pid_ = fork();
  if (pid_ == 0) {
    fcntl(theirs, F_SETFD, 0);
    more.insert(more.end(), {"--cpu", "--control-fd", std::to_string(theirs)});
    become_orrery_gpu(more);
  }
  socket_.emplace(std::move(pair->first));
  {
    const auto close_theirs = std::move(pair->second);
  }
  greeting_ = protocol::greet_service(*socket_, {guest.arena_file, {kDataSize}, guest.redo_file}, guest.segment, life,
                                      options, 30000);
}

ServiceProcess::~ServiceProcess() {
  if (pid_ < 0) return;
  signal(SIGKILL);
  wait(std::chrono::seconds(20));
}

void ServiceProcess::signal(int number) { kill(pid_, number); }

std::optional<int> ServiceProcess::wait(std::chrono::milliseconds patience) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  while (std::chrono::steady_clock::now() < deadline) {
    int status = 0;
    if (waitpid(pid_, &status, WNOHANG) == pid_) {
      pid_ = -1;
      return status_of(status);
    }
    usleep(2000);
  }
  return std::nullopt;
}

}  // namespace orrery::service::test
