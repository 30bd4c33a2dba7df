// Last words before each dispatch, and the programs that are not run any more.
#pragma once

#include "gpu-service/dispatch/guard.hpp"
#include "protocol/stretch.hpp"

namespace orrery::service {

class GuardOfLife final : public dispatch::Guard {
 public:
  GuardOfLife(protocol::StretchWriter& stretches, protocol::ServiceStatus& status,
              const protocol::Quarantine& quarantine)
      : stretches_(stretches), status_(status), quarantine_(quarantine) {}
  void running(const dispatch::DispatchState& dispatch, const ContentHash& program) override;
  void over() override;
  bool careful() override { return stretches_.careful(); }
  bool quarantined(const ContentHash& program) override;
  bool forbidden(const ContentHash& program) const override;
  bool wary() const override { return stretches_.wary(); }

 private:
  protocol::StretchWriter& stretches_;
  protocol::ServiceStatus& status_;
  const protocol::Quarantine& quarantine_;
};

}  // namespace orrery::service
