#include "shared/plain_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <string>
#include <system_error>

namespace orrery {

PlainFile open_plain_file(const std::filesystem::path& path) {
  PlainFile file{.fd = UniqueFd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK))};
  struct stat status{};
  if (!file.fd || fstat(file.fd.get(), &status) != 0 || !S_ISREG(status.st_mode)) return file;
  file.plain = true;
  file.size = static_cast<uint64_t>(status.st_size);
  return file;
}

size_t read_all(int fd, std::span<std::byte> out) {
  size_t done = 0;
  while (done < out.size()) {
    const ssize_t got = read(fd, out.data() + done, out.size() - done);
    if (got < 0 && errno == EINTR) continue;
    if (got == 0) errno = 0;
    if (got <= 0) break;
    done += static_cast<size_t>(got);
  }
  return done;
}

bool write_all(int fd, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t done = write(fd, bytes.data(), bytes.size());
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return false;
    bytes = bytes.subspan(static_cast<size_t>(done));
  }
  return true;
}

bool publish_file(const std::filesystem::path& path, std::initializer_list<std::span<const std::byte>> pieces) {
  std::error_code ignored;  // making the file says it too
  std::filesystem::create_directories(path.parent_path(), ignored);
  std::string temporary = path.string() + ".XXXXXX";
  const UniqueFd fd(mkostemp(temporary.data(), O_CLOEXEC));
  if (!fd) return false;
  if (std::ranges::all_of(pieces, [&](auto piece) { return write_all(fd.get(), piece); }) &&
      rename(temporary.c_str(), path.c_str()) == 0) {
    return true;
  }
  const int why = errno;
  unlink(temporary.c_str());
  errno = why;
  return false;
}

}  // namespace orrery
