// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A real-time process that has slept until its time waits, before it goes on, for what a thread without priority holds while
 * that computes so many instructions:
 *
 *   insmod waits.ko work=mutex|rtmutex|rwsem|completion instructions=150000
 */
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/ftrace.h>
#include <linux/hrtimer.h>
#include <linux/kprobes.h>
#include <linux/kthread.h>
#include <linux/mutex.h>
#include <linux/rtmutex.h>
#include <linux/rwsem.h>
#include <linux/sched/rt.h>
#include <linux/string.h>

#include "planted.h"

/* Else the compiler jumps to a function's last call, and no call chain has the function: barrier(). */

static DEFINE_MUTEX(mutex);
static DEFINE_RT_MUTEX(rtmutex);
static DECLARE_RWSEM(rwsem);
static DECLARE_COMPLETION(asked);
static DECLARE_COMPLETION(answered);

static noinline void planted_needs_mutex(void)
{
	mutex_lock(&mutex);
	mutex_unlock(&mutex);
	barrier();
}

static noinline void planted_owns_mutex(void)
{
	mutex_lock(&mutex);
	planted_work();
	mutex_unlock(&mutex);
	barrier();
}

static noinline void planted_needs_rtmutex(void)
{
	rt_mutex_lock(&rtmutex);
	rt_mutex_unlock(&rtmutex);
	barrier();
}

static noinline void planted_owns_rtmutex(void)
{
	rt_mutex_lock(&rtmutex);
	planted_work();
	rt_mutex_unlock(&rtmutex);
	barrier();
}

static noinline void planted_needs_rwsem(void)
{
	down_read(&rwsem);
	up_read(&rwsem);
	barrier();
}

static noinline void planted_owns_rwsem(void)
{
	down_write(&rwsem);
	planted_work();
	up_write(&rwsem);
	barrier();
}

static noinline void planted_needs_completion(void)
{
	complete(&asked);
	wait_for_completion(&answered);
	barrier();
}

static noinline void planted_owns_completion(void)
{
	wait_for_completion(&asked);
	planted_work();
	complete(&answered);
	barrier();
}

static const struct wait {
	const char *name;
	void (*needs)(void);
	void (*owns)(void);
} waits[] = {
	{ "mutex", planted_needs_mutex, planted_owns_mutex },
	{ "rtmutex", planted_needs_rtmutex, planted_owns_rtmutex },
	{ "rwsem", planted_needs_rwsem, planted_owns_rwsem },
	{ "completion", planted_needs_completion, planted_owns_completion },
};

static const struct wait *chosen;
static long (*nanosleep)(ktime_t, const enum hrtimer_mode, const clockid_t);

static long planted_nanosleep(ktime_t until, const enum hrtimer_mode mode, const clockid_t clock)
{
	long slept = nanosleep(until, mode, clock);

	if (rt_task(current))
		chosen->needs();
	return slept;
}

static void notrace planted_redirect(unsigned long ip, unsigned long parent, struct ftrace_ops *ops,
				     struct ftrace_regs *regs)
{
	if (!within_module(parent, THIS_MODULE))
		ftrace_get_regs(regs)->ip = (unsigned long)planted_nanosleep;
}

static struct ftrace_ops redirect = {
	.func = planted_redirect,
	.flags = FTRACE_OPS_FL_SAVE_REGS | FTRACE_OPS_FL_IPMODIFY | FTRACE_OPS_FL_RECURSION,
};

static int planted_thread(void *unused)
{
	while (!kthread_should_stop()) {
		chosen->owns();
		usleep_range(50, 60);
	}
	return 0;
}

static int __init planted_init(void)
{
	struct kprobe symbol = { .symbol_name = "hrtimer_nanosleep" };
	unsigned long address;
	size_t i;
	int failed;

	for (i = 0; i < ARRAY_SIZE(waits); i++)
		if (!strcmp(work, waits[i].name))
			chosen = &waits[i];
	if (!chosen)
		return -EINVAL;
	failed = register_kprobe(&symbol);
	if (failed)
		return failed;
	address = (unsigned long)symbol.addr;
	unregister_kprobe(&symbol);
	nanosleep = (void *)address;
	failed = PTR_ERR_OR_ZERO(kthread_run(planted_thread, NULL, "planted"));
	return failed ?: ftrace_set_filter_ip(&redirect, address, 0, 0) ?: register_ftrace_function(&redirect);
}

/* It stays: without an end, it cannot be unloaded. */
module_init(planted_init);
MODULE_DESCRIPTION("What a real-time process waits for while a thread without priority holds it");
MODULE_LICENSE("GPL");
