// Transcendental functions of the OpenCL library, and the hardware's own approximations.
kernel GROUP_SIZE(64, 1, 1) void transc(global const float* in, global float* out) {
  uint i = group_x * 64 + local_x;
  float x = in[i];
  global float* o = out + i * 12;
  o[0] = sin(x);
  o[1] = cos(x);
  o[2] = exp(x);
  o[3] = log(fabs(x) + 1);
  o[4] = sqrt(x * x + 1);
  o[5] = pow(fabs(x), 1.7f);
  o[6] = atan2(x, 2.0f);
  o[7] = tan(x);
  o[8] = fmod(x, 3.0f);
  o[9] = native_sin(x);
  o[10] = native_exp(x);
  o[11] = rsqrt(x * x + 2);
}
