// Runs orrery-guest on a title and looks at it from outside.
#pragma once

#include <string>
#include <vector>

namespace orrery {

struct GuestRun {
  int code = -1;  // exit status, or minus the signal
  std::string out;
  std::string err;
  bool says(const std::string& part) const { return out.find(part) != out.npos; }
  bool complains(const std::string& part) const { return err.find(part) != err.npos; }
};

// Arguments of orrery-guest, the title among them.
GuestRun run_guest(std::vector<std::string> arguments);
// Paths of built titles.
std::string hello(const std::string& form = "");  // "", "-plain", "-previous", "-self"
std::string probe(const std::string& form = "");  // "", "-plain"
// The policies that this machine can run.
std::vector<std::string> fs_policies();

}  // namespace orrery
