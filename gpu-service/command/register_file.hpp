// A queue's registers in pieces that copies share until one of them writes: a snapshot costs a few hundred nanoseconds,
// so that work can be looked at ahead of its time on registers of its own.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <span>

#include "protocol/segment_layout.hpp"

namespace orrery::command {

// `Size` registers, zero at first.
template <uint32_t Size>
class SharedBank {
 public:
  static constexpr uint32_t kPiece = 256;
  static_assert(Size % kPiece == 0);

  static constexpr uint32_t size() { return Size; }
  uint32_t operator[](uint32_t index) const {
    const auto& piece = pieces_[index / kPiece];
    return piece == nullptr ? 0 : (*piece)[index % kPiece];
  }
  // False when the values leave the bank; then none was written.
  bool set(uint32_t first, std::span<const uint32_t> values) {
    if (first > Size || values.size() > Size - first) return false;
    for (size_t done = 0; done < values.size();) {
      const auto index = static_cast<uint32_t>(first + done);
      const size_t some = std::min<size_t>(values.size() - done, kPiece - index % kPiece);
      std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(done), some, own(index / kPiece) + index % kPiece);
      done += some;
    }
    return true;
  }
  void clear() { pieces_ = {}; }
  void copy_to(std::span<uint32_t, Size> out, uint32_t first, uint32_t end) const {
    for (uint32_t i = first; i < end; ++i) out[i] = (*this)[i];
  }
  friend bool operator==(const SharedBank& a, const SharedBank& b) {
    for (uint32_t p = 0; p < Size / kPiece; ++p) {
      if (a.pieces_[p] == b.pieces_[p]) continue;
      for (uint32_t i = p * kPiece; i < (p + 1) * kPiece; ++i) {
        if (a[i] != b[i]) return false;
      }
    }
    return true;
  }

 private:
  using Piece = std::array<uint32_t, kPiece>;
  uint32_t* own(uint32_t index) {
    auto& piece = pieces_[index];
    if (piece == nullptr) {
      piece = std::make_shared<Piece>();
    } else if (piece.use_count() > 1) {
      piece = std::make_shared<Piece>(*piece);
    }
    return piece->data();
  }
  std::array<std::shared_ptr<Piece>, Size / kPiece> pieces_;
};

struct RegisterFile {
  SharedBank<protocol::kContextRegisters> context;
  SharedBank<protocol::kShRegisters> sh;
  SharedBank<protocol::kUconfigRegisters> uconfig;
  // Packet state that is not a register.
  uint64_t index_base = 0;
  uint32_t index_count = 0;
  uint32_t instance_count = 0;
  std::array<uint64_t, 4> indirect_base{};

  void take(const protocol::RegisterBanks& banks) {
    context.set(0, banks.context);
    sh.set(0, banks.sh);
    uconfig.set(0, banks.uconfig);
    index_base = banks.index_base;
    index_count = banks.index_count;
    instance_count = banks.instance_count;
    std::ranges::copy(banks.indirect_base, indirect_base.begin());
  }
  friend bool operator==(const RegisterFile&, const RegisterFile&) = default;
};

}  // namespace orrery::command
