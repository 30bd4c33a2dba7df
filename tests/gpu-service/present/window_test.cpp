#include <gtest/gtest.h>
#include <SDL.h>
#include <unistd.h>

#include <chrono>

#include "gpu-service/present/presenter.hpp"
#include "gpu-service/vulkan/device.hpp"
#include "temporary_directory.hpp"
#include "virtual_screen.hpp"

namespace orrery::present::test {
namespace {

using namespace std::chrono_literals;

Image pattern(uint32_t width, uint32_t height, uint32_t seed) {
  Image image{width, height, {}};
  for (uint32_t y = 0; y < height; ++y) {
    for (uint32_t x = 0; x < width; ++x) {
      image.pixels.push_back(0xff000000 | (x * 7 + seed) % 256 << 16 | (y * 5 + seed) % 256 << 8 |
                             (x * y + seed) % 256);
    }
  }
  return image;
}

class Window : public testing::Test {
 protected:
  void SetUp() override {
    if (!VirtualScreen::missing().empty()) GTEST_SKIP() << VirtualScreen::missing();
    auto extensions = window_instance_extensions();
    ASSERT_TRUE(extensions) << extensions.error().describe();
    vulkan::DeviceOptions options;
    options.choice.cpu = true;
    options.instance_extensions = *extensions;
    options.validation = true;
    options.cache_directory = "";
    auto device = vulkan::Device::open(options);
    if (!device && device.error().code == ExitCode::usage) {  // no validation layer here
      options.validation = false;
      device = vulkan::Device::open(options);
    }
    if (!device) GTEST_SKIP() << "no software Vulkan device: " << device.error().describe();
    device_ = std::move(*device);
  }

  void TearDown() override {
    if (device_ == nullptr) return;
    EXPECT_EQ(device_->instance().validation_messages(), 0u)
        << (device_->instance().first_validation_messages().empty()
                ? ""
                : device_->instance().first_validation_messages()[0]);
  }

  std::unique_ptr<Presenter> open(const std::string& kept = "") {
    auto presenter = make_presenter(
        {.run = {.keep_frames_directory = kept, .title = "test"}, .window = &state_, .window_pixels = pixels_},
        {device_->instance().handle(), device_->physical(), device_->handle(), device_->queue(),
         device_->queue_family()});
    EXPECT_TRUE(presenter) << presenter.error().describe();
    return presenter ? std::move(*presenter) : nullptr;
  }

  // The window system shows a frame in its own time.
  static bool eventually_shows(Presenter& presenter, const std::function<bool(const Image&)>& wanted) {
    for (const auto end = std::chrono::steady_clock::now() + 30s; std::chrono::steady_clock::now() < end;) {
      presenter.poll();
      if (wanted(VirtualScreen::look())) return true;
      usleep(50000);
    }
    return false;
  }

  protocol::WindowState state_{};
  std::vector<std::byte> pixels_ = std::vector<std::byte>(4 << 20);
  std::unique_ptr<vulkan::Device> device_;
};

TEST_F(Window, a_screenshot_of_the_window_equals_the_kept_frame) {
  const TemporaryDirectory directory;
  const auto presenter = open(directory.path());
  ASSERT_NE(presenter, nullptr);
  for (uint32_t i = 0; i < 3; ++i) ASSERT_TRUE(presenter->present(pattern(kScreenWidth, kScreenHeight, i * 40), i));
  const Image kept = read_png(directory.path() + "/frame-000002.png");
  EXPECT_EQ(kept.pixels, pattern(kScreenWidth, kScreenHeight, 80).pixels);
  EXPECT_TRUE(eventually_shows(*presenter, [&](const Image& screen) { return screen.pixels == kept.pixels; }));
  EXPECT_EQ(state_.width, kScreenWidth);
  EXPECT_EQ(state_.height, kScreenHeight);
  EXPECT_EQ(state_.valid, 1u);
}

TEST_F(Window, frames_of_another_shape_are_scaled_with_black_bars) {
  const auto presenter = open();
  ASSERT_NE(presenter, nullptr);
  ASSERT_TRUE(presenter->present(pattern(kScreenWidth, kScreenHeight, 1), 0));
  Image red{90, 90, std::vector<uint32_t>(90 * 90, 0xff2010f0)};
  ASSERT_TRUE(presenter->present(red, 1));
  EXPECT_TRUE(eventually_shows(*presenter, [&](const Image& screen) {
    const auto at = [&](uint32_t x, uint32_t y) { return screen.pixels[y * kScreenWidth + x]; };
    return at(320, 180) == 0xff2010f0 && at(145, 5) == 0xff2010f0 && at(494, 355) == 0xff2010f0 &&
           at(130, 180) == 0xff000000 && at(510, 180) == 0xff000000;
  }));
}

TEST_F(Window, a_new_life_shows_the_last_frame_at_once_in_the_same_place) {
  const Image image = pattern(200, 100, 3);
  {
    const auto presenter = open();
    ASSERT_NE(presenter, nullptr);
    ASSERT_TRUE(presenter->present(image, 0));
    presenter->poll();
  }
  EXPECT_EQ(state_.width, 200u);
  state_.x = 30;
  state_.y = 40;
  const auto presenter = open();
  ASSERT_NE(presenter, nullptr);
  EXPECT_TRUE(eventually_shows(*presenter, [&](const Image& screen) {
    for (uint32_t y = 0; y < 100; ++y) {
      for (uint32_t x = 0; x < 200; ++x) {
        if (screen.pixels[(y + 40) * kScreenWidth + x + 30] != image.pixels[y * 200 + x]) return false;
      }
    }
    return true;
  }));
}

// A virtual screen has no window manager that would enlarge it; SDL's flag tells what was asked for.
bool asked_for_full_screen() {
  for (uint32_t id = 1; id < 1000; ++id) {
    SDL_Window* window = SDL_GetWindowFromID(id);
    if (window != nullptr) return (SDL_GetWindowFlags(window) & SDL_WINDOW_FULLSCREEN_DESKTOP) != 0;
  }
  return false;
}

TEST_F(Window, full_screen_is_kept_over_lives_with_the_place_as_a_window) {
  state_.x = 10;
  state_.y = 20;
  state_.width = 300;
  state_.height = 200;
  state_.full_screen = 1;
  state_.valid = 1;
  const auto presenter = open();
  ASSERT_NE(presenter, nullptr);
  ASSERT_TRUE(presenter->present(pattern(kScreenWidth, kScreenHeight, 9), 0));
  presenter->poll();
  EXPECT_TRUE(asked_for_full_screen());
  EXPECT_EQ(state_.full_screen, 1u);
  EXPECT_EQ(state_.width, 300u);
}

void press(SDL_Scancode key) {
  SDL_Event event{};
  event.type = SDL_KEYDOWN;
  event.key.keysym.scancode = key;
  SDL_PushEvent(&event);
}

TEST_F(Window, f12_keeps_a_screenshot_and_f11_makes_it_full_screen) {
  const TemporaryDirectory directory;
  const auto presenter = open(directory.path());
  ASSERT_NE(presenter, nullptr);
  const Image image = pattern(64, 32, 9);
  ASSERT_TRUE(presenter->present(image, 1));
  press(SDL_SCANCODE_F12);
  press(SDL_SCANCODE_F11);
  presenter->poll();
  bool found = false;
  for (const auto& file : std::filesystem::directory_iterator(directory.path())) {
    if (!file.path().filename().string().starts_with("screenshot-")) continue;
    found = true;
    EXPECT_EQ(read_png(file.path()).pixels, image.pixels);
  }
  EXPECT_TRUE(found);
  EXPECT_TRUE(asked_for_full_screen());
  EXPECT_EQ(state_.full_screen, 1u);
}

TEST_F(Window, the_first_pad_state_releases_what_an_earlier_life_held) {
  const auto presenter = open();
  ASSERT_NE(presenter, nullptr);
  EXPECT_EQ(presenter->poll(), PadState{});
  EXPECT_FALSE(presenter->poll());
}

TEST_F(Window, keys_become_the_pad_and_letting_go_releases_it) {
  if (std::system("command -v xdotool > /dev/null") != 0) GTEST_SKIP() << "xdotool is not installed";
  const auto presenter = open();
  ASSERT_NE(presenter, nullptr);
  ASSERT_TRUE(presenter->present(pattern(kScreenWidth, kScreenHeight, 9), 1));
  presenter->poll();
  // Until the window has the keyboard, keys are pressed again.
  const auto eventually = [&](const char* command, const PadState& wanted) {
    for (int attempt = 0; attempt < 100; ++attempt) {
      EXPECT_EQ(std::system(command), 0);
      for (int i = 0; i < 10; ++i) {
        if (presenter->poll() == wanted) return true;
        usleep(10000);
      }
    }
    return false;
  };
  EXPECT_TRUE(eventually("xdotool mousemove 100 100 keydown Up keydown w", {.buttons = 0x10, .left_y = 0}));
  EXPECT_TRUE(eventually("xdotool keyup Up keyup w", {}));
  EXPECT_TRUE(eventually("xdotool keydown space keydown d", {.buttons = 0x4000, .left_x = 255}));
  EXPECT_TRUE(eventually("xdotool keyup space keyup d", {}));
}

TEST_F(Window, closing_it_is_noticed) {
  const auto presenter = open();
  ASSERT_NE(presenter, nullptr);
  ASSERT_TRUE(presenter->present(pattern(64, 32, 1), 0));  // the window opens with the first frame
  EXPECT_FALSE(presenter->closed());
  SDL_Event event{};
  event.type = SDL_QUIT;
  SDL_PushEvent(&event);
  presenter->poll();
  EXPECT_TRUE(presenter->closed());
}

TEST_F(Window, a_device_that_cannot_show_it_is_an_error_of_its_own_at_each_frame) {
  const auto presenter = make_presenter({.run = {.title = "test"}}, {});  // an instance without any extensions
  ASSERT_TRUE(presenter);
  for (uint64_t flip = 0; flip < 2; ++flip) {
    const auto shown = (*presenter)->present(pattern(64, 32, 1), flip);
    ASSERT_FALSE(shown);
    EXPECT_EQ(shown.error().code, ExitCode::no_display) << shown.error().describe();
  }
}

}  // namespace
}  // namespace orrery::present::test
