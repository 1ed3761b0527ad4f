// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Work that the kernel does for somebody else, or later, of so many instructions each time:
 *
 *   insmod deferred.ko work=NAME instructions=150000
 *
 *   irqwork   an irq_work, every 250 us       thread    a thread of priority 99, every 250 us
 *   hardwork  one that is marked hard         rcu       functions that RCU calls, 100 in one go
 *   work      a work item without a           release   closes of /proc/planted: a raw spin lock in close(2)
 *             reschedule point                stop      stop_machine(), again and again
 *   ipi       a call of every other CPU,      call      closes of /proc/planted: a long system call
 *             every 250 us
 */
#include <linux/delay.h>
#include <linux/irq_work.h>
#include <linux/kthread.h>
#include <linux/proc_fs.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/spinlock.h>
#include <linux/stop_machine.h>
#include <linux/string.h>
#include <linux/workqueue.h>
#include <uapi/linux/sched/types.h>

#include "planted.h"

#define PERIOD ns_to_ktime(250 * NSEC_PER_USEC)
#define CALLS 100

static struct hrtimer timer;
static struct irq_work irqwork;
static struct work_struct item;
static struct task_struct *fifo;
static DEFINE_RAW_SPINLOCK(lock);

static noinline void planted_irq_work(struct irq_work *unused)
{
	planted_work();
	barrier();
}

static noinline void planted_item(struct work_struct *again)
{
	planted_work();
	queue_work(system_wq, again);
}

static noinline void planted_call(void *unused)
{
	planted_work();
	barrier();
}

static noinline int planted_stop(void *unused)
{
	planted_work();
	return 0;
}

static noinline void planted_rcu(struct rcu_head *head)
{
	unsigned long all = instructions;

	/* Each has its part. */
	instructions = all / CALLS;
	planted_work();
	instructions = all;
	kfree(head);
}

static noinline int planted_release(struct inode *inode, struct file *file)
{
	raw_spin_lock(&lock);
	planted_work();
	raw_spin_unlock(&lock);
	return 0;
}

static noinline int planted_long(struct inode *inode, struct file *file)
{
	planted_work();
	barrier();
	return 0;
}

static const struct proc_ops long_call = { .proc_release = planted_long };
static const struct proc_ops operations = { .proc_release = planted_release };

static int planted_above(void *unused)
{
	struct sched_attr attributes = { .sched_policy = SCHED_FIFO, .sched_priority = 99 };

	sched_setattr_nocheck(current, &attributes);
	for (;;) {
		set_current_state(TASK_INTERRUPTIBLE);
		schedule();
		planted_work();
	}
	return 0;
}

static int planted_stopper(void *unused)
{
	for (;;) {
		stop_machine(planted_stop, NULL, NULL);
		usleep_range(300, 310);
	}
	return 0;
}

static int planted_caller(void *unused)
{
	for (;;) {
		smp_call_function(planted_call, NULL, 0);
		usleep_range(250, 260);
	}
	return 0;
}

static int planted_freer(void *unused)
{
	struct rcu_head *head;
	int n;

	for (;;) {
		for (n = 0; n < CALLS; n++) {
			head = kmalloc(sizeof(*head), GFP_KERNEL);
			if (head)
				call_rcu(head, planted_rcu);
		}
		usleep_range(1000, 1100);
	}
	return 0;
}

static enum hrtimer_restart planted_tick(struct hrtimer *expired)
{
	if (fifo)
		wake_up_process(fifo);
	else
		irq_work_queue(&irqwork);
	hrtimer_forward_now(expired, PERIOD);
	return HRTIMER_RESTART;
}

static int ticking(void)
{
	setup_timer(&timer, planted_tick);
	hrtimer_start(&timer, PERIOD, HRTIMER_MODE_REL_HARD);
	return 0;
}

static int thread(int (*function)(void *))
{
	fifo = kthread_run(function, NULL, "planted");
	return PTR_ERR_OR_ZERO(fifo);
}

static int __init planted_init(void)
{
	irqwork = IRQ_WORK_INIT(planted_irq_work);
	if (!strcmp(work, "irqwork"))
		return ticking();
	irqwork = IRQ_WORK_INIT_HARD(planted_irq_work);
	if (!strcmp(work, "hardwork"))
		return ticking();
	if (!strcmp(work, "thread"))
		return thread(planted_above) ?: ticking();
	if (!strcmp(work, "rcu"))
		return thread(planted_freer);
	if (!strcmp(work, "stop"))
		return thread(planted_stopper);
	if (!strcmp(work, "ipi"))
		return thread(planted_caller);
	if (!strcmp(work, "release"))
		return proc_create("planted", 0400, NULL, &operations) ? 0 : -ENOMEM;
	if (!strcmp(work, "call"))
		return proc_create("planted", 0400, NULL, &long_call) ? 0 : -ENOMEM;
	INIT_WORK(&item, planted_item);
	return !strcmp(work, "work") && queue_work(system_wq, &item) ? 0 : -EINVAL;
}

/* It stays: without an end, it cannot be unloaded. */
module_init(planted_init);
MODULE_DESCRIPTION("Work that the kernel does later, or for others");
MODULE_LICENSE("GPL");
