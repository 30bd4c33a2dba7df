#include "screen.h"

#include <stdio.h>
#include <video_out.h>

enum { BLOCK = 128, BLOCK_BYTES = 65536, PAGE = 2 * 1024 * 1024 };

static int failed(const char* what, int error) {
  printf("raymarch: %s failed (0x%08x)\n", what, (unsigned)error);
  return error;
}

static int map_buffers(struct screen* screen, const struct settings* settings) {
  unsigned across = (settings->width + BLOCK - 1) / BLOCK, down = (settings->height + BLOCK - 1) / BLOCK;
  size_t tiled = (size_t)across * down * BLOCK_BYTES, linear = (size_t)settings->width * settings->height * 4;
  screen->pitch = settings->linear ? settings->width : across;
  screen->buffer_bytes = ((settings->linear ? linear : tiled) + BLOCK_BYTES - 1) / BLOCK_BYTES * BLOCK_BYTES;
  size_t total = (screen->buffer_bytes * SCREEN_BUFFERS + PAGE - 1) / PAGE * PAGE;
  int64_t physical = 0;
  int error = sceKernelAllocateMainDirectMemory(total, PAGE, SCE_KERNEL_WC_GARLIC, &physical);
  if (error) return failed("allocating the frame buffers", error);
  void* address = 0;
  error = sceKernelMapDirectMemory(&address, total, SCE_KERNEL_PROT_ALL_RW, 0, physical, PAGE);
  if (error) return failed("mapping the frame buffers", error);
  for (int i = 0; i < SCREEN_BUFFERS; i++)
    screen->buffers[i] = (unsigned char*)address + (size_t)i * screen->buffer_bytes;
  return 0;
}

int open_screen(struct screen* screen, const struct settings* settings) {
  *screen = (struct screen){.video = sceVideoOutOpen(SCE_VIDEO_OUT_USER, 0, 0, 0)};
  if (screen->video < 0) return failed("opening the video output", screen->video);
  int error = map_buffers(screen, settings);
  if (error) return error;
  SceVideoOutBufferAttribute2 attribute;
  sceVideoOutSetBufferAttribute2(&attribute, SCE_VIDEO_OUT_FORMAT_8888,
                                 settings->linear ? SCE_VIDEO_OUT_LINEAR : SCE_VIDEO_OUT_TILED, settings->width,
                                 settings->height, 0, 0, 0);
  SceVideoOutBuffers records[SCREEN_BUFFERS] = {{.data = screen->buffers[0]}, {.data = screen->buffers[1]}};
  error = sceVideoOutRegisterBuffers2(screen->video, 0, 0, records, SCREEN_BUFFERS, &attribute, 0, 0);
  if (error < 0) return failed("registering the frame buffers", error);
  error = sceVideoOutSetFlipRate(screen->video, 0);
  if (error < 0) return failed("setting the flip rate", error);
  error = sceKernelCreateEqueue(&screen->flips, "flips");
  if (error) return failed("making an event queue", error);
  error = sceVideoOutAddFlipEvent(screen->flips, screen->video, 0);
  return error < 0 ? failed("asking for flip events", error) : 0;
}

int wait_for_flips(struct screen* screen, unsigned long count) {
  for (;;) {
    SceVideoOutFlipStatus status;
    int error = sceVideoOutGetFlipStatus(screen->video, &status);
    if (error < 0) return failed("the flip status", error);
    if (status.count >= count) return 0;
    SceKernelEvent event;
    int got = 0;
    // Without a time limit: a flip that is submitted completes, also when the GPU service has to start again.
    error = sceKernelWaitEqueue(screen->flips, &event, 1, &got, 0);
    if (error) return failed("waiting for a flip", error);
  }
}

int flip(struct screen* screen, unsigned buffer, unsigned long argument) {
  int error = sceVideoOutSubmitFlip(screen->video, (int)buffer, SCE_VIDEO_OUT_FLIP_VSYNC, (int64_t)argument);
  return error < 0 ? failed("the flip", error) : 0;
}
