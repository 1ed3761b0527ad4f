// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Does its worst to whatever is outside of the machine, from inside the kernel:
 *
 *   insmod hostile.ko attack=memory|record|flood|pci|exit|reset
 *
 *   memory  overwrites the memory of the machine, from near its end down to its beginning
 *   record  sends what is no record through the debug port, and powers off
 *   flood   sends bytes through the debug port, without end
 *   pci     writes ones into the configuration of every PCI device, then into every page of the window for their registers
 *   exit    writes to the ports by which machines of QEMU's are ended, with exit codes of its choice
 *   reset   resets the machine
 */
#include <linux/delay.h>
#include <linux/io.h>
#include <linux/kthread.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/string.h>

static char *attack = "";
module_param(attack, charp, 0);

#define DEBUG_PORT 0xe9
/* Below the interrupt controllers, where the firmware of a q35 puts the devices' registers. */
#define REGISTERS 0xfe000000UL
#define REGISTERS_END 0xfec00000UL

static void overwrite_memory(void)
{
	unsigned long page;

	for (page = totalram_pages(); page-- > 0;)
		memset(pfn_to_kaddr(page), 0x5a, PAGE_SIZE);
}

static void send(const char *bytes, size_t length)
{
	while (length--)
		outb(*bytes++, DEBUG_PORT);
}

static void overwrite_pci(void)
{
	unsigned long at;

	for (at = 0; at < 0x10000; at += 4) {
		outl(0x80000000u | at, 0xcf8);
		outl(0xffffffffu, 0xcfc);
	}
	for (at = REGISTERS; at < REGISTERS_END; at += PAGE_SIZE) {
		void __iomem *device = ioremap(at, PAGE_SIZE);

		if (device) {
			writel(0xffffffffu, device);
			iounmap(device);
		}
	}
}

static int attacker(void *unused)
{
	/* The probe measures by then. */
	msleep(150);
	if (!strcmp(attack, "memory"))
		overwrite_memory();
	if (!strcmp(attack, "record")) {
		send("WCREC\0\3\0\377\377\377\377 no record", 26);
		outw(0x2000, 0x604);
	}
	if (!strcmp(attack, "pci"))
		overwrite_pci();
	if (!strcmp(attack, "exit")) {
		outl(0, 0xf4);
		outl(0, 0x501);
		outw(0x2000, 0x604);
	}
	if (!strcmp(attack, "reset"))
		outb(6, 0xcf9);
	while (!strcmp(attack, "flood"))
		send("WCERR\0", 6);
	return 0;
}

static int __init hostile_init(void)
{
	return PTR_ERR_OR_ZERO(kthread_run(attacker, NULL, "hostile"));
}

module_init(hostile_init);
MODULE_DESCRIPTION("Does its worst to what is outside of the machine");
MODULE_LICENSE("GPL");
