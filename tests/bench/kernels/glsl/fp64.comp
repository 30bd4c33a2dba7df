#version 460
#extension GL_GOOGLE_include_directive : require
#include "twin.glsl"
layout(local_size_x = 64) in;
INPUT(0, a, double)
INPUT(1, b, int64_t)
BUFFER(2, real, double)
BUFFER(3, whole, int64_t)
uint64_t multiply_high(uint64_t a, uint64_t b) {
  uvec2 x = unpackUint2x32(a), y = unpackUint2x32(b);
  uint64_t low = uint64_t(x.x) * y.x, cross = uint64_t(x.y) * y.x + (low >> 32);
  uint64_t other = uint64_t(x.x) * y.y + (cross & 0xfffffffful);
  return uint64_t(x.y) * y.y + (cross >> 32) + (other >> 32);
}
#ifdef NATIVE
double root(double x) { return sqrt(x); }
double third(double x) { return x / 3.0lf; }
int64_t seventh(int64_t y) { return y / 7l; }
double number(int64_t y) { return double(y); }
int64_t whole_part(double x) { return int64_t(x); }
#else
// As LLVM expands them for gfx10.
double root(double x) {
  bool tiny = x < 1.2882297539194267e-231lf;
  precise double s = tiny ? x * 1.157920892373162e77lf : x, y = inversesqrt(s), g = s * y, h = y * 0.5lf, r = fma(-h, g, 0.5lf);
  g = fma(g, r, g);
  h = fma(h, r, h);
  precise double d = fma(-g, g, s);
  g = fma(d, h, g);
  d = fma(-g, g, s);
  g = fma(d, h, g);
  if (tiny) g *= 2.938735877055719e-39lf;
  return s == 0.0lf || isinf(s) ? s : g;
}
double third(double x) {
  // The divisor is no constant for the compiler: the guest takes its reciprocal at run time.
  precise double by = 3.0lf + double(push.values[7]), r = 1.0lf / by, e = fma(-by, r, 1.0lf);
  r = fma(r, e, r);
  e = fma(-by, r, 1.0lf);
  r = fma(r, e, r);
  precise double q = x * r, rest = fma(-by, q, x);
  q = fma(rest, r, q);
  return isinf(x) || isnan(x) ? x : q;
}
int64_t seventh(int64_t y) {
  const uint64_t m = 0x4924924924924925ul;
  int64_t q = int64_t(multiply_high(m, uint64_t(y))) - (y < 0l ? int64_t(m) : 0l);
  return (q >> 1) + int64_t(uint64_t(q) >> 63);
}
double number(int64_t y) {
  ivec2 w = unpackInt2x32(y);
  precise double r = ldexp(double(w.y), 32) + double(uint(w.x));
  return r;
}
int64_t whole_part(double x) {
  precise double t = trunc(x), high = floor(t * 2.3283064365386962890625e-10lf), low = fma(high, -4294967296.0lf, t);
  return packInt2x32(ivec2(int(uint(low)), int(high)));
}
#endif
int leading_zeros(int64_t y) {
  uvec2 w = unpackUint2x32(uint64_t(y));
  return w.y != 0 ? 31 - findMSB(w.y) : w.x != 0 ? 63 - findMSB(w.x) : 64;
}
void main() {
  uint i = GROUP_X * 64 + LOCAL;
  double x = a[i];
  int64_t y = b[i];
  EXACT double r = third(root(x) * x) + number(y) + fma(x, x, floor(x));
  real[i] = r;
  uvec2 w = unpackUint2x32(uint64_t(y));
  whole[i] = seventh(y) + y * int64_t(i) + whole_part(x) + int64_t(multiply_high(uint64_t(y), uint64_t(i))) +
             int64_t(bitCount(w.x) + bitCount(w.y)) + int64_t(leading_zeros(y));
}
