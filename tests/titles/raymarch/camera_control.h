// The pad moves the camera.
#ifndef ORRERY_TITLES_RAYMARCH_CAMERA_CONTROL_H
#define ORRERY_TITLES_RAYMARCH_CAMERA_CONTROL_H
#include "orbits.h"

// Opens the first user's pad; a negative handle: there is none, the camera stays as it is.
int open_pad(void);
// Applies `seconds` of the pad's present state.
void move_camera(struct camera* camera, int pad, double seconds);

#endif
