// A bare arm64 machine that knows its own truth: at EL1 without an MMU it runs pieces of code that leave blocks in every way we
// know of, and reads the clock around each. See main.rs.
    .arch armv8-a
    .set GICD, 0x08000000
    .set GICC, 0x08010000
    .set UART, 0x09000000
    .set NOWHERE, 0x0f000000            // no memory and no device: touching it is a fault
    .set SLOTS, 0x40200000              // one word a mark
    .set DATA, 0x40210000
    .set STACK, 0x40240000
    .set TIMER, 27                      // its interrupt

    .text
    .globl _start
_start:
    ldr x0, =STACK
    mov sp, x0
    adr x0, vectors
    msr vbar_el1, x0
    mov x0, #3 << 20                    // floating point
    msr cpacr_el1, x0
    ldr x0, =GICD
    mov w1, #1 << TIMER
    str w1, [x0, #0x100]
    mov w1, #1
    str w1, [x0]
    ldr x0, =GICC
    mov w1, #0xff
    str w1, [x0, #4]
    mov w1, #1
    str w1, [x0]
    isb
    ldr x20, =SLOTS
    ldr x21, =DATA
    ldr x22, =UART
    ldr x23, =NOWHERE
    mov x24, #2                         // the whole sequence twice: the second time from cached blocks

    // Clock read, then a mark with the value read. \kind is a MarkKind.
    .macro MARK kind=2
    isb
    mrs x9, cntvct_el0
    movz xzr, #0x5743, lsl #16
    movz xzr, #(0x4d00 + \kind)
    str x9, [x20], #8
    .endm

    MARK 1
sequence:
    MARK                                // 1: nothing between

    mov x0, #300                        // 2: a loop
1:  subs x0, x0, #1
    b.ne 1b
    MARK

    svc #0                              // 3: a call
    add x1, x1, #1
    MARK

    add x1, x1, #1                      // 4: a load's fault in the middle of a block
    ldr x2, [x23]
    add x1, x1, #1
    MARK

    add x1, x1, #1                      // 5: a store's
    str x2, [x23]
    add x1, x1, #1
    MARK

    add x1, x1, #1                      // 6: of two registers
    ldp x2, x3, [x23]
    stp x2, x3, [x23, #16]
    add x1, x1, #1
    MARK

    add x1, x1, #1                      // 7: an instruction that is none
    udf #7
    add x1, x1, #1
    MARK

    add x1, x1, #1                      // 8: devices in the middle of a block
    ldr w2, [x22, #0x18]
    add x1, x1, #1
    str w2, [x22, #0x38]
    ldrb w2, [x22, #0x18]
    add x1, x1, #1
    MARK

    mov x0, #60                         // 9: floating point
    fmov d0, #1.5
    fmov d1, #1.0
1:  fmul d0, d0, d1
    fadd d1, d1, d0
    fdiv d1, d1, d0
    fsqrt d2, d1
    fcvtzs x2, d2
    subs x0, x0, #1
    b.ne 1b
    MARK

    mov x0, x21                         // 10: copying, by pairs and by vectors
    add x1, x21, #4096
    mov x2, #64
1:  ldp x3, x4, [x0], #16
    stp x3, x4, [x1], #16
    ldp q0, q1, [x0], #32
    stp q0, q1, [x1], #32
    ld1 {v2.16b, v3.16b}, [x0]
    st1 {v2.16b, v3.16b}, [x1], #32
    subs x2, x2, #1
    b.ne 1b
    MARK

    mov x0, #40                         // 11: exclusive and ordered accesses
1:  ldaxr x2, [x21]
    add x2, x2, #1
    stlxr w3, x2, [x21]
    cbnz w3, 1b
    ldar x2, [x21]
    stlr x2, [x21]
    dmb ish
    subs x0, x0, #1
    b.ne 1b
    MARK

    add x1, x1, #1                      // 12: waiting
    yield
    add x1, x1, #1
    sevl                                // QEMU 11.1 waits for the event that is not there yet
    wfe
    sevl
    wfe
    add x1, x1, #1
    MARK

    adr x0, changed                     // 13: code that is changed, in its own block
    ldr w2, [x0]
    eor w2, w2, #1 << 10                // another immediate
    str w2, [x0]
    ic ivau, x0
    dsb ish
    isb
changed:
    add x1, x1, #1
    MARK

    mov x0, #2000                       // 14: the timer, among some thousands of instructions
    msr cntv_tval_el0, x0
    mov x0, #1
    msr cntv_ctl_el0, x0
    msr daifclr, #2
    mov x0, #3000
1:  add x1, x1, #1
    add x1, x1, #1
    ldr x2, [x21]
    subs x0, x0, #1
    b.ne 1b
    msr daifset, #2
    MARK

    mrs x2, cntvct_el0                  // 15: system registers in the middle of a block
    mrs x3, currentel
    mrs x2, cntvct_el0
    msr tpidr_el0, x2
    add x1, x1, #1
    MARK

    adr x0, user                        // 16: to user code and back
    msr elr_el1, x0
    msr spsr_el1, xzr
    eret
user:
    add x1, x1, #1
    svc #1
    MARK

    bl far                              // 17: a block that a page's end cuts
    MARK

    mov x0, #100                        // 18: the watched entry
1:  bl worstcase_tick
    subs x0, x0, #1
    b.ne 1b
    MARK

    mov x0, #2000                       // 19: a mark while timers are due at any of its instructions
    mov x5, #1
    mov x6, #90
2:  msr cntv_tval_el0, x6
    msr cntv_ctl_el0, x5
    msr daifclr, #2
    mov x0, #60
1:  subs x0, x0, #1
    b.ne 1b
    msr daifset, #2
    add x6, x6, #1
    cmp x6, #160
    b.ne 2b
    MARK

    subs x24, x24, #1
    b.ne sequence
    MARK 3
    ldr x0, =0x84000008                 // PSCI: off
    hvc #0
1:  b 1b

    .globl worstcase_tick
worstcase_tick:
    add x1, x1, #1
    ret

    // A fault: goes on behind the instruction. A call: goes on at EL1.
trap:
    mrs x10, esr_el1
    lsr x10, x10, #26
    mrs x11, elr_el1
    cmp x10, #0x15                      // svc
    b.eq 1f
    add x11, x11, #4
    msr elr_el1, x11
1:  mrs x12, spsr_el1
    orr x12, x12, #0x3c0                // masked
    mov x13, #5                         // EL1h
    orr x12, x12, x13
    msr spsr_el1, x12
    eret

interrupt:
    stp x0, x1, [sp, #-16]!
    bl handler
    ldp x0, x1, [sp], #16
    eret

    .globl worstcase_handler
handler:
worstcase_handler:
    msr cntv_ctl_el0, xzr
    ldr x0, =GICC
    ldr w1, [x0, #0xc]
    str w1, [x0, #0x10]
    ret

    .balign 2048
    .globl worstcase_vectors
vectors:
worstcase_vectors:
    .rept 4
    b stop
    .balign 128
    .endr
    b trap                              // from EL1: synchronous
    .balign 128
    b interrupt
    .balign 128
    b stop
    .balign 128
    b stop
    .balign 128
    b trap                              // from EL0
    .balign 128
    b interrupt
    .balign 128
    .rept 6
    b stop
    .balign 128
    .endr
stop:
    b stop

    .balign 4096
    .skip 4096 - 12
far:
    add x1, x1, #1
    add x1, x1, #1
    add x1, x1, #1
    add x1, x1, #1
    ret
    .ltorg
