#include "gpu-service/dispatch/module_bytes.hpp"

#include <cstring>

namespace orrery::dispatch {
namespace {

// A member that is added must be written and read below; then this number changes.
static_assert(sizeof(shader::Module) == 184 && sizeof(shader::BoundBuffer) == 40 && sizeof(shader::TracedImage) == 72 &&
              sizeof(shader::ProgramNeeds) == 9);

class Writer {
 public:
  explicit Writer(std::vector<std::byte>& out) : out_(out) {}
  template <class T>
  void put(T value) {
    const auto bytes = std::as_bytes(std::span(&value, 1));
    out_.insert(out_.end(), bytes.begin(), bytes.end());
  }
  void words(std::span<const uint32_t> words) {
    put(static_cast<uint64_t>(words.size()));
    const auto bytes = std::as_bytes(words);
    out_.insert(out_.end(), bytes.begin(), bytes.end());
  }

 private:
  std::vector<std::byte>& out_;
};

class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : rest_(bytes) {}
  template <class T>
  T get() {
    T value{};
    if (rest_.size() < sizeof(T)) {
      good_ = false;
      return value;
    }
    std::memcpy(&value, rest_.data(), sizeof(T));
    rest_ = rest_.subspan(sizeof(T));
    return value;
  }
  bool flag() {
    const auto byte = get<uint8_t>();
    good_ = good_ && byte <= 1;
    return byte != 0;
  }
  std::vector<uint32_t> words() {
    const auto count = get<uint64_t>();
    if (count > rest_.size() / 4) {
      good_ = false;
      return {};
    }
    std::vector<uint32_t> words(count);
    if (count != 0) std::memcpy(words.data(), rest_.data(), count * 4);
    rest_ = rest_.subspan(count * 4);
    return words;
  }
  bool good() const { return good_; }
  bool ended() const { return rest_.empty(); }

 private:
  std::span<const std::byte> rest_;
  bool good_ = true;
};

void put_source(Writer& w, const shader::DescriptorSource& source) {
  w.put(static_cast<uint32_t>(source.steps.size()));
  for (const shader::SliceStep& step : source.steps) {
    w.put(static_cast<uint8_t>(step.op));
    w.put(static_cast<uint8_t>(step.type));
    w.put(step.count);
    for (const uint16_t argument : step.args) w.put(argument);
    w.put(step.imm);
  }
  for (const uint16_t word : source.words) w.put(word);
}

// Operands are checked where the slice is evaluated.
bool get_source(Reader& r, shader::DescriptorSource& source) {
  const auto count = r.get<uint32_t>();
  if (count > shader::kMostSliceSteps) return false;
  for (uint32_t i = 0; i < count && r.good(); ++i) {
    shader::SliceStep step;
    const auto op = r.get<uint8_t>(), type = r.get<uint8_t>();
    if (op >= static_cast<uint8_t>(shader::ir::Op::count) || type > static_cast<uint8_t>(shader::ir::Type::f64)) {
      return false;
    }
    step.op = static_cast<shader::ir::Op>(op);
    step.type = static_cast<shader::ir::Type>(type);
    step.count = r.get<uint16_t>();
    for (uint16_t& argument : step.args) argument = r.get<uint16_t>();
    step.imm = r.get<uint64_t>();
    source.steps.push_back(step);
  }
  for (uint16_t& word : source.words) word = r.get<uint16_t>();
  return r.good();
}

}  // namespace

void append_module(std::vector<std::byte>& out, const shader::Module& module) {
  Writer w(out);
  w.put(module.layout.wave);
  w.put(module.layout.subgroup);
  w.put(module.layout.k);
  w.put(static_cast<uint8_t>(module.layout.exchange));
  for (const uint32_t size : module.local_size) w.put(size);
  w.put(static_cast<uint32_t>(module.buffers.size()));
  for (const shader::BoundBuffer& buffer : module.buffers) {
    put_source(w, buffer.source);
    w.put(static_cast<uint8_t>(buffer.read));
    w.put(static_cast<uint8_t>(buffer.written));
    w.put(static_cast<uint8_t>(buffer.scalar));
    w.put(static_cast<uint8_t>(buffer.typed));
  }
  w.put(static_cast<uint32_t>(module.images.size()));
  for (const shader::TracedImage& image : module.images) {
    put_source(w, image.source.low);
    put_source(w, image.source.high);
    w.put(static_cast<uint8_t>(image.read));
    w.put(static_cast<uint8_t>(image.written));
  }
  w.put(static_cast<uint32_t>(module.samplers.size()));
  for (const shader::DescriptorSource& sampler : module.samplers) put_source(w, sampler);
  w.put(static_cast<uint8_t>(module.uses_page_table));
  w.put(static_cast<uint8_t>(module.reaches_images_only));
  w.put(static_cast<uint8_t>(module.writes_anywhere));
  w.put(module.write_instruction);
  w.put(static_cast<uint8_t>(module.write_reason));
  w.put(module.group_memory);
  w.put(static_cast<uint8_t>(module.lds_in_memory));
  w.put(module.workgroup_bytes);
  const shader::ProgramNeeds& n = module.needs;
  for (const bool need : {n.votes, n.masks_whole, n.lane_values, n.lockstep, n.lds, n.barrier, n.wave_stores,
                          n.private_memory, n.wide_lds_atomics}) {
    w.put(static_cast<uint8_t>(need));
  }
  w.put(module.guest_instructions);
  w.put(static_cast<uint8_t>(module.dispatcher_loop));
  w.words(module.spirv);
}

std::optional<shader::Module> module_of(std::span<const std::byte> bytes) {
  Reader r(bytes);
  shader::Module module;
  module.layout.wave = r.get<uint32_t>();
  module.layout.subgroup = r.get<uint32_t>();
  module.layout.k = r.get<uint32_t>();
  const auto exchange = r.get<uint8_t>();
  if (exchange > static_cast<uint8_t>(shader::LaneExchange::none)) return std::nullopt;
  module.layout.exchange = static_cast<shader::LaneExchange>(exchange);
  for (uint32_t& size : module.local_size) size = r.get<uint32_t>();
  const auto buffers = r.get<uint32_t>();
  for (uint32_t i = 0; i < buffers && r.good(); ++i) {
    shader::BoundBuffer buffer;
    if (!get_source(r, buffer.source)) return std::nullopt;
    buffer.read = r.flag();
    buffer.written = r.flag();
    buffer.scalar = r.flag();
    buffer.typed = r.flag();
    module.buffers.push_back(std::move(buffer));
  }
  const auto images = r.get<uint32_t>();
  for (uint32_t i = 0; i < images && r.good(); ++i) {
    shader::TracedImage image;
    if (!get_source(r, image.source.low) || !get_source(r, image.source.high)) return std::nullopt;
    image.read = r.flag();
    image.written = r.flag();
    module.images.push_back(std::move(image));
  }
  const auto samplers = r.get<uint32_t>();
  for (uint32_t i = 0; i < samplers && r.good(); ++i) {
    if (!get_source(r, module.samplers.emplace_back())) return std::nullopt;
  }
  module.uses_page_table = r.flag();
  module.reaches_images_only = r.flag();
  module.writes_anywhere = r.flag();
  module.write_instruction = r.get<uint32_t>();
  const auto reason = r.get<uint8_t>();
  if (reason > static_cast<uint8_t>(shader::TraceEnd::too_long)) return std::nullopt;
  module.write_reason = static_cast<shader::TraceEnd>(reason);
  module.group_memory = r.get<uint64_t>();
  module.lds_in_memory = r.flag();
  module.workgroup_bytes = r.get<uint32_t>();
  shader::ProgramNeeds& n = module.needs;
  for (bool* need : {&n.votes, &n.masks_whole, &n.lane_values, &n.lockstep, &n.lds, &n.barrier, &n.wave_stores,
                     &n.private_memory, &n.wide_lds_atomics}) {
    *need = r.flag();
  }
  module.guest_instructions = r.get<uint32_t>();
  module.dispatcher_loop = r.flag();
  module.spirv = r.words();
  if (!r.good() || !r.ended() || module.spirv.empty()) return std::nullopt;
  return module;
}

}  // namespace orrery::dispatch
