// Whether a lane that goes past a selection ever looks at what was made inside it.
#pragma once

#include "gpu-service/shader/passes/idle_lanes.hpp"

namespace orrery::shader::passes {

class Bystander : LaneView {
 public:
  // by_lane: by block, whether its vote has become each lane's own branch.
  Bystander(const ir::Function& f, const std::vector<uint8_t>& live, const Users& users,
            const std::vector<uint8_t>& by_lane)
      : LaneView(f),
        live_(live),
        users_(users),
        by_lane_(by_lane),
        missed_(f.insts.size()),
        reached_(f.blocks.size()) {}

  // missed: phis of the join that differ; known: masks that hold for every lane that comes here.
  bool looks(const Construct& selection, std::span<const uint32_t> missed, std::span<const ir::Value> known);

 private:
  Seen unset(ir::Value v) override;
  bool set_aside(ir::Value v) override { return is_missed(v); }
  void put_down(ir::Value v);
  bool miss(uint32_t id);
  bool walk(uint32_t block);
  bool enter(uint32_t block);
  bool visit(uint32_t id);
  bool leave(uint32_t block);
  bool clean_by_mask(const ir::Inst& inst);
  bool is_missed(ir::Value v) const { return missed_[v.id] != 0; }

  const std::vector<uint8_t>& live_;
  const Users& users_;
  const std::vector<uint8_t>& by_lane_;
  std::vector<uint8_t> missed_, reached_;
  std::vector<uint32_t> all_missed_;
  std::vector<std::pair<uint32_t, uint32_t>> ways_;  // taken: from, to
  const Construct* selection_ = nullptr;
  std::span<const ir::Value> known_;
  std::vector<ir::Value> down_;  // what does not hold for a lane that goes past
  uint32_t farthest_ = 0;        // last block that may use what was missed
  uint32_t visited_ = 0;
  int depth_ = 0;  // operations looked back over from a value that was made in front of the selection
};

}  // namespace orrery::shader::passes
