#include "gpu-service/shader/decode/image_form.hpp"

#include "gpu-service/shader/decode/image_address.hpp"

namespace orrery::shader {
namespace {

using Kind = ImageForm::Kind;
using Part = ImageComponent::Part;

Kind kind_of(std::string_view name) {
  if (name.starts_with("image_load")) return Kind::load;
  if (name.starts_with("image_store")) return Kind::store;
  if (name.starts_with("image_atomic")) return Kind::atomic;
  if (name == "image_get_resinfo") return Kind::info;
  if (name.starts_with("image_sample")) return Kind::sample;
  if (name == "image_gather4h") return Kind::other;
  if (name.starts_with("image_gather4")) return Kind::gather;
  if (name == "image_get_lod") return Kind::level;
  return Kind::other;
}

// Registers of the address, one after another.
class Address {
 public:
  explicit Address(const Instruction& image) : image_(image) {}
  ImageComponent whole() {
    finish_pair();
    return {reg(next_++), Part::whole};
  }
  // Halves fill a register from the low end; the next whole component begins a new one.
  ImageComponent half() {
    const ImageComponent c{reg(next_), high_ ? Part::high : Part::low};
    if (high_) ++next_;
    high_ = !high_;
    return c;
  }
  void finish_pair() {
    if (high_) ++next_;
    high_ = false;
  }
  ImageComponent component(bool halves) { return halves ? half() : whole(); }

 private:
  uint8_t reg(uint32_t n) const {
    if (image_.nsa_count != 0) return image_.nsa[n];
    return static_cast<uint8_t>((image_.address.index + n) & 255u);
  }
  const Instruction& image_;
  uint32_t next_ = 0;
  bool high_ = false;
};

}  // namespace

ImageForm image_form(const Instruction& image) {
  const std::string_view name = mnemonic(image.opcode);
  ImageForm form;
  form.kind = kind_of(name);
  if (form.kind == Kind::other) return form;
  Address address(image);
  auto has = [&](std::string_view part) { return image_name_has(name, part); };
  if (form.kind == Kind::info) {
    form.level = address.component(image.a16);
    return form;
  }
  const bool samples = form.kind == Kind::sample || form.kind == Kind::gather || form.kind == Kind::level;
  if (samples) {
    if (has("o")) form.offset = address.whole();
    if (has("b")) form.bias = address.whole();
    if (has("c")) form.compare = address.whole();
    if (has("d") || has("cd")) {
      form.gradient_count = image_gradients(image.dim);
      const bool halves = has("g16");
      for (uint8_t n = 0; n < form.gradient_count; ++n) {
        if (n == form.gradient_count / 2) address.finish_pair();
        form.gradients[n] = address.component(halves);
      }
      address.finish_pair();
    }
    form.zero_level = has("lz");
    form.implicit_level = !form.zero_level && !has("l") && form.gradient_count == 0;
  }
  const uint32_t coordinates = image_coordinates(image.dim);
  constexpr uint32_t k1DArray = 4;
  for (uint32_t n = 0; n < coordinates && n < 3; ++n) {
    form.coordinates[image.dim == k1DArray && n == 1 ? 2 : n] = address.component(image.a16);
  }
  if (samples) {
    if (has("l")) form.level = address.component(image.a16);
    if (has("cl")) form.clamp = address.component(image.a16);
  } else {
    form.packed = name.find("_pck") != name.npos;
    form.sign_extend = name.ends_with("_sgn");
    if (name.find("_mip") != name.npos) form.level = address.component(image.a16);
  }
  return form;
}

bool image_atomic_is_wide(const Instruction& image) {
  const bool compares = mnemonic(image.opcode).find("cmpswap") != std::string_view::npos;
  return image.dmask == (compares ? 15 : 3);
}

}  // namespace orrery::shader
