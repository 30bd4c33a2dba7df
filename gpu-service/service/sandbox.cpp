#include "gpu-service/service/sandbox.hpp"

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <vector>

#include "shared/unique_fd.hpp"

namespace orrery::service {
namespace {

// Changing the file system, and executing files. Reading stays: drivers load libraries and settings late.
constexpr uint64_t kHandled = LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_WRITE_FILE |
                              LANDLOCK_ACCESS_FS_REMOVE_DIR | LANDLOCK_ACCESS_FS_REMOVE_FILE |
                              LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG |
                              LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_MAKE_FIFO |
                              LANDLOCK_ACCESS_FS_MAKE_BLOCK | LANDLOCK_ACCESS_FS_MAKE_SYM;
constexpr uint64_t kFiles = LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR |
                            LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG;

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value == '/' ? value : "";
}

// Our caches and the drivers' (Mesa, NVIDIA), kept frames and screenshots, devices and what drivers write under /proc.
std::vector<std::string> writable(const std::string& frames) {
  const std::string home = variable("HOME");
  std::string caches = variable("XDG_CACHE_HOME");
  if (caches.empty() && !home.empty()) caches = home + "/.cache";
  std::error_code ignored;
  if (!caches.empty()) std::filesystem::create_directories(caches, ignored);
  std::vector<std::string> places{"/dev", "/proc", caches, frames, variable("XDG_RUNTIME_DIR")};
  if (!home.empty()) places.push_back(home + "/.nv");
  for (const char* cache : {"MESA_SHADER_CACHE_DIR", "MESA_GLSL_CACHE_DIR", "__GL_SHADER_DISK_CACHE_PATH"}) {
    places.push_back(variable(cache));
  }
  const auto here = std::filesystem::current_path(ignored);
  if (!ignored) places.push_back(here);  // screenshots
  return places;
}

bool restrict_files(const std::string& frames) {
  const landlock_ruleset_attr wanted{.handled_access_fs = kHandled};
  const UniqueFd rules(static_cast<int>(syscall(SYS_landlock_create_ruleset, &wanted, sizeof wanted, 0)));
  if (!rules) return false;
  for (const std::string& place : writable(frames)) {
    if (place.empty()) continue;
    const UniqueFd folder(::open(place.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!folder) continue;
    const landlock_path_beneath_attr beneath{.allowed_access = kFiles, .parent_fd = folder.get()};
    syscall(SYS_landlock_add_rule, rules.get(), LANDLOCK_RULE_PATH_BENEATH, &beneath, 0);
  }
  return syscall(SYS_landlock_restrict_self, rules.get(), 0) == 0;
}

constexpr sock_filter statement(uint16_t code, uint32_t k) { return {code, 0, 0, k}; }
constexpr sock_filter branch(uint16_t code, uint32_t k, uint8_t yes, uint8_t no) { return {code, yes, no, k}; }
constexpr uint32_t kRefuse = SECCOMP_RET_ERRNO | EPERM;

// Never needed by a driver, and of use to who has taken the process over.
constexpr uint32_t kRefused[] = {
    SYS_execve,        SYS_execveat,   SYS_ptrace,           SYS_process_vm_readv, SYS_process_vm_writev,
    SYS_pidfd_getfd,   SYS_mount,      SYS_umount2,          SYS_pivot_root,       SYS_chroot,
    SYS_move_mount,    SYS_open_tree,  SYS_fsopen,           SYS_fsmount,          SYS_unshare,
    SYS_setns,         SYS_bpf,        SYS_userfaultfd,      SYS_init_module,      SYS_finit_module,
    SYS_delete_module, SYS_kexec_load, SYS_kexec_file_load,  SYS_reboot,           SYS_swapon,
    SYS_swapoff,       SYS_setuid,     SYS_setgid,           SYS_setreuid,         SYS_setregid,
    SYS_setresuid,     SYS_setresgid,  SYS_setgroups,        SYS_keyctl,           SYS_add_key,
    SYS_request_key,   SYS_acct,       SYS_settimeofday,     SYS_clock_settime,    SYS_iopl,
    SYS_ioperm,        SYS_quotactl,   SYS_open_by_handle_at};

std::vector<sock_filter> filter() {
  std::vector<sock_filter> program{
      statement(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, arch)),
      branch(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 1, 0), statement(BPF_RET | BPF_K, kRefuse),
      statement(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      // The x32 numbers would be a way round the list.
      branch(BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 0, 1), statement(BPF_RET | BPF_K, kRefuse)};
  for (const uint32_t number : kRefused) {
    program.push_back(branch(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1));
    program.push_back(statement(BPF_RET | BPF_K, kRefuse));
  }
  // Sockets: displays (AF_UNIX) and device events (AF_NETLINK), no networks.
  program.insert(program.end(),
                 {branch(BPF_JMP | BPF_JEQ | BPF_K, SYS_socket, 0, 4),
                  statement(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args)),
                  branch(BPF_JMP | BPF_JEQ | BPF_K, 1, 2, 0), branch(BPF_JMP | BPF_JEQ | BPF_K, 16, 1, 0),
                  statement(BPF_RET | BPF_K, kRefuse), statement(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)});
  // Signals: to itself only.
  program.insert(program.end() - 1, {branch(BPF_JMP | BPF_JEQ | BPF_K, SYS_kill, 0, 3),
                                     statement(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args)),
                                     branch(BPF_JMP | BPF_JEQ | BPF_K, static_cast<uint32_t>(getpid()), 1, 0),
                                     statement(BPF_RET | BPF_K, kRefuse)});
  return program;
}

bool restrict_calls() {
  auto program = filter();
  const sock_fprog text{static_cast<unsigned short>(program.size()), program.data()};
  return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &text) == 0;
}

}  // namespace

std::string enter_sandbox(const std::string& frames) {
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return "no sandbox: the kernel does not let rights be given up";
  const bool files = restrict_files(frames), calls = restrict_calls();
  return std::string("sandbox: files ") + (files ? "by Landlock" : "not restricted (no Landlock)") + ", system calls " +
         (calls ? "by seccomp" : "not restricted (no seccomp)");
}

}  // namespace orrery::service
