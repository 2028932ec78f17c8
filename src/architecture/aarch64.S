/* The switch between native stacks for 64-bit Arm, AAPCS64; and each thread's own words. Called by stack/context.hpp and, at a scope's
   fork, by nopal/scope.hpp. The offsets are those of context_frame in include/nopal/core/architecture/context_layout.hpp, which asserts
   each. No member of nopal::core::context is known here: callers pass the address of its stack pointer. */

/* Branch target identification, if compiled with -mbranch-protection: code that is called through a register begins with a landing pad. A
   switch jumps to a return address, where there is none: under this protection it returns there, which is not checked. */
#if defined(__ARM_FEATURE_BTI_DEFAULT)
#define LANDING_PAD hint #34   /* bti c */
#define GO_TO_X30 ret
        .section .note.gnu.property, "a", %note
        .p2align 3
        .long   4               /* the name's size */
        .long   16              /* the description's */
        .long   5               /* NT_GNU_PROPERTY_TYPE_0 */
        .asciz  "GNU"
        .long   0xc0000000      /* GNU_PROPERTY_AARCH64_FEATURE_1_AND */
        .long   4
        .long   1               /* BTI */
        .long   0
#else
#define LANDING_PAD
#define GO_TO_X30 br x30
#endif

        .text

/* Pushes a context_frame, the registers that the ABI lets a function keep, and stores the stack pointer in *x0; fpcr is also left in
   x9. From the stack pointer up: 0 x19 … 72 x28 | 80 x29 | 88 x30 | 96 d8 … 152 d15 | 160 fpcr | 168 unused */
        .macro leave_stack
        sub     sp, sp, #176
        .cfi_def_cfa_offset 176
        stp     x19, x20, [sp]
        stp     x21, x22, [sp, #16]
        stp     x23, x24, [sp, #32]
        stp     x25, x26, [sp, #48]
        stp     x27, x28, [sp, #64]
        stp     x29, x30, [sp, #80]
        stp     d8, d9, [sp, #96]
        stp     d10, d11, [sp, #112]
        stp     d12, d13, [sp, #128]
        stp     d14, d15, [sp, #144]
        .cfi_rel_offset x19, 0
        .cfi_rel_offset x20, 8
        .cfi_rel_offset x21, 16
        .cfi_rel_offset x22, 24
        .cfi_rel_offset x23, 32
        .cfi_rel_offset x24, 40
        .cfi_rel_offset x25, 48
        .cfi_rel_offset x26, 56
        .cfi_rel_offset x27, 64
        .cfi_rel_offset x28, 72
        .cfi_rel_offset x29, 80
        .cfi_rel_offset x30, 88
        mrs     x9, fpcr
        str     x9, [sp, #160]
        mov     x10, sp
        str     x10, [x0]
        .endm

/* Leaves the stack, whose pointer stays in x19, calls x3(x2) on the stack that ends at x1, where the unwinder stops, and returns. */
        .macro call_there
        leave_stack
        mov     x19, sp
        .cfi_remember_state
        .cfi_undefined x30
        mov     sp, x1
        mov     x0, x2
        blr     x3
        mov     sp, x19
        .cfi_restore_state
        .endm

/* After call_there: returns null. The body has preserved all registers but x19, x29 and x30. */
        .macro return_null
        ldr     x19, [sp]
        ldp     x29, x30, [sp, #80]
        add     sp, sp, #176
        .cfi_def_cfa_offset 0
        .cfi_restore x19
        .cfi_restore x20
        .cfi_restore x21
        .cfi_restore x22
        .cfi_restore x23
        .cfi_restore x24
        .cfi_restore x25
        .cfi_restore x26
        .cfi_restore x27
        .cfi_restore x28
        .cfi_restore x29
        .cfi_restore x30
        mov     x0, #0
        ret
        .endm

/* after_switch* nopal_context_switch(void** left, void* to, after_switch* a): see x86_64.S. */
        .globl  nopal_context_switch
        .hidden nopal_context_switch
        .type   nopal_context_switch, %function
        .p2align 4
nopal_context_switch:
        .cfi_startproc
        LANDING_PAD
        leave_stack
        ldr     x11, [x1, #160]
        mov     sp, x1
        cmp     x9, x11
        b.eq    1f
        msr     fpcr, x11
1:      ldp     x19, x20, [sp]
        ldp     x21, x22, [sp, #16]
        ldp     x23, x24, [sp, #32]
        ldp     x25, x26, [sp, #48]
        ldp     x27, x28, [sp, #64]
        ldp     x29, x30, [sp, #80]
        ldp     d8, d9, [sp, #96]
        ldp     d10, d11, [sp, #112]
        ldp     d12, d13, [sp, #128]
        ldp     d14, d15, [sp, #144]
        mov     x0, x2
        add     sp, sp, #176
        .cfi_def_cfa_offset 0
        .cfi_same_value x30
        GO_TO_X30
        .cfi_endproc
        .size   nopal_context_switch, . - nopal_context_switch

/* after_switch* nopal_context_call(void** left, void* top, context& with, void (*body)(context&)): see x86_64.S. */
        .globl  nopal_context_call
        .hidden nopal_context_call
        .type   nopal_context_call, %function
        .p2align 4
nopal_context_call:
        .cfi_startproc
        LANDING_PAD
        call_there
        ldr     x11, [sp, #160]
        mrs     x9, fpcr
        cmp     x9, x11
        b.eq    1f
        msr     fpcr, x11
1:      return_null
        .cfi_endproc
        .size   nopal_context_call, . - nopal_context_call

/* after_switch* nopal_context_fork(void** left, void* top, void* with, void (*body)(void*)): see x86_64.S. */
        .globl  nopal_context_fork
        .type   nopal_context_fork, %function
        .p2align 4
nopal_context_fork:
        .cfi_startproc
        LANDING_PAD
        call_there
        return_null
        .cfi_endproc
        .size   nopal_context_fork, . - nopal_context_fork

/* The first code on a fresh stack, see first_context_frame: x19 is the context, x20 its body. The unwinder stops here. */
        .globl  nopal_context_start
        .hidden nopal_context_start
        .type   nopal_context_start, %function
        .p2align 4
nopal_context_start:
        .cfi_startproc
        .cfi_undefined x30
        mov     x1, x19
        mov     x2, x20
        bl      nopal_context_begin
        brk     #0
        .cfi_endproc
        .size   nopal_context_start, . - nopal_context_start

/* thread_words of thread_words.hpp, one for each thread. Defined in assembly, so that no compiler takes them for thread-locals. */
        .section .tdata, "awT", %progbits
        .globl  nopal_thread_words
        .type   nopal_thread_words, %tls_object
        .p2align 4
nopal_thread_words:
        .xword   nopal_no_worker         /* thread_words::state */
        .xword   nopal_not_yet_learned   /* thread_words::handled */
        .size   nopal_thread_words, . - nopal_thread_words

        .section .note.GNU-stack, "", %progbits
