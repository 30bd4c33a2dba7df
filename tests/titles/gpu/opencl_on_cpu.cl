// The functions of OpenCL C that the kernels use, for the CPU build. One work item runs at a time: atomics are plain accesses.
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#define OVERLOADED __attribute__((overloadable))

uint orrery_local_size(uint dimension);
uint orrery_group_count(uint dimension);
void orrery_barrier(void);

size_t OVERLOADED get_group_id(uint d) { return orrery_group_id(d); }
size_t OVERLOADED get_local_id(uint d) { return orrery_local_id(d); }
size_t OVERLOADED get_local_size(uint d) { return orrery_local_size(d); }
size_t OVERLOADED get_num_groups(uint d) { return orrery_group_count(d); }
size_t OVERLOADED get_global_id(uint d) { return (size_t)orrery_group_id(d) * orrery_local_size(d) + orrery_local_id(d); }
size_t OVERLOADED get_global_size(uint d) { return (size_t)orrery_group_count(d) * orrery_local_size(d); }
void OVERLOADED barrier(cl_mem_fence_flags flags) { orrery_barrier(); }

// Buffers with a raw V#: base 47:0, NUM_RECORDS in bytes; what is not whole inside reads 0 and is not written.
uint orrery_buffer_load(buffer b, uint offset) {
  ulong base = (ulong)b[0] | (ulong)(b[1] & 0xffff) << 32;
  return b[2] >= 4 && offset <= b[2] - 4 ? *(global const uint*)(base + offset) : 0;
}
void orrery_buffer_store(uint value, buffer b, uint offset) {
  ulong base = (ulong)b[0] | (ulong)(b[1] & 0xffff) << 32;
  if (b[2] >= 4 && offset <= b[2] - 4) *(global uint*)(base + offset) = value;
}
// Structured buffers: stride in bits 61:48, NUM_RECORDS in records. Typed: only 8_8_8_8_UNORM (format 56) and raw floats.
buffer orrery_descriptor_at(global const uint4* table, uint index) { return (buffer)(ulong)(table + index); }
image orrery_image_at(global const uint4* table, uint index) { return (image)(ulong)(table + 2 * index); }
float4 orrery_load_record(buffer b, uint index) {
  ulong base = (ulong)b[0] | (ulong)(b[1] & 0xffff) << 32;
  return index < b[2] ? *(global const float4*)(base + (ulong)index * (b[1] >> 16 & 0x3fff)) : (float4)(0);
}
void orrery_store_record(float4 value, buffer b, uint index) {
  ulong base = (ulong)b[0] | (ulong)(b[1] & 0xffff) << 32;
  if (index < b[2]) *(global float4*)(base + (ulong)index * (b[1] >> 16 & 0x3fff)) = value;
}
float4 orrery_load_typed(buffer b, uint index) {
  ulong base = (ulong)b[0] | (ulong)(b[1] & 0xffff) << 32;
  if ((b[3] >> 12 & 127) != 56) return orrery_load_record(b, index);
  if (index >= b[2]) return (float4)(0);
  uint v = *(global const uint*)(base + (ulong)index * (b[1] >> 16 & 0x3fff));
  return (float4)((v & 255) / 255.0f, (v >> 8 & 255) / 255.0f, (v >> 16 & 255) / 255.0f, (v >> 24) / 255.0f);
}

// Linear 2D images (T#, AMD's gfx10 headers) whose rows are a multiple of 256 bytes. Loads: 8_8_8_8_UNORM; stores: 32_FLOAT.
static uint image_width(image t) { return (t[1] >> 30 | (t[2] & 0xfff) << 2) + 1; }
static uint image_height(image t) { return (t[2] >> 14 & 0x3fff) + 1; }
static ulong image_texel(image t, uint x, uint y) {
  return ((ulong)t[0] << 8 | (ulong)(t[1] & 0xff) << 40) + ((ulong)y * image_width(t) + x) * 4;
}
float4 orrery_load_image(image t, uint x, uint y) {
  if (x >= image_width(t) || y >= image_height(t)) return (float4)(0);
  uint v = *(global const uint*)image_texel(t, x, y);
  return (float4)((v & 255) / 255.0f, (v >> 8 & 255) / 255.0f, (v >> 16 & 255) / 255.0f, (v >> 24) / 255.0f);
}
void orrery_store_image(float value, image t, uint x, uint y) {
  if (x < image_width(t) && y < image_height(t)) *(global float*)image_texel(t, x, y) = value;
}

// The hardware's filter: coordinates in 1/256 of a texel, rounded; weights in 1/256. Clamp modes (S#, bits 2:0 and 5:3): 0 repeats,
// 1 mirrors, the rest take the last texel.
static int wrapped(int i, int n, uint clamp_mode) {
  if (clamp_mode == 0) return (i % n + n) % n;
  if (clamp_mode == 1) {
    int m = (i % (2 * n) + 2 * n) % (2 * n);
    return m < n ? m : 2 * n - 1 - m;
  }
  return i < 0 ? 0 : i >= n ? n - 1 : i;
}
static float floor_of(float v) {
  float whole = (float)(int)v;
  return whole > v ? whole - 1 : whole;
}
// First and second texel, and the second's weight in 1/256.
static int3 footprint(float coordinate, int n, uint clamp_mode) {
  if (clamp_mode == 0) coordinate -= floor_of(coordinate);
  if (clamp_mode == 1) coordinate -= 2 * floor_of(coordinate * 0.5f);
  int fixed = (int)floor_of((coordinate * (float)n - 0.5f) * 256 + 0.5f);
  int first = fixed >> 8;
  return (int3)(wrapped(first, n, clamp_mode), wrapped(first + 1, n, clamp_mode), fixed & 255);
}
float4 orrery_sample_image(image t, sampler s, float x, float y) {
  int3 u = footprint(x, (int)image_width(t), s[0] & 7), v = footprint(y, (int)image_height(t), s[0] >> 3 & 7);
  float4 sum = (float4)(0);
  for (int n = 0; n < 4; n++) {
    float weight = (n & 1 ? u.z : 256 - u.z) / 256.0f * ((n & 2 ? v.z : 256 - v.z) / 256.0f);
    sum += weight * orrery_load_image(t, (uint)(n & 1 ? u.y : u.x), (uint)(n & 2 ? v.y : v.x));
  }
  return sum;
}
// Component 1 (dmask 2), in the order of the ISA document: (0, 1), (1, 1), (1, 0), (0, 0).
float4 orrery_gather_image(image t, sampler s, float x, float y) {
  int3 u = footprint(x, (int)image_width(t), s[0] & 7), v = footprint(y, (int)image_height(t), s[0] >> 3 & 7);
  return (float4)(orrery_load_image(t, (uint)u.x, (uint)v.y).y, orrery_load_image(t, (uint)u.y, (uint)v.y).y,
                  orrery_load_image(t, (uint)u.y, (uint)v.x).y, orrery_load_image(t, (uint)u.x, (uint)v.x).y);
}

#define ATOMIC(name, type, space, expression)                        \
  type OVERLOADED name(volatile space type* p, type value) {         \
    type old = *p;                                                   \
    *p = expression;                                                 \
    return old;                                                      \
  }
#define ATOMICS(type, space)                                         \
  ATOMIC(atomic_add, type, space, old + value)                       \
  ATOMIC(atomic_sub, type, space, old - value)                       \
  ATOMIC(atomic_xchg, type, space, value)                            \
  ATOMIC(atomic_min, type, space, old < value ? old : value)         \
  ATOMIC(atomic_max, type, space, old > value ? old : value)         \
  ATOMIC(atomic_and, type, space, old & value)                       \
  ATOMIC(atomic_or, type, space, old | value)                        \
  ATOMIC(atomic_xor, type, space, old ^ value)                       \
  type OVERLOADED atomic_inc(volatile space type* p) { return (*p)++; } \
  type OVERLOADED atomic_dec(volatile space type* p) { return (*p)--; } \
  type OVERLOADED atomic_cmpxchg(volatile space type* p, type expected, type value) { \
    type old = *p;                                                   \
    if (old == expected) *p = value;                                 \
    return old;                                                      \
  }
ATOMICS(uint, global)
ATOMICS(int, global)
ATOMICS(uint, local)
ATOMICS(int, local)
ATOMIC(atom_add, ulong, global, old + value)
ATOMIC(atom_add, ulong, local, old + value)
ATOMIC(atom_xor, ulong, local, old ^ value)
ATOMIC(atom_min, ulong, local, old < value ? old : value)
ulong OVERLOADED atom_cmpxchg(volatile local ulong* p, ulong expected, ulong value) {
  ulong old = *p;
  if (old == expected) *p = value;
  return old;
}

uint OVERLOADED rotate(uint x, uint n) { return x << (n & 31) | x >> (-n & 31); }
uint OVERLOADED popcount(uint x) { return (uint)__builtin_popcount(x); }
ulong OVERLOADED popcount(ulong x) { return (ulong)__builtin_popcountl(x); }
long OVERLOADED popcount(long x) { return __builtin_popcountl((ulong)x); }
long OVERLOADED clz(long x) { return x ? __builtin_clzl((ulong)x) : 64; }
ulong OVERLOADED mul_hi(ulong a, ulong b) { return (ulong)((unsigned __int128)a * b >> 64); }
uint OVERLOADED abs_diff(int a, int b) { return a > b ? (uint)a - (uint)b : (uint)b - (uint)a; }
short OVERLOADED sub_sat(short a, short b) { return (short)clamp((int)a - (int)b, -32768, 32767); }
int OVERLOADED clamp(int x, int low, int high) { return x < low ? low : x > high ? high : x; }
int OVERLOADED upsample(short high, ushort low) { return (int)((uint)(ushort)high << 16 | low); }

float OVERLOADED fabs(float x) { return __builtin_fabsf(x); }
float OVERLOADED fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
double OVERLOADED fma(double a, double b, double c) { return __builtin_fma(a, b, c); }
float OVERLOADED sqrt(float x) { return __builtin_sqrtf(x); }
double OVERLOADED sqrt(double x) { return __builtin_sqrt(x); }
float OVERLOADED floor(float x) { return __builtin_floorf(x); }
double OVERLOADED floor(double x) { return __builtin_floor(x); }
float OVERLOADED native_rsqrt(float x) { return (float)(1.0 / __builtin_sqrt((double)x)); }
float OVERLOADED native_recip(float x) { return 1.0f / x; }
float OVERLOADED native_sqrt(float x) { return __builtin_sqrtf(x); }
float OVERLOADED rsqrt(float x) { return (float)(1.0 / __builtin_sqrt((double)x)); }
float OVERLOADED fmin(float a, float b) { return a < b ? a : b; }
float OVERLOADED fmax(float a, float b) { return a > b ? a : b; }

// Transcendental functions by series in double precision, far better than the float result needs; |x| up to a few thousand.
static double series(double x2, double first, int from, int terms, int alternate) {
  double sum = first, term = first;
  for (int i = 0; i < terms; i++) {
    term *= (alternate ? -x2 : x2) / ((double)(from + 2 * i) * (from + 2 * i + 1));
    sum += term;
  }
  return sum;
}
static double sine(double x, int quarter) {
  double turns = floor(x * 0.63661977236758134308 + 0.5);  // 2 / pi
  double r = fma(turns, -6.123233995736766036e-17, fma(turns, -1.57079632679489661923, x));
  long q = ((long)turns + quarter) & 3;
  double value = q & 1 ? series(r * r, 1, 1, 12, 1) : series(r * r, r, 2, 12, 1);
  return q & 2 ? -value : value;
}
static double exponential(double x) {
  double n = floor(x * 1.44269504088896340736 + 0.5);
  if (n > 1000 || n < -1000) return n > 0 ? INFINITY : 0;
  double r = fma(n, -0.693147180559945309417, x), term = 1, sum = 1;
  for (int i = 1; i < 16; i++) {
    term *= r / i;
    sum += term;
  }
  return sum * as_double((ulong)((long)n + 1023) << 52);
}
static double logarithm(double x) {
  ulong bits = as_ulong(x);
  long n = (long)(bits >> 52) - 1023;
  double m = as_double((bits & 0xfffffffffffffUL) | 0x3ff0000000000000UL);
  if (m > 1.4142135623730951) m /= 2, n++;
  double t = (m - 1) / (m + 1), term = t, sum = 0;
  for (int i = 1; i < 30; i += 2) {
    sum += term / i;
    term *= t * t;
  }
  return 2 * sum + n * 0.693147180559945309417;
}
static double arc_tangent(double x) {
  if (x < 0) return -arc_tangent(-x);
  if (x > 1) return 1.57079632679489661923 - arc_tangent(1 / x);
  double t = x / (1 + sqrt(1 + x * x));  // half the angle, twice
  t = t / (1 + sqrt(1 + t * t));
  double term = t, sum = 0;
  for (int i = 1; i < 40; i += 2) {
    sum += term / i;
    term *= -t * t;
  }
  return 4 * sum;
}
float OVERLOADED sin(float x) { return (float)sine(x, 0); }
float OVERLOADED cos(float x) { return (float)sine(x, 1); }
float OVERLOADED tan(float x) { return (float)(sine(x, 0) / sine(x, 1)); }
float OVERLOADED exp(float x) { return (float)exponential(x); }
float OVERLOADED log(float x) { return (float)logarithm(x); }
float OVERLOADED pow(float x, float y) { return x == 0 ? 0 : (float)exponential((double)y * logarithm(x)); }
float OVERLOADED atan2(float y, float x) { return (float)arc_tangent((double)y / x); }  // x > 0 only
float OVERLOADED fmod(float x, float y) { return (float)((double)x - (double)y * (double)(long)((double)x / y)); }
float OVERLOADED native_sin(float x) { return (float)sine(x, 0); }
float OVERLOADED native_cos(float x) { return (float)sine(x, 1); }
float OVERLOADED native_exp(float x) { return (float)exponential(x); }
float OVERLOADED native_exp2(float x) { return (float)exponential((double)x * 0.693147180559945309417); }

// Half precision: sums are rounded to odd on the way from double to float to half, so that the last rounding is the only one.
static double odd_sum(double a, double b) {
  double s = a + b, t = s - a, rest = (a - (s - t)) + (b - t);
  long bits = as_long(s);
  if (rest != 0 && !(bits & 1)) bits += (rest > 0) == (s > 0) ? 1 : -1;
  return as_double(bits);
}
static half nearest_half(double x) {
  float f = (float)x;
  int bits = as_int(f);
  if ((double)f != x && !(bits & 1)) bits += (x > (double)f) == (f > 0) ? 1 : -1;
  return (half)as_float(bits);
}
half2 OVERLOADED fma(half2 a, half2 b, half2 c) {
  return (half2)(nearest_half(odd_sum((double)a.x * (double)b.x, (double)c.x)),
                 nearest_half(odd_sum((double)a.y * (double)b.y, (double)c.y)));
}
half2 OVERLOADED max(half2 a, half2 b) { return (half2)(a.x < b.x ? b.x : a.x, a.y < b.y ? b.y : a.y); }
