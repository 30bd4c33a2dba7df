// The title's start file: the process parameters that the console wants, constructors, main, exit.
#include <stdint.h>

int main(int argc, char** argv);
void exit(int code) __attribute__((noreturn));

// Each block starts with its own size; the libc block is writable, the kernel stores into it.
struct LibcParameters {
  uint64_t size;
  uint32_t version;
  uint32_t mode;
  uint64_t* heap_size;
  uint64_t reserved0;
  uint32_t* extended;
  uint64_t* initial_size;
  uint64_t reserved1[15];
};
struct MemoryParameters {
  uint64_t size;
  uint64_t reserved[6];
};
struct LastParameters {
  uint64_t size;
  uint64_t reserved;
};
static uint64_t heap_size = ~0ull;  // grows
static uint64_t initial_size = 0;
static uint32_t extended = 1;
static struct LibcParameters libc_parameters = {
    .size = sizeof(struct LibcParameters), .version = 14, .mode = 0, .heap_size = &heap_size, .extended = &extended,
    .initial_size = &initial_size};
static struct MemoryParameters memory_parameters = {.size = sizeof(struct MemoryParameters)};
static struct LastParameters last_parameters = {.size = sizeof(struct LastParameters)};

struct ProcessParameters {
  uint64_t size;
  uint32_t magic;  // "ORBI"
  uint32_t entries;
  uint32_t previous_sdk_version;
  uint32_t sdk_version;
  uint64_t reserved0[4];
  struct LibcParameters* libc;
  struct MemoryParameters* memory;
  struct LastParameters* last;
  uint64_t reserved1[2];
};
_Static_assert(sizeof(struct ProcessParameters) == 0x60 && sizeof(struct LibcParameters) == 0xa8, "console layout");

__attribute__((used, section(".sce_process_param"))) static struct ProcessParameters process_parameters = {
    .size = sizeof(struct ProcessParameters),
    .magic = 0x4942524f,
    .entries = 5,
    .previous_sdk_version = 0x08050001,
    .sdk_version = 0x02000009,
    .libc = &libc_parameters,
    .memory = &memory_parameters,
    .last = &last_parameters};

struct EntryArguments {
  int32_t argc;
  int32_t padding;
  char* argv[];
};

// Where the constructors' table (.ctors) is: distance from here and bytes. The title tool fills it in, because the linker
// defines no symbols for it.
__attribute__((used, section(".orrery_constructors"))) static volatile struct {
  int64_t distance;
  int64_t size;
} constructors = {0, 0};
typedef void (*Constructor)(void);

__attribute__((visibility("default"), noreturn)) void _start(struct EntryArguments* arguments, void (*at_exit)(void)) {
  (void)at_exit;
  // Last to first, as this kind of table is run.
  const Constructor* const table = (const Constructor*)((char*)&constructors + constructors.distance);
  for (int64_t i = constructors.size / (int64_t)sizeof(Constructor); i > 0; --i) table[i - 1]();
  exit(main(arguments->argc, arguments->argv));
}
