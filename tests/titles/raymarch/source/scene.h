// The scene as the title's CPU hands it to the kernel: plain words, read by both.
#ifndef ORRERY_TITLES_RAYMARCH_SCENE_H
#define ORRERY_TITLES_RAYMARCH_SCENE_H

enum { BODIES = 11, ORBITS = 6 };  // bodies[0] is the sun, it stands in the origin

struct vector {
  float x, y, z, w;
};

struct scene {
  struct vector eye;               // w: width of a pixel at distance 1
  struct vector right, up;         // scaled to half the picture's width and height at distance 1
  struct vector forward;           // w: time in seconds
  struct vector bodies[BODIES];    // w: radius
  struct vector colours[BODIES];   // w: kind of surface, see surface.h
  struct vector spin[BODIES];      // x, y: cosine and sine of the body's turn; z: how strongly it is marked
  struct vector orbits[2];         // radii of the brass rings, ORBITS of them
  struct vector ring;              // normal of the ringed planet's ring; w: which body
};

#endif
