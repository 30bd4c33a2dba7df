// raymarch: the demo. Each frame is one dispatch that writes a VideoOut buffer; then the buffer is flipped.
#include <kernel.h>
#include <stdio.h>
#include <string.h>

#include "camera_control.h"
#include "gpu_queue.h"
#include "screen.h"

extern const struct gpu_kernel raymarch_w32;

enum { EXIT_USAGE = 2, EXIT_NO_VIDEO = 3, EXIT_NO_GPU = 4, EXIT_NO_ANSWER = 5, FENCE_SECONDS = 600, GROUP = 8 };

// User data of the kernel, as in raymarch.cl: frame (V#), scene, width, height, pitch, layout.
static void set_arguments(unsigned char* out, const struct settings* settings, const struct screen* screen,
                          unsigned buffer, const struct scene* scene) {
  unsigned long frame = (unsigned long)screen->buffers[buffer], where = (unsigned long)scene;
  // V#: base, no stride, bytes; format 32_FLOAT, identity swizzle, raw range check (AMD's gfx10 headers).
  unsigned descriptor[4] = {(unsigned)frame, (unsigned)(frame >> 32) & 0xffff, (unsigned)screen->buffer_bytes,
                            0x31016fac};
  unsigned numbers[4] = {settings->width, settings->height, screen->pitch, settings->linear ? 0 : 1};
  const struct gpu_kernel_argument* to = raymarch_w32.arguments;
  memcpy(out + to[0].offset, descriptor, sizeof descriptor);
  memcpy(out + to[1].offset, &where, sizeof where);
  for (int i = 0; i < 4; i++) memcpy(out + to[2 + i].offset, &numbers[i], 4);
}

static int no_answer(void) {
  printf("raymarch: no fence after %d s\n", FENCE_SECONDS);
  return EXIT_NO_ANSWER;
}

// Computes and flips one frame. 0, or an exit code.
static int draw(struct gpu_queue* gpu, const struct settings* settings, struct screen* screen, unsigned buffer,
                const struct scene* scene, unsigned long frame) {
  unsigned char arguments[64] = {0};
  set_arguments(arguments, settings, screen, buffer, scene);
  struct dispatch d = {.kernel = &raymarch_w32, .arguments = arguments, .group_size = {GROUP, GROUP, 1}};
  d.groups[0] = (settings->width + GROUP - 1) / GROUP;
  d.groups[1] = (settings->height + GROUP - 1) / GROUP;
  d.groups[2] = 1;
  if (gpu_begin(gpu, FENCE_SECONDS) != GPU_DONE) return no_answer();
  write_dispatch(&gpu->packets, &d);
  if (settings->gpu_flip && gpu_flip(gpu, screen->video, (int)buffer, (long)frame)) {
    printf("raymarch: the flip packet was refused\n");
    return EXIT_NO_VIDEO;
  }
  int error = gpu_submit(gpu);
  if (error) {
    printf("raymarch: the submission was not accepted (0x%08x)\n", (unsigned)error);
    return EXIT_NO_GPU;
  }
  if (settings->gpu_flip) return 0;
  if (gpu_wait(gpu, FENCE_SECONDS) != GPU_DONE) return no_answer();
  return flip(screen, buffer, frame) ? EXIT_NO_VIDEO : 0;
}

int main(int argc, char** argv) {
  struct settings settings;
  if (!read_settings(argc, argv, &settings)) return EXIT_USAGE;
  struct screen screen;
  if (open_screen(&screen, &settings)) return EXIT_NO_VIDEO;
  struct gpu_queue gpu;
  int error = gpu_open(&gpu, 0, SCREEN_BUFFERS * sizeof(struct scene) + 4096);
  struct scene* scenes[SCREEN_BUFFERS] = {0};
  for (int i = 0; i < SCREEN_BUFFERS && !error; i++)
    if (!(scenes[i] = gpu_allocate(&gpu, sizeof(struct scene)))) error = -1;
  if (error) {
    printf("raymarch: no GPU queue or memory (0x%08x)\n", (unsigned)error);
    return EXIT_NO_GPU;
  }
  printf("raymarch: %ux%u, %s\n", settings.width, settings.height, settings.linear ? "linear" : "tiled");

  struct camera camera = first_camera();
  int pad = open_pad();
  uint64_t start = sceKernelGetProcessTime(), before = start;
  unsigned long frame = 0;
  for (; settings.frames == 0 || frame < settings.frames; frame++) {
    unsigned buffer = (unsigned)(frame % SCREEN_BUFFERS);
    // The buffer was shown last by flip frame - 2 and leaves the screen when flip frame - 1 is complete.
    if (frame + 1 > SCREEN_BUFFERS && wait_for_flips(&screen, frame - SCREEN_BUFFERS + 2)) return EXIT_NO_VIDEO;
    uint64_t now = sceKernelGetProcessTime();
    move_camera(&camera, pad, (double)(now - before) * 1e-6);
    before = now;
    set_scene(scenes[buffer], &camera, (double)(now - start) * 1e-6, settings.width, settings.height);
    int code = draw(&gpu, &settings, &screen, buffer, scenes[buffer], frame);
    if (code) return code;
  }
  if (wait_for_flips(&screen, frame)) return EXIT_NO_VIDEO;
  printf("raymarch: %lu frames\n", frame);
  if (settings.hold) {
    // Nobody signals it: the picture stays until the run is ended from outside.
    SceKernelSema never = 0;
    if (sceKernelCreateSema(&never, "hold", 0, 0, 1, 0) == 0) sceKernelWaitSema(never, 1, 0);
  }
  return 0;
}
