# A bare machine that knows its own truth: a multiboot image at 1 MiB that enters 64-bit mode, runs pieces of code
# that leave blocks in every way we know of, and reads the clock around each. See main.rs.
#
# AT&T syntax; everything is addressed as BASE + offset, so the image needs no linker.
    .pushsection .rodata.worstcase_guest, "a"
    .balign 4096
    .globl worstcase_guest_start, worstcase_guest_end, worstcase_guest_tick, worstcase_guest_round
    .set BASE, 0x100000
    .set PAGE, 0x180000                 # faults when touched after `call unmap`
    .set SLOTS, 0x190000                # one word a mark
    .set STACK, 0x1a0000
    .set FAULT_STACK, 0x1b0000
    .set APIC, 0xfee00000

worstcase_guest_start:
    .code32
    .long 0x1badb002, 0x00010000, -(0x1badb002 + 0x00010000)
    .long BASE, BASE, 0, 0, BASE + enter - worstcase_guest_start

enter:
    cli
    # The first 2 MiB by 4 KiB pages, one to one.
    movl $(BASE + table - worstcase_guest_start), %edi
    movl $3, %eax
    movl $512, %ecx
1:  movl %eax, (%edi)
    addl $4096, %eax
    addl $8, %edi
    decl %ecx
    jnz 1b
    movl $(BASE + pml4 - worstcase_guest_start), %eax
    movl %eax, %cr3
    movl $0x620, %eax                   # PAE, SSE
    movl %eax, %cr4
    movl $0xc0000080, %ecx
    movl $0x100, %eax                   # long mode
    xorl %edx, %edx
    wrmsr
    movl $0x80000011, %eax
    movl %eax, %cr0
    lgdt BASE + gdt_pointer - worstcase_guest_start
    ljmp $8, $(BASE + long_mode - worstcase_guest_start)

    .code64
long_mode:
    movl $16, %eax
    movl %eax, %ds
    movl %eax, %es
    movl %eax, %ss
    movl $STACK, %esp
    lidt BASE + idt_pointer - worstcase_guest_start
    movl $24, %eax
    ltr %ax
    movl $SLOTS, %r15d
    movl $2, %r14d                      # the whole sequence twice: the second time from cached blocks

    # Clock read, then a mark with the value read. \kind is a MarkKind.
    .macro MARK kind=2
    rdtsc
    shlq $32, %rdx
    orq %rdx, %rax
    .byte 0x0f, 0x1f, 0x80, \kind, 0x4d, 0x43, 0x57
    movq %rax, (%r15)
    addq $8, %r15
    .endm

    # Makes PAGE fault at the next touch; rbx points into it.
    .macro UNMAP
    movl $(PAGE + 0x800), %ebx
    call unmap
    .endm

    MARK 1
sequence:
    MARK                                # 1: nothing between

    movl $1000, %ecx                    # 2: a loop without faults
2:  leaq (%rcx,%rcx), %rax
    imulq %rax, %rax
    movq %rax, -64(%rsp)
    decl %ecx
    jnz 2b
    MARK

    UNMAP                               # 3: a load in the middle of a block
    incl %eax
    movq (%rbx), %rcx
    incl %eax
    MARK

    UNMAP                               # 4: stores, one after another, the second without a fault
    movq %rcx, (%rbx)
    movq %rcx, 8(%rbx)
    MARK

    UNMAP                               # 5: read, change, write
    addq %rcx, (%rbx)
    MARK
    UNMAP                               # 6
    lock addq %rcx, (%rbx)
    MARK
    UNMAP                               # 7
    cmpq %rcx, (%rbx)
    MARK
    UNMAP                               # 8: two reads of eight bytes, or one of sixteen
    movups (%rbx), %xmm0
    MARK

    UNMAP                               # 9: push and pop on a stack that faults
    movq %rsp, %rbp
    movq %rbx, %rsp
    pushq %rax
    popq %rax
    movq %rbp, %rsp
    MARK

    UNMAP                               # 10: a call that faults and ends its block
    movq %rsp, %rbp
    movq %rbx, %rsp
    call 3f
3:  movq %rbp, %rsp
    MARK

    leaq 4f(%rip), %rcx                 # 11: a return that faults
    movl $(PAGE + 0x800), %ebx
    movq %rcx, (%rbx)
    UNMAP
    movq %rsp, %rbp
    movq %rbx, %rsp
    ret
4:  movq %rbp, %rsp
    MARK

    leaq 5f(%rip), %rcx                 # 12: a jump through memory that faults
    movl $(PAGE + 0x800), %ebx
    movq %rcx, (%rbx)
    UNMAP
    jmp *(%rbx)
5:  MARK

    leaq 6f(%rip), %rcx                 # 13: a call through memory that faults, the stack does not
    movl $(PAGE + 0x800), %ebx
    movq %rcx, (%rbx)
    UNMAP
    call *(%rbx)
6:  popq %rcx
    MARK

    UNMAP                               # 14: leave from a frame that faults
    movq %rsp, %r13
    movq %rbx, %rbp
    leave
    movq %r13, %rsp
    MARK

    movl $APIC, %ebx                    # 15: device reads and writes in the middle of blocks
    movl 0x30(%rbx), %eax
    incl %ecx
    movl 0x80(%rbx), %eax
    movl %eax, 0x80(%rbx)
    incl %ecx
    MARK

    inb $0x61, %al                      # 16: ports
    incl %ecx
    outb %al, $0x80
    MARK

    incl %ecx                           # 17: an undefined instruction, skipped by its handler
    ud2
    incl %ecx
    MARK

    xorl %ecx, %ecx                     # 18: division by zero, skipped by its handler
    incl %eax
    divl %ecx
    incl %eax
    MARK

    movl $(PAGE + 0x100), %edi          # 19: strings without faults, each round counted
    movl $PAGE, %esi
    movl $30, %ecx
    rep movsq
    xorl %eax, %eax
    cpuid
    MARK

    int3                                # 20: a software exception
    MARK

    movq %r15, %rbx                     # 21: a mark whose own store faults
    call unmap
    MARK

    movl $100, %ecx                     # 22: the watched entry, five instructions a round
7:  call worstcase_guest_tick
worstcase_guest_round:
    decl %ecx
    jnz 7b
    MARK

    UNMAP                               # 23: a string instruction that faults
    movq %rbx, %rdi
    movl $SLOTS, %esi
    movl $3, %ecx
    rep movsq
    MARK

    movb $0xff, %al                     # 24: the timer interrupts a loop of PAUSEs; no other interrupt does
    outb %al, $0x21
    outb %al, $0xa1
    movl $APIC, %ebx
    movl $0x1ff, 0xf0(%rbx)
    movl $32, 0x320(%rbx)
    movl $0xb, 0x3e0(%rbx)
    xorl %ecx, %ecx
    sti
    movl $1000, 0x380(%rbx)             # in 1000 ns
8:  pause
    jrcxz 8b
    cli
    MARK

    decl %r14d
    jnz sequence
    MARK 3

    movl $SLOTS, %ebx                   # the clock values, to the debug port
    movl $0xe9, %edx
10: movb (%rbx), %al
    outb %al, %dx
    incq %rbx
    cmpq %r15, %rbx
    jne 10b
    movl $0xf4, %edx                    # power off, exit status 3
    movl $1, %eax
    outb %al, %dx
9:  hlt
    jmp 9b

worstcase_guest_tick:
    nop
    ret

# Takes the page at rbx out of the table.
unmap:
    movq %rbx, %rax
    shrq $12, %rax
    movq $0, (BASE + table - worstcase_guest_start)(,%rax,8)
    invlpg (%rbx)
    ret

page_fault:
    pushq %rax
    pushq %rcx
    movq %cr2, %rax
    movq %rax, %rcx
    shrq $12, %rcx
    andq $-4096, %rax
    orq $3, %rax
    movq %rax, (BASE + table - worstcase_guest_start)(,%rcx,8)
    popq %rcx
    popq %rax
    addq $8, %rsp
    iretq

skip_two_bytes:
    addq $2, (%rsp)
    iretq

go_on:
    iretq

timer:
    incl %ecx
    movl $0, 0xb0(%rbx)                 # the interrupt's end
    iretq

    .macro GATE handler, ist=0
    .word (BASE + \handler - worstcase_guest_start) & 0xffff
    .word 8
    .byte \ist, 0x8e
    .word (BASE + \handler - worstcase_guest_start) >> 16
    .quad 0
    .endm

    .balign 16
gdt:
    .quad 0, 0x00af9a000000ffff, 0x00cf92000000ffff
    .word 103, (BASE + tss - worstcase_guest_start) & 0xffff
    .byte ((BASE + tss - worstcase_guest_start) >> 16) & 0xff, 0x89, 0, 0
    .quad 0
gdt_pointer:
    .word . - gdt - 1
    .long BASE + gdt - worstcase_guest_start
idt:
    GATE skip_two_bytes
    .fill 4, 8, 0
    GATE go_on
    .fill 4, 8, 0
    GATE skip_two_bytes
    .fill 14, 8, 0
    GATE page_fault, 1
    .fill 34, 8, 0
    GATE timer
idt_pointer:
    .word idt_pointer - idt - 1
    .quad BASE + idt - worstcase_guest_start
    .balign 16
tss:
    .fill 36, 1, 0
    .quad FAULT_STACK
    .fill 60, 1, 0

    .balign 4096
pml4:
    .quad BASE + pointers - worstcase_guest_start + 3
    .balign 4096
pointers:
    .quad BASE + low - worstcase_guest_start + 3, 0, 0, BASE + high - worstcase_guest_start + 3
    .balign 4096
low:
    .quad BASE + table - worstcase_guest_start + 3
    .balign 4096
high:
    .fill 0x1f7, 8, 0
    .quad APIC + 0x83                   # 2 MiB at 0xfee00000
    .balign 4096
table:
    .fill 512, 8, 0
worstcase_guest_end:
    .popsection
