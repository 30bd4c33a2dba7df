#include "gpu-service/shader/ir/construct.hpp"

namespace orrery::shader::ir {

bool construct(Function& function, const Program& program, const TranslateOptions& options,
               const std::function<bool(Builder&, uint32_t block)>& write) {
  const cfg::StructuredGraph* const graph = function.graph;
  LoopWrites known;
  constexpr int kMostRounds = 4;
  for (int round = 0;; ++round) {
    if (round > 0) function = Function{};
    function.graph = graph;
    known.any = round == kMostRounds;
    Builder builder(function, program, options, known);
    bool whole = true;
    for (uint32_t n = 0; n < graph->blocks.size(); ++n) {
      builder.start_block(n);
      whole &= write(builder, n);
      for (const cfg::RouteAssignment& a : graph->blocks[n].assignments) builder.set_route(a.route, a.value);
      builder.end_block();
    }
    const auto unforeseen = builder.unforeseen_writes();
    if (!unforeseen.empty()) {
      known.more.insert(known.more.end(), unforeseen.begin(), unforeseen.end());
      continue;
    }
    if (whole) builder.finish();
    return whole;
  }
}

}  // namespace orrery::shader::ir
