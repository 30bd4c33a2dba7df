// Keyboard and game controllers as one pad.
#pragma once

#include <map>
#include <memory>
#include <optional>

#include "gpu-service/present/presenter.hpp"

struct _SDL_GameController;

namespace orrery::present {

class PadInput {
 public:
  PadInput() = default;
  ~PadInput();
  PadInput(const PadInput&) = delete;
  PadInput& operator=(const PadInput&) = delete;
  void added(int device_index);
  void removed(int32_t instance);
  // The state now, when it differs from the last one answered. The first answer is always given: a new life releases
  // the keys that its predecessor held.
  std::optional<PadState> changed();

 private:
  std::map<int32_t, _SDL_GameController*> controllers_;
  std::optional<PadState> last_;
};

}  // namespace orrery::present
