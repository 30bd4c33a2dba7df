// Does Fma round once, and do loops run to their end? Compiled by hand into device_probe.inc:
// glslangValidator -V --target-env vulkan1.3 -x -o device_probe.inc device_probe.comp
#version 450
layout(local_size_x = 1) in;
layout(set = 0, binding = 0) buffer Numbers {
  float a, b, c, result;
  uint wanted, stop, rounds;
};
void main() {
  precise float r = fma(a, b, c);
  result = r;
  uint count = 0u;
  while (stop == 0u) {
    count++;
    if (count == wanted) break;
  }
  rounds = count;
}
