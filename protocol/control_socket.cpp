#include "protocol/control_socket.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cerrno>
#include <cstring>

namespace orrery::protocol {
namespace {

constexpr size_t kMaxPacket = 64 * 1024;
constexpr size_t kMaxFds = 8;

}  // namespace

Result<std::pair<ControlSocket, ControlSocket>> ControlSocket::pair() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
    return fail(ExitCode::internal, "socketpair failed: {}", std::strerror(errno));
  }
  return std::pair(ControlSocket(UniqueFd(ends[0])), ControlSocket(UniqueFd(ends[1])));
}

Result<void> ControlSocket::send(std::span<const std::byte> bytes, std::span<const int> fds) const {
  if (bytes.size() > kMaxPacket || fds.size() > kMaxFds) {
    return fail(ExitCode::internal, "a control packet of {} bytes and {} descriptors is too large", bytes.size(),
                fds.size());
  }
  iovec part{const_cast<std::byte*>(bytes.data()), bytes.size()};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int) * kMaxFds)] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (!fds.empty()) {
    message.msg_control = control;
    message.msg_controllen = CMSG_SPACE(fds.size_bytes());
    cmsghdr* head = CMSG_FIRSTHDR(&message);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(fds.size_bytes());
    std::memcpy(CMSG_DATA(head), fds.data(), fds.size_bytes());
  }
  for (;;) {
    if (::sendmsg(fd_.get(), &message, MSG_NOSIGNAL) >= 0) return {};
    if (errno == EINTR) continue;
    if (errno == EPIPE || errno == ECONNRESET) return fail(ExitCode::peer_gone, "the other process is gone");
    return fail(ExitCode::internal, "cannot send on the control socket: {}", std::strerror(errno));
  }
}

Result<std::optional<Packet>> ControlSocket::receive(int timeout_ms) const {
  pollfd wait{fd_.get(), POLLIN, 0};
  const int ready = ::poll(&wait, 1, timeout_ms);
  if (ready == 0 || (ready < 0 && errno == EINTR)) return std::nullopt;
  if (ready < 0) return fail(ExitCode::internal, "poll on the control socket failed: {}", std::strerror(errno));

  Packet packet;
  packet.bytes.resize(kMaxPacket);
  iovec part{packet.bytes.data(), packet.bytes.size()};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int) * kMaxFds)];
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  const ssize_t got = ::recvmsg(fd_.get(), &message, MSG_CMSG_CLOEXEC);
  if (got < 0 && (errno == EINTR || errno == EAGAIN)) return std::nullopt;
  if (got < 0 && errno != ECONNRESET) {
    return fail(ExitCode::internal, "cannot receive on the control socket: {}", std::strerror(errno));
  }
  // Adopt descriptors first, so that none leaks whatever the packet says.
  for (cmsghdr* head = got < 0 ? nullptr : CMSG_FIRSTHDR(&message); head != nullptr;
       head = CMSG_NXTHDR(&message, head)) {
    if (head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_RIGHTS) continue;
    const size_t count = (head->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t i = 0; i < count; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(head) + i * sizeof(int), sizeof fd);
      packet.fds.emplace_back(fd);
    }
  }
  // A seqpacket peer that hung up reads as an empty packet; nobody sends those.
  if (got <= 0) return fail(ExitCode::peer_gone, "the other process is gone");
  packet.bytes.resize(static_cast<size_t>(got));
  return packet;
}

}  // namespace orrery::protocol
