/* The switch between native stacks for x86-64, System V ABI; and each thread's own words. Called by stack/context.hpp and, at a scope's
   fork, by nopal/scope.hpp. The offsets are those of context_frame in include/nopal/core/architecture/context_layout.hpp, which asserts
   each. No member of nopal::core::context is known here: callers pass the address of its stack pointer. */

/* Control-flow enforcement, if compiled with -fcf-protection: code that is called or jumped to through a register begins with endbr64.
   A switch jumps to a return address, where there is no endbr64: the jump is marked notrack. This file is marked for indirect branches
   only, not for shadow stacks, which know one stack a thread: so the loader leaves those off. */
#if defined(__CET__) && (__CET__ & 1)
#define ENDBR endbr64
#define NOTRACK notrack
        .section .note.gnu.property, "a", @note
        .p2align 3
        .long   4               /* the name's size */
        .long   16              /* the description's */
        .long   5               /* NT_GNU_PROPERTY_TYPE_0 */
        .asciz  "GNU"
        .long   0xc0000002      /* GNU_PROPERTY_X86_FEATURE_1_AND */
        .long   4
        .long   1               /* IBT */
        .long   0
#else
#define ENDBR
#define NOTRACK
#endif

        .text

/* Pushes a context_frame, the registers that the ABI lets a function keep, and stores the stack pointer in *%rdi. From there up:
       0 mxcsr | 4 x87 control word | 8 r12 | 16 r13 | 24 r14 | 32 r15 | 40 rbx | 48 rbp | 56 return address */
        .macro leave_stack
        pushq   %rbp
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset rbp, 0
        pushq   %rbx
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset rbx, 0
        pushq   %r15
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset r15, 0
        pushq   %r14
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset r14, 0
        pushq   %r13
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset r13, 0
        pushq   %r12
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset r12, 0
        subq    $8, %rsp
        .cfi_adjust_cfa_offset 8
        stmxcsr (%rsp)
        fnstcw  4(%rsp)
        movq    %rsp, (%rdi)
        .endm

/* Leaves the stack, whose pointer stays in rbx, and calls rcx(rdx) on the stack that ends at rsi, where the unwinder stops. Remembers the
   unwind information from before the call. */
        .macro call_there
        leave_stack
        movq    %rsp, %rbx
        .cfi_remember_state
        .cfi_undefined rip
        movq    %rsi, %rsp
        movq    %rdx, %rdi
        callq   *%rcx
        .endm

/* Goes on where the stack at rsi was left, with rdx as the result of the function that left it. The x87 control word that holds now is in
   ax. mxcsr is always loaded, with its sticky flags: the stack that is left may have other ones. The x87 control word is loaded only if it
   differs, since loading takes longer than comparing. `end`: jump, through a register, or return. */
        .macro resume_there end
        ldmxcsr (%rsi)
        cmpw    4(%rsi), %ax
        movq    %rsi, %rsp
        .cfi_def_cfa rsp, 64
        .cfi_offset rip, -8
        .cfi_offset rbp, -16
        .cfi_offset rbx, -24
        .cfi_offset r15, -32
        .cfi_offset r14, -40
        .cfi_offset r13, -48
        .cfi_offset r12, -56
        jne     2f
1:      .cfi_remember_state
        movq    8(%rsp), %r12
        movq    16(%rsp), %r13
        movq    24(%rsp), %r14
        movq    32(%rsp), %r15
        movq    40(%rsp), %rbx
        movq    48(%rsp), %rbp
        .cfi_restore rbp
        .cfi_restore rbx
        .cfi_restore r15
        .cfi_restore r14
        .cfi_restore r13
        .cfi_restore r12
        movq    %rdx, %rax
        .ifc    \end, jump
        movq    56(%rsp), %rcx
        addq    $64, %rsp
        .cfi_def_cfa rsp, 0
        .cfi_register rip, rcx
        NOTRACK jmpq *%rcx
        .else
        addq    $56, %rsp
        .cfi_def_cfa rsp, 8
        retq
        .endif
        .cfi_restore_state
2:      fnclex  /* a flag of the other stack would trap if this word unmasks it */
        fldcw   4(%rsp)
        jmp     1b
        .endm

/* after_switch* nopal_context_switch(void** left, void* to, after_switch* a)
   Leaves the stack, and returns `a` on the stack whose pointer is `to`. The layout is the same on every stack, so that the unwind
   information holds on both sides of the switch. There are three, which the processor predicts in different ways: two end in a jump of
   their own, and one in a return. */
        .macro context_switch name, end
        .globl  \name
        .hidden \name
        .type   \name, @function
        .p2align 4
\name:
        .cfi_startproc
        ENDBR
        leave_stack
        movzwl  4(%rsp), %eax
        resume_there \end
        .cfi_endproc
        .size   \name, . - \name
        .endm

        context_switch nopal_context_switch, jump
        context_switch nopal_context_switch_2, jump
        context_switch nopal_context_change, return

/* after_switch* nopal_context_leave(void** left, void* to, after_switch* a)
   As nopal_context_switch, but the stack will not be resumed: nothing of it is saved, and *left is null. */
        .globl  nopal_context_leave
        .hidden nopal_context_leave
        .type   nopal_context_leave, @function
        .p2align 4
nopal_context_leave:
        .cfi_startproc
        ENDBR
        movq    $0, (%rdi)
        fnstcw  -8(%rsp)
        movzwl  -8(%rsp), %eax
        resume_there jump
        .cfi_endproc
        .size   nopal_context_leave, . - nopal_context_leave

/* after_switch* nopal_context_call(void** left, void* top, context& with, void (*body)(context&))
   Calls body(with) on the fresh stack that ends at `top`. The stack that is left has the layout above, so that a switch can resume it
   too. When body returns, this function returns null, with mxcsr and the x87 control word as they were, and the processor has predicted
   both returns. */
        .globl  nopal_context_call
        .hidden nopal_context_call
        .type   nopal_context_call, @function
        .p2align 4
nopal_context_call:
        .cfi_startproc
        ENDBR
        call_there
        movq    %rbx, %rsp
        .cfi_restore_state
        fnstcw  -4(%rsp)
        movzwl  -4(%rsp), %eax
        ldmxcsr (%rsp)
        cmpw    4(%rsp), %ax
        jne     2f
1:      addq    $8, %rsp
        .cfi_adjust_cfa_offset -8
        popq    %r12
        .cfi_adjust_cfa_offset -8
        .cfi_restore r12
        popq    %r13
        .cfi_adjust_cfa_offset -8
        .cfi_restore r13
        popq    %r14
        .cfi_adjust_cfa_offset -8
        .cfi_restore r14
        popq    %r15
        .cfi_adjust_cfa_offset -8
        .cfi_restore r15
        popq    %rbx
        .cfi_adjust_cfa_offset -8
        .cfi_restore rbx
        popq    %rbp
        .cfi_adjust_cfa_offset -8
        .cfi_restore rbp
        xorl    %eax, %eax
        retq
        .cfi_def_cfa rsp, 64
        .cfi_offset rbp, -16
        .cfi_offset rbx, -24
        .cfi_offset r15, -32
        .cfi_offset r14, -40
        .cfi_offset r13, -48
        .cfi_offset r12, -56
2:      fnclex  /* a flag of the other stack would trap if this word unmasks it */
        fldcw   4(%rsp)
        jmp     1b
        .cfi_endproc
        .size   nopal_context_call, . - nopal_context_call

/* after_switch* nopal_context_fork(void** left, void* top, void* with, void (*body)(void*))
   As nopal_context_call, but the control words stay as the body has left them, as after any call. The body preserves the other registers,
   so only rbx is loaded. Visible to programs: forks inline the call to it. */
        .globl  nopal_context_fork
        .type   nopal_context_fork, @function
        .p2align 4
nopal_context_fork:
        .cfi_startproc
        ENDBR
        call_there
        leaq    56(%rbx), %rsp
        movq    40(%rbx), %rbx
        .cfi_restore_state
        .cfi_def_cfa rsp, 8
        .cfi_restore rbp
        .cfi_restore rbx
        .cfi_restore r15
        .cfi_restore r14
        .cfi_restore r13
        .cfi_restore r12
        xorl    %eax, %eax
        retq
        .cfi_endproc
        .size   nopal_context_fork, . - nopal_context_fork

/* The first code on a fresh stack, see first_context_frame: r12 is the context, r13 its body. The unwinder stops here. */
        .globl  nopal_context_start
        .hidden nopal_context_start
        .type   nopal_context_start, @function
        .p2align 4
nopal_context_start:
        .cfi_startproc
        .cfi_undefined rip
        ENDBR
        movq    %rax, %rdi
        movq    %r12, %rsi
        movq    %r13, %rdx
        callq   nopal_context_begin@PLT
        ud2
        .cfi_endproc
        .size   nopal_context_start, . - nopal_context_start

/* thread_words of thread_words.hpp, one for each thread. Defined in assembly, so that no compiler takes them for thread-locals. */
        .section .tdata, "awT", @progbits
        .globl  nopal_thread_words
        .type   nopal_thread_words, @tls_object
        .p2align 4
nopal_thread_words:
        .quad   nopal_no_worker         /* thread_words::state */
        .quad   nopal_not_yet_learned   /* thread_words::handled */
        .size   nopal_thread_words, . - nopal_thread_words

        .section .note.GNU-stack, "", @progbits
