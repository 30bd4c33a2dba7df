#include "tests/guest-host/probes/run_guest.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cstdio>
#include <cstdlib>

#include "guest-host/cpu/fs_policy.hpp"

namespace orrery {

namespace {

std::string contents(int fd) {
  std::string text;
  char piece[4096];
  ::lseek(fd, 0, SEEK_SET);
  for (ssize_t got; (got = ::read(fd, piece, sizeof piece)) > 0;) text.append(piece, static_cast<size_t>(got));
  ::close(fd);
  return text;
}

}  // namespace

GuestRun run_guest(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), std::string(ORRERY_BUILD_FOLDER) + "/bin/orrery-guest");
  std::vector<char*> argv;
  for (auto& a : arguments) argv.push_back(a.data());
  argv.push_back(nullptr);
  const int out = ::memfd_create("out", MFD_CLOEXEC), err = ::memfd_create("err", MFD_CLOEXEC);
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(::open("/dev/null", O_RDONLY), 0);
    ::dup2(out, 1);
    ::dup2(err, 2);
    ::alarm(60);
    ::execv(argv[0], argv.data());
    ::_exit(127);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  GuestRun run;
  run.code = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  run.out = contents(out);
  run.err = contents(err);
  return run;
}

std::string hello(const std::string& form) {
  return std::string(ORRERY_BUILD_FOLDER) + (form.empty() ? "/titles/hello" : "/test-titles/hello" + form) +
         "/eboot.bin";
}

std::string probe(const std::string& form) {
  return std::string(ORRERY_BUILD_FOLDER) + "/test-titles/probe" + form + "/eboot.bin";
}

std::vector<std::string> fs_policies() {
  std::vector<std::string> all{"patch", "arch-prctl"};
  if (cpu::kernel_keeps_fsgsbase()) all.emplace_back("fsgsbase");
  return all;
}

}  // namespace orrery
