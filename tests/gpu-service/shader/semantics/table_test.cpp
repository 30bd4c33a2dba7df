#include <gtest/gtest.h>

#include "gpu-service/shader/semantics/table.hpp"

namespace orrery::shader::semantics::test {
namespace {

TEST(Table, control_flow_has_no_semantics) {
  for (Opcode opcode : {Opcode::s_branch, Opcode::s_cbranch_scc0, Opcode::s_cbranch_execz, Opcode::s_endpgm,
                        Opcode::s_nop, Opcode::s_setpc_b64, Opcode::invalid}) {
    EXPECT_EQ(semantic_table()[static_cast<size_t>(opcode)], nullptr) << mnemonic(opcode);
  }
}

}  // namespace
}  // namespace orrery::shader::semantics::test
