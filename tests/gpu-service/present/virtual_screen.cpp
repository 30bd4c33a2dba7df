#include "virtual_screen.hpp"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

#include "temporary_directory.hpp"

namespace orrery::present::test {
namespace {

class Server {
 public:
  Server() {
    if (std::system("command -v Xvfb import > /dev/null 2>&1") != 0) {
      missing = "Xvfb or import (ImageMagick) is not installed";
      return;
    }
    int ends[2];
    if (pipe(ends) != 0) return;
    pid = fork();
    if (pid == 0) {
      prctl(PR_SET_PDEATHSIG, SIGTERM);
      close(ends[0]);
      const std::string fd = std::to_string(ends[1]);
      const std::string screen = fmt::format("{}x{}x24", kScreenWidth, kScreenHeight);
      execlp("Xvfb", "Xvfb", "-displayfd", fd.c_str(), "-screen", "0", screen.c_str(), "-nolisten", "tcp", nullptr);
      _exit(127);
    }
    close(ends[1]);
    char number[16] = {};
    const ssize_t got = read(ends[0], number, sizeof number - 1);
    close(ends[0]);
    if (got <= 0) {
      missing = "Xvfb does not start";
      return;
    }
    setenv("DISPLAY", fmt::format(":{}", std::atoi(number)).c_str(), 1);
    setenv("SDL_VIDEODRIVER", "x11", 1);
    unsetenv("WAYLAND_DISPLAY");
  }
  ~Server() {
    if (pid <= 0) return;
    kill(pid, SIGKILL);
    waitpid(pid, nullptr, 0);
  }
  pid_t pid = -1;
  std::string missing;
};

}  // namespace

const std::string& VirtualScreen::missing() {
  static const Server server;
  return server.missing;
}

Image VirtualScreen::look() {
  const TemporaryDirectory directory;
  const std::string path = directory.path() + "/screen.png";
  EXPECT_EQ(std::system(fmt::format("timeout 30 import -window root png24:{}", path).c_str()), 0);
  return read_png(path);
}

}  // namespace orrery::present::test
