# First instructions of kernels that do their worst to what is outside of the machine: 32 bits, flat segments, no paging, no
# interrupts (Documentation/arch/x86/boot.rst). Each is put into a real image by hostile.rs, and runs wherever it stands.
    .pushsection .rodata.worstcase_hostile, "a"
    .code32
    .globl worstcase_hostile_memory, worstcase_hostile_pci, worstcase_hostile_exit, worstcase_hostile_reset
    .globl worstcase_hostile_record, worstcase_hostile_flood, worstcase_hostile_end

# All of the memory but its own first MiBs, which comes to be the snapshot's.
worstcase_hostile_memory:
    movl $0x1000000, %edi
    movl $0xb000000, %ecx               # 192 MiB and more, by words
    shrl $2, %ecx
    movl $0x5a5a5a5a, %eax
    cld
    rep stosl
1:  hlt
    jmp 1b

# Ones into the configuration of every PCI device, and into every page of the window for their registers.
worstcase_hostile_pci:
    xorl %ebx, %ebx
1:  movl %ebx, %eax
    orl $0x80000000, %eax
    movw $0xcf8, %dx
    outl %eax, %dx
    movl $0xffffffff, %eax
    movw $0xcfc, %dx
    outl %eax, %dx
    addl $4, %ebx
    cmpl $0x10000, %ebx
    jb 1b
    movl $0xfe000000, %edi
2:  movl %eax, (%edi)
    addl $0x1000, %edi
    cmpl $0xfec00000, %edi
    jb 2b
3:  hlt
    jmp 3b

# The ports by which machines of QEMU's are ended, with exit codes of its choice.
worstcase_hostile_exit:
    xorl %eax, %eax
    movw $0xf4, %dx
    outl %eax, %dx
    movw $0x501, %dx
    outl %eax, %dx
    movw $0x2000, %ax
    movw $0x604, %dx
    outw %ax, %dx
1:  hlt
    jmp 1b

worstcase_hostile_reset:
    movb $6, %al
    movw $0xcf9, %dx
    outb %al, %dx
1:  hlt
    jmp 1b

# The beginning of a message and of a record, and off.
worstcase_hostile_record:
    call 2f
1:  .ascii "WCREADY\n\nWCREC\0\3\0\377\377\377\377"
2:  popl %esi
    movl $(2b - 1b), %ecx
    movw $0xe9, %dx
    cld
    rep outsb
    movw $0x2000, %ax
    movw $0x604, %dx
    outw %ax, %dx
3:  hlt
    jmp 3b

# Bytes through the debug port, without end.
worstcase_hostile_flood:
    movw $0xe9, %dx
1:  outb %al, %dx
    jmp 1b

worstcase_hostile_end:
    .code64
    .popsection
