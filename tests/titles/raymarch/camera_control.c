#include "camera_control.h"

#include <pad.h>
#include <user_service.h>

enum { CENTRE = 128, DEAD_ZONE = 16 };

int open_pad(void) {
  int user = 0;
  if (sceUserServiceInitialize(0) || sceUserServiceGetInitialUser(&user)) return -1;
  if (scePadInit()) return -1;
  return scePadOpen(user, 0, 0, 0);
}

static double stick(unsigned char value) {
  int off = value - CENTRE;
  if (off > -DEAD_ZONE && off < DEAD_ZONE) return 0;
  return off / 127.0;
}

static double pressed(const ScePadData* pad, unsigned button) { return pad->buttons & button ? 1 : 0; }

void move_camera(struct camera* camera, int pad, double seconds) {
  ScePadData data;
  if (pad < 0 || scePadReadState(pad, &data)) return;
  if (pressed(&data, SCE_PAD_OPTIONS) > 0) *camera = first_camera();
  double turn = stick(data.left_x) + pressed(&data, SCE_PAD_RIGHT) - pressed(&data, SCE_PAD_LEFT);
  double lift = pressed(&data, SCE_PAD_UP) - pressed(&data, SCE_PAD_DOWN) - stick(data.left_y);
  double away = stick(data.right_y) + pressed(&data, SCE_PAD_L1) - pressed(&data, SCE_PAD_R1);
  camera->turn += turn * 1.2 * seconds;
  camera->height += lift * 0.7 * seconds;
  camera->distance += away * 6 * seconds;
  limit_camera(camera);
}
