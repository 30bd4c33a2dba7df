// A running title's control segment seen from outside, through /proc: read-only, without the title's help and without
// its noticing, so also when it is stuck. What is read is data from another process: sizes are checked, contents are
// not believed.
#pragma once

#include <string>
#include <vector>

#include "protocol/segment_layout.hpp"
#include "shared/error.hpp"
#include "shared/measure/layout.hpp"
#include "shared/unique_fd.hpp"

namespace orrery::protocol {

// Processes of ours (of this user) that hold a control segment they made: running titles.
std::vector<int> running_titles();

class OutsideView {
 public:
  // Errors: no such process, not ours to look at, no control segment in it (usage), or one of another layout
  // (protocol_mismatch).
  static Result<OutsideView> open(int pid);

  int pid() const { return pid_; }
  const measure::Region& measures() const { return *reinterpret_cast<const measure::Region*>(measures_.data()); }
  const ServiceStatus& status() const { return *reinterpret_cast<const ServiceStatus*>(status_.data()); }
  const Ledger& ledger() const { return *reinterpret_cast<const Ledger*>(ledger_.data()); }
  const StretchSlot& stretch() const { return *reinterpret_cast<const StretchSlot*>(stretch_.data()); }
  const Quarantine& quarantine() const { return *reinterpret_cast<const Quarantine*>(quarantine_.data()); }
  const RingHeader& to_service() const { return *reinterpret_cast<const RingHeader*>(to_service_.data()); }
  const RingHeader& from_service() const { return *reinterpret_cast<const RingHeader*>(from_service_.data()); }
  std::string title() const;
  // The process is still there.
  bool alive() const;

 private:
  int pid_ = 0;
  UniqueFd pidfd_;
  Mapping measures_, status_, ledger_, stretch_, quarantine_, to_service_, from_service_;
};

}  // namespace orrery::protocol
