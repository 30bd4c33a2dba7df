// A compiled gfx1013 kernel as data of a title.
#ifndef ORRERY_TITLES_GPU_KERNEL_H
#define ORRERY_TITLES_GPU_KERNEL_H

enum gpu_argument_kind { GPU_VALUE = 0, GPU_POINTER = 1, GPU_DESCRIPTOR = 2, GPU_IMAGE = 3, GPU_SAMPLER = 4 };

struct gpu_kernel_argument {
  unsigned short offset, size;  // bytes, in the argument block
  unsigned char kind;           // enum gpu_argument_kind
};

struct gpu_kernel {
  const char* name;
  const void* image;  // 256-byte aligned; constants are addressed relative to the code: never move a part alone
  unsigned image_bytes;
  unsigned entry;  // bytes from the image to the first instruction, a multiple of 256
  unsigned code_bytes;
  unsigned rsrc1, rsrc2, rsrc3;  // COMPUTE_PGM_RSRC1..3, with LDS_SIZE and USER_SGPR filled in
  unsigned wave;                 // 32 or 64
  unsigned user_sgprs;
  unsigned lds_bytes;
  unsigned private_bytes;  // scratch of one lane
  int arguments_in_sgprs;  // 1: the argument block is the user data; 0: the block lies in memory, kernarg_sgpr points
                           // to it
  int private_buffer_sgpr, dispatch_packet_sgpr, kernarg_sgpr, flat_scratch_sgpr, queue_sgpr,
      dispatch_id_sgpr;     // -1: none
  unsigned group_size[3];   // threads
  unsigned argument_bytes;  // of the block, hidden arguments included
  unsigned argument_count;
  const struct gpu_kernel_argument* arguments;
};

#endif
