// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Delays a real-time process from inside the kernel, in ways that are known beforehand: ground truth for
 * `worstcase explain`. Each kind of work takes so many instructions:
 *
 *   insmod planted.ko work=timer|storm|tasklet|spin|preempt instructions=150000
 *
 *   timer    a timer's function, every 250 us
 *   storm    16 timers' functions, one due every 2 us, all of them every ms
 *   tasklet  a tasklet, which a timer raises every 250 us
 *   spin     a thread holds a raw spin lock for so long, again and again
 *   preempt  a thread keeps preemption off for so long, again and again
 */
#include <linux/interrupt.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <linux/string.h>

#include "compat.h"

static char *work = "timer";
module_param(work, charp, 0);
static unsigned long instructions = 150000;
module_param(instructions, ulong, 0);

#define PERIOD ns_to_ktime(250 * NSEC_PER_USEC)

#define STORM 16
#define STORM_STEP (2 * NSEC_PER_USEC)
#define STORM_PERIOD ns_to_ktime(NSEC_PER_MSEC)

static struct hrtimer timer;
static bool ticks;
static struct hrtimer storm[STORM];
static bool storms;
static struct tasklet_struct tasklet;
static struct task_struct *thread;
static DEFINE_RAW_SPINLOCK(lock);

static noinline void planted_work(void)
{
	unsigned long rounds = instructions / 2;

	asm volatile(ROUNDS : "+r"(rounds) : : "cc");
}

static noinline enum hrtimer_restart planted_timer(struct hrtimer *expired)
{
	planted_work();
	hrtimer_forward_now(expired, PERIOD);
	return HRTIMER_RESTART;
}

static noinline enum hrtimer_restart planted_storm(struct hrtimer *expired)
{
	planted_work();
	hrtimer_forward_now(expired, STORM_PERIOD);
	return HRTIMER_RESTART;
}

static noinline enum hrtimer_restart planted_raise(struct hrtimer *expired)
{
	tasklet_schedule(&tasklet);
	hrtimer_forward_now(expired, PERIOD);
	return HRTIMER_RESTART;
}

static noinline void planted_tasklet(struct tasklet_struct *raised)
{
	planted_work();
	/* Else the compiler jumps to the work, and no call chain has this function. */
	barrier();
}

static noinline void planted_spin(void)
{
	raw_spin_lock(&lock);
	planted_work();
	raw_spin_unlock(&lock);
}

static noinline void planted_preempt(void)
{
	preempt_disable();
	planted_work();
	preempt_enable();
}

static int planted_thread(void *section)
{
	while (!kthread_should_stop()) {
		((void (*)(void))section)();
		cond_resched();
	}
	return 0;
}

static int begin_thread(void (*section)(void))
{
	thread = kthread_run(planted_thread, section, "planted");
	return PTR_ERR_OR_ZERO(thread);
}

static int begin_timer(enum hrtimer_restart (*function)(struct hrtimer *))
{
	setup_timer(&timer, function);
	ticks = true;
	hrtimer_start(&timer, PERIOD, HRTIMER_MODE_REL_HARD);
	return 0;
}

/* Each keeps its place behind the others: the next time is counted from when it was due. */
static int begin_storm(void)
{
	int i;

	storms = true;
	for (i = 0; i < STORM; i++) {
		setup_timer(&storm[i], planted_storm);
		hrtimer_start(&storm[i], ktime_add_ns(PERIOD, i * STORM_STEP), HRTIMER_MODE_REL_HARD);
	}
	return 0;
}

static int __init planted_init(void)
{
	tasklet_setup(&tasklet, planted_tasklet);
	if (!strcmp(work, "timer"))
		return begin_timer(planted_timer);
	if (!strcmp(work, "storm"))
		return begin_storm();
	if (!strcmp(work, "tasklet"))
		return begin_timer(planted_raise);
	if (!strcmp(work, "spin"))
		return begin_thread(planted_spin);
	if (!strcmp(work, "preempt"))
		return begin_thread(planted_preempt);
	return -EINVAL;
}

static void __exit planted_exit(void)
{
	int i;

	if (thread)
		kthread_stop(thread);
	if (ticks)
		hrtimer_cancel(&timer);
	if (storms)
		for (i = 0; i < STORM; i++)
			hrtimer_cancel(&storm[i]);
	tasklet_kill(&tasklet);
}

module_init(planted_init);
module_exit(planted_exit);
MODULE_DESCRIPTION("Delays a real-time process in ways that are known beforehand");
MODULE_LICENSE("GPL");
