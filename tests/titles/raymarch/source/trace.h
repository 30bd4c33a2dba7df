// Rays: what they meet, how much of the sun reaches a place, and the colour along a ray with one mirror image.
#ifndef ORRERY_TITLES_RAYMARCH_TRACE_H
#define ORRERY_TITLES_RAYMARCH_TRACE_H
#include "scene.h"
#include "surface.h"

#define FAR 1.0e9f
#define FLOOR_HEIGHT (-1.7f)
#define RING_THICKNESS 0.022f
INLINE float3 xyz(struct vector v) { return (float3)(v.x, v.y, v.z); }

// How much of the sun, a sphere in the origin, is seen from p: every body covers a part that fades over the penumbra.
INLINE float sunlight(global const struct scene* scene, float3 p, int self) {
  float distance = square_root(inner(p, p));
  float3 to_sun = p * -reciprocal(distance);
  float light = 1.0f;
  for (int i = 1; i < BODIES; i++) {
    struct vector body = scene->bodies[i];
    float3 o = xyz(body) - p;
    float along = inner(o, to_sun);
    float off = square_root(larger(inner(o, o) - along * along, 0.0f));
    // The sun's half width as seen past the body, at the body's distance.
    float penumbra = scene->bodies[0].w * along * reciprocal(distance) + 0.01f;
    float lit = smooth(body.w - penumbra, body.w + penumbra, off);
    light *= i != self && along > 0.0f && along < distance ? lit : 1.0f;
  }
  return light;
}

// The same for a pale light from above, far away: it puts the bodies' shadows on the floor.
INLINE float3 moonlight_direction(void) { return (float3)(0.42f, 0.84f, -0.34f); }
INLINE float moonlight(global const struct scene* scene, float3 p) {
  float light = 1.0f;
  for (int i = 0; i < BODIES; i++) {
    struct vector body = scene->bodies[i];
    float3 o = xyz(body) - p;
    float along = inner(o, moonlight_direction());
    float off = square_root(larger(inner(o, o) - along * along, 0.0f));
    float lit = smooth(body.w - along * 0.07f, body.w + along * 0.07f, off);
    light *= along > 0.0f ? lit : 1.0f;
  }
  return light;
}

// The part of light that the ringed planet's ring lets through at distance r (in planet radii), 0: nothing is left.
INLINE float ring_opacity(float r) {
  float band = noise((float3)(r * 16.0f, 3.0f, 5.0f)) * 0.6f + noise((float3)(r * 43.0f, 9.0f, 1.0f)) * 0.4f;
  float gap = smooth(0.02f, 0.05f, size_of(r - 1.95f));
  return smooth(1.35f, 1.42f, r) * (1.0f - smooth(2.30f, 2.38f, r)) * gap * (0.35f + 0.65f * band);
}

// Marches the brass rings (thin tori around the origin in the plane y = 0) inside their slab. Answers how much of the pixel they
// cover; *where is the nearest approach.
INLINE float brass(global const struct scene* scene, float3 o, float3 d, float limit, float pixel, float* where) {
  float slab = RING_THICKNESS + 0.012f;
  float slope = size_of(d.y) < 1.0e-5f ? 1.0e-5f : d.y;
  float a = (slab - o.y) * reciprocal(slope), b = (-slab - o.y) * reciprocal(slope);
  float t = larger(smaller(a, b), 0.0f), end = smaller(larger(a, b), limit);
  float cover = 0.0f;
  *where = t;
  for (int step = 0; step < 28; step++) {
    if (t >= end) break;
    float3 p = o + d * t;
    float r = square_root(p.x * p.x + p.z * p.z);
    float off = size_of(r - scene->orbits[0].x);
    off = smaller(off, size_of(r - scene->orbits[0].y));
    off = smaller(off, size_of(r - scene->orbits[0].z));
    off = smaller(off, size_of(r - scene->orbits[0].w));
    off = smaller(off, size_of(r - scene->orbits[1].x));
    off = smaller(off, size_of(r - scene->orbits[1].y));
    float distance = square_root(off * off + p.y * p.y) - RING_THICKNESS;
    float width = pixel * t;
    float seen = unit_range(0.5f - distance * reciprocal(width + 1.0e-4f));
    if (seen > cover) {
      cover = seen;
      *where = t;
    }
    if (distance < 0.0f) break;
    t += larger(distance, width * 0.5f);
  }
  return cover;
}

INLINE float3 brass_colour(global const struct scene* scene, float3 p, float3 d) {
  float r = square_root(p.x * p.x + p.z * p.z);
  float3 radial = (float3)(p.x, 0.0f, p.z) * reciprocal(r);
  // The side that faces the eye, bent to the sun: the ring is thinner than what a normal could show.
  float3 n = unit((float3)(0.0f, 1.0f, 0.0f) - radial * 0.55f - d * 0.4f);
  float3 to_sun = radial * -1.0f;
  float diffuse = larger(inner(n, to_sun), 0.0f);
  float shine = larger(inner(mirror(d, n), to_sun), 0.0f);
  shine *= shine;
  shine *= shine;
  float light = sunlight(scene, p, 0) * (0.25f + 14.0f * reciprocal(4.0f + r * r));
  return (float3)(0.95f, 0.62f, 0.22f) * (0.05f + light * (0.25f + 0.6f * diffuse)) + (float3)(1.0f, 0.75f, 0.38f) * (light * shine * 1.2f);
}

INLINE float3 trace(global const struct scene* scene, float3 origin, float3 direction) {
  float3 colour = 0.0f;
  float weight = 1.0f;
  float3 o = origin, d = direction;
  for (int bounce = 0; bounce < 2; bounce++) {
    // Nearest sphere or floor.
    float nearest = FAR;
    int hit = -1;
    for (int i = 0; i < BODIES; i++) {
      struct vector body = scene->bodies[i];
      float3 to = xyz(body) - o;
      float along = inner(to, d);
      float rest = body.w * body.w - (inner(to, to) - along * along);
      float t = along - square_root(larger(rest, 0.0f));
      if (rest > 0.0f && t > 0.001f && t < nearest) {
        nearest = t;
        hit = i;
      }
    }
    float ground = (FLOOR_HEIGHT - o.y) * reciprocal(d.y);
    bool on_floor = d.y < -1.0e-4f && ground > 0.001f && ground < nearest;
    if (on_floor) nearest = ground;
    float3 p = o + d * nearest;

    float3 seen;
    float mirrored = 0.0f;
    if (on_floor) {
      float radius = square_root(p.x * p.x + p.z * p.z);
      float pixel = nearest * scene->eye.w * reciprocal(larger(-d.y, 0.08f));
      float from_sun = square_root(radius * radius + FLOOR_HEIGHT * FLOOR_HEIGHT);
      float falloff = 30.0f * reciprocal(6.0f + from_sun * from_sun) * -FLOOR_HEIGHT * reciprocal(from_sun);
      float light = sunlight(scene, p, 0) * falloff;
      seen = floor_colour(p, radius, reciprocal(larger(0.05f, pixel)));
      seen *= (float3)(1.0f, 0.80f, 0.55f) * light + (float3)(0.75f, 0.95f, 1.45f) * (moonlight(scene, p) * 0.55f) + 0.02f;
      float fade = unit_range(1.0f - (radius - 9.0f) * 0.04f);
      fade *= fade;
      seen = blend3(haze(0.0f), seen, fade);
      float grazing = 1.0f + d.y;
      mirrored = (0.10f + 0.75f * grazing * grazing * grazing * grazing) * fade;
    } else if (hit == 0) {
      float3 n = p * reciprocal(scene->bodies[0].w);
      float facing = -inner(n, d);
      float boil = noise(n * 6.0f + scene->forward.w * 0.25f) * 0.6f + noise(n * 15.0f - scene->forward.w * 0.4f) * 0.4f;
      seen = blend3((float3)(2.6f, 0.7f, 0.08f), (float3)(6.0f, 3.4f, 0.9f), unit_range(facing * 0.75f + boil * 0.5f - 0.1f));
    } else if (hit > 0) {
      struct vector body = scene->bodies[hit], look = scene->colours[hit], spin = scene->spin[hit];
      float3 n = (p - xyz(body)) * reciprocal(body.w);
      float3 turned = {n.x * spin.x + n.z * spin.y, n.y, n.z * spin.x - n.x * spin.y};
      float3 base = planet(xyz(look), (int)look.w, turned, spin.z);
      float from_sun = square_root(inner(p, p));
      float facing = -inner(n, p) * reciprocal(from_sun);
      float light = unit_range(facing * 1.15f + 0.08f) * sunlight(scene, p, hit) * (0.35f + 9.0f * reciprocal(3.0f + from_sun));
      if (hit == (int)scene->ring.w) {
        // The ring's shadow on its planet.
        float3 normal = xyz(scene->ring), to_sun = p * -reciprocal(from_sun);
        float s = inner(xyz(body) - p, normal) * reciprocal(inner(to_sun, normal));
        float3 q = p + to_sun * s - xyz(body);
        float r = square_root(inner(q, q)) * reciprocal(body.w);
        light *= s > 0.0f ? 1.0f - 0.8f * ring_opacity(r) : 1.0f;
      }
      float rim = 1.0f + inner(n, d);
      rim *= rim * rim;
      seen = base * ((float3)(1.0f, 0.93f, 0.80f) * light + 0.018f) + xyz(look) * (rim * (0.08f + 0.5f * unit_range(facing + 0.25f)));
    } else {
      seen = sky(d);
    }

    // The ring of the ringed planet, between the eye and what was met.
    struct vector ringed = scene->bodies[(int)scene->ring.w];
    float3 normal = xyz(scene->ring);
    float s = inner(xyz(ringed) - o, normal) * reciprocal(inner(d, normal));
    float3 q = o + d * s;
    float3 from_centre = q - xyz(ringed);
    float r = square_root(inner(from_centre, from_centre)) * reciprocal(ringed.w);
    if (s > 0.001f && s < nearest && r > 1.35f && r < 2.38f) {
      float opacity = ring_opacity(r);
      float distance = square_root(inner(q, q));
      float light = sunlight(scene, q, 0) * (0.35f + 9.0f * reciprocal(3.0f + distance));
      seen = blend3(seen, (float3)(0.86f, 0.74f, 0.54f) * (light * 0.75f + 0.02f), opacity * 0.92f);
      mirrored *= 1.0f - opacity;
    }

    // Brass rings in front.
    float where;
    float cover = brass(scene, o, d, nearest, scene->eye.w, &where);
    if (cover > 0.0f) {
      seen = blend3(seen, brass_colour(scene, o + d * where, d), cover);
      mirrored *= 1.0f - cover;
    }

    // The sun's glow, as far as nothing hides it.
    float along = smaller(larger(-inner(o, d), 0.0f), nearest);
    float3 past = o + d * along;
    float near = larger(square_root(inner(past, past)) - scene->bodies[0].w, 0.0f);
    seen += (float3)(1.0f, 0.50f, 0.16f) * (0.60f * power_of_two(near * -3.2f) + 0.07f * power_of_two(near * -0.8f));

    colour += seen * weight;
    weight *= mirrored;
    if (weight < 0.01f) break;
    o = p + (float3)(0.0f, 0.001f, 0.0f);
    d.y = -d.y;
  }
  return colour;
}

#endif
