#include <algorithm>
#include <cstring>

#include "guest-host/hle/libc/guest_heap.hpp"
#include "guest-host/hle/libc/library.hpp"

namespace orrery::hle::libc {

namespace {

void* pointer(std::optional<GuestAddress> address) {
  return address ? reinterpret_cast<void*>(address->value) : nullptr;
}

}  // namespace

void add_heap_functions(Registry& registry, Environment& env) {
  const auto heap = std::make_shared<GuestHeap>(env.memory);
  Refusals& refusals = env.refusals;
  const auto free_block = [heap, &refusals](GuestAddress block) {
    if (block.value == 0 || heap->release(block)) return;
    refusals.refuse("free of what malloc did not give", fmt::format("{:#x}", block.value));
  };
  registry.add(kLibrary, "malloc", [heap](size_t size) { return pointer(heap->allocate(size)); });
  registry.add(kLibrary, "free", free_block);
  registry.add(kLibrary, "calloc", [heap](size_t count, size_t size) -> void* {
    size_t bytes = 0;
    if (__builtin_mul_overflow(count, size, &bytes)) return nullptr;
    void* const block = pointer(heap->allocate(bytes));
    if (block != nullptr) std::memset(block, 0, bytes);
    return block;
  });
  registry.add(kLibrary, "realloc", [heap, free_block, &refusals](GuestAddress old, size_t size) -> void* {
    if (old.value == 0) return pointer(heap->allocate(size));
    const auto had = heap->size_of(old);
    if (!had) {
      refusals.refuse("realloc of what malloc did not give", fmt::format("{:#x}", old.value));
      return nullptr;
    }
    if (size <= *had && size >= *had / 2) return reinterpret_cast<void*>(old.value);
    void* const block = pointer(heap->allocate(size));
    if (block == nullptr) return nullptr;
    std::memcpy(block, reinterpret_cast<const void*>(old.value), std::min<uint64_t>(*had, size));
    free_block(old);
    return block;
  });
  registry.add(kLibrary, "memalign", [heap](size_t alignment, size_t size) -> void* {
    if (alignment == 0 || (alignment & (alignment - 1)) != 0) return nullptr;
    return pointer(heap->allocate(size, alignment));
  });
  registry.add(kLibrary, "strdup", [heap](const char* text) -> void* {
    const size_t size = std::strlen(text) + 1;
    void* const block = pointer(heap->allocate(size));
    if (block != nullptr) std::memcpy(block, text, size);
    return block;
  });
}

}  // namespace orrery::hle::libc
