// Who watches over what may end this life of the service.
#pragma once

#include "gpu-service/dispatch/executor.hpp"
#include "shared/content_hash.hpp"

namespace orrery::dispatch {

class Guard {
 public:
  virtual ~Guard() = default;
  // From now on until the next call, a death is this program's.
  virtual void running(const DispatchState& dispatch, const ContentHash& program) = 0;
  // What was running is over, whatever comes next.
  virtual void over() = 0;
  // Lives have died in this stretch: nothing is prepared elsewhere, and each dispatch is over before the next begins.
  virtual bool careful() = 0;
  // The program is not to run; asked when it would have. Its stretch is marked.
  virtual bool quarantined(const ContentHash& program) = 0;
  // By any thread: it is not to be prepared either.
  virtual bool forbidden(const ContentHash& program) const = 0;
  // By any thread: lives have died of something here lately; nothing is prepared before its dispatch comes.
  virtual bool wary() const = 0;
};

}  // namespace orrery::dispatch
