// IR to SPIR-V for one lane layout: a uniform value is one id, a per-lane value is k ids (slot j of an invocation is
// lane j * subgroup + SubgroupLocalInvocationId).
#pragma once

#include <memory>

#include "gpu-service/shader/ir/function.hpp"
#include "gpu-service/shader/spirv/module.hpp"
#include "gpu-service/shader/translate.hpp"

namespace orrery::shader::spirv {

// Functions of the module that memory accesses call, made when first used.
enum class Routine : uint8_t {
  escape,       // void(u64 address, u32 where): notes it in the invocation's own variables
  report,       // void(): tells the host what was noted; called at the end of the invocation
  locate_read,  // u64 device address(u64 guest address), 0: absent
  locate_write,
  locate_atomic,  // u64(u64 address, u32 where): what is absent is reported
  load_byte,      // u32(u64 address, u32 where)
  load_half,
  load_1,  // u32(u64 address, u32 where)
  load_2,  // vec(u64 address, u32 where)
  load_3,
  load_4,
  store_byte,  // void(u64 address, u32 where, u32 value)
  store_half,
  store_1,
  store_2,  // void(u64 address, u32 where, u32 values...)
  store_3,
  store_4,
  fma_16,  // f(f, f, f), where the device does not fuse
  fma_32,
  fma_64,
  count,
};

class ImageLibrary;
class FusedRuns;
struct FusedRun;

class Emitter {
 public:
  // Members of the push constant block.
  enum : uint32_t {
    kUserData,
    kPageTable,
    kEscapes,
    kBoundInfo,
    kScratch,
    kFirstGroup,
    kThreads,
    kCodeLow,
    kCodeHigh,
    kMemberCount
  };
  Emitter(const ir::Function& function, const TranslateOptions& options);
  ~Emitter();
  std::expected<shader::Module, std::vector<ShaderRefusal>> emit();

 private:
  friend class RoutineWriter;
  friend class ImageLibrary;
  using Results = std::array<Id, 4>;
  // Ids.
  Id id(ir::Value v, uint32_t slot);
  Id define(uint32_t inst, uint32_t slot, uint32_t component = 0);  // result id of an instruction being emitted
  void alias(uint32_t inst, uint32_t slot, Id to);                  // the value is an id that exists
  uint32_t slots(const ir::Inst& inst) const { return inst.per_lane ? k_ : 1; }
  // Which of them the code is written for: all, or the one whose turn it is (ir::Apart).
  uint32_t first_slot() const { return lone_slot_ == kNoSlot ? 0 : lone_slot_; }
  uint32_t end_slot(const ir::Inst& inst) const { return lone_slot_ == kNoSlot ? slots(inst) : lone_slot_ + 1; }
  bool alone() const { return k_ == 1 || lone_slot_ != kNoSlot; }
  uint32_t components(const ir::Inst& inst) const;
  Id type_of(ir::Value v) { return module_.type(f_.type(v)); }

  // Code.
  void code(spv::Op op, std::initializer_list<uint32_t> operands) { put(*code_, op, operands); }
  Id value(spv::Op op, Id type, std::initializer_list<uint32_t> operands);  // a new id holding op's result
  Id extended(uint32_t instruction, Id type, std::initializer_list<uint32_t> operands);
  void label(Id id);
  Id select(Id type, Id condition, Id a, Id b) { return value(spv::OpSelect, type, {condition, a, b}); }
  Id binary(spv::Op op, Id a, Id b) { return value(op, module_.type(ir::Type::u32), {a, b}); }
  Id u32(uint32_t v) { return module_.u32(v); }
  Id uint_type() { return module_.type(ir::Type::u32); }
  Id bool_type() { return module_.type(ir::Type::b1); }

  // Families.
  void emit_block(uint32_t block);
  void emit_body(std::span<const uint32_t> body);
  void emit_terminator(uint32_t block);
  void emit_blocks();
  void emit_apart(const ir::Apart& apart);
  void emit_join_phis(const ir::Apart& apart, uint32_t slot, Id past);
  void emit_lane_joins(const ir::Apart& apart, uint32_t slot, Id past);
  void emit_phis(uint32_t block);
  bool emit_guard(uint32_t inst, const ir::Inst& i);
  void count_round();
  void report_rounds();
  void report_escapes();
  Id image_note();  // a private variable: what was refused (image_refusal.hpp)
  void report_images();
  bool reaches(ir::Space space) const;
  Id window(uint32_t which);           // of PageTableWindow: 0 begin, 1 bytes where an access may begin, 2 delta
  Id window_variable(uint32_t which);  // the same in a private variable, for routines
  Id escape_note(uint32_t which);      // a private variable: 0 count, 1 where, 2 and 3 the address
  void emit_inst(uint32_t inst);
  bool emit_arithmetic(uint32_t inst, const ir::Inst& i);
  bool emit_float(uint32_t inst, const ir::Inst& i);
  // Fused multiply-adds of a device that flushes denormals: one, or a run of them.
  struct LookedAt;
  void look_at(LookedAt& all, Id number);
  Id may_be_flushed(Id magnitude);
  Id may_be_rare(const LookedAt& all);  // b1; 0: no denormal is possible
  void quick_fma(const ir::Inst& i, uint32_t slot, Id to, LookedAt& all);
  Id is_denormal(Id number);
  Id is_honest(const std::array<Id, 3>& operands);
  void fma_with_denormals(uint32_t inst, uint32_t slot);
  std::vector<Id> take_ids(std::span<const uint32_t> insts);
  void give_ids(std::span<const uint32_t> insts, std::span<const Id> made, std::span<const Id> wanted);
  void emit_fused_run(const FusedRun& run);
  void find_zeros_to_hide();
  Id operand_id(uint32_t inst, ir::Value v, uint32_t slot);
  bool emit_lanes(uint32_t inst, const ir::Inst& i);
  bool emit_place(uint32_t inst, const ir::Inst& i);
  bool emit_memory(uint32_t inst, const ir::Inst& i);
  void emit_guest(uint32_t inst, const ir::Inst& i, const ir::Access& a, uint32_t slot);
  // Guest loads side by side, of the same lanes: one branch asks whether all are usual.
  std::span<const uint32_t> adjacent_loads(std::span<const uint32_t> body) const;
  void emit_loads(std::span<const uint32_t> loads);
  Results load_window(const ir::Access& a, Id at, bool as_vector);
  Results load_by_routine(const ir::Access& a, Id address);
  Results load_guest(const ir::Access& a, Id address);
  void store_guest(const ir::Access& a, Id address, const Results& data);
  Id locate_guest(const ir::Access& a, Id address);
  Id guest_address(const ir::Inst& i, const ir::Access& a, uint32_t slot);
  Id is_usual(Id address, uint32_t multiple_of);
  void emit_lds(uint32_t inst, const ir::Inst& i, const ir::Access& a, uint32_t slot);
  void emit_buffer(uint32_t inst, const ir::Inst& i, const ir::Access& a, uint32_t slot);
  Id descriptor_word(const ir::Access& a, size_t n, Id own);
  void emit_image(uint32_t inst, const ir::Inst& i, const ir::Access& a, uint32_t slot);
  void emit_scratch(uint32_t inst, const ir::Inst& i, const ir::Access& a, uint32_t slot);
  // Stages of a draw.
  bool pixel() const;
  std::string why_no_pixel() const;
  void emit_draw_memory(uint32_t inst, const ir::Inst& i, const ir::Access& a, uint32_t slot);
  void emit_output(const ir::Inst& i, const ir::Access& a);
  Id output(uint32_t target);  // its variable
  void clear_outputs(Words& out);
  void end_pixel();
  Id stage_variable(uint32_t location);
  Id stage_input(uint32_t which);
  Id first_covered();
  Id pixel_lane();
  Id by_pixel_lanes(Id word);
  uint32_t private_dwords() const;
  Id private_array(uint32_t slot);
  void emit_private(uint32_t inst, const ir::Inst& i, const ir::Access& a, uint32_t slot, Id array);
  // `if (condition) {body}`: ids of type `type` that body answers, 0 where it did not run. No condition (0): always.
  template <class Body>
  Results conditional(Id condition, Id type, uint32_t count, Body body);
  // `if (condition) {then} else {otherwise}`: what the way taken answered.
  template <class Then, class Otherwise>
  Results either(Id condition, Id type, uint32_t count, Then then, Otherwise otherwise);
  template <class Then, class Otherwise>
  std::vector<Id> joined(Id condition, Then then, Otherwise otherwise);
  void finish_load(uint32_t inst, const ir::Inst& i, uint32_t slot, const Results& results);
  Id atomic_on(const ir::Access& a, Id pointer, ir::Type type, Id data, Id second);
  Id updated(const ir::Access& a, ir::Type type, Id old, Id data, Id second);
  Id device_pointer(Id address, Id pointed);                      // physical storage buffer pointer of a device address
  Id load_device(Id address, ir::Type type, bool fresh = false);  // naturally aligned
  void store_device(Id address, ir::Type type, Id data);
  void store_device_small(Id address, uint32_t bits, Id data);  // the low 8 or 16 bits
  std::array<Id, 2> bound_info(uint32_t binding);               // delta, size
  void emit_barrier(const ir::Inst& i);

  // Entry state, in front of the entry block.
  Id in_prelude(auto make) {
    Words* const saved = code_;
    code_ = &prelude_;
    const Id result = make();
    code_ = saved;
    return result;
  }
  Id sublane();  // the invocation's place among those of its wave, 0 when the wave is one invocation
  Id wave_in_group();
  Id group_id(uint32_t dimension);
  Id linear_group();  // within this dispatch call, without first_group
  Id thread_in_group(uint32_t slot);
  Id local_id(uint32_t dimension, uint32_t slot);
  Id thread_exists(uint32_t slot);
  Id lane(uint32_t slot);
  Id push(uint32_t member, uint32_t index = 0);       // u32, or u64 for the addresses; once, in the prelude
  Id push_here(uint32_t member, uint32_t index = 0);  // loaded where the code stands
  Id ballot_word(ir::Value v, uint32_t word);
  Id subgroup_ballot(Id b);
  // Exchange through workgroup memory: one wave is the workgroup, one lane the invocation.
  void emit_exchange(uint32_t inst, const ir::Inst& i);
  void exchange_barrier();
  Id exchanged_mask(Id boolean, uint32_t word);
  Id exchanged_value(Id own, ir::Type type, Id from_lane);
  // A lane's value picked out of the invocation's own slots by a number that is not constant.
  Id picked(ir::Value v, Id lane);
  void spread(ir::Value v);

  Id routine(Routine r);
  Id workgroup_view(uint32_t bytes);
  bool lds_in_memory() const;
  Id lds_base();             // its device address
  Id lds_address(Id dword);  // likewise of a dword
  Id lds_pointer(Id dword, uint32_t bytes);
  Id lds_load(Id dword);
  void lds_store(Id dword, Id data);
  // What a group has of device memory: private memory of its waves, then LDS.
  Id group_memory();
  uint64_t group_memory_bytes();
  uint64_t group_private_bytes();
  // One access by all lanes of a whole wave: a loop over them instead of as many copies.
  void emit_lane_loop(uint32_t inst, const ir::Inst& i, const ir::Access& a);
  void emit_access(uint32_t inst, const ir::Inst& i, const ir::Access& a, uint32_t slot);
  Id function_variable(Id type);  // an uninitialised variable of the entry point's function
  enum class BufferView : uint8_t { byte, half, dword, number64, two, four };
  Id buffer_variable(uint32_t binding, BufferView view);
  Id buffer_element(BufferView view);
  void refuse(uint32_t offset, std::string reason);

  const ir::Function& f_;
  const TranslateOptions& o_;
  const uint32_t k_, subgroup_;  // guest lanes per invocation, invocations per wave
  const LaneExchange exchange_;
  Module module_;
  Words main_, prelude_, routines_;
  Words* code_ = &main_;
  std::vector<uint32_t> start_;  // first entry of a value in ids_, ~0: none yet
  std::vector<Id> ids_;
  std::vector<Id> block_label_, exit_label_;  // per IR block: its label and the label of its last SPIR-V block
  struct Later {
    size_t at;  // word in main_ that becomes the exit label of `block`
    uint32_t block;
  };
  std::vector<Later> later_;
  Id current_label_ = 0;
  struct Guard {
    Id begin, merge, end;  // labels: in front of the lane_if, behind the lane_endif, in front of it
  };
  std::vector<Guard> guards_;  // open ones
  static constexpr uint32_t kNoSlot = ~0u;
  uint32_t lone_slot_ = kNoSlot;
  ir::Value apart_guard_;  // lanes that go into the loop that comes next
  Id way_in_ = 0;          // where the loop's first block is come to from, 0: its predecessor
  Id way_past_ = 0;        // the join's other predecessor
  std::vector<std::pair<uint32_t, Id>> joined_numbers_;  // uniform phis of a join, as the slots so far made them
  Guard left_guard_{};                                   // for the lane_joins that follow
  std::array<Id, static_cast<size_t>(Routine::count)> routine_{};
  std::vector<ShaderRefusal> refusals_;

  ProgramNeeds needs_;
  LdsHome lds_home_ = LdsHome::workgroup;
  std::array<Id, 2> workgroup_{};  // views in u32 and u64
  Id push_variable_ = 0;
  Id exchange_mask_ = 0, exchange_values_ = 0;
  struct {
    Id boolean = 0, label = 0, words[2]{};
  } exchanged_;  // the last mask, for its other word
  struct {
    bool active = false;
    Id lane = 0;                                  // the loop's counter
    std::vector<std::pair<uint32_t, Id>> values;  // per-lane operands: this round's
    std::array<Id, 4> results{};                  // arrays of the access' results
  } lane_loop_;
  std::unordered_map<uint64_t, Id> lane_arrays_;  // by position and type
  Words variables_;                               // OpVariable of the entry point's function
  std::array<Id, 9> spread_arrays_{};             // by type: the wave's values, to be picked by number
  struct {
    Id label = 0;
    uint32_t value = ~0u;
  } spread_;                                         // what the array of spread() holds
  std::vector<std::array<Id, 6>> buffer_variables_;  // per binding, by BufferView
  std::array<Id, 6> buffer_blocks_{};
  std::unordered_map<uint32_t, Id> entry_;  // cached prelude values
  std::unique_ptr<ImageLibrary> image_library_;
  std::vector<bool> hides_zeros_;                     // by instruction; empty: the driver keeps them
  std::array<std::array<Id, 2>, 2> unknown_zeros_{};  // u32 and f32, +0 and -0
  std::unique_ptr<FusedRuns> fused_runs_;             // where the device flushes denormals
  LookedAt* quick_ = nullptr;                         // of the run that is being written
  Id image_note_ = 0;
  size_t behind_barrier_ = 0;  // words of code when a barrier of the device was the last
  bool fresh_loads_ = false;   // the program has coherent guest loads: none may be kept from an earlier one
  bool uses_page_table_ = false;
  std::vector<BoundBuffer> bound_;
  std::array<Id, 4> escape_notes_{};
  std::array<Id, 3> windows_{}, window_variables_{};
  std::array<Id, kMostTargets + 1> outputs_{};  // and whether the pixel is kept
  std::array<Id, 3> stage_variables_{};
  bool private_known_ = false;
  uint32_t private_dwords_ = 0;
  Id private_type_ = 0;             // pointer to a slot's array
  std::vector<Id> private_arrays_;  // per slot; none: private memory is in the device buffer
  Id loop_rounds_ = 0;              // counts an invocation's loop rounds, on drivers that cut loops off
  uint32_t waves_ = 1, threads_ = 1, lds_dwords_ = 0;
};

}  // namespace orrery::shader::spirv
