#include "gpu-service/present/window_presenter.hpp"

#include <SDL.h>
#include <SDL_vulkan.h>

#include <chrono>
#include <cstdio>
#include <ctime>

#include "gpu-service/present/last_frame.hpp"
#include "gpu-service/present/pad_input.hpp"
#include "gpu-service/present/sdl_session.hpp"
#include "gpu-service/present/swapchain.hpp"
#include "shared/log.hpp"

namespace orrery::present {
namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr auto kTitleEvery = 1s;
constexpr int kFirstWidth = 1280, kFirstHeight = 720;

class WindowPresenter final : public Presenter {
 public:
  WindowPresenter(const PresenterOptions& options, FrameKeeper keeper)
      : title_(options.run.title.empty() ? "Orrery" : options.run.title),
        state_(options.window),
        last_frame_(options.window, options.window_pixels),
        keeper_(std::move(keeper)) {}
  ~WindowPresenter() override;
  Result<void> open(const DeviceHandles& device);

  Result<void> present(const Image& image, uint64_t flip_index) override;
  std::optional<PadState> poll() override;
  bool closed() const override { return closed_; }

 private:
  void show_window(const Image* image);
  void on_event(const SDL_Event& event);
  void on_window_event(const SDL_WindowEvent& event);
  void toggle_full_screen();
  void take_screenshot();
  void update_title();
  void remember_place();
  std::pair<uint32_t, uint32_t> drawable() const;

  std::string title_;
  protocol::WindowState* state_;
  LastFrame last_frame_;
  FrameKeeper keeper_;
  SDL_Window* window_ = nullptr;
  std::unique_ptr<Swapchain> swapchain_;
  PadInput pad_;
  std::optional<Image> last_;
  bool shown_ = false, full_screen_ = false, closed_ = false, redraw_ = false;
  Clock::time_point titled_ = Clock::now();
  uint32_t frames_ = 0;  // since the title was set
  std::string note_;     // shown in the title bar once
};

Result<void> WindowPresenter::open(const DeviceHandles& device) {
  ORRERY_TRY(start_sdl());
  window_ = SDL_CreateWindow(title_.c_str(), SDL_WINDOWPOS_CENTERED, SDL_WINDOWPOS_CENTERED, kFirstWidth, kFirstHeight,
                             SDL_WINDOW_VULKAN | SDL_WINDOW_RESIZABLE | SDL_WINDOW_HIDDEN | SDL_WINDOW_ALLOW_HIGHDPI);
  VkSurfaceKHR surface = VK_NULL_HANDLE;
  if (window_ == nullptr ||
      SDL_Vulkan_CreateSurface(window_, static_cast<VkInstance>(device.instance), &surface) != SDL_TRUE) {
    return fail(ExitCode::no_display, "no window can be opened ({}); use --headless", SDL_GetError());
  }
  auto swapchain = Swapchain::create(device, surface);
  if (!swapchain) return forward(std::move(swapchain), "opening the window");
  swapchain_ = std::move(*swapchain);
  // What the last life showed is shown again at once.
  if (state_ != nullptr && restored_window(*state_)) {
    last_ = last_frame_.load();
    show_window(last_ ? &*last_ : nullptr);
    if (last_) {
      const auto [width, height] = drawable();
      ORRERY_TRY(swapchain_->show(*last_, width, height));
    }
  }
  return {};
}

WindowPresenter::~WindowPresenter() {
  swapchain_.reset();
  if (window_ != nullptr) SDL_DestroyWindow(window_);
}

std::pair<uint32_t, uint32_t> WindowPresenter::drawable() const {
  int width = 0, height = 0;
  SDL_Vulkan_GetDrawableSize(window_, &width, &height);
  return {static_cast<uint32_t>(std::max(width, 0)), static_cast<uint32_t>(std::max(height, 0))};
}

// The first time the window is seen: where the last life had it, or sized for the frame.
void WindowPresenter::show_window(const Image* image) {
  shown_ = true;
  Rectangle place{0, 0, kFirstWidth, kFirstHeight};
  bool full_screen = false;
  if (const auto restored = state_ != nullptr ? restored_window(*state_) : std::nullopt) {
    place = restored->place;
    full_screen = restored->full_screen;
  } else {
    SDL_Rect usable{0, 0, kFirstWidth, kFirstHeight};
    SDL_GetDisplayUsableBounds(std::max(SDL_GetWindowDisplayIndex(window_), 0), &usable);
    const Rectangle screen{usable.x, usable.y, static_cast<uint32_t>(std::max(usable.w, 1)),
                           static_cast<uint32_t>(std::max(usable.h, 1))};
    place = image != nullptr ? first_window(image->width, image->height, screen)
                             : first_window(kFirstWidth, kFirstHeight, screen);
  }
  SDL_SetWindowSize(window_, static_cast<int>(place.width), static_cast<int>(place.height));
  SDL_SetWindowPosition(window_, place.x, place.y);
  SDL_ShowWindow(window_);
  if (full_screen) toggle_full_screen();
  remember_place();
}

Result<void> WindowPresenter::present(const Image& image, uint64_t flip_index) {
  if (!shown_) show_window(&image);
  last_ = image;
  last_frame_.save(image);
  ++frames_;
  const auto [width, height] = drawable();
  ORRERY_TRY(swapchain_->show(image, width, height));
  redraw_ = false;
  return keeper_.keep(image, flip_index);
}

std::optional<PadState> WindowPresenter::poll() {
  SDL_Event event;
  while (SDL_PollEvent(&event) != 0) on_event(event);
  if (redraw_) {
    redraw_ = false;
    const auto [width, height] = drawable();
    if (auto drawn = swapchain_->show_again(width, height); !drawn) {
      log::warn("drawing the window again: {}", drawn.error().describe());
    }
  }
  update_title();
  return pad_.changed();
}

void WindowPresenter::on_event(const SDL_Event& event) {
  switch (event.type) {
    case SDL_QUIT:
      closed_ = true;
      break;
    case SDL_WINDOWEVENT:
      on_window_event(event.window);
      break;
    case SDL_KEYDOWN:
      if (event.key.repeat != 0) break;
      if (event.key.keysym.scancode == SDL_SCANCODE_F11) toggle_full_screen();
      if (event.key.keysym.scancode == SDL_SCANCODE_F12) take_screenshot();
      break;
    case SDL_CONTROLLERDEVICEADDED:
      pad_.added(event.cdevice.which);
      break;
    case SDL_CONTROLLERDEVICEREMOVED:
      pad_.removed(event.cdevice.which);
      break;
    default:
      break;
  }
}

void WindowPresenter::on_window_event(const SDL_WindowEvent& event) {
  switch (event.event) {
    case SDL_WINDOWEVENT_CLOSE:
      closed_ = true;
      break;
    case SDL_WINDOWEVENT_EXPOSED:
      redraw_ = true;
      break;
    case SDL_WINDOWEVENT_SIZE_CHANGED:
      redraw_ = true;
      remember_place();
      break;
    case SDL_WINDOWEVENT_MOVED:
      remember_place();
      break;
    default:
      break;
  }
}

// Place and size as a window are kept while it is full screen.
void WindowPresenter::remember_place() {
  if (state_ == nullptr || !shown_) return;
  if (!full_screen_) {
    int x = 0, y = 0, width = 0, height = 0;
    SDL_GetWindowPosition(window_, &x, &y);
    SDL_GetWindowSize(window_, &width, &height);
    state_->x = x;
    state_->y = y;
    state_->width = static_cast<uint32_t>(width);
    state_->height = static_cast<uint32_t>(height);
  }
  state_->full_screen = full_screen_ ? 1 : 0;
  state_->valid.store(1, std::memory_order_release);
}

void WindowPresenter::toggle_full_screen() {
  if (SDL_SetWindowFullscreen(window_, full_screen_ ? 0 : SDL_WINDOW_FULLSCREEN_DESKTOP) != 0) {
    log::warn("full screen: {}", SDL_GetError());
    return;
  }
  full_screen_ = !full_screen_;
  redraw_ = true;
  if (state_ != nullptr) state_->full_screen = full_screen_ ? 1 : 0;
}

// The frame itself, not the window's scaled picture.
void WindowPresenter::take_screenshot() {
  if (!last_) return;
  char time[32] = {};
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  std::strftime(time, sizeof time, "%Y%m%d-%H%M%S", localtime_r(&now, &local));
  const std::string folder = keeper_.directory().empty() ? "." : keeper_.directory();
  const std::string path = fmt::format("{}/screenshot-{}.png", folder, time);
  const auto written = write_png(path, *last_);
  note_ = written ? "screenshot: " + path : written.error().describe();
  std::fprintf(stderr, "orrery-gpu: %s\n", note_.c_str());
  titled_ = {};
}

void WindowPresenter::update_title() {
  const auto now = Clock::now();
  if (now - titled_ < kTitleEvery) return;
  const bool first = titled_ == Clock::time_point{};
  const double seconds = std::chrono::duration<double>(now - titled_).count();
  std::string title = first ? title_ : fmt::format("{} - {:.1f} frames/s", title_, frames_ / seconds);
  if (!note_.empty()) title = fmt::format("{} - {}", title_, std::exchange(note_, {}));
  SDL_SetWindowTitle(window_, title.c_str());
  titled_ = now;
  frames_ = 0;
}

}  // namespace

Result<std::unique_ptr<Presenter>> make_window_presenter(const PresenterOptions& options, FrameKeeper keeper,
                                                         const DeviceHandles& device) {
  auto presenter = std::make_unique<WindowPresenter>(options, std::move(keeper));
  ORRERY_TRY(presenter->open(device));
  return presenter;
}

}  // namespace orrery::present
