// An image element's bits to components and back, exact: one rounding, to nearest even, with operations that every
// device rounds correctly. Components are register contents: float or integer bits.
const uint kUnorm = 0, kSnorm = 1, kUscaled = 2, kSscaled = 3, kUint = 4, kSint = 5, kFloat = 6;
const uint kOne = 0x3f800000;

struct Format {
  uvec4 bits, position;  // of x, y, z, w; absent components have 0 bits; none crosses a dword
  uint numeric;
  uint bytes;  // 0: not a format of plain elements
};

// Formats of one layout follow each other: unorm, snorm, uscaled, sscaled, uint, sint and perhaps float, or uint, sint,
// float where components have 32 bits. Names go from the highest component down.
#define LAYOUT(first, x, y, z, w) \
  if (number >= first) {          \
    bits = uvec4(x, y, z, w);     \
    start = first;                \
  }
Format format_of(const in uint number) {
  uvec4 bits = uvec4(0);
  uint start = 0;
  LAYOUT(1, 8, 0, 0, 0)
  LAYOUT(7, 16, 0, 0, 0)
  LAYOUT(14, 8, 8, 0, 0)
  LAYOUT(20, 32, 0, 0, 0)
  LAYOUT(23, 16, 16, 0, 0)
  LAYOUT(30, 11, 11, 10, 0)
  LAYOUT(37, 10, 11, 11, 0)
  LAYOUT(44, 2, 10, 10, 10)
  LAYOUT(50, 10, 10, 10, 2)
  LAYOUT(56, 8, 8, 8, 8)
  LAYOUT(62, 32, 32, 0, 0)
  LAYOUT(65, 16, 16, 16, 16)
  LAYOUT(72, 32, 32, 32, 0)
  LAYOUT(75, 32, 32, 32, 32)
  LAYOUT(78, 0, 0, 0, 0)
  Format format;
  format.bits = bits;
  format.position = uvec4(0, bits.x, bits.x + bits.y, bits.x + bits.y + bits.z);
  format.numeric = number - start + (bits.x == 32 ? kUint : kUnorm);
  format.bytes = (format.position.w + bits.w) >> 3;
  return format;
}

bool is_integer(const in Format format) { return format.numeric == kUint || format.numeric == kSint; }
bool has_sign(const in Format format) { return (format.numeric & 1) != 0; }
uint one_of(const in Format format) { return is_integer(format) ? 1 : kOne; }
bool is_nan(const in float v) { return (floatBitsToUint(v) & 0x7fffffff) > 0x7f800000; }
// 2^n, n within the normal range.
float power(const in int n) { return uintBitsToFloat(uint(n + 127) << 23); }
uint low_bits(const in uint bits) { return bits >= 32 ? 0xffffffff : (1u << bits) - 1; }

uint half_to_float(const in uint bits) {
  const uint size = bits & 0x7fff, sign = (bits & 0x8000) << 16;
  if (size < 0x400) return sign | floatBitsToUint(float(size) * 5.9604644775390625e-8);
  return sign | ((size << 13) + (size < 0x7c00 ? 112u << 23 : 224u << 23));
}
uint float_to_half(const in uint bits) {
  const uint size = bits & 0x7fffffff, sign = bits >> 16 & 0x8000;
  if (size > 0x7f800000) return sign | 0x7e00 | (size >> 13 & 0x3ff);
  // The last bit of 0.5 is worth as much as a half's smallest denormal: the addition rounds.
  if (size < 0x38800000) return sign | (floatBitsToUint(uintBitsToFloat(size) + 0.5) - 0x3f000000);
  const uint rounded = (size + (size >> 13 & 1) + 0xfff) >> 13;
  return sign | min(rounded - (112u << 10), 0x7c00);
}
// An unsigned float of 5 bits of exponent: toward zero, negative becomes 0, NaN all ones.
uint float_to_small(const in uint bits, const in uint mantissa) {
  const uint drop = 10 - mantissa;
  if ((bits & 0x7fffffff) > 0x7f800000) return 0x7fff >> drop;
  if (bits == 0 || bits > 0x7f800000) return 0;
  if (bits == 0x7f800000) return 0x7c00 >> drop;
  if (bits < 0x38800000) return uint(uintBitsToFloat(bits) * 16777216.0) >> drop;
  return min((bits >> 13) - (112u << 10), 0x7bff) >> drop;
}

// 1 / (2^width - 1) - 2^-width. A number of that many bits times this plus the number times 2^-width is the quotient,
// rounded correctly (tried for every number of every width).
float rest_of_reciprocal(const in uint width) {
  uint rest = 0;
  if (width == 1) rest = 0x3f000000;
  if (width == 2) rest = 0x3daaaaab;
  if (width == 7) rest = 0x38810204;
  if (width == 8) rest = 0x37808081;
  if (width == 9) rest = 0x36804020;
  if (width == 10) rest = 0x35802008;
  if (width == 11) rest = 0x34801002;
  if (width == 15) rest = 0x30800100;
  if (width == 16) rest = 0x2f800080;
  return uintBitsToFloat(rest);
}

uint unpack_component(const in Format format, const in uvec4 element, const in uint c) {
  const uint bits = format.bits[c];
  if (bits == 0) return c == 3 ? one_of(format) : 0;
  const uint position = format.position[c];
  const uint dword = element[position >> 5];
  const uint u = bitfieldExtract(dword, int(position & 31), int(bits));
  const int s = bitfieldExtract(int(dword), int(position & 31), int(bits));
  if (format.numeric == kUint) return u;
  if (format.numeric == kSint) return uint(s);
  if (format.numeric == kFloat) {
    if (bits == 32) return u;
    return half_to_float(bits == 16 ? u : u << (15 - bits));
  }
  const float number = has_sign(format) ? float(s) : float(u);
  if (format.numeric >= kUscaled) return floatBitsToUint(number);
  const uint width = has_sign(format) ? bits - 1 : bits;
  const float scaled = number * power(-int(width)) + number * rest_of_reciprocal(width);
  return floatBitsToUint(scaled < -1.0 ? -1.0 : scaled);
}
uvec4 unpack(const in Format format, const in uvec4 element) {
  return uvec4(unpack_component(format, element, 0), unpack_component(format, element, 1),
               unpack_component(format, element, 2), unpack_component(format, element, 3));
}

// The integer nearest to x * (2^width - 1), ties to even: x * 2^width is exact, and x less is compared exactly with the
// halfway points. 0 <= x <= 1.
uint normalised(const in float x, const in uint width) {
  const float product = x * power(int(width)), whole = floor(product), fraction = product - whole;
  const float low = fraction - 0.5, high = fraction + 0.5;
  const uint n = uint(whole);
  const bool odd = (n & 1) != 0;
  if (x < low || (odd && x == low)) return n + 1;
  if (high < x || (odd && high == x)) return n - 1;
  return n;
}
uint pack_component(const in Format format, const in uint value, const in uint c) {
  const uint bits = format.bits[c];
  const bool sign = has_sign(format);
  const uint width = sign ? bits - 1 : bits, largest = low_bits(width);
  if (format.numeric == kUint) return min(value, largest);
  if (format.numeric == kSint) return uint(clamp(int(value), -int(largest) - 1, int(largest)));
  if (format.numeric == kFloat) {
    if (bits == 32) return value;
    return bits == 16 ? float_to_half(value) : float_to_small(value, bits - 5);
  }
  const float given = uintBitsToFloat(value), x = is_nan(given) ? 0.0 : given;
  if (format.numeric >= kUscaled) {
    const float top = float(largest), bottom = sign ? -1.0 - top : 0.0;
    return uint(int(x < bottom ? bottom : x > top ? top : trunc(x)));
  }
  const float size = abs(x) > 1.0 ? 1.0 : abs(x);
  if (x < 0.0) return sign ? 0 - normalised(size, width) : 0;
  return normalised(size, width);
}
uvec4 pack(const in Format format, const in uvec4 components) {
  uvec4 element = uvec4(0);
  for (uint c = 0; c < 4; ++c) {
    const uint bits = format.bits[c], position = format.position[c];
    if (bits == 0) continue;
    element[position >> 5] |= (pack_component(format, components[c], c) & low_bits(bits)) << (position & 31);
  }
  return element;
}

// DST_SEL: which component or constant each result is; and which result each component is (the first).
uint select_one(const in Format format, const in uvec4 components, const in uint selector) {
  return selector >= 4 ? components[selector & 3] : selector == 1 ? one_of(format) : 0;
}
uvec4 select(const in Format format, const in uvec4 components, const in uint selectors) {
  return uvec4(select_one(format, components, selectors & 7), select_one(format, components, selectors >> 3 & 7),
               select_one(format, components, selectors >> 6 & 7), select_one(format, components, selectors >> 9 & 7));
}
uvec4 unselect(const in uvec4 results, const in uint selectors) {
  uvec4 components = uvec4(0);
  for (int n = 3; n >= 0; --n) {
    const uint selector = selectors >> (3 * n) & 7;
    if (selector >= 4) components[selector & 3] = results[n];
  }
  return components;
}

// 16-bit registers: floats are halves, integers the low bits.
uvec4 to_halves(const in bool integer, const in uvec4 v) {
  if (integer) return v & 0xffff;
  return uvec4(float_to_half(v.x), float_to_half(v.y), float_to_half(v.z), float_to_half(v.w));
}
uvec4 from_halves(const in Format format, const in uvec4 v) {
  if (format.numeric == kUint) return v;
  if (format.numeric == kSint) return uvec4(ivec4(v << 16) >> 16);
  return uvec4(half_to_float(v.x), half_to_float(v.y), half_to_float(v.z), half_to_float(v.w));
}
