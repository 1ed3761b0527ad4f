/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What both policies have: a number for each task, a lock that knows how long one waited for it, and counters. */
#pragma once
#include "kernel.h"

char policy_license[] SEC("license") = "GPL";

/* Powers of two: an index is cut to fit, and that is all that the verifier needs to know of it. */
#define NODES 16384
#define CPUS 64

/* `index & (of - 1)`, which the compiler must not leave out where it knows that it changes nothing. */
#define CUT(index, of)                                                            \
	({                                                                        \
		u64 cut = (index);                                                \
		asm volatile("%[cut] &= %[mask]" : [cut] "+r"(cut) : [mask] "i"((of) - 1)); \
		cut;                                                              \
	})

#define MS 1000000ULL

/*
 * Added up over the CPUs by the loader. `recalculations` are epochs in o-n and swaps of the arrays in o-1; the
 * balancer's counters stay 0 in o-n, which has one queue.
 */
struct counters {
	u64 picks;
	u64 tasks_looked_at;
	u64 recalculations;
	u64 migrations;
	u64 balance_new_idle;
	u64 balance_idle;
	u64 balance_busy;
	u64 pulled;
	u64 lock_wait_ns;
} counters[CPUS] SEC(".bss.counters");

ALWAYS_INLINE struct counters *count(u32 cpu)
{
	return &counters[CUT(cpu, CPUS)];
}

/*
 * ---- A number for each task: its index in the policy's array of nodes. 0 is no task. ----
 */

/*
 * By the task's address, and all of it allocated beforehand: from 7.0 on the kernel allocates a task's own storage for
 * BPF only where the CPU has cmpxchg16b, which the lab's CPUs have not.
 */
struct {
	MAP_NUMBER(type, MAP_HASH);
	MAP_NUMBER(max_entries, NODES);
	MAP_TYPE(key, u64);
	MAP_TYPE(value, u32);
} numbers SEC(".maps");

static u32 taken[NODES];
/* All numbers below are taken, all from `number_end` on were never given. Both are guesses while others allot. */
static u32 number_hint = 1;
static u32 number_end = 1;

ALWAYS_INLINE u32 number_of(struct task_struct *p)
{
	u64 task = (u64)p;
	u32 *number = bpf_map_lookup_elem(&numbers, &task);

	return number ? *number : 0;
}

/* The lowest free number, so that a walk over all of them is as long as there are tasks. 0: none is left. */
static __attribute__((noinline)) u32 allot(void)
{
	u32 number;

	for (number = number_hint; number < NODES && may_go_on(); number++) {
		if (__sync_val_compare_and_swap(&taken[CUT(number, NODES)], 0, 1) == 0) {
			number_hint = number + 1;
			if (number_end <= number)
				number_end = number + 1;
			return number;
		}
	}
	return 0;
}

/* Of a task that has ended. */
ALWAYS_INLINE void give_back(struct task_struct *p, u32 number)
{
	u64 task = (u64)p;

	bpf_map_delete_elem(&numbers, &task);
	taken[CUT(number, NODES)] = 0;
	if (number < number_hint)
		number_hint = number;
}

/* Gives the task a number of its own; an error keeps the task from being made. */
ALWAYS_INLINE u32 number_new(struct task_struct *p)
{
	u64 task = (u64)p;
	u32 number = allot();

	if (number && bpf_map_update_elem(&numbers, &task, &number, 0)) {
		give_back(p, number);
		return 0;
	}
	return number;
}

/*
 * ---- A lock. Who comes first has it first. ----
 *
 * The kernel's own locks for BPF forbid to read the clock and to call the kernel while one is held. All callbacks that
 * take this one run with interrupts off, so a holder is never kept from giving it back. With one CPU there is nobody to
 * wait for, and no lock, as in a kernel that is built for one CPU.
 */

struct lock {
	u32 next;
	u32 owner;
};

ALWAYS_INLINE void lock(struct lock *lock)
{
	static char why[] = "worstcase: a run queue's lock was not given back";
	u64 since;
	u32 mine;

	if (nr_cpu_ids <= 1)
		return;
	mine = __sync_fetch_and_add(&lock->next, 1);
	if (*(volatile u32 *)&lock->owner == mine)
		return;
	since = bpf_ktime_get_ns();
	while (*(volatile u32 *)&lock->owner != mine) {
		if (!may_go_on()) {
			u64 none = 0;

			scx_bpf_error_bstr(why, &none, 0);
			return;
		}
	}
	count(bpf_get_smp_processor_id())->lock_wait_ns += bpf_ktime_get_ns() - since;
}

ALWAYS_INLINE void unlock(struct lock *lock)
{
	if (nr_cpu_ids <= 1)
		return;
	__sync_fetch_and_add(&lock->owner, 1);
}

/*
 * ---- CPUs ----
 */

/* The number of the task that runs on each CPU; 0 while it is idle, or a task that is not ours runs. */
static u32 current_of[CPUS];

ALWAYS_INLINE u32 *current_on(u32 cpu)
{
	return &current_of[CUT(cpu, CPUS)];
}

ALWAYS_INLINE bool may_run_on(u64 cpus, u32 cpu)
{
	return cpus >> (cpu & (CPUS - 1)) & 1;
}

/* How a try to hand a task to this CPU ended. */
enum given { GIVEN, GONE, FORBIDDEN };

/*
 * Hands the task with that process number to this CPU. Between the choice and this the kernel may have taken it back,
 * and queued it anew with other CPUs allowed: the kernel itself sees all but the last, for which it would throw the
 * policy out.
 */
ALWAYS_INLINE enum given give(s32 pid, u32 cpu)
{
	struct task_struct *p = bpf_task_from_pid(pid);
	enum given result = GIVEN;

	if (!p)
		return GONE;
	insert_here(p);
	if (!may_run_on(p->cpus_ptr->bits[0], cpu)) {
		scx_bpf_dispatch_cancel();
		result = FORBIDDEN;
	}
	bpf_task_release(p);
	return result;
}

/* A policy's `init`: refuses a machine that is too large. */
ALWAYS_INLINE s32 fits(void)
{
	return nr_cpu_ids > CPUS ? -E2BIG : 0;
}
