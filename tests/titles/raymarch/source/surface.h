// What things look like: sky, planets, floor.
#ifndef ORRERY_TITLES_RAYMARCH_SURFACE_H
#define ORRERY_TITLES_RAYMARCH_SURFACE_H
#include "arithmetic.h"

enum { SURFACE_SUN = 0, SURFACE_ROCK = 1, SURFACE_BANDS = 2, SURFACE_SEAS = 3 };

// The sky without stars and clouds: what the far floor fades into.
INLINE float3 haze(float height) {
  float low = 1.0f - unit_range(height * 2.2f);
  return blend3((float3)(0.0035f, 0.005f, 0.016f), (float3)(0.012f, 0.017f, 0.040f), low * low);
}

INLINE float3 sky(float3 d) {
  float3 colour = haze(d.y);
  // A band of light across the sky, with dust in it.
  float3 axis = {0.36f, 0.80f, -0.48f};
  float across = inner(d, axis);
  float rise = smooth(0.0f, 0.20f, d.y);  // nothing shows in the haze at the horizon
  float band = unit_range(1.0f - across * across * 7.0f) * rise;
  float cloud = noise(d * 5.0f) * 0.65f + noise(d * 13.0f) * 0.35f;
  float glow = band * band * smooth(0.30f, 0.85f, cloud);
  colour += (float3)(0.15f, 0.10f, 0.17f) * glow + (float3)(0.008f, 0.022f, 0.045f) * (band * (1.0f - cloud));
  // Stars: one per cell of a grid around the eye.
  float3 p = d * 75.0f;
  float3 cell = {whole(p.x), whole(p.y), whole(p.z)};
  int x = (int)cell.x, y = (int)cell.y, z = (int)cell.z;
  float chance = hash(x, y, z);
  float3 offset = p - cell - (float3)(0.3f + 0.4f * hash(y, z, x), 0.3f + 0.4f * hash(z, x, y), 0.3f + 0.4f * hash(x, z, y));
  float spread = inner(offset, offset);
  float limit = 0.90f - band * 0.07f;
  float bright = chance > limit ? (chance - limit) * 16.0f * rise : 0.0f;
  float star = bright * larger(0.0f, 1.0f - spread * 16.0f);
  colour += blend3((float3)(1.0f, 0.80f, 0.60f), (float3)(0.65f, 0.80f, 1.0f), hash(z, y, x)) * (star * star);
  return colour;
}

// Colour of a planet at the unit normal n, already turned with the planet.
INLINE float3 planet(float3 base, int kind, float3 n, float marks) {
  if (kind == SURFACE_BANDS) {
    float wave = noise((float3)(n.x * 2.0f, n.y * 9.0f, n.z * 2.0f)) - 0.5f;
    float band = noise((float3)(0.0f, n.y * 7.0f + wave * 1.1f, 7.0f));
    float fine = noise((float3)(n.x * 3.0f, n.y * 30.0f, n.z * 3.0f));
    return base * (1.0f + marks * (band * 1.2f - 0.6f + (fine - 0.5f) * 0.35f));
  }
  float coarse = noise(n * 2.6f + 11.0f), fine = noise(n * 7.5f + 3.0f);
  float ground = coarse * 0.7f + fine * 0.3f;
  if (kind == SURFACE_SEAS) {
    float land = smooth(0.50f, 0.55f, ground);
    float3 dry = blend3((float3)(0.16f, 0.34f, 0.12f), (float3)(0.52f, 0.42f, 0.24f), fine);
    float3 colour = blend3(base, dry, land);
    float ice = smooth(0.80f, 0.90f, size_of(n.y) + (fine - 0.5f) * 0.15f);
    float cloud = smooth(0.56f, 0.80f, noise(n * 5.0f + 29.0f) * 0.6f + fine * 0.4f);
    return blend3(blend3(colour, (float3)(0.92f, 0.95f, 1.0f), ice), (float3)(0.95f, 0.96f, 0.98f), cloud * 0.85f);
  }
  return base * (1.0f + marks * (ground * 1.6f - 0.8f));
}

// The floor: dark polished stone with inlaid circles and twelve rays, as on an old astronomical clock.
INLINE float3 floor_colour(float3 p, float radius, float fine) {
  float veins = noise((float3)(p.x * 0.9f, 5.0f, p.z * 0.9f));
  float vein = unit_range(1.0f - size_of(veins - 0.5f) * 26.0f);
  float3 stone = (float3)(0.030f, 0.034f, 0.048f) + (float3)(0.05f, 0.05f, 0.06f) * vein * 0.25f;
  float circle = larger(1.0f - size_of(radius - 8.4f) * fine, larger(1.0f - size_of(radius - 9.3f) * fine,
                                                               1.0f - size_of(radius - 3.1f) * fine));
  // Rays every 30 degrees: distance to the six lines through the centre.
  float ray = size_of(p.x);
  ray = smaller(ray, size_of(p.z));
  ray = smaller(ray, size_of(p.x * 0.8660254f + p.z * 0.5f));
  ray = smaller(ray, size_of(p.x * 0.8660254f - p.z * 0.5f));
  ray = smaller(ray, size_of(p.x * 0.5f + p.z * 0.8660254f));
  ray = smaller(ray, size_of(p.x * 0.5f - p.z * 0.8660254f));
  float between = radius > 8.4f && radius < 9.3f ? 1.0f : 0.0f;
  float inlay = larger(unit_range(circle), unit_range(1.0f - ray * fine) * between);
  return blend3(stone, (float3)(0.85f, 0.58f, 0.22f), inlay * 0.8f);
}

#endif
