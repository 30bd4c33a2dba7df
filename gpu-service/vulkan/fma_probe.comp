// Does Fma round once? Compiled by hand into fma_probe.inc: glslangValidator -V --target-env vulkan1.3 -x -o fma_probe.inc
#version 450
layout(local_size_x = 1) in;
layout(set = 0, binding = 0) buffer Numbers {
  float a, b, c, result;
};
void main() {
  precise float r = fma(a, b, c);
  result = r;
}
