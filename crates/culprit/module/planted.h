/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the modules that delay a real-time process have in common. */
#ifndef PLANTED_H
#define PLANTED_H

#include <linux/module.h>

#include "compat.h"

static char *work = "";
module_param(work, charp, 0);
static unsigned long instructions = 150000;
module_param(instructions, ulong, 0);

static noinline void planted_work(void)
{
	unsigned long rounds = instructions / 2;

	asm volatile(ROUNDS : "+r"(rounds) : : "cc");
}

#endif
