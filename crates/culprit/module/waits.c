// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What a process does in the kernel after it has slept takes so many instructions:
 *
 *   insmod waits.ko work=NAME instructions=150000
 *
 *   mutex, rtmutex, rwsem, completion   a real-time process waits for what a thread without priority holds while it computes
 *   between   a real-time process waits for a mutex whose owner waits for the CPU, which a thread of priority 1 has
 *   exitwork  a real-time process has work to do on its way out of the kernel
 *   taskwork  the process that loaded this has such work, under a raw spin lock
 *   signal    the process that loaded this takes a signal, under a raw spin lock
 */
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/hrtimer.h>
#include <linux/kprobes.h>
#include <linux/kthread.h>
#include <linux/mutex.h>
#include <linux/rtmutex.h>
#include <linux/rwsem.h>
#include <linux/sched/rt.h>
#include <linux/sched/signal.h>
#include <linux/string.h>
#include <linux/task_work.h>

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

static int planted_between(void *unused)
{
	sched_set_fifo_low(current);
	while (!kthread_should_stop()) {
		wait_for_completion(&asked);
		planted_work();
	}
	return 0;
}

static noinline void planted_owns_between(void)
{
	mutex_lock(&mutex);
	complete(&asked);
	mutex_unlock(&mutex);
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

static DEFINE_RAW_SPINLOCK(lock);
static struct callback_head head;
static int (*add_task_work)(struct task_struct *, struct callback_head *, enum task_work_notify_mode);

static noinline void planted_exitwork(struct callback_head *unused)
{
	planted_work();
	barrier();
}

static noinline void planted_taskwork(struct callback_head *unused)
{
	raw_spin_lock(&lock);
	planted_work();
	raw_spin_unlock(&lock);
}

static void planted_adds(void)
{
	init_task_work(&head, rt_task(current) ? planted_exitwork : planted_taskwork);
	add_task_work(current, &head, TWA_RESUME);
}

static void planted_sends(void)
{
	send_sig(SIGUSR1, current, 1);
}

static const struct wait {
	const char *name;
	/* Of a real-time process, of the one that loaded this module, and of a thread. */
	void (*needs)(void);
	void (*others)(void);
	void (*owns)(void);
} waits[] = {
	{ "mutex", planted_needs_mutex, NULL, planted_owns_mutex },
	{ "rtmutex", planted_needs_rtmutex, NULL, planted_owns_rtmutex },
	{ "rwsem", planted_needs_rwsem, NULL, planted_owns_rwsem },
	{ "completion", planted_needs_completion, NULL, planted_owns_completion },
	{ "between", planted_needs_mutex, NULL, planted_owns_between },
	{ "exitwork", planted_adds },
	{ "taskwork", NULL, planted_adds },
	{ "signal", NULL, planted_sends },
};

static const struct wait *chosen;
static long (*nanosleep)(ktime_t, const enum hrtimer_mode, const clockid_t);
static bool (*take_signal)(struct ksignal *);

static long planted_nanosleep(ktime_t until, const enum hrtimer_mode mode, const clockid_t clock)
{
	long slept = nanosleep(until, mode, clock);

	if (rt_task(current) && chosen->needs)
		chosen->needs();
	if (!strcmp(current->comm, "culprit") && chosen->others)
		chosen->others();
	return slept;
}

static noinline bool planted_signal(struct ksignal *signal)
{
	bool taken = take_signal(signal);

	raw_spin_lock(&lock);
	planted_work();
	raw_spin_unlock(&lock);
	return taken;
}

static void notrace planted_redirect(unsigned long ip, unsigned long parent, struct ftrace_ops *ops,
				     struct ftrace_regs *regs)
{
	if (!within_module(parent, THIS_MODULE))
		redirect_to(regs, (unsigned long)ops->private);
}

static struct ftrace_ops sleeps = { .private = planted_nanosleep };
static struct ftrace_ops signals = { .private = planted_signal };

static unsigned long address(const char *name)
{
	struct kprobe symbol = { .symbol_name = name };
	unsigned long found;

	if (register_kprobe(&symbol))
		return 0;
	found = (unsigned long)symbol.addr;
	unregister_kprobe(&symbol);
	return found;
}

/* Callers of a function get the one of this module instead. */
static int redirect(struct ftrace_ops *ops, void *function)
{
	ops->func = planted_redirect;
	ops->flags = REDIRECTS | FTRACE_OPS_FL_RECURSION;
	if (!function)
		return -ENOENT;
	return ftrace_set_filter_ip(ops, (unsigned long)function, 0, 0) ?: register_ftrace_function(ops);
}

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
	size_t i;
	int failed = 0;

	for (i = 0; i < ARRAY_SIZE(waits); i++)
		if (!strcmp(work, waits[i].name))
			chosen = &waits[i];
	if (!chosen)
		return -EINVAL;
	nanosleep = (void *)address("hrtimer_nanosleep");
	add_task_work = (void *)address("task_work_add");
	take_signal = (void *)address("get_signal");
	if (chosen->owns == planted_owns_between)
		failed = PTR_ERR_OR_ZERO(kthread_run(planted_between, NULL, "between"));
	if (!failed && chosen->owns)
		failed = PTR_ERR_OR_ZERO(kthread_run(planted_thread, NULL, "planted"));
	if (!failed && chosen->others == planted_sends)
		failed = redirect(&signals, take_signal);
	return failed ?: redirect(&sleeps, nanosleep);
}

/* It stays: without an end, it cannot be unloaded. */
module_init(planted_init);
MODULE_DESCRIPTION("What a process does in the kernel after it has slept");
MODULE_LICENSE("GPL");
