/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What kernels name differently, and what processors do. */
#ifndef COMPAT_H
#define COMPAT_H

#include <linux/ftrace.h>
#include <linux/hrtimer.h>
#include <linux/version.h>

/* Counts down to zero: two instructions a round, whatever the compiler thinks of loops. */
#ifdef CONFIG_ARM64
#define ROUNDS "1: subs %0, %0, #1; b.ne 1b"
#else
#define ROUNDS "1: dec %0; jnz 1b"
#endif

/* Where a function is called, another one is: its flag, and how. */
#ifdef CONFIG_ARM64
#define REDIRECTS FTRACE_OPS_FL_IPMODIFY
#define redirect_to(regs, function) ftrace_regs_set_instruction_pointer(regs, function)
#else
#define REDIRECTS (FTRACE_OPS_FL_SAVE_REGS | FTRACE_OPS_FL_IPMODIFY)
#define redirect_to(regs, function) (ftrace_get_regs(regs)->ip = (function))
#endif

static inline void setup_timer(struct hrtimer *timer, enum hrtimer_restart (*function)(struct hrtimer *))
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 13, 0)
	hrtimer_setup(timer, function, CLOCK_MONOTONIC, HRTIMER_MODE_REL_HARD);
#else
	hrtimer_init(timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_HARD);
	timer->function = function;
#endif
}

#endif
