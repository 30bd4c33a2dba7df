// A real orrery-gpu, started the way the launcher does.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "guest_side.hpp"
#include "protocol/control_socket.hpp"

namespace orrery::service::test {

struct Ended {
  int status = -1;  // exit status, or 128 + signal
  std::string output;
};
// Runs orrery-gpu with these arguments to its end.
Ended run_orrery_gpu(std::vector<std::string> arguments);

class ServiceProcess {
 public:
  // Starts it with `--cpu --control-fd N` and more, without any display; greets it. A failed greeting is in greeting().
  ServiceProcess(GuestSide& guest, uint32_t life, const protocol::RunOptions& options,
                 std::vector<std::string> more = {});
  ~ServiceProcess();
  const Result<std::string>& greeting() const { return greeting_; }
  void hang_up() { socket_.reset(); }
  void signal(int number);
  // Waits; nothing when it has not ended in time.
  std::optional<int> wait(std::chrono::milliseconds patience);

 private:
  pid_t pid_ = -1;
  std::optional<protocol::ControlSocket> socket_;
  Result<std::string> greeting_;
};

}  // namespace orrery::service::test
