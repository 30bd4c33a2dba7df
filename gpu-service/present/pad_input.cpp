#include "gpu-service/present/pad_input.hpp"

#include <SDL.h>

#include <algorithm>
#include <cstdlib>

namespace orrery::present {
namespace {

// ScePadData button bits.
enum Button : uint32_t {
  kL3 = 0x2,
  kR3 = 0x4,
  kOptions = 0x8,
  kUp = 0x10,
  kRight = 0x20,
  kDown = 0x40,
  kLeft = 0x80,
  kL2 = 0x100,
  kR2 = 0x200,
  kL1 = 0x400,
  kR1 = 0x800,
  kTriangle = 0x1000,
  kCircle = 0x2000,
  kCross = 0x4000,
  kSquare = 0x8000,
  kTouchPad = 0x100000,
};

// README.md of this folder shows the same to people.
constexpr std::pair<SDL_Scancode, uint32_t> kKeys[] = {
    {SDL_SCANCODE_UP, kUp},        {SDL_SCANCODE_DOWN, kDown},
    {SDL_SCANCODE_LEFT, kLeft},    {SDL_SCANCODE_RIGHT, kRight},
    {SDL_SCANCODE_SPACE, kCross},  {SDL_SCANCODE_RETURN, kCross},
    {SDL_SCANCODE_F, kSquare},     {SDL_SCANCODE_BACKSPACE, kCircle},
    {SDL_SCANCODE_R, kTriangle},   {SDL_SCANCODE_Q, kL1},
    {SDL_SCANCODE_E, kR1},         {SDL_SCANCODE_1, kL2},
    {SDL_SCANCODE_3, kR2},         {SDL_SCANCODE_LSHIFT, kL3},
    {SDL_SCANCODE_RSHIFT, kR3},    {SDL_SCANCODE_ESCAPE, kOptions},
    {SDL_SCANCODE_TAB, kTouchPad},
};

constexpr std::pair<SDL_GameControllerButton, uint32_t> kButtons[] = {
    {SDL_CONTROLLER_BUTTON_A, kCross},           {SDL_CONTROLLER_BUTTON_B, kCircle},
    {SDL_CONTROLLER_BUTTON_X, kSquare},          {SDL_CONTROLLER_BUTTON_Y, kTriangle},
    {SDL_CONTROLLER_BUTTON_START, kOptions},     {SDL_CONTROLLER_BUTTON_BACK, kTouchPad},
    {SDL_CONTROLLER_BUTTON_TOUCHPAD, kTouchPad}, {SDL_CONTROLLER_BUTTON_LEFTSTICK, kL3},
    {SDL_CONTROLLER_BUTTON_RIGHTSTICK, kR3},     {SDL_CONTROLLER_BUTTON_LEFTSHOULDER, kL1},
    {SDL_CONTROLLER_BUTTON_RIGHTSHOULDER, kR1},  {SDL_CONTROLLER_BUTTON_DPAD_UP, kUp},
    {SDL_CONTROLLER_BUTTON_DPAD_DOWN, kDown},    {SDL_CONTROLLER_BUTTON_DPAD_LEFT, kLeft},
    {SDL_CONTROLLER_BUTTON_DPAD_RIGHT, kRight},
};

constexpr uint8_t kCentre = 128;

// Of two sources the one pushed farther from the centre.
void push(uint8_t& axis, int value) {
  const int pushed = std::clamp(value, 0, 255);
  if (std::abs(pushed - kCentre) > std::abs(axis - kCentre)) axis = static_cast<uint8_t>(pushed);
}

void add_keyboard(PadState& pad) {
  const uint8_t* keys = SDL_GetKeyboardState(nullptr);
  for (const auto& [key, button] : kKeys) {
    if (keys[key] != 0) pad.buttons |= button;
  }
  const auto stick = [&](uint8_t& axis, SDL_Scancode less, SDL_Scancode more) {
    if (keys[less] != keys[more]) push(axis, keys[less] != 0 ? 0 : 255);
  };
  stick(pad.left_x, SDL_SCANCODE_A, SDL_SCANCODE_D);
  stick(pad.left_y, SDL_SCANCODE_W, SDL_SCANCODE_S);
  stick(pad.right_x, SDL_SCANCODE_J, SDL_SCANCODE_L);
  stick(pad.right_y, SDL_SCANCODE_I, SDL_SCANCODE_K);
  if ((pad.buttons & kL2) != 0) pad.l2 = 255;
  if ((pad.buttons & kR2) != 0) pad.r2 = 255;
}

void add_controller(PadState& pad, SDL_GameController* controller) {
  for (const auto& [button, bit] : kButtons) {
    if (SDL_GameControllerGetButton(controller, button) != 0) pad.buttons |= bit;
  }
  const auto axis = [&](SDL_GameControllerAxis which) { return SDL_GameControllerGetAxis(controller, which); };
  const auto stick = [&](SDL_GameControllerAxis which) { return (axis(which) + 32768) >> 8; };
  push(pad.left_x, stick(SDL_CONTROLLER_AXIS_LEFTX));
  push(pad.left_y, stick(SDL_CONTROLLER_AXIS_LEFTY));
  push(pad.right_x, stick(SDL_CONTROLLER_AXIS_RIGHTX));
  push(pad.right_y, stick(SDL_CONTROLLER_AXIS_RIGHTY));
  const auto trigger = [&](SDL_GameControllerAxis which) {
    return static_cast<uint8_t>(std::max<int>(axis(which), 0) >> 7);
  };
  pad.l2 = std::max(pad.l2, trigger(SDL_CONTROLLER_AXIS_TRIGGERLEFT));
  pad.r2 = std::max(pad.r2, trigger(SDL_CONTROLLER_AXIS_TRIGGERRIGHT));
  if (pad.l2 > kCentre) pad.buttons |= kL2;
  if (pad.r2 > kCentre) pad.buttons |= kR2;
}

}  // namespace

PadInput::~PadInput() {
  for (const auto& [instance, controller] : controllers_) SDL_GameControllerClose(controller);
}

void PadInput::added(int device_index) {
  SDL_GameController* controller = SDL_GameControllerOpen(device_index);
  if (controller == nullptr) return;
  const int32_t instance = SDL_JoystickInstanceID(SDL_GameControllerGetJoystick(controller));
  if (!controllers_.emplace(instance, controller).second) SDL_GameControllerClose(controller);
}

void PadInput::removed(int32_t instance) {
  const auto found = controllers_.find(instance);
  if (found == controllers_.end()) return;
  SDL_GameControllerClose(found->second);
  controllers_.erase(found);
}

std::optional<PadState> PadInput::changed() {
  PadState pad;
  add_keyboard(pad);
  for (const auto& [instance, controller] : controllers_) add_controller(pad, controller);
  if (last_ == pad) return std::nullopt;
  last_ = pad;
  return pad;
}

}  // namespace orrery::present
