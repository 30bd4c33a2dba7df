// Adds one to the first `count` words.
#version 450
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) buffer Words {
  uint words[];
};
layout(push_constant) uniform Push {
  uint count;
};
void main() {
  if (gl_GlobalInvocationID.x < count) words[gl_GlobalInvocationID.x] += 1;
}
