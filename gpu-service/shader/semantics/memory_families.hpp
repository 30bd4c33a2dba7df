// The families that reach memory, LDS and other waves.
#pragma once

#include "gpu-service/shader/ir/semantic.hpp"

namespace orrery::shader::semantics {

void add_scalar_memory(ir::SemanticTable& table);
void add_scalar_stores(ir::SemanticTable& table);
void add_global_memory(ir::SemanticTable& table);
void add_buffer_memory(ir::SemanticTable& table);
void add_local_memory(ir::SemanticTable& table);
void add_local_atomics(ir::SemanticTable& table);
void add_local_lanes(ir::SemanticTable& table);
void add_ordering(ir::SemanticTable& table);
void add_image(ir::SemanticTable& table);

inline void add_memory(ir::SemanticTable& table) {
  add_scalar_memory(table);
  add_scalar_stores(table);
  add_global_memory(table);
  add_buffer_memory(table);
  add_local_memory(table);
  add_local_atomics(table);
  add_local_lanes(table);
  add_ordering(table);
  add_image(table);
}

}  // namespace orrery::shader::semantics
