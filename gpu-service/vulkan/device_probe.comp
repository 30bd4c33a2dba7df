// Does Fma round once, do loops run to their end, does NMin order zeros, do denormals live, do conversions round to
// nearest even? Compiled by hand into device_probe.inc, and with -DHALVES and -DDOUBLES into device_probe_halves.inc and
// device_probe_doubles.inc, and with -DKEEP into device_probe_keep.inc for devices where that can be demanded:
// glslangValidator -V --target-env vulkan1.3 -x -o device_probe.inc device_probe.comp
#version 450
#extension GL_EXT_spirv_intrinsics : require
#ifdef HALVES
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#endif
#ifdef KEEP
spirv_execution_mode(extensions = ["SPV_KHR_float_controls"], capabilities = [4464], 4459, 32);  // DenormPreserve
#endif
#ifdef DOUBLES
#extension GL_EXT_shader_explicit_arithmetic_types_float64 : require
#endif
layout(local_size_x = 1) in;
layout(set = 0, binding = 0) buffer Numbers {
  float a, b, c, result;
  uint wanted, stop, rounds;
  uint bits[8], results[8];
};
spirv_instruction(set = "GLSL.std.450", id = 79) float number_min(float x, float y);
spirv_instruction(set = "GLSL.std.450", id = 80) float number_max(float x, float y);
void main() {
#if defined(HALVES)
  for (int n = 0; n < 8; ++n) results[n] = floatBitsToUint(float(float16_t(uintBitsToFloat(bits[n]))));
#elif defined(DOUBLES)
  for (int n = 0; n < 4; ++n) {
    precise double sum = double(uintBitsToFloat(bits[2 * n])) + double(uintBitsToFloat(bits[2 * n + 1]));
    results[n] = floatBitsToUint(float(sum));
  }
#else
  precise float r = fma(a, b, c);
  result = r;
  uint count = 0u;
  while (stop == 0u) {
    count++;
    if (count == wanted) break;
  }
  rounds = count;
  const float zero = uintBitsToFloat(bits[0]), minus = uintBitsToFloat(bits[1]), tiny = uintBitsToFloat(bits[2]);
  results[0] = floatBitsToUint(number_min(zero, minus));
  results[1] = floatBitsToUint(number_min(minus, zero));
  results[2] = floatBitsToUint(number_max(zero, minus));
  results[3] = floatBitsToUint(number_max(minus, zero));
  precise float sum = tiny + zero;
  precise float product = tiny * uintBitsToFloat(bits[3]);
  precise float small = uintBitsToFloat(bits[4]) * uintBitsToFloat(bits[5]);
  results[4] = floatBitsToUint(sum);
  results[5] = floatBitsToUint(product);
  results[6] = floatBitsToUint(small);
  precise float fused[3] = float[3](fma(tiny, uintBitsToFloat(bits[3]), zero),
                                    fma(uintBitsToFloat(bits[4]), uintBitsToFloat(bits[5]), zero), fma(a, zero, tiny));
  const bool fused_right = floatBitsToUint(fused[0]) == bits[6] && floatBitsToUint(fused[1]) == bits[7] &&
                           floatBitsToUint(fused[2]) == bits[2];
  results[7] = (tiny > zero ? 1u : 0u) | (fused_right ? 2u : 0u);
#endif
}
