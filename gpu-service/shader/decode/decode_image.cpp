// MIMG, with the extra words of non-sequential addresses (NSA).
#include <algorithm>
#include <bit>

#include "gpu-service/shader/decode/image_address.hpp"
#include "gpu-service/shader/decode/operands.hpp"

namespace orrery::shader {

namespace flags = table::flags;

namespace {

unsigned data_dwords(const Instruction& out) {
  const std::string_view name = mnemonic(out.opcode);
  if (name.starts_with("image_bvh")) {
    return 4;
  }
  auto dwords = static_cast<unsigned>(std::max(1, std::popcount(out.dmask)));
  if (name.starts_with("image_gather4")) {
    dwords = 4;
  }
  if (out.d16) {
    dwords = (dwords + 1) / 2;
  }
  return dwords + (out.tfe ? 1u : 0u);
}

// One dword per operand: 1, or 3 where there are two or they are wide, 15 for a wide compare.
bool atomic_mask_fits(std::string_view name, uint32_t mask) {
  if (name.find("cmpswap") != name.npos) {
    return mask == 3 || mask == 15;
  }
  return mask == 1 || mask == 3;
}

}  // namespace

void decode_image(Decoding& decoding) {
  const uint32_t word0 = decoding.word(0);
  const uint32_t word1 = decoding.next_word();
  Instruction& out = decoding.out;
  out.nsa_count = static_cast<uint8_t>(bits(word0, 1, 2));
  out.dim = static_cast<uint8_t>(bits(word0, 3, 3));
  out.dlc = bit(word0, 7);
  out.dmask = static_cast<uint8_t>(bits(word0, 8, 4));
  out.unorm = bit(word0, 12);
  out.glc = bit(word0, 13);
  out.r128 = bit(word0, 15);
  out.tfe = bit(word0, 16);
  out.lwe = bit(word0, 17);
  out.slc = bit(word0, 25);
  out.a16 = bit(word1, 30);
  out.d16 = bit(word1, 31);
  const std::string_view name = mnemonic(out.opcode);
  const bool atomic = name.starts_with("image_atomic");
  if ((decoding.entry->flags & flags::bvh) != 0) {
    out.tfe = out.lwe = out.d16 = false;
  }
  // Packed and atomic forms and queries move whole dwords.
  out.d16 = out.d16 && !atomic && name.find("_pck") == name.npos && !name.starts_with("image_get");
  const bool samples = (decoding.entry->flags & flags::sampler) != 0;
  if ((samples || name.find("_mip") != name.npos) && out.dim >= 6) {
    decoding.fail("a multisampled image has no filtering and no mips");
    return;
  }
  if (atomic && (out.tfe || out.lwe || !atomic_mask_fits(name, out.dmask))) {
    decoding.fail("image atomic with TFE, LWE or a DMASK that is not its operand's size");
    return;
  }
  const unsigned address_dwords = image_address_dwords(out);
  if (out.nsa_count == 0) {
    read_vgpr(decoding, out.address, bits(word1, 0, 8), address_dwords);
  } else {
    if (out.nsa_count != (address_dwords + 2) / 4) {
      decoding.fail("NSA words do not fit the address");
      return;
    }
    read_vgpr(decoding, out.address, bits(word1, 0, 8), 1);
    out.address.dwords = static_cast<uint8_t>(address_dwords);
    out.nsa[0] = static_cast<uint8_t>(bits(word1, 0, 8));
    for (unsigned i = 0; i < out.nsa_count; ++i) {
      const uint32_t extra = decoding.next_word();
      for (unsigned k = 0; k < 4; ++k) {
        if (1 + 4 * i + k < out.nsa.size()) {
          out.nsa[1 + 4 * i + k] = static_cast<uint8_t>(bits(extra, 8 * k, 8));
        }
      }
    }
  }
  read_vgpr(decoding, out.data, bits(word1, 8, 8), data_dwords(out));
  read_scalar_register(decoding, out.resource, bits(word1, 16, 5) * 4,
                       out.r128 || (decoding.entry->flags & flags::bvh) != 0 ? 4 : 8);
  if (samples) {
    read_scalar_register(decoding, out.sampler, bits(word1, 21, 5) * 4, 4);
  }
  const bool stores = name.starts_with("image_store");
  if (!stores && (!atomic || out.glc)) {
    out.destination = out.data;
    if (atomic && name.find("cmpswap") != name.npos) {
      out.destination.dwords = static_cast<uint8_t>(out.data.dwords / 2);
    }
  }
}

}  // namespace orrery::shader
