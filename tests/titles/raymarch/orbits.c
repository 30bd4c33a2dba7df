#include "orbits.h"

#define PI 3.14159265358979323846

// Sine for any angle: no library is linked, and every machine gives the same bits.
static double sine(double x) {
  double turns = x / (2 * PI);
  long whole = (long)turns;
  if (turns < (double)whole) whole--;
  double r = (turns - (double)whole) * 2 * PI - PI;  // sin(x) = -sin(r), r in [-pi, pi]
  if (r > PI / 2) r = PI - r;
  if (r < -PI / 2) r = -PI - r;
  double term = r, sum = r;
  for (int i = 1; i < 10; i++) {
    term *= -r * r / ((2 * i) * (2 * i + 1));
    sum += term;
  }
  return -sum;
}
static double cosine(double x) { return sine(x + PI / 2); }

static double root(double x) { return x > 0 ? __builtin_sqrt(x) : 0; }

struct orbit {
  float radius, size, period, phase;  // period: seconds
  float red, green, blue, kind, marks, day;
  int around;  // body it turns around, 0: the sun
};

// Kinds of surface as in surface.h: 1 rock, 2 bands, 3 seas.
static const struct orbit kOrbits[BODIES] = {
    {0, 0.80f, 1, 0, 1, 1, 1, 0, 0, 20, 0},                              // the sun
    {1.55f, 0.15f, 9, 0.3f, 0.62f, 0.50f, 0.40f, 1, 0.9f, 14, 0},        // small and grey
    {2.25f, 0.23f, 15, 2.4f, 0.88f, 0.70f, 0.38f, 2, 0.30f, 30, 0},      // under clouds
    {3.10f, 0.27f, 24, 4.6f, 0.05f, 0.17f, 0.42f, 3, 1.0f, 6, 0},        // seas
    {4.05f, 0.20f, 38, 0.9f, 0.70f, 0.27f, 0.12f, 1, 0.8f, 7, 0},        // red
    {5.50f, 0.58f, 60, 5.6f, 0.78f, 0.62f, 0.46f, 2, 0.75f, 4, 0},       // the giant
    {7.30f, 0.46f, 95, 3.75f, 0.84f, 0.72f, 0.48f, 2, 0.35f, 4.5f, 0},   // the ringed one
    {0.48f, 0.075f, 3.4f, 1.0f, 0.60f, 0.60f, 0.58f, 1, 0.7f, 3.4f, 3},  // moons
    {0.90f, 0.075f, 4.1f, 0.2f, 0.80f, 0.72f, 0.40f, 1, 0.6f, 4.1f, 5},
    {1.18f, 0.095f, 6.9f, 3.9f, 0.66f, 0.62f, 0.60f, 1, 0.5f, 6.9f, 5},
    {1.42f, 0.085f, 8.3f, 2.0f, 0.85f, 0.60f, 0.32f, 1, 0.4f, 8.3f, 6},
};
enum { RINGED = 6 };

struct camera first_camera(void) { return (struct camera){.turn = 0.45, .height = 0.27, .distance = 11.5}; }

void limit_camera(struct camera* camera) {
  if (camera->height < 0.03) camera->height = 0.03;
  if (camera->height > 1.45) camera->height = 1.45;
  if (camera->distance < 3) camera->distance = 3;
  if (camera->distance > 30) camera->distance = 30;
}

static struct vector scaled(struct vector v, double s) {
  return (struct vector){(float)(v.x * s), (float)(v.y * s), (float)(v.z * s), 0};
}

static void set_camera(struct scene* scene, const struct camera* camera, double seconds, unsigned width,
                       unsigned height) {
  double turn = camera->turn + seconds * 0.035;
  double flat = cosine(camera->height), up = sine(camera->height), c = cosine(turn), s = sine(turn);
  double half_height = 0.40, half_width = half_height * width / height;  // a lens of about 44 degrees
  scene->eye = (struct vector){(float)(camera->distance * flat * s), (float)(camera->distance * up),
                               (float)(camera->distance * flat * c), (float)(2 * half_height / height)};
  // Looks at a point a little below the sun, so that the floor takes part.
  double aim = 0.10, x = -scene->eye.x, y = aim - scene->eye.y, z = -scene->eye.z;
  double length = root(x * x + y * y + z * z);
  x /= length, y /= length, z /= length;
  double across = root(x * x + z * z);
  scene->forward = (struct vector){(float)x, (float)y, (float)z, (float)seconds};
  scene->right = scaled((struct vector){(float)(-z / across), 0, (float)(x / across), 0}, half_width);
  scene->up =
      scaled((struct vector){(float)(-x * y / across), (float)across, (float)(-z * y / across), 0}, half_height);
}

void set_scene(struct scene* scene, const struct camera* camera, double seconds, unsigned width, unsigned height) {
  set_camera(scene, camera, seconds, width, height);
  for (int i = 0; i < BODIES; i++) {
    const struct orbit* o = &kOrbits[i];
    double angle = o->phase + 2 * PI * seconds / o->period, day = 2 * PI * seconds / o->day;
    struct vector centre = o->around ? scene->bodies[o->around] : (struct vector){0, 0, 0, 0};
    // Moons turn in planes of their own.
    double lift = o->around ? 0.35 * sine(angle + i) * o->radius : 0;
    scene->bodies[i] = (struct vector){centre.x + (float)(o->radius * cosine(angle)), centre.y + (float)lift,
                                       centre.z + (float)(o->radius * sine(angle)), o->size};
    scene->colours[i] = (struct vector){o->red, o->green, o->blue, o->kind};
    scene->spin[i] = (struct vector){(float)cosine(day), (float)sine(day), o->marks, 0};
  }
  scene->orbits[0] = (struct vector){kOrbits[1].radius, kOrbits[2].radius, kOrbits[3].radius, kOrbits[4].radius};
  scene->orbits[1] = (struct vector){kOrbits[5].radius, kOrbits[6].radius, 0, 0};
  scene->ring = (struct vector){0.36f, 0.90f, 0.24f, RINGED};
}
