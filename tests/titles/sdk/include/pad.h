// libScePad.
#pragma once
#include "sce_export.h"
SCE_BEGIN
#define SCE_PAD_L3 0x0002
#define SCE_PAD_R3 0x0004
#define SCE_PAD_OPTIONS 0x0008
#define SCE_PAD_UP 0x0010
#define SCE_PAD_RIGHT 0x0020
#define SCE_PAD_DOWN 0x0040
#define SCE_PAD_LEFT 0x0080
#define SCE_PAD_L2 0x0100
#define SCE_PAD_R2 0x0200
#define SCE_PAD_L1 0x0400
#define SCE_PAD_R1 0x0800
#define SCE_PAD_TRIANGLE 0x1000
#define SCE_PAD_CIRCLE 0x2000
#define SCE_PAD_CROSS 0x4000
#define SCE_PAD_SQUARE 0x8000

typedef struct ScePadData {
  uint32_t buttons;
  uint8_t left_x, left_y, right_x, right_y;  // 0..255, 128 is the centre
  uint8_t l2, r2;
  uint16_t padding;
  float orientation[4];
  float acceleration[3];
  float angular_velocity[3];
  uint8_t touch[24];
  uint8_t connected;
  uint8_t reserved0[3];
  uint64_t timestamp;
  uint8_t reserved1[32];
} ScePadData;

int scePadInit(void);
int scePadOpen(int user, int type, int index, const void* parameter);
int scePadGetHandle(int user, int type, int index);
int scePadReadState(int handle, ScePadData* data);
int scePadRead(int handle, ScePadData* data, int count);
int scePadClose(int handle);
SCE_END
_Static_assert(__builtin_offsetof(ScePadData, touch) == 52 && __builtin_offsetof(ScePadData, connected) == 76 &&
                   __builtin_offsetof(ScePadData, timestamp) == 80 && sizeof(ScePadData) == 120,
               "the console's layout");
