// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A thread without priority that runs one section after the other, each of so many instructions:
 *
 *   insmod sections.ko work=NAME instructions=150000
 *
 *   raw       a raw spin lock            irqsoff   interrupts off, without a lock
 *   lock      a spin lock                bh        bottom halves off
 *   rwlock    a reader-writer lock       trylock   a raw spin lock, within which another is tried twice: got and given back,
 *   irqsave   a raw spin lock, with                and not got
 *             interrupts off             hand      two raw spin locks hand over hand: the work is under the second
 *   spins     a thread on each CPU: that on CPU 0 holds a raw spin lock, for which the others wait
 */
#include <linux/bottom_half.h>
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <linux/spinlock.h>
#include <linux/string.h>

#include "planted.h"

static DEFINE_RAW_SPINLOCK(first);
static DEFINE_RAW_SPINLOCK(second);
static DEFINE_SPINLOCK(sleeping);
static DEFINE_RWLOCK(shared);

static noinline void planted_raw(void)
{
	raw_spin_lock(&first);
	planted_work();
	raw_spin_unlock(&first);
}

static noinline void planted_lock(void)
{
	spin_lock(&sleeping);
	planted_work();
	spin_unlock(&sleeping);
}

static noinline void planted_rwlock(void)
{
	read_lock(&shared);
	planted_work();
	read_unlock(&shared);
}

static noinline void planted_irqsave(void)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&first, flags);
	planted_work();
	raw_spin_unlock_irqrestore(&first, flags);
}

static noinline void planted_irqsoff(void)
{
	unsigned long flags;

	local_irq_save(flags);
	planted_work();
	local_irq_restore(flags);
}

static noinline void planted_bh(void)
{
	local_bh_disable();
	planted_work();
	local_bh_enable();
}

static noinline void planted_try(void)
{
	if (raw_spin_trylock(&second))
		raw_spin_unlock(&second);
	/* One's own lock is not to be had a second time. */
	if (raw_spin_trylock(&first))
		raw_spin_unlock(&first);
}

static noinline void planted_trylock(void)
{
	raw_spin_lock(&first);
	planted_try();
	planted_work();
	raw_spin_unlock(&first);
}

static noinline void planted_before(void)
{
	raw_spin_lock(&first);
	barrier();
}

static noinline void planted_after(void)
{
	raw_spin_lock(&second);
	raw_spin_unlock(&first);
	planted_work();
	raw_spin_unlock(&second);
}

static noinline void planted_hand(void)
{
	planted_before();
	planted_after();
	barrier();
}

static noinline void planted_spins(void)
{
	raw_spin_lock(&first);
	if (!raw_smp_processor_id())
		planted_work();
	raw_spin_unlock(&first);
	/* The others have their turn. */
	if (!raw_smp_processor_id())
		udelay(50);
}

static const struct {
	const char *name;
	void (*run)(void);
} sections[] = {
	{ "raw", planted_raw },		{ "lock", planted_lock },	{ "rwlock", planted_rwlock },
	{ "irqsave", planted_irqsave },	{ "irqsoff", planted_irqsoff },	{ "bh", planted_bh },
	{ "trylock", planted_trylock },	{ "hand", planted_hand },	{ "spins", planted_spins },
};

static int planted_thread(void *run)
{
	while (!kthread_should_stop()) {
		((void (*)(void))run)();
		cond_resched();
	}
	return 0;
}

static int begin(void (*run)(void))
{
	unsigned int cpu;

	if (run != planted_spins)
		return PTR_ERR_OR_ZERO(kthread_run(planted_thread, run, "planted"));
	for_each_online_cpu(cpu) {
		struct task_struct *thread = kthread_create(planted_thread, run, "planted/%u", cpu);

		if (IS_ERR(thread))
			return PTR_ERR(thread);
		kthread_bind(thread, cpu);
		wake_up_process(thread);
	}
	return 0;
}

static int __init planted_init(void)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(sections); i++)
		if (!strcmp(work, sections[i].name))
			return begin(sections[i].run);
	return -EINVAL;
}

/* It stays: without an end, it cannot be unloaded. */
module_init(planted_init);
MODULE_DESCRIPTION("Sections in which a real-time process has to wait");
MODULE_LICENSE("GPL");
