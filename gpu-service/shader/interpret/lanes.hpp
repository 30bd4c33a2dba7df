// Vector operands of a step: all lanes in, all lanes out. SDWA, DPP, op_sel and modifiers are applied here, so that an
// instruction's own code is one expression.
#pragma once

#include "gpu-service/shader/interpret/numbers.hpp"
#include "gpu-service/shader/interpret/step.hpp"

namespace orrery::shader::interpret {

template <class T>
struct alignas(64) Lanes {
  T of[kMaxLanes];
  T& operator[](size_t lane) { return of[lane]; }
  const T& operator[](size_t lane) const { return of[lane]; }
};

uint32_t scalar32(const Wave& wave, const Source& source);
uint64_t scalar64(const Wave& wave, const Source& source);

// Raw bits after DPP and SDWA selection (and sign extension), before float modifiers.
void fetch(Wave& wave, const Step& step, unsigned source, Lanes<uint32_t>& out);
void fetch(Wave& wave, const Step& step, unsigned source, Lanes<uint64_t>& out);
// 16-bit sources: the half that op_sel names.
void fetch_half(Wave& wave, const Step& step, unsigned source, Lanes<uint16_t>& out);
// Float sources with neg, abs and denormal mode applied.
void fetch(Wave& wave, const Step& step, unsigned source, Lanes<float>& out);
void fetch(Wave& wave, const Step& step, unsigned source, Lanes<double>& out);
void fetch_float_half(Wave& wave, const Step& step, unsigned source, Lanes<uint16_t>& out);
// A lane mask source (v_cndmask's, the carry's), or VCC.
uint64_t fetch_mask(const Wave& wave, const Step& step, unsigned source);

// Results go to active lanes only.
void write(Wave& wave, const Step& step, const Lanes<uint32_t>& value);
void write(Wave& wave, const Step& step, const Lanes<uint64_t>& value);
void write_half(Wave& wave, const Step& step, const Lanes<uint16_t>& value);  // keeps the other half
// Float results: denormal mode, omod and clamp first.
void write(Wave& wave, const Step& step, Lanes<float>& value);
void write(Wave& wave, const Step& step, Lanes<double>& value);
void write_float_half(Wave& wave, const Step& step, Lanes<uint16_t>& value);
// Mask results: inactive lanes give 0.
void write_mask(Wave& wave, uint32_t sgpr, uint64_t mask);
// For memory and lane instructions: one register's active lanes.
void write_row(Wave& wave, uint32_t vgpr, const Lanes<uint32_t>& value, uint64_t lanes);

inline bool active(uint64_t lanes, uint32_t lane) { return (lanes >> lane & 1) != 0; }

}  // namespace orrery::shader::interpret
