// A bytecode interpreter: a large switch in a loop, and a call that is not inlined.
__attribute__((noinline)) static float power_sum(float x, uint k) {
  float r = x;
  for (uint i = 0; i < k; i++) r = r * x + i;
  return r;
}

kernel GROUP_SIZE(64, 1, 1) void switchk(global const uint* op, global float* v, uint n) {
  uint i = group_x * 64 + local_x;
  float a = v[i];
  for (uint pc = 0; pc < n; pc++) switch (op[pc]) {
      case 0: a += 1; break;
      case 1: a *= 2; break;
      case 2: a -= i + pc; break;
      case 3: a = power_sum(a, pc & 3); break;
      case 4: a = fabs(a); break;
      case 5: a = -a; break;
      case 6: a = a * a; break;
      case 7: pc += fabs(a) < 65536 ? (uint)fabs(a) & 3 : 0; break;
      case 8: v[i] = a; return;
      default: a = 0;
    }
  v[i] = a;
}
