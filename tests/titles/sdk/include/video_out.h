// libSceVideoOut (guest-visible layouts: the console's, measured).
#pragma once
#include "kernel.h"
SCE_BEGIN
#define SCE_VIDEO_OUT_USER 0xff
#define SCE_VIDEO_OUT_TILED 0
#define SCE_VIDEO_OUT_LINEAR 1
// 8:8:8:8, bytes B, G, R, A.
#define SCE_VIDEO_OUT_FORMAT_8888 0x8000000000000000ull
#define SCE_VIDEO_OUT_FLIP_VSYNC 1

typedef struct SceVideoOutBufferAttribute2 {
  uint32_t reserved0;
  uint32_t tiling;
  uint32_t aspect;
  uint32_t width;
  uint32_t height;
  uint32_t reserved1;
  uint64_t option;
  uint64_t pixel_format;
  uint64_t dcc_clear_color;
  uint32_t dcc_control;
  uint32_t reserved2[7];
} SceVideoOutBufferAttribute2;
typedef struct SceVideoOutBuffers {
  const void* data;
  const void* metadata;
  const void* reserved[2];
} SceVideoOutBuffers;
typedef struct SceVideoOutFlipStatus {
  uint64_t count;
  uint64_t process_time;
  uint64_t tsc;
  int64_t flip_argument;
  uint64_t submit_tsc;
  uint64_t reserved0;
  int32_t gc_queue_number;
  int32_t flip_pending_number;
  int32_t current_buffer;
  uint32_t reserved1;
  uint64_t reserved2[4];
} SceVideoOutFlipStatus;

int sceVideoOutOpen(int user, int bus, int index, const void* parameter);
int sceVideoOutClose(int handle);
void sceVideoOutSetBufferAttribute2(SceVideoOutBufferAttribute2* attribute, uint64_t pixel_format, uint32_t tiling,
                                    uint32_t width, uint32_t height, uint64_t option, uint32_t dcc_control,
                                    uint64_t dcc_clear_color);
int sceVideoOutRegisterBuffers2(int handle, int set, int first, const SceVideoOutBuffers* buffers, int count,
                                const SceVideoOutBufferAttribute2* attribute, int category, void* option);
int sceVideoOutSubmitFlip(int handle, int buffer, int mode, int64_t argument);
int sceVideoOutSetFlipRate(int handle, int rate);
int sceVideoOutAddFlipEvent(SceKernelEqueue queue, int handle, void* user_data);
int sceVideoOutDeleteFlipEvent(SceKernelEqueue queue, int handle);
int sceVideoOutGetFlipStatus(int handle, SceVideoOutFlipStatus* status);
int sceVideoOutIsFlipPending(int handle);
int sceVideoOutGetResolutionStatus(int handle, void* status);
SCE_END
