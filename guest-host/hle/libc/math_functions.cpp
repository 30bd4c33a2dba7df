#include <cmath>

#include "guest-host/hle/libc/library.hpp"

namespace orrery::hle::libc {

// The host's library, under the title's own rounding and denormal settings.
void add_math_functions(Registry& registry) {
  const auto add1 = [&](std::string_view name, double (*f)(double)) { registry.add(kLibrary, name, f); };
  const auto add1f = [&](std::string_view name, float (*f)(float)) { registry.add(kLibrary, name, f); };
  const auto add2 = [&](std::string_view name, double (*f)(double, double)) { registry.add(kLibrary, name, f); };
  const auto add2f = [&](std::string_view name, float (*f)(float, float)) { registry.add(kLibrary, name, f); };
  add1f("sinf", ::sinf), add1f("cosf", ::cosf), add1f("tanf", ::tanf);
  add1f("asinf", ::asinf), add1f("acosf", ::acosf), add1f("atanf", ::atanf);
  add1f("expf", ::expf), add1f("exp2f", ::exp2f), add1f("logf", ::logf), add1f("log2f", ::log2f);
  add1f("log10f", ::log10f), add1f("floorf", ::floorf), add1f("ceilf", ::ceilf), add1f("truncf", ::truncf);
  add1f("roundf", ::roundf), add1f("sqrtf", ::sqrtf), add1f("fabsf", ::fabsf);
  add2f("atan2f", ::atan2f), add2f("powf", ::powf), add2f("fmodf", ::fmodf);
  registry.add(kLibrary, "fmaf", [](float x, float y, float z) { return std::fmaf(x, y, z); });
  add1("sin", ::sin), add1("cos", ::cos), add1("tan", ::tan), add1("atan", ::atan);
  add1("exp", ::exp), add1("exp2", ::exp2), add1("log", ::log), add1("log2", ::log2);
  add1("floor", ::floor), add1("ceil", ::ceil), add1("sqrt", ::sqrt), add1("fabs", ::fabs);
  add2("atan2", ::atan2), add2("pow", ::pow), add2("fmod", ::fmod);
  registry.add(kLibrary, "fma", [](double x, double y, double z) { return std::fma(x, y, z); });
}

}  // namespace orrery::hle::libc
