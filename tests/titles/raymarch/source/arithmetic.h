// Vectors and the hardware's own approximations, under one name for the GPU and the CPU build. No library, no constant tables.
#ifndef ORRERY_TITLES_RAYMARCH_ARITHMETIC_H
#define ORRERY_TITLES_RAYMARCH_ARITHMETIC_H

#ifdef __AMDGCN__
#define reciprocal(x) __builtin_amdgcn_rcpf(x)
#define square_root(x) __builtin_amdgcn_sqrtf(x)
#define inverse_root(x) __builtin_amdgcn_rsqf(x)
#define power_of_two(x) __builtin_amdgcn_exp2f(x)
#else
#define reciprocal(x) native_recip(x)
#define square_root(x) native_sqrt(x)
#define inverse_root(x) native_rsqrt(x)
#define power_of_two(x) native_exp2(x)
#endif
#define INLINE static inline __attribute__((always_inline))

INLINE float smaller(float a, float b) { return __builtin_fminf(a, b); }
INLINE float larger(float a, float b) { return __builtin_fmaxf(a, b); }
INLINE float whole(float x) { return __builtin_floorf(x); }
INLINE float size_of(float x) { return __builtin_fabsf(x); }
INLINE float unit_range(float x) { return smaller(larger(x, 0.0f), 1.0f); }
INLINE float blend(float a, float b, float t) { return a + (b - a) * t; }
INLINE float smooth(float low, float high, float x) {
  float t = unit_range((x - low) * reciprocal(high - low));
  return t * t * (3.0f - 2.0f * t);
}
INLINE float inner(float3 a, float3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
INLINE float3 unit(float3 a) { return a * inverse_root(inner(a, a)); }
INLINE float3 blend3(float3 a, float3 b, float t) { return a + (b - a) * t; }
INLINE float3 mirror(float3 d, float3 n) { return d - n * (2.0f * inner(d, n)); }

// A hash of three whole numbers to [0, 1), and value noise over it.
INLINE float hash(int x, int y, int z) {
  uint h = (uint)x * 0x8da6b343u ^ (uint)y * 0xd8163841u ^ (uint)z * 0xcb1ab31fu;
  h = (h ^ h >> 15) * 0x2c1b3c6du;
  h ^= h >> 13;
  return (float)(h & 0xffffff) * (1.0f / 16777216.0f);
}
INLINE float noise(float3 p) {
  float3 f = {whole(p.x), whole(p.y), whole(p.z)};
  int x = (int)f.x, y = (int)f.y, z = (int)f.z;
  f = p - f;
  f = f * f * (3.0f - 2.0f * f);
  float a = blend(blend(hash(x, y, z), hash(x + 1, y, z), f.x), blend(hash(x, y + 1, z), hash(x + 1, y + 1, z), f.x), f.y);
  float b = blend(blend(hash(x, y, z + 1), hash(x + 1, y, z + 1), f.x),
                  blend(hash(x, y + 1, z + 1), hash(x + 1, y + 1, z + 1), f.x), f.y);
  return blend(a, b, f.z);
}

#endif
