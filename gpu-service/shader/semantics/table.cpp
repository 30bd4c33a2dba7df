#include "gpu-service/shader/semantics/table.hpp"

#include "gpu-service/shader/semantics/families.hpp"
#include "gpu-service/shader/semantics/memory_families.hpp"

namespace orrery::shader::semantics {
namespace {

ir::SemanticTable make_table() {
  ir::SemanticTable table{};
  add_scalar_arithmetic(table);
  add_scalar_bits(table);
  add_scalar_logic(table);
  add_scalar_moves(table);
  add_scalar_compare(table);
  add_scalar_mode(table);
  add_vector_integer(table);
  add_vector_bits(table);
  add_vector_multiply(table);
  add_vector_short(table);
  add_vector_float(table);
  add_vector_float_functions(table);
  add_vector_division(table);
  add_vector_compare(table);
  add_vector_class(table);
  add_vector_lanes(table);
  add_vector_cube(table);
  add_relative_moves(table);
  add_trigonometric_operand(table);
  add_conversions(table);
  add_packed(table);
  add_graphics(table);
  add_memory(table);
  return table;
}

}  // namespace

const ir::SemanticTable& semantic_table() {
  static const ir::SemanticTable table = make_table();
  return table;
}

}  // namespace orrery::shader::semantics
