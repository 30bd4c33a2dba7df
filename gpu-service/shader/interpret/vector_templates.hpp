// Vector instructions as one expression per lane.
#pragma once

#include "gpu-service/shader/interpret/lanes.hpp"

namespace orrery::shader::interpret {

// R f(A), R f(A, B), R f(A, B, C) over integers or floats of 32 and 64 bits.
template <class R, class A, auto F>
void vector1(Wave& wave, const Step& step) {
  Lanes<A> a;
  Lanes<R> r;
  fetch(wave, step, 0, a);
  for (uint32_t lane = 0; lane < wave.lanes; ++lane) {
    r[lane] = static_cast<R>(F(a[lane]));
  }
  write(wave, step, r);
}
template <class R, class A, class B, auto F>
void vector2(Wave& wave, const Step& step) {
  Lanes<A> a;
  Lanes<B> b;
  Lanes<R> r;
  fetch(wave, step, 0, a);
  fetch(wave, step, 1, b);
  for (uint32_t lane = 0; lane < wave.lanes; ++lane) {
    r[lane] = static_cast<R>(F(a[lane], b[lane]));
  }
  write(wave, step, r);
}
template <class R, class A, class B, class C, auto F>
void vector3(Wave& wave, const Step& step) {
  Lanes<A> a;
  Lanes<B> b;
  Lanes<C> c;
  Lanes<R> r;
  fetch(wave, step, 0, a);
  fetch(wave, step, 1, b);
  fetch(wave, step, 2, c);
  for (uint32_t lane = 0; lane < wave.lanes; ++lane) {
    r[lane] = static_cast<R>(F(a[lane], b[lane], c[lane]));
  }
  write(wave, step, r);
}

}  // namespace orrery::shader::interpret
