// Every family of instructions adds its lines to the table.
#pragma once

#include "gpu-service/shader/ir/semantic.hpp"

namespace orrery::shader::semantics {

void add_scalar_arithmetic(ir::SemanticTable& table);
void add_scalar_bits(ir::SemanticTable& table);
void add_scalar_logic(ir::SemanticTable& table);
void add_scalar_moves(ir::SemanticTable& table);
void add_scalar_compare(ir::SemanticTable& table);
void add_scalar_mode(ir::SemanticTable& table);
void add_vector_integer(ir::SemanticTable& table);
void add_vector_bits(ir::SemanticTable& table);
void add_vector_multiply(ir::SemanticTable& table);
void add_vector_short(ir::SemanticTable& table);
void add_vector_float(ir::SemanticTable& table);
void add_vector_float_functions(ir::SemanticTable& table);
void add_vector_division(ir::SemanticTable& table);
void add_vector_compare(ir::SemanticTable& table);
void add_vector_class(ir::SemanticTable& table);
void add_vector_lanes(ir::SemanticTable& table);
void add_vector_cube(ir::SemanticTable& table);
void add_relative_moves(ir::SemanticTable& table);
void add_trigonometric_operand(ir::SemanticTable& table);
void add_conversions(ir::SemanticTable& table);
void add_graphics(ir::SemanticTable& table);
void add_packed(ir::SemanticTable& table);

}  // namespace orrery::shader::semantics
