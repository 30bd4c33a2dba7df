#ifdef NATIVE
uint remainder(uint x, uint y) { return x % y; }
#else
// As LLVM divides: an estimate by reciprocal, one Newton step, two corrections.
uint remainder(uint x, uint y) {
  uint z = uint(1.0 / float(y) * uintBitsToFloat(0x4f7ffffeu)), high, low;
  umulExtended(z, (0u - y) * z, high, low);
  z += high;
  umulExtended(x, z, high, low);
  uint r = x - high * y;
  r = r >= y ? r - y : r;
  return r >= y ? r - y : r;
}
#endif
