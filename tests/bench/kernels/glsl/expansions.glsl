// What LLVM makes of float operations that gfx10 has no exact instruction for.
uint leading_zeros(uint x) { return x == 0 ? 32 : 31 - uint(findMSB(x)); }
// 1/x as v_rcp_f32 gives it.
float reciprocal(float x) { return 1.0 / x; }
// To 2.5 ulp: by mantissas.
float near_quotient(float a, float b) {
  int ea, eb;
  float ma = frexp(a, ea), mb = frexp(b, eb);
  precise float q = ma * reciprocal(mb);
  return ldexp(q, ea - eb);
}
float near_reciprocal(float b) {
  int e;
  float m = frexp(b, e);
  return ldexp(reciprocal(m), -e);
}
// Correctly rounded; v_div_scale and v_div_fixup only matter at the edges of the range, which the data keeps away from.
float quotient(float a, float b) {
  float r = reciprocal(b), e = fma(-b, r, 1.0);
  r = fma(e, r, r);
  precise float q = a * r;
  q = fma(fma(-b, q, a), r, q);
  q = fma(fma(-b, q, a), r, q);
  return isinf(b) || b == 0 ? a * reciprocal(b) : q;
}
// To 3 ulp.
float near_root(float x) {
  bool tiny = x < 1.17549435e-38;
  precise float s = sqrt(tiny ? x * 4294967296.0 : x);
  return tiny ? s * 1.52587891e-5 : s;
}
// Correctly rounded: the neighbours are tried.
float root(float x) {
  bool tiny = x < 1.26217745e-29;
  precise float scaled = tiny ? x * 4294967296.0 : x, s = sqrt(scaled);
  float down = uintBitsToFloat(floatBitsToUint(s) - 1), up = uintBitsToFloat(floatBitsToUint(s) + 1);
  float below = fma(-down, s, scaled), above = fma(-up, s, scaled);
  s = below <= 0 ? down : s;
  s = above > 0 ? up : s;
  if (tiny) s *= 1.52587891e-5;
  return scaled == 0 || isinf(scaled) ? scaled : s;
}
float hardware_sine(float x) {
  precise float turns = fract(x * 0.159154937);
  return sin(turns * 6.28318548);
}
float power_of_two(float x) {
  bool low = x < -126.0;
  precise float r = exp2(low ? x + 64.0 : x);
  return low ? r * 5.42101086e-20 : r;
}
