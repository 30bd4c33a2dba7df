// Where everything is at a moment, as the kernel wants it.
#ifndef ORRERY_TITLES_RAYMARCH_ORBITS_H
#define ORRERY_TITLES_RAYMARCH_ORBITS_H
#include "source/scene.h"

struct camera {
  double turn;      // radians around the sun
  double height;    // radians above the plane of the orbits
  double distance;  // from the sun
};

struct camera first_camera(void);
// Keeps the camera above the floor and inside the sky.
void limit_camera(struct camera* camera);
void set_scene(struct scene* scene, const struct camera* camera, double seconds, unsigned width, unsigned height);

#endif
