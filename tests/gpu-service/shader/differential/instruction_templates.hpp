// Instructions as text with holes for operands.
//   {d} {d2} integer result, of one or two registers; {i} any source (one for each line), {c} VGPR or inline constant,
//   {v} {v2} VGPRs; {df} {f} {cf} {vf} the same of f32, {dh} {h} {ch} {vh} of f16, {dD} {D} {cD} of f64;
//   {sd} {sd2} scalar result; {s} {s2} scalar register or inline constant; {sl} that or a literal;
//   {md} {m} lane mask; {xm} a mask for passing use; {n4} {n5} {n6} {n16} numbers of so many bits;
//   {dpp} {sdwa} modifiers of those forms; {omod} clamp or output modifier; {exec} {vcc} {b} {u} as the wave is wide.
#pragma once

#include <span>
#include <string>

namespace orrery::shader::differential {

class ProgramWriter;

// Fills the holes at random.
std::string fill_in(ProgramWriter& writer, std::string_view text);

using Templates = std::span<const char* const>;
Templates integer_templates();
Templates float_templates();
Templates scalar_templates();
Templates mask_templates();
Templates lane_templates();

}  // namespace orrery::shader::differential
