// Runs a kernel's own source on the CPU: work items of a group are fibers, so that barriers mean what they mean on the
// GPU.
#ifndef ORRERY_TITLES_GPU_ON_CPU_H
#define ORRERY_TITLES_GPU_ON_CPU_H

typedef void (*work_item)(const unsigned char* arguments);

enum { ON_CPU_MOST_ITEMS = 1024, ON_CPU_STACK = 8192 };  // per group; bytes

// Calls the item function for every work item of every group, groups in order, in waves of `wave` items. `threads_x`
// not 0: the last group in x has only the items before that one (groups of one row then). One dispatch at a time (ids
// and LDS are globals).
void run_on_cpu(work_item item, const unsigned char* arguments, const unsigned group_size[3], const unsigned groups[3],
                unsigned threads_x, unsigned wave);

#endif
