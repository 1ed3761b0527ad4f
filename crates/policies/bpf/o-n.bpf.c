// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * o-n: the scheduler of Linux 2.4 as a policy. One run queue under one lock for all CPUs; each choice looks at every
 * task on it.
 *
 * Written from descriptions: Linux-Magazin 02/2004 (the O(n) scheduler beside that of 2.6), D. Bovet and M. Cesati,
 * Understanding the Linux Kernel, 2nd edition, chapter 11, and the kernel's Documentation/scheduler/sched-ext.rst.
 *
 *   goodness   0 if the task's counter is used up, otherwise what is left of it + 20 - nice, + 1 if it shares the
 *              memory of the task before it, + 15 if it last ran on this CPU (several CPUs only). A task that yields
 *              counts -1 for that one choice.
 *   epoch      when every task that could run has a counter of 0: counter / 2 + (20 - nice) / 4 + 1 for all tasks that
 *              exist, also those that sleep. 6 ticks of 10 ms at nice 0.
 *   wake-up    to an idle CPU: the last one, otherwise that which is idle for longest; otherwise to the CPU whose task
 *              has the lowest goodness, if it is lower by more than 1.
 *   fork       parent and child share the parent's counter; a task that ends gives its rest to its parent.
 *
 * Where it differs from 2.4:
 *   - Only SCHED_OTHER, BATCH and IDLE tasks are chosen here. FIFO and RR stay with the kernel, and a task that they
 *     preempt goes on after them without a choice.
 *   - Tasks that are pinned for a moment (migrate_disable) or about to exit are given to their CPU by the kernel.
 *   - Ticks are those of 10 ms on a grid, seen at the next tick of the kernel (4 ms with HZ=250).
 *   - A synchronous wake-up looks for no CPU. On one CPU sched_ext does not tell which wake-ups are.
 *   - A CPU that goes idle looks at the queue once more: the choice and going idle are not one step under the lock.
 */
#include "policy.h"

#define TICK_NS (10 * MS)
#define COUNTER_MAX 20
#define BONUS_MEMORY 1
#define BONUS_CPU 15
#define PREEMPTS_FROM 2

struct node {
	/* The run queue: a ring whose head is node 0. A running task stays on it and is skipped. */
	u32 next;
	u32 previous;
	s32 pid;
	/* Ticks left in this epoch. */
	s32 counter;
	s32 nice;
	u32 cpu;
	u64 cpus;
	u64 memory;
	bool on_queue;
	/* The kernel handed it to us, and nobody chose it yet. */
	bool waits;
	bool yields;
	/* The wake-up has found its CPU. */
	bool placed;
};

static struct node nodes[NODES];
static struct lock queue_lock;
static u32 running_total;
static u64 memory_of[CPUS];
static u64 tick_of[CPUS];
static u64 idle_since[CPUS];

ALWAYS_INLINE struct node *node(u32 number)
{
	return &nodes[CUT(number, NODES)];
}

ALWAYS_INLINE s32 ticks(s32 nice)
{
	return ((u32)(20 - nice) >> 2) + 1;
}

ALWAYS_INLINE s32 goodness(struct node *n, u32 cpu, u64 memory)
{
	s32 good = n->counter;

	if (n->yields)
		return -1;
	if (!good)
		return 0;
	if (nr_cpu_ids > 1 && n->cpu == cpu)
		good += BONUS_CPU;
	if (!n->memory || n->memory == memory)
		good += BONUS_MEMORY;
	return good + 20 - n->nice;
}

/* ---- The queue; its lock is held ---- */

ALWAYS_INLINE void link_after(u32 number, u32 place)
{
	struct node *n = node(number);
	u32 next = node(place)->next;

	n->previous = place;
	n->next = next;
	node(place)->next = number;
	node(next)->previous = number;
}

ALWAYS_INLINE void unlink(struct node *n)
{
	node(n->previous)->next = n->next;
	node(n->next)->previous = n->previous;
}

ALWAYS_INLINE void epoch(u32 cpu)
{
	u32 number;

	count(cpu)->recalculations++;
	for (number = FROM(1); number < number_end && may_go_on(); number++) {
		struct node *n = node(number);

		n->counter = (n->counter >> 1) + ticks(n->nice);
	}
}

/*
 * The first task with the highest goodness, in the lower half, and its goodness in the upper. `previous` may go on
 * running (0: it may not).
 */
static __attribute__((noinline)) u64 look(u32 cpu, u32 previous)
{
	u64 memory = memory_of[CUT(cpu, CPUS)];
	u64 looked = 0;
	u32 number, best = 0;
	s32 most = -1000;

	if (previous) {
		best = previous;
		most = goodness(node(previous), cpu, memory);
	}
	for (number = nodes[0].next; number && may_go_on(); number = node(number)->next) {
		struct node *n = node(number);
		s32 good;

		looked++;
		if (!n->waits || !may_run_on(n->cpus, cpu))
			continue;
		good = goodness(n, cpu, memory);
		if (good > most) {
			most = good;
			best = number;
		}
	}
	count(cpu)->tasks_looked_at += looked;
	return (u64)(u32)most << 32 | best;
}

/* Takes the next task of that CPU out of the queue's waiting ones; 0: there is none. */
static __attribute__((noinline)) u32 choose(u32 cpu, u32 previous)
{
	u64 choice = look(cpu, previous);
	u32 best;

	/* Everybody who could run has used up his counter. */
	if (choice >> 32 == 0 && (u32)choice) {
		epoch(cpu);
		choice = look(cpu, previous);
	}
	best = choice;
	if (best)
		node(best)->waits = false;
	return best;
}

/* ---- Which CPU ---- */

/* Claims an idle CPU for a task that may run on `cpus`; -1: there is none. */
ALWAYS_INLINE s32 idle_cpu(u64 cpus, u32 last)
{
	u64 oldest = ~0ULL;
	s32 found = -1;
	u32 cpu;

	if (nr_cpu_ids <= 1)
		return -1;
	if (may_run_on(cpus, last) && scx_bpf_test_and_clear_cpu_idle(last))
		return last;
	for (cpu = FROM(0); cpu < nr_cpu_ids && cpu < CPUS && may_go_on(); cpu++) {
		u64 since = idle_since[CUT(cpu, CPUS)];

		if (since && since < oldest && !*current_on(cpu) && may_run_on(cpus, cpu)) {
			oldest = since;
			found = cpu;
		}
	}
	return found >= 0 && scx_bpf_test_and_clear_cpu_idle(found) ? found : -1;
}

/* Finds a CPU for a task that waits, and tells it: 2.4's reschedule_idle. */
ALWAYS_INLINE void find_cpu(struct node *n)
{
	s32 idle = idle_cpu(n->cpus, n->cpu);
	s32 most = PREEMPTS_FROM - 1, target = -1;
	u32 cpu;

	if (idle >= 0) {
		scx_bpf_kick_cpu(idle, __SCX_KICK_IDLE);
		return;
	}
	for (cpu = FROM(0); cpu < nr_cpu_ids && cpu < CPUS && may_go_on(); cpu++) {
		u64 memory = memory_of[CUT(cpu, CPUS)];
		u32 other = *current_on(cpu);
		s32 better;

		if (!other || !may_run_on(n->cpus, cpu))
			continue;
		better = goodness(n, cpu, memory) - goodness(node(other), cpu, memory);
		if (better > most) {
			most = better;
			target = cpu;
		}
	}
	if (target >= 0)
		scx_bpf_kick_cpu(target, __SCX_KICK_PREEMPT);
}

/* ---- Callbacks ---- */

SEC("struct_ops/select_cpu")
s32 select_cpu(u64 *ctx)
{
	struct task_struct *p = (void *)ctx[0];
	s32 last = ctx[1], cpu;
	u64 cpus = p->cpus_ptr->bits[0];
	struct node *n = node(number_of(p));

	cpu = bpf_get_smp_processor_id();
	if (ctx[2] & __SCX_WAKE_SYNC && may_run_on(cpus, cpu)) {
		n->placed = true;
		return cpu;
	}
	cpu = idle_cpu(cpus, last);
	n->placed = cpu >= 0;
	return cpu >= 0 ? cpu : last;
}

SEC("struct_ops/runnable")
s32 runnable(u64 *ctx)
{
	u32 number = number_of((void *)ctx[0]);
	struct node *n = node(number);

	if (!number)
		return 0;
	lock(&queue_lock);
	if (!n->on_queue) {
		n->on_queue = true;
		link_after(number, 0);
		running_total++;
	}
	unlock(&queue_lock);
	return 0;
}

ALWAYS_INLINE void leave(u32 number)
{
	struct node *n = node(number);

	lock(&queue_lock);
	n->waits = false;
	if (n->on_queue) {
		n->on_queue = false;
		unlink(n);
		running_total--;
	}
	unlock(&queue_lock);
}

SEC("struct_ops/quiescent")
s32 quiescent(u64 *ctx)
{
	u32 number = number_of((void *)ctx[0]);

	if (number)
		leave(number);
	return 0;
}

SEC("struct_ops/enqueue")
s32 enqueue(u64 *ctx)
{
	struct task_struct *p = (void *)ctx[0];
	u32 number = number_of(p);
	struct node *n = node(number);
	bool settled;

	if (!number)
		return 0;
	n->pid = p->pid;
	n->cpus = p->cpus_ptr->bits[0];
	n->nice = p->static_prio - 120;
	n->memory = (u64)p->mm;
	settled = n->placed || n->yields;
	n->placed = false;
	n->yields = false;
	lock(&queue_lock);
	n->waits = true;
	unlock(&queue_lock);
	if (!settled)
		find_cpu(n);
	return 0;
}

/* The kernel takes a waiting task back: it sleeps, or something of it changes. */
SEC("struct_ops/dequeue")
s32 dequeue(u64 *ctx)
{
	node(number_of((void *)ctx[0]))->waits = false;
	return 0;
}

SEC("struct_ops/dispatch")
s32 dispatch(u64 *ctx)
{
	struct task_struct *prev = (void *)ctx[1];
	u32 cpu = (s32)ctx[0];
	u32 previous = 0, best;

	if (prev) {
		previous = number_of(prev);
		if (!node(previous)->on_queue)
			previous = 0;
	}
	while (may_go_on()) {
		struct node *n;

		lock(&queue_lock);
		best = choose(cpu, previous);
		unlock(&queue_lock);
		if (!best)
			return 0;
		n = node(best);
		if (best == previous) {
			n->yields = false;
			count(cpu)->picks++;
			if (prev)
				set_slice(prev, __SCX_SLICE_INF);
			return 0;
		}
		switch (give(n->pid, cpu)) {
		case GIVEN:
			count(cpu)->picks++;
			if (n->cpu != cpu)
				count(cpu)->migrations++;
			return 0;
		case FORBIDDEN: /* queued anew meanwhile, and its node says for which CPUs */
		case GONE:
			break;
		}
	}
	return 0;
}

SEC("struct_ops/running")
s32 running(u64 *ctx)
{
	struct task_struct *p = (void *)ctx[0];
	u32 cpu = scx_bpf_task_cpu(p);
	u32 number = number_of(p);

	node(number)->cpu = cpu;
	node(number)->waits = false;
	*current_on(cpu) = number;
	/* A kernel thread runs in the memory of the one before it. */
	if (p->mm)
		memory_of[CUT(cpu, CPUS)] = (u64)p->mm;
	return 0;
}

SEC("struct_ops/stopping")
s32 stopping(u64 *ctx)
{
	*current_on(scx_bpf_task_cpu((struct task_struct *)ctx[0])) = 0;
	return 0;
}

SEC("struct_ops/tick")
s32 tick(u64 *ctx)
{
	struct task_struct *p = (void *)ctx[0];
	u32 cpu = scx_bpf_task_cpu(p);
	struct node *n = node(number_of(p));
	u64 now = scx_bpf_now() / TICK_NS;

	if (tick_of[CUT(cpu, CPUS)] == now)
		return 0;
	tick_of[CUT(cpu, CPUS)] = now;
	if (n->counter > 0)
		n->counter--;
	if (n->counter <= 0) {
		n->counter = 0;
		set_slice(p, 0);
	}
	return 0;
}

/* Says nothing if nobody waits, as 2.4: the call is over at once. */
SEC("struct_ops/yield")
s32 yield(u64 *ctx)
{
	struct task_struct *p = (void *)ctx[0];
	u32 number = number_of(p), cpu, busy = 0;
	struct node *n = node(number);

	for (cpu = FROM(0); cpu < nr_cpu_ids && cpu < CPUS && may_go_on(); cpu++)
		busy += *current_on(cpu) != 0;
	if (!number || running_total <= busy)
		return 0;
	n->yields = true;
	lock(&queue_lock);
	if (n->on_queue) {
		unlink(n);
		link_after(number, nodes[0].previous);
	}
	unlock(&queue_lock);
	set_slice(p, 0);
	return 0;
}

/* A task may have come between this CPU's choice and now, when it is seen to be idle. */
SEC("struct_ops/update_idle")
s32 update_idle(u64 *ctx)
{
	u32 cpu = (s32)ctx[0], number;
	bool somebody = false;

	idle_since[CUT(cpu, CPUS)] = ctx[1] & 0xff ? scx_bpf_now() : 0;
	if (!(ctx[1] & 0xff) || !running_total || nr_cpu_ids <= 1)
		return 0;
	lock(&queue_lock);
	for (number = nodes[0].next; number && !somebody && may_go_on(); number = node(number)->next)
		somebody = node(number)->waits && may_run_on(node(number)->cpus, cpu);
	unlock(&queue_lock);
	if (somebody)
		scx_bpf_kick_cpu(cpu, __SCX_KICK_IDLE);
	return 0;
}

SEC("struct_ops.s/init_task")
s32 init_task(u64 *ctx)
{
	struct task_struct *p = (void *)ctx[0];
	struct scx_init_task_args *args = (void *)ctx[1];
	u32 number = number_new(p);
	struct node *n = node(number);

	if (!number)
		return -ENOMEM;
	*n = (struct node){};
	n->nice = p->static_prio - 120;
	n->counter = ticks(n->nice);
	if (args->fork) {
		struct node *parent = node(number_of(bpf_get_current_task_btf()));

		n->counter = (parent->counter + 1) >> 1;
		parent->counter >>= 1;
	}
	return 0;
}

SEC("struct_ops/exit_task")
s32 exit_task(u64 *ctx)
{
	struct task_struct *p = (void *)ctx[0];
	u32 number = number_of(p);
	u32 parent = number_of(p->real_parent);
	s32 counter;

	if (!number)
		return 0;
	leave(number);
	if (parent) {
		counter = node(parent)->counter + node(number)->counter;
		node(parent)->counter = counter > COUNTER_MAX ? COUNTER_MAX : counter;
	}
	give_back(p, number);
	return 0;
}

SEC("struct_ops.s/init")
s32 init(u64 *ctx)
{
	return fits();
}

SEC(".struct_ops.link")
struct sched_ext_ops o_n = {
	.select_cpu = select_cpu,
	.enqueue = enqueue,
	.dequeue = dequeue,
	.dispatch = dispatch,
	.tick = tick,
	.runnable = runnable,
	.running = running,
	.stopping = stopping,
	.quiescent = quiescent,
	.yield = yield,
	.update_idle = update_idle,
	.init_task = init_task,
	.exit_task = exit_task,
	.init = init,
	.flags = 1, /* SCX_OPS_KEEP_BUILTIN_IDLE: update_idle beside the kernel's own mask of idle CPUs */
	.name = "o_n",
};
