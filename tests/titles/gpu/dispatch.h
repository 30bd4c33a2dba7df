// Builds the packets of compute dispatches, as a title does. Pure encoding: nothing is submitted here.
#ifndef ORRERY_TITLES_GPU_DISPATCH_H
#define ORRERY_TITLES_GPU_DISPATCH_H
#include "gpu_kernel.h"

struct packet_writer {
  unsigned* words;
  unsigned count, capacity;  // dwords
  int overflow;              // set when a packet did not fit; nothing of it was written
};

enum { DISPATCH_SCRATCH_WAVES = 4095, DISPATCH_ARGUMENT_BYTES = 1024 };

// What a dispatch needs besides the kernel. Group counts; the memory must be readable by the GPU until the fence.
struct dispatch {
  const struct gpu_kernel* kernel;
  const unsigned char* arguments;  // the argument block: explicit arguments at the offsets of kernel->arguments
  unsigned group_size[3], groups[3];
  unsigned threads[3];    // when threads[0] is not 0: launched by threads, so that last groups are partial
  unsigned char* memory;  // DISPATCH_ARGUMENT_BYTES, 256-byte aligned: argument block and dispatch packet go here
  void* scratch;          // private memory, null when kernel->private_bytes is 0; see dispatch_scratch_bytes
};

unsigned long dispatch_scratch_bytes(const struct dispatch* d);
void write_dispatch(struct packet_writer* w, const struct dispatch* d);
// Invalidates the caches: the GPU sees what the CPU wrote (ACQUIRE_MEM over everything).
void write_acquire(struct packet_writer* w);
// When all work before is done and visible, writes a 32-bit value (RELEASE_MEM).
void write_fence(struct packet_writer* w, volatile unsigned* label, unsigned value);
// One-dword NOPs behind the last packet: the command processor fetches ahead.
void write_padding(struct packet_writer* w, unsigned count);

#endif
