#include "virtual_screen.hpp"

#define SDL_MAIN_HANDLED
#include <SDL.h>
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
    // A server may lose its display number to another that starts in the same moment: then it is tried again.
    for (int attempt = 0; attempt < 5; ++attempt) {
      if (start() && answers()) return;
      stop();
    }
    missing = "Xvfb does not start";
  }
  ~Server() { stop(); }
  std::string missing;

 private:
  bool start() {
    int ends[2];
    if (pipe(ends) != 0) return false;
    pid_ = fork();
    if (pid_ == 0) {
      prctl(PR_SET_PDEATHSIG, SIGTERM);
      close(ends[0]);
      const std::string fd = std::to_string(ends[1]);
      const std::string screen = fmt::format("{}x{}x24", kScreenWidth, kScreenHeight);
      execlp("Xvfb", "Xvfb", "-displayfd", fd.c_str(), "-screen", "0", screen.c_str(), "-nolisten", "tcp", "-noreset",
             nullptr);
      _exit(127);
    }
    close(ends[1]);
    char number[16] = {};
    const ssize_t got = read(ends[0], number, sizeof number - 1);
    close(ends[0]);
    if (got <= 0) return false;
    setenv("DISPLAY", fmt::format(":{}", std::atoi(number)).c_str(), 1);
    setenv("SDL_VIDEODRIVER", "x11", 1);
    unsetenv("WAYLAND_DISPLAY");
    return true;
  }
  static bool answers() {
    SDL_SetMainReady();
    if (SDL_Init(SDL_INIT_VIDEO) != 0) return false;
    SDL_Quit();
    return true;
  }
  void stop() {
    if (pid_ <= 0) return;
    kill(pid_, SIGTERM);  // it removes its socket and lock file
    waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }

  pid_t pid_ = -1;
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
