/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What kernels name differently. */
#ifndef COMPAT_H
#define COMPAT_H

#include <linux/hrtimer.h>
#include <linux/version.h>

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
