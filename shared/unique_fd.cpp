#include "shared/unique_fd.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cerrno>
#include <csignal>
#include <cstring>

namespace orrery {

void UniqueFd::reset() {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

Result<UniqueFd> make_memory_file(const std::string& name, Bytes size) {
  UniqueFd fd(::memfd_create(name.c_str(), MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd) return fail(ExitCode::internal, "memfd_create({}) failed: {}", name, std::strerror(errno));
  // Beyond `ulimit -f` a signal would end the process before it can say why.
  const auto before = std::signal(SIGXFSZ, SIG_IGN);
  const int sized = ::ftruncate(fd.get(), static_cast<off_t>(size.value));
  const int why = errno;
  std::signal(SIGXFSZ, before);
  if (sized != 0) {
    return fail(ExitCode::internal, "cannot make {} bytes of shared memory for {}: {}{}", size.value, name,
                std::strerror(why), why == EFBIG ? " (raise the limit: ulimit -f unlimited)" : "");
  }
  // A peer that shrinks the file would turn our reads into SIGBUS.
  if (::fcntl(fd.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
    return fail(ExitCode::internal, "cannot seal the shared memory {}: {}", name, std::strerror(errno));
  }
  return fd;
}

Result<void> check_memory_file(const UniqueFd& fd, Bytes size) {
  struct stat facts{};
  const int seals = ::fcntl(fd.get(), F_GET_SEALS);
  if (::fstat(fd.get(), &facts) != 0 || seals < 0 || (seals & F_SEAL_SHRINK) == 0) {
    return fail(ExitCode::protocol_mismatch, "the other process's shared memory is not sealed against shrinking");
  }
  if (static_cast<uint64_t>(facts.st_size) < size.value) {
    return fail(ExitCode::protocol_mismatch, "the other process's shared memory has {} bytes, not {}", facts.st_size,
                size.value);
  }
  return {};
}

Mapping& Mapping::operator=(Mapping&& other) noexcept {
  if (this != &other) {
    if (base_ != nullptr) ::munmap(base_, size_);
    base_ = std::exchange(other.base_, nullptr);
    size_ = std::exchange(other.size_, 0);
  }
  return *this;
}

Mapping::~Mapping() {
  if (base_ != nullptr) ::munmap(base_, size_);
}

Result<Mapping> Mapping::of(const UniqueFd& fd, Bytes offset, Bytes size, bool read_only) {
  void* base = ::mmap(nullptr, size.value, read_only ? PROT_READ : PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE,
                      fd.get(), static_cast<off_t>(offset.value));
  if (base == MAP_FAILED) {
    return fail(ExitCode::internal, "cannot map {} bytes of shared memory: {}", size.value, std::strerror(errno));
  }
  return Mapping(base, size.value);
}

}  // namespace orrery
