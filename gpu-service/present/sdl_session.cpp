#define SDL_MAIN_HANDLED
#include "gpu-service/present/sdl_session.hpp"

#include <SDL.h>
#include <SDL_vulkan.h>

#include <string_view>

#include "gpu-service/present/presenter.hpp"

namespace orrery::present {
namespace {

std::unexpected<Error> no_window(const char* what) {
  const std::string why = SDL_GetError();
  return fail(ExitCode::no_display,
              "no window can be opened ({}: {}). Use --headless, or start it where DISPLAY or "
              "WAYLAND_DISPLAY names a running display",
              what, why.empty() ? "no reason given" : why);
}

}  // namespace

Result<void> start_sdl() {
  if (SDL_WasInit(SDL_INIT_VIDEO) != 0) return {};
  SDL_SetMainReady();
  // Signals are the service's own matter, and a title should not keep the screen saver from running while it loads.
  SDL_SetHint(SDL_HINT_NO_SIGNAL_HANDLERS, "1");
  SDL_SetHint(SDL_HINT_JOYSTICK_ALLOW_BACKGROUND_EVENTS, "0");
  if (SDL_Init(SDL_INIT_VIDEO) != 0) return no_window("SDL_Init");
  // Drivers without a screen can't show what a person asked to see.
  const std::string_view driver = SDL_GetCurrentVideoDriver();
  if (driver == "dummy" || driver == "offscreen" || driver == "evdev") {
    SDL_SetError("SDL chose its %s driver", SDL_GetCurrentVideoDriver());
    return no_window("no display");
  }
  if (SDL_Vulkan_LoadLibrary(nullptr) != 0) return no_window("SDL_Vulkan_LoadLibrary");
  // Without controllers the keyboard is enough.
  SDL_InitSubSystem(SDL_INIT_GAMECONTROLLER);
  return {};
}

Result<std::vector<std::string>> window_instance_extensions() {
  ORRERY_TRY(start_sdl());
  // SDL asks for a window here; which extensions it needs depends on the driver alone.
  SDL_Window* window = SDL_CreateWindow("Orrery", 0, 0, 16, 16, SDL_WINDOW_VULKAN | SDL_WINDOW_HIDDEN);
  if (window == nullptr) return no_window("SDL_CreateWindow");
  unsigned count = 0;
  bool known = SDL_Vulkan_GetInstanceExtensions(window, &count, nullptr) == SDL_TRUE;
  std::vector<const char*> names(count);
  known = known && SDL_Vulkan_GetInstanceExtensions(window, &count, names.data()) == SDL_TRUE;
  SDL_DestroyWindow(window);
  if (!known) return no_window("SDL_Vulkan_GetInstanceExtensions");
  return std::vector<std::string>(names.begin(), names.end());
}

}  // namespace orrery::present
