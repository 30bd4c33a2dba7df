#include "guest-host/cpu/stub_area.hpp"

#include <sys/mman.h>
#include <cerrno>
#include <cstring>
#include <memory>

#include "guest-host/cpu/crossing.hpp"

namespace orrery::cpu {

namespace {
constexpr size_t kAreaSize = 1 << 20;
constexpr size_t kStubSize = 16;
}  // namespace

Result<std::unique_ptr<StubArea>> StubArea::create(FsPolicy policy) {
  auto file = make_memory_file("orrery-stubs", {kAreaSize});
  if (!file) return forward(std::move(file), "making room for import stubs");
  auto writable = Mapping::of(*file, {0}, {kAreaSize});
  if (!writable) return forward(std::move(writable), "making room for import stubs");
  void* const executable = ::mmap(nullptr, kAreaSize, PROT_READ | PROT_EXEC, MAP_SHARED, file->get(), 0);
  if (executable == MAP_FAILED) {
    return fail(ExitCode::internal, "cannot map import stubs executable: {}", std::strerror(errno));
  }
  const auto target = reinterpret_cast<uint64_t>(crossing_of(policy).import_entry);
  std::memcpy(writable->data(), &target, sizeof target);
  return std::unique_ptr<StubArea>(
      new StubArea(std::move(*file), std::move(*writable), static_cast<std::byte*>(executable)));
}

StubArea::~StubArea() { ::munmap(executable_, kAreaSize); }

Result<uint64_t> StubArea::add(ImportBinding& binding) {
  const std::lock_guard lock(mutex_);
  if (used_ + kStubSize > kAreaSize) return fail(ExitCode::file_malformed, "the title has too many imports");
  // mov r11, binding ; jmp [rip -> start of the area]
  uint8_t code[kStubSize] = {0x49, 0xBB, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0x25, 0, 0, 0, 0};
  const auto pointer = reinterpret_cast<uint64_t>(&binding);
  const auto distance = -static_cast<int32_t>(used_ + kStubSize);
  std::memcpy(code + 2, &pointer, sizeof pointer);
  std::memcpy(code + 12, &distance, sizeof distance);
  std::memcpy(writable_.data() + used_, code, sizeof code);
  const auto address = reinterpret_cast<uint64_t>(executable_ + used_);
  used_ += kStubSize;
  return address;
}

}  // namespace orrery::cpu
