// Shows flips: a window (SDL2, Vulkan swapchain) or nothing (headless), and kept frames as PNG.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "protocol/control_socket.hpp"
#include "protocol/segment_layout.hpp"
#include "shared/error.hpp"

namespace orrery::present {

// Linear RGBA8 pixels, row by row without padding.
struct Image {
  uint32_t width = 0, height = 0;
  std::vector<uint32_t> pixels;  // bytes R,G,B,A in memory order; A is 255, as the display ignores alpha
};

// Reads a VideoOut buffer's bytes (tiled or linear) into an image. `bytes` must hold buffer_size(flip) bytes.
// Error names what is not handled (format, tiling, size). The memory of `reused` is taken for the pixels.
Result<Image> image_of(const protocol::FlipBody& flip, std::span<const std::byte> bytes, Image reused = {});
// Bytes that a VideoOut buffer of this description takes. Error on what is not handled and on sizes that no buffer has.
Result<uint64_t> buffer_size(const protocol::FlipBody& flip);
// Dword index of pixel (x, y) in a 64KB_R_X surface of `width` pixels (guest-abi facts, section 5.4).
uint64_t tiled_index(uint32_t x, uint32_t y, uint32_t width);

// Writes through a temporary file and a rename, so that a kept frame is whole or absent.
Result<void> write_png(const std::string& path, const Image& image);

// The whole pad state, guest bits (ScePadData).
struct PadState {
  uint32_t buttons = 0;
  uint8_t left_x = 128, left_y = 128, right_x = 128, right_y = 128, l2 = 0, r2 = 0;
  friend bool operator==(const PadState&, const PadState&) = default;
};

struct PresenterOptions {
  protocol::RunOptions run;
  protocol::WindowState* window = nullptr;  // in the control segment; may be null in tests
  std::span<std::byte> window_pixels;       // last frame, for the next life
  uint32_t life = 1;                        // of the service
};

// Vulkan handles of the service's device, untyped so that this header needs no Vulkan (see vulkan/device.hpp).
struct DeviceHandles {
  void* instance = nullptr;
  void* physical_device = nullptr;
  void* device = nullptr;
  void* queue = nullptr;
  uint32_t queue_family = 0;
};

class Presenter {
 public:
  virtual ~Presenter() = default;
  // False: nobody looks at this flip's pixels, `present` may be given an image without any.
  virtual bool looks() const { return true; }
  // Shows one frame (and keeps it when the options say so). flip_index names the kept file: frame-000042.png.
  // Error usage: the frame could not be kept (disk full, ...), the next may be; any other: this life can't show frames.
  virtual Result<void> present(const Image& image, uint64_t flip_index) = 0;
  // Handles window-system events; answers the pad state when it changed.
  virtual std::optional<PadState> poll() = 0;
  virtual bool closed() const = 0;
};

// Initialises the window system; answers the Vulkan instance extensions it needs. Error (no_display) when no display
// can be opened.
Result<std::vector<std::string>> window_instance_extensions();
// headless: only keeps frames. Otherwise a window on the device, opened when the first frame comes (at once where an
// earlier life had one): a title that shows nothing needs no display. `no_display` says why there can be none.
Result<std::unique_ptr<Presenter>> make_presenter(const PresenterOptions& options, const DeviceHandles& device,
                                                  std::optional<Error> no_display = std::nullopt);

}  // namespace orrery::present
