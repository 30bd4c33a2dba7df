/* The crossings between guest and host code, once per FS policy, and the way into our signal handlers.
 *
 * While guest code runs: FS (or, policy patch, GS) is the guest's thread pointer, the selector blocks system calls.
 * While host code runs: FS is the host's, the selector lets system calls through, the stack is the host's.
 * r10 holds the ThreadRecord at every crossing: GS points to it, or (policy patch, where GS is the guest's) host TLS does.
 * All of this text is exempt from Syscall User Dispatch, so that it may switch FS and return from signals. */
#include "guest-host/cpu/asm_layout.h"

  .section .text.orrery_crossing, "ax", @progbits
  .globl orrery_exempt_begin
orrery_exempt_begin:

.macro LOAD_RECORD policy
  .if \policy == POLICY_PATCH
  movq orrery_thread_record@gottpoff(%rip), %r10
  movq %fs:(%r10), %r10
  .else
  movq %gs:RECORD_SELF, %r10
  .endif
.endm

/* Sets FS from a field of the record in r10. Changes rax, and with arch_prctl rcx, rdi, rsi, r11. */
.macro SET_FS policy, field
  .if \policy == POLICY_FSGSBASE
  movq \field(%r10), %rax
  wrfsbase %rax
  .elseif \policy == POLICY_ARCH_PRCTL
  movl $LINUX_ARCH_PRCTL, %eax
  movl $LINUX_ARCH_SET_FS, %edi
  movq \field(%r10), %rsi
  syscall
  .endif
.endm

/* What the stub of an import jumps to, with its binding in r11. */
.macro IMPORT_ENTRY name, policy
  .globl orrery_import_\name
  .type orrery_import_\name, @function
orrery_import_\name:
  LOAD_RECORD \policy
  movb $0, RECORD_SELECTOR(%r10)
  movq %rsp, %rax
  movq RECORD_HOST_STACK(%r10), %rsp
  subq $FRAME_SIZE, %rsp
  movq %rdi, FRAME_INTEGER(%rsp)
  movq %rsi, FRAME_INTEGER+8(%rsp)
  movq %rdx, FRAME_INTEGER+16(%rsp)
  movq %rcx, FRAME_INTEGER+24(%rsp)
  movq %r8, FRAME_INTEGER+32(%rsp)
  movq %r9, FRAME_INTEGER+40(%rsp)
  movaps %xmm0, FRAME_VECTOR(%rsp)
  movaps %xmm1, FRAME_VECTOR+16(%rsp)
  movaps %xmm2, FRAME_VECTOR+32(%rsp)
  movaps %xmm3, FRAME_VECTOR+48(%rsp)
  movaps %xmm4, FRAME_VECTOR+64(%rsp)
  movaps %xmm5, FRAME_VECTOR+80(%rsp)
  movaps %xmm6, FRAME_VECTOR+96(%rsp)
  movaps %xmm7, FRAME_VECTOR+112(%rsp)
  movq %rax, FRAME_GUEST_STACK(%rsp)
  movq (%rax), %rax
  movq %rax, FRAME_GUEST_RETURN(%rsp)
  movq %rbp, FRAME_GUEST_FRAME(%rsp)
  movq %r11, FRAME_BINDING(%rsp)
  movq RECORD_FRAME(%r10), %rax
  movq %rax, FRAME_OUTER(%rsp)
  movq %r10, FRAME_THREAD(%rsp)
  movq $0, FRAME_RESULT(%rsp)
  movq $0, FRAME_RESULT_HIGH(%rsp)
  movq $0, FRAME_LEAVE(%rsp)
  movq %rsp, RECORD_FRAME(%r10)
  SET_FS \policy, RECORD_HOST_FS
  cld
  movq %rsp, %rdi
  movq FRAME_BINDING(%rsp), %rax
  call *(%rax)
  movq FRAME_THREAD(%rsp), %r10
  cmpq $0, FRAME_LEAVE(%rsp)
  jne orrery_leave
  movq FRAME_OUTER(%rsp), %rax
  movq %rax, RECORD_FRAME(%r10)
  SET_FS \policy, RECORD_GUEST_FS
  movq FRAME_RESULT(%rsp), %rax
  movq FRAME_RESULT_HIGH(%rsp), %rdx
  movaps FRAME_VECTOR(%rsp), %xmm0
  movq FRAME_GUEST_STACK(%rsp), %rsp
  movb $1, RECORD_SELECTOR(%r10)
  ret
  .size orrery_import_\name, . - orrery_import_\name
.endm

/* uint64_t enter(ThreadRecord* record, const GuestEntry* entry): runs guest code until it returns or leaves; answers rax.
 * The entry's stack holds the return address orrery_return_*. */
.macro ENTER_GUEST name, policy
  .globl orrery_enter_\name
  .type orrery_enter_\name, @function
orrery_enter_\name:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  subq $24, %rsp
  movq RECORD_HOST_STACK(%rdi), %rax
  movq %rax, (%rsp)
  movq RECORD_FRAME(%rdi), %rax
  movq %rax, 8(%rsp)
  movq %rdi, 16(%rsp)
  movq %rsp, RECORD_HOST_STACK(%rdi)
  cmpq $0, RECORD_BASE_STACK(%rdi)
  jne 1f
  movq %rsp, RECORD_BASE_STACK(%rdi)
1:
  movq %rdi, %r10
  movq %rsi, %rbx
  stmxcsr RECORD_HOST_MXCSR(%r10)
  ldmxcsr RECORD_GUEST_MXCSR(%r10)
  SET_FS \policy, RECORD_GUEST_FS
  movq ENTRY_ADDRESS(%rbx), %rax
  movq ENTRY_STACK(%rbx), %rsp
  movq ENTRY_INTEGER(%rbx), %rdi
  movq ENTRY_INTEGER+8(%rbx), %rsi
  movq ENTRY_INTEGER+16(%rbx), %rdx
  movq ENTRY_INTEGER+24(%rbx), %rcx
  movq ENTRY_INTEGER+32(%rbx), %r8
  movq ENTRY_INTEGER+40(%rbx), %r9
  xorl %ebx, %ebx
  xorl %ebp, %ebp
  xorl %r11d, %r11d
  xorl %r12d, %r12d
  xorl %r13d, %r13d
  xorl %r14d, %r14d
  xorl %r15d, %r15d
  movb $1, RECORD_SELECTOR(%r10)
  xorl %r10d, %r10d
  jmp *%rax
  .size orrery_enter_\name, . - orrery_enter_\name

  .globl orrery_return_\name
  .type orrery_return_\name, @function
orrery_return_\name:
  LOAD_RECORD \policy
  movb $0, RECORD_SELECTOR(%r10)
  movq RECORD_HOST_STACK(%r10), %rsp
  movq %rax, %rbx
  SET_FS \policy, RECORD_HOST_FS
  movq %rbx, %rax
  jmp orrery_finish
  .size orrery_return_\name, . - orrery_return_\name
.endm

/* A handler asked the thread to end: past everything, to the enter that the thread began with. */
orrery_leave:
  movq FRAME_RESULT(%rsp), %rax
  movq RECORD_BASE_STACK(%r10), %rsp

/* rsp is where an enter left the host's stack; rax is its result. */
orrery_finish:
  cld
  movq 16(%rsp), %r10
  ldmxcsr RECORD_HOST_MXCSR(%r10)
  movq (%rsp), %rcx
  movq %rcx, RECORD_HOST_STACK(%r10)
  movq 8(%rsp), %rcx
  movq %rcx, RECORD_FRAME(%r10)
  cmpq RECORD_BASE_STACK(%r10), %rsp
  jne 1f
  movq $0, RECORD_BASE_STACK(%r10)
1:
  addq $24, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret

IMPORT_ENTRY fsgsbase, POLICY_FSGSBASE
IMPORT_ENTRY patch, POLICY_PATCH
IMPORT_ENTRY arch_prctl, POLICY_ARCH_PRCTL
ENTER_GUEST fsgsbase, POLICY_FSGSBASE
ENTER_GUEST patch, POLICY_PATCH
ENTER_GUEST arch_prctl, POLICY_ARCH_PRCTL

/* void entry(int signal, siginfo_t*, void* context), on the thread's alternate stack, with whatever FS and selector the
 * interrupted code had. Both are the host's while orrery_on_signal(signal, info, context, record, selector) runs;
 * `selector` is what the interrupted code had: 1 for guest code. */
  .globl orrery_signal_entry
  .type orrery_signal_entry, @function
orrery_signal_entry:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  subq $24, %rsp
  movl %edi, %r12d
  movq %rsi, %r13
  movq %rdx, %r14
  xorl %r15d, %r15d                   /* 1: FS has to be restored */
  xorl %ebp, %ebp
  cld
  cmpl $POLICY_PATCH, orrery_signal_policy(%rip)
  jne 1f
  movq orrery_thread_record@gottpoff(%rip), %rbx
  movq %fs:(%rbx), %rbx
  testq %rbx, %rbx
  jz 3f
  jmp 2f
1:
  movl $LINUX_ARCH_PRCTL, %eax
  movl $LINUX_ARCH_GET_GS, %edi
  movq %rsp, %rsi
  syscall
  movq (%rsp), %rbx
  testq %rbx, %rbx                    /* no guest thread: FS is the host's */
  jz 3f
  movl $LINUX_ARCH_PRCTL, %eax
  movl $LINUX_ARCH_GET_FS, %edi
  leaq 8(%rsp), %rsi
  syscall
  movl $LINUX_ARCH_PRCTL, %eax
  movl $LINUX_ARCH_SET_FS, %edi
  movq RECORD_HOST_FS(%rbx), %rsi
  syscall
  movl $1, %r15d
2:
  movzbl RECORD_SELECTOR(%rbx), %ebp
  movb $0, RECORD_SELECTOR(%rbx)
3:
  movl %r12d, %edi
  movq %r13, %rsi
  movq %r14, %rdx
  movq %rbx, %rcx
  movl %ebp, %r8d
  call orrery_on_signal
  testq %rbx, %rbx
  jz 5f
  testl %r15d, %r15d
  jz 4f
  movl $LINUX_ARCH_PRCTL, %eax
  movl $LINUX_ARCH_SET_FS, %edi
  movq 8(%rsp), %rsi
  syscall
4:
  movb %bpl, RECORD_SELECTOR(%rbx)
5:
  addq $24, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
  .size orrery_signal_entry, . - orrery_signal_entry

  .globl orrery_signal_return
  .type orrery_signal_return, @function
orrery_signal_return:
  movl $LINUX_RT_SIGRETURN, %eax
  syscall
  ud2                                 /* the kernel compares the address behind the instruction */
  .size orrery_signal_return, . - orrery_signal_return

  .globl orrery_exempt_end
orrery_exempt_end:
  .section .note.GNU-stack, "", @progbits
