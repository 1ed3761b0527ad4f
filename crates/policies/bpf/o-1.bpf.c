// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * o-1: the scheduler of Linux 2.6.0 as a policy. A run queue for each CPU; a choice takes the first task of the first
 * list that is not empty, however many tasks there are.
 *
 * Written from descriptions: Linux-Magazin 02/2004, R. Love, Linux Kernel Development, 2nd edition, chapter 4, and the
 * kernel's Documentation/scheduler/sched-ext.rst.
 *
 *   arrays      active and expired: 140 lists each, one a priority, and a bitmap of those that are not empty. When
 *               nothing is active any more, the two change places.
 *   priority    120 + nice, less a bonus of -5 to 5 for how long a task slept lately (up to 1 s counts), in 100 to 139.
 *   timeslice   10 to 200 ms by nice, 102 ms at 0. When it is used up, the task expires. An interactive one stays
 *               active, unless the expired ones starve or one of better nice is among them.
 *   yield       expires, with its time left.
 *   wake-up     on the CPU that it last ran on (a synchronous one: on this one); preempts what has a worse priority.
 *   fork        parent and child share the parent's timeslice.
 *   balancer    each CPU pulls for itself: when its queue is empty, every 1 ms while it is idle, every 200 ms while it
 *               is busy. From the longest queue, if that is longer by a quarter; expired tasks first, and of those the
 *               best priority; none that runs or may not run here. A busy CPU takes half of the difference, but none
 *               that ran a moment ago; an idle one takes one, whenever that ran.
 *
 * Where it differs from 2.6.0:
 *   - Only SCHED_OTHER, BATCH and IDLE tasks are chosen here. FIFO and RR stay with the kernel, and a task that they
 *     preempt goes on after them without a choice.
 *   - Tasks that are pinned for a moment (migrate_disable) or about to exit are given to their CPU by the kernel.
 *   - A running task is on no list, and goes back to where it would have stayed.
 *   - Time is counted in ns. That a timeslice is used up is seen at the next tick of the kernel (4 ms with HZ=250).
 *   - No credit for interactivity, and interactive tasks of one priority do not take turns within a timeslice.
 *   - An idle CPU has no tick and is asked to balance from elsewhere: at the first wake-up or tick on some CPU after
 *     1 ms. (The kernel gives BPF no timer where the CPU has no cmpxchg16b, as the lab's have not.)
 *   - Loads are compared as they are. 2.6 takes the lower of now and the time before while it is busy.
 */
#include "policy.h"

#define PRIORITIES 140
#define BEST_PRIORITY 100
#define NICE_0 120
#define BONUS_MAX 10
#define SLEEP_MAX_NS (1000 * MS)
#define SLICE_MIN_NS (10 * MS)
#define SLICE_MAX_NS (200 * MS)
#define IDLE_BALANCE_NS (1 * MS)
#define BUSY_BALANCE_NS (200 * MS)
/*
 * Who ran that lately has its data in that CPU's cache. 2.6 computed how long it takes to fill the cache again, from
 * its size and the speed of memory: about 1.5 ms for the 512 kB of the time.
 */
#define CACHE_HOT_NS (2 * MS)

struct node {
	/* Neighbours on the list; 0: none. */
	u32 next;
	u32 previous;
	/* The CPU whose queue it is on or was last on; its lock guards this and what is above. */
	u32 cpu;
	u32 ran_on;
	s32 pid;
	u32 priority;
	u32 static_priority;
	/* The array that it is in, plus 1; 0: in none. */
	u32 in;
	u64 cpus;
	u64 sleep_ns;
	s64 slice_ns;
	/* Until when its time is counted, running or sleeping. */
	u64 counted_to;
	bool runnable;
	/* The kernel handed it to us, and nobody chose it yet. */
	bool waits;
	bool slept;
	bool fresh;
	bool first_slice;
	bool used_up;
	bool yields;
};

struct list {
	u32 first;
	u32 last;
};

struct queue {
	struct lock lock;
	/* Which of the two arrays is active. */
	u32 active;
	u32 tasks[2];
	u64 not_empty[2][3];
	/* Since when somebody waits in the expired array; 0: nobody does. */
	u64 expired_since;
	u32 best_expired;
	u64 balanced_at;
	bool idle;
	/* It was found idle while a task waits elsewhere. */
	bool asked;
};

enum cause { NEW_IDLE, IDLE, BUSY };

static struct node nodes[NODES];
static struct queue queues[CPUS];
/* By CPU, array and priority; 256 instead of 140, so that the index is made of bits. */
static struct list lists[CPUS * 2 * 256];

/* When idle CPUs were last asked to look for work. */
static u64 idle_asked_at;

ALWAYS_INLINE struct node *node(u32 number)
{
	return &nodes[CUT(number, NODES)];
}

ALWAYS_INLINE struct queue *queue(u32 cpu)
{
	return &queues[CUT(cpu, CPUS)];
}

ALWAYS_INLINE struct list *list(u32 cpu, u32 array, u32 priority)
{
	return &lists[CUT(cpu << 9 | (array & 1) << 8 | (priority & 255), CPUS * 2 * 256)];
}

/* ---- A queue's lock ---- */

static __attribute__((noinline)) s32 lock_queue(u32 cpu)
{
	lock(&queue(cpu)->lock);
	return 0;
}

ALWAYS_INLINE void unlock_queue(u32 cpu)
{
	unlock(&queue(cpu)->lock);
}

/* Locks the queue that the task is on, whichever it is by now. */
ALWAYS_INLINE u32 lock_queue_of(struct node *n)
{
	u32 cpu = n->cpu;

	lock_queue(cpu);
	while (*(volatile u32 *)&n->cpu != cpu && may_go_on()) {
		unlock_queue(cpu);
		cpu = n->cpu;
		lock_queue(cpu);
	}
	return cpu;
}

/* ---- The arrays; the queue's lock is held ---- */

static __attribute__((noinline)) s32 link(u32 number, u32 cpu, u32 array, bool at_head)
{
	struct node *n = node(number);
	struct queue *q = queue(cpu);
	u32 priority = n->priority;
	struct list *l = list(cpu, array, priority);

	array &= 1;
	n->cpu = cpu;
	n->in = array + 1;
	if (at_head) {
		n->previous = 0;
		n->next = l->first;
		if (l->first)
			node(l->first)->previous = number;
		else
			l->last = number;
		l->first = number;
	} else {
		n->next = 0;
		n->previous = l->last;
		if (l->last)
			node(l->last)->next = number;
		else
			l->first = number;
		l->last = number;
	}
	q->not_empty[array][(priority >> 6) & 1 ? 1 : (priority >> 7) & 1 ? 2 : 0] |= 1ULL << (priority & 63);
	q->tasks[array]++;
	return 0;
}

static __attribute__((noinline)) s32 unlink(u32 number)
{
	struct node *n = node(number);
	u32 cpu = n->cpu, priority = n->priority, array = (n->in - 1) & 1;
	struct queue *q = queue(cpu);
	struct list *l = list(cpu, array, priority);

	if (!n->in)
		return 0;
	if (n->previous)
		node(n->previous)->next = n->next;
	else
		l->first = n->next;
	if (n->next)
		node(n->next)->previous = n->previous;
	else
		l->last = n->previous;
	if (!l->first)
		q->not_empty[array][(priority >> 6) & 1 ? 1 : (priority >> 7) & 1 ? 2 : 0] &= ~(1ULL << (priority & 63));
	n->in = 0;
	q->tasks[array]--;
	return 0;
}

ALWAYS_INLINE u32 lowest_bit(u64 word)
{
	return __builtin_ctzll(word);
}

/* The best priority from `from` on that has tasks in the array; PRIORITIES: none. */
static __attribute__((noinline)) u32 find(u32 cpu, u32 array, u32 from)
{
	struct queue *q = queue(cpu);
	u64 mask = ~0ULL << (from & 63), word;

	array &= 1;
	if (from < 64) {
		word = q->not_empty[array][0] & mask;
		if (word)
			return lowest_bit(word);
		mask = ~0ULL;
	}
	if (from < 128) {
		word = q->not_empty[array][1] & (from < 64 ? ~0ULL : mask);
		if (word)
			return 64 + lowest_bit(word);
		mask = ~0ULL;
	}
	word = q->not_empty[array][2] & mask;
	return word ? 128 + lowest_bit(word) : PRIORITIES;
}

/* ---- Priorities and time ---- */

ALWAYS_INLINE u32 bonus(struct node *n)
{
	return n->sleep_ns * BONUS_MAX / SLEEP_MAX_NS;
}

ALWAYS_INLINE u32 priority_now(struct node *n)
{
	s32 priority = (s32)n->static_priority - ((s32)bonus(n) - BONUS_MAX / 2);

	return priority < BEST_PRIORITY ? BEST_PRIORITY : priority > PRIORITIES - 1 ? PRIORITIES - 1 : priority;
}

ALWAYS_INLINE u64 timeslice(struct node *n)
{
	u32 steps = PRIORITIES - 1 - n->static_priority;

	return SLICE_MIN_NS + (SLICE_MAX_NS - SLICE_MIN_NS) * steps / 39;
}

/* How much better than its nice value a task's priority must be to count as interactive: 2 at nice 0. */
ALWAYS_INLINE s32 interactive_from(struct node *n)
{
	s32 nice = (s32)n->static_priority - NICE_0;

	return nice < 0 ? 2 - (s32)((u32)-nice >> 2) : 2 + (s32)((u32)nice >> 2);
}

ALWAYS_INLINE bool interactive(struct node *n)
{
	return (s32)n->priority <= (s32)n->static_priority - interactive_from(n);
}

ALWAYS_INLINE u32 load(u32 cpu)
{
	return queue(cpu)->tasks[0] + queue(cpu)->tasks[1] + (*current_on(cpu) != 0);
}

/* Whether those in the expired array wait for too long, or deserve to run more than this one. */
ALWAYS_INLINE bool starving(struct queue *q, u32 cpu, struct node *n, u64 now)
{
	return (q->expired_since && now - q->expired_since >= SLEEP_MAX_NS * load(cpu)) ||
	       n->static_priority > q->best_expired;
}

/* What it ran since it was last counted comes off its timeslice and what it slept. */
ALWAYS_INLINE void count_run(struct node *n, u64 now)
{
	u64 ran = now - n->counted_to;

	n->counted_to = now;
	n->slice_ns -= ran;
	n->sleep_ns -= ran < n->sleep_ns ? ran : n->sleep_ns;
	if (n->slice_ns <= 0)
		n->used_up = true;
}

/* What it slept counts the more the less it slept before; a long sleep makes it just interactive. */
ALWAYS_INLINE void count_sleep(struct node *n, u64 now)
{
	u64 slept = now - n->counted_to, most = BONUS_MAX - bonus(n);
	u64 just = SLEEP_MAX_NS * (BONUS_MAX / 2 + interactive_from(n) + 1) / BONUS_MAX;

	n->counted_to = now;
	if (slept > just && just <= SLEEP_MAX_NS) {
		n->sleep_ns = SLEEP_MAX_NS - 102 * MS;
		return;
	}
	slept = (slept > SLEEP_MAX_NS ? SLEEP_MAX_NS : slept) * (most ? most : 1);
	n->sleep_ns = n->sleep_ns + slept > SLEEP_MAX_NS ? SLEEP_MAX_NS : n->sleep_ns + slept;
}

/* Puts a task where it belongs in the queue of that CPU, whose lock is held. */
static __attribute__((noinline)) s32 place(u32 number, u32 cpu, u64 now)
{
	struct node *n = node(number);
	struct queue *q = queue(cpu);
	bool expires = n->yields, at_head = !n->slept && !n->yields && !n->used_up;

	if (n->slept)
		count_sleep(n, now);
	n->priority = priority_now(n);
	if (n->used_up) {
		n->slice_ns = timeslice(n);
		n->first_slice = false;
		if (!interactive(n) || starving(q, cpu, n, now)) {
			expires = true;
			if (n->static_priority < q->best_expired)
				q->best_expired = n->static_priority;
		}
		if (!q->expired_since)
			q->expired_since = now;
	}
	n->slept = false;
	n->used_up = false;
	n->yields = false;
#ifdef WITHOUT_EXPIRED
	expires = false;
#endif
	return link(number, cpu, expires ? !q->active : q->active, at_head);
}

/* ---- The balancer ---- */

ALWAYS_INLINE bool may_pull(struct node *n, u32 to, u32 cause, u64 now)
{
	return n->waits && may_run_on(n->cpus, to) && (cause != BUSY || now - n->counted_to > CACHE_HOT_NS);
}

/* Pulls from the longest queue; gives the best priority that came, PRIORITIES if nothing did. */
static __attribute__((noinline)) u32 pull(u32 to, u32 cause)
{
	struct counters *c = count(to);
	u32 mine = load(to), most = mine, from = to, best = PRIORITIES;
	u32 cpu, array, priority, number, turn = FROM(0);
	u64 now = bpf_ktime_get_ns();
	s32 want;

	if (cause == BUSY)
		c->balance_busy++;
	else if (cause == IDLE)
		c->balance_idle++;
	else
		c->balance_new_idle++;
	for (cpu = FROM(0); cpu < nr_cpu_ids && cpu < CPUS && may_go_on(); cpu++) {
		if (load(cpu) > most) {
			most = load(cpu);
			from = cpu;
		}
	}
	if (from == to || (most - mine) * 4 < most)
		return PRIORITIES;
	want = cause == BUSY ? (most - mine) >> 1 : 1;
	if (!want)
		want = 1;

	/* Two locks: always that of the lower number first. */
	lock_queue(from < to ? from : to);
	lock_queue(from < to ? to : from);
	array = !queue(from)->active;
	priority = find(from, array, 0);
	number = priority < PRIORITIES ? list(from, array, priority)->last : 0;
	while (want > 0 && may_go_on()) {
		struct node *n = node(number);
		u32 before = n->previous;

		if (!number) {
			/* This list is done: the next one, then the active array. */
			priority = find(from, array, priority + 1);
			if (priority >= PRIORITIES) {
				if (turn)
					break;
				turn = 1;
				array = queue(from)->active;
				priority = find(from, array, 0);
				if (priority >= PRIORITIES)
					break;
			}
			number = list(from, array, priority)->last;
			continue;
		}
		c->tasks_looked_at++;
		if (may_pull(n, to, cause, now)) {
			unlink(number);
			link(number, to, turn ? queue(to)->active : !queue(to)->active, false);
			if (n->priority < best)
				best = n->priority;
			c->pulled++;
			want--;
		}
		number = before;
	}
	unlock_queue(to);
	unlock_queue(from);
	return best;
}

/*
 * Every 1 ms, has the idle CPUs look for work if a task waits elsewhere. There is no clock of its own: whatever happens
 * on some CPU looks whether it is time. No lock is held here; the idle CPUs pull for themselves.
 */
static __attribute__((noinline)) s32 wake_idle(u64 now)
{
	u64 before = idle_asked_at;
	bool waiting = false;
	u32 cpu;

	if (now - before < IDLE_BALANCE_NS || __sync_val_compare_and_swap(&idle_asked_at, before, now) != before)
		return 0;
	for (cpu = FROM(0); cpu < nr_cpu_ids && cpu < CPUS && may_go_on(); cpu++)
		if (load(cpu) > 1)
			waiting = true;
	for (cpu = FROM(0); waiting && cpu < nr_cpu_ids && cpu < CPUS && may_go_on(); cpu++) {
		if (queue(cpu)->idle) {
			queue(cpu)->asked = true;
			scx_bpf_kick_cpu(cpu, __SCX_KICK_IDLE);
		}
	}
	return 0;
}

/* ---- Callbacks ---- */

SEC("struct_ops/select_cpu")
s32 select_cpu(u64 *ctx)
{
	struct task_struct *p = (void *)ctx[0];
	s32 here = bpf_get_smp_processor_id();

	if (ctx[2] & __SCX_WAKE_SYNC && may_run_on(p->cpus_ptr->bits[0], here))
		return here;
	return ctx[1];
}

SEC("struct_ops/runnable")
s32 runnable(u64 *ctx)
{
	node(number_of((void *)ctx[0]))->runnable = true;
	return 0;
}

ALWAYS_INLINE void leave(u32 number)
{
	u32 cpu = lock_queue_of(node(number));

	unlink(number);
	node(number)->waits = false;
	unlock_queue(cpu);
}

SEC("struct_ops/quiescent")
s32 quiescent(u64 *ctx)
{
	u32 number = number_of((void *)ctx[0]);
	struct node *n = node(number);

	if (!number)
		return 0;
	leave(number);
	n->runnable = false;
	if (ctx[1] & __SCX_DEQ_SLEEP)
		n->slept = true;
	return 0;
}

SEC("struct_ops/dequeue")
s32 dequeue(u64 *ctx)
{
	u32 number = number_of((void *)ctx[0]);

	/* From 7.1 on also called for a task that was just chosen, and is on no list. */
	if (node(number)->waits)
		leave(number);
	return 0;
}

SEC("struct_ops/enqueue")
s32 enqueue(u64 *ctx)
{
	struct task_struct *p = (void *)ctx[0];
	u32 number = number_of(p), cpu = scx_bpf_task_cpu(p), other;
	struct node *n = node(number);

	if (!number)
		return 0;
	n->pid = p->pid;
	n->cpus = p->cpus_ptr->bits[0];
	n->static_priority = p->static_prio;
	/* A task that another takes over from is on its list already: it had to be there when the other was chosen. */
	if (n->in) {
		n->waits = true;
		return 0;
	}
	lock_queue(cpu);
	place(number, cpu, scx_bpf_now());
	n->waits = true;
	unlock_queue(cpu);

	other = *current_on(cpu);
	if (other && n->priority < node(other)->priority)
		scx_bpf_kick_cpu(cpu, __SCX_KICK_PREEMPT);
	else if (nr_cpu_ids > 1)
		wake_idle(scx_bpf_now());
	return 0;
}

SEC("struct_ops/dispatch")
s32 dispatch(u64 *ctx)
{
	struct task_struct *prev = (void *)ctx[1];
	u32 cpu = (s32)ctx[0];
	struct queue *q = queue(cpu);
	struct counters *c = count(cpu);
	u32 previous = 0, number, priority;
	u64 now = scx_bpf_now();
	bool pulled = false;

	if (prev) {
		struct node *n;

		previous = number_of(prev);
		n = node(previous);
		if (n->runnable) {
			count_run(n, now);
			n->static_priority = prev->static_prio;
		} else {
			previous = 0;
		}
	}
	while (may_go_on()) {
		struct node *n;

		lock_queue(cpu);
		if (previous && !node(previous)->in)
			place(previous, cpu, now);
		if (!q->tasks[q->active & 1]) {
			if (q->tasks[!q->active]) {
				q->active = !q->active;
				q->expired_since = 0;
				q->best_expired = PRIORITIES;
				c->recalculations++;
			} else {
				unlock_queue(cpu);
				if (nr_cpu_ids <= 1 || pulled)
					return 0;
				pulled = true;
				if (pull(cpu, q->asked ? IDLE : NEW_IDLE) >= PRIORITIES) {
					q->asked = false;
					return 0;
				}
				q->asked = false;
				continue;
			}
		}
		priority = find(cpu, q->active, 0);
		number = list(cpu, q->active, priority)->first;
		n = node(number);
		unlink(number);
		n->waits = false;
		unlock_queue(cpu);
		c->tasks_looked_at++;
		if (!number)
			return 0;
		if (number == previous) {
			c->picks++;
			if (prev)
				set_slice(prev, __SCX_SLICE_INF);
			return 0;
		}
		if (give(n->pid, cpu) == GIVEN) {
			c->picks++;
			return 0;
		}
		/* Gone, or queued anew meanwhile for other CPUs. */
	}
	return 0;
}

SEC("struct_ops/running")
s32 running(u64 *ctx)
{
	struct task_struct *p = (void *)ctx[0];
	u32 cpu = scx_bpf_task_cpu(p);
	u32 number = number_of(p);
	struct node *n = node(number);

	/* Given to this CPU without a choice, it may have slept all the same. */
	if (n->slept)
		count_sleep(n, scx_bpf_now());
	n->slept = false;
	n->counted_to = scx_bpf_now();
	if (n->ran_on != cpu && !n->fresh)
		count(cpu)->migrations++;
	n->ran_on = cpu;
	n->fresh = false;
	*current_on(cpu) = number;
	return 0;
}

SEC("struct_ops/stopping")
s32 stopping(u64 *ctx)
{
	struct task_struct *p = (void *)ctx[0];

	count_run(node(number_of(p)), scx_bpf_now());
	*current_on(scx_bpf_task_cpu(p)) = 0;
	return 0;
}

SEC("struct_ops/tick")
s32 tick(u64 *ctx)
{
	struct task_struct *p = (void *)ctx[0];
	u32 cpu = scx_bpf_task_cpu(p);
	struct node *n = node(number_of(p));
	struct queue *q = queue(cpu);
	u64 now = scx_bpf_now();

	count_run(n, now);
	if (nr_cpu_ids > 1)
		wake_idle(now);
	if (nr_cpu_ids > 1 && now - q->balanced_at >= BUSY_BALANCE_NS) {
		q->balanced_at = now;
		if (pull(cpu, BUSY) < n->priority) {
			set_slice(p, 0);
			return 0;
		}
	}
	if (n->used_up)
		set_slice(p, 0);
	return 0;
}

SEC("struct_ops/yield")
s32 yield(u64 *ctx)
{
	struct task_struct *p = (void *)ctx[0];

	node(number_of(p))->yields = true;
	set_slice(p, 0);
	return 0;
}

SEC("struct_ops/update_idle")
s32 update_idle(u64 *ctx)
{
	u32 cpu = (s32)ctx[0];

	queue(cpu)->idle = ctx[1] & 0xff;
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
	n->static_priority = p->static_prio;
	n->priority = p->static_prio;
	n->slice_ns = timeslice(n);
	n->fresh = true;
	if (args->fork) {
		struct node *parent = node(number_of(bpf_get_current_task_btf()));

		n->slice_ns = parent->slice_ns > 0 ? (u64)parent->slice_ns >> 1 : 0;
		n->first_slice = true;
		n->sleep_ns = parent->sleep_ns * 90 / 100;
		parent->slice_ns = n->slice_ns;
	}
	return 0;
}

SEC("struct_ops/exit_task")
s32 exit_task(u64 *ctx)
{
	struct task_struct *p = (void *)ctx[0];
	u32 number = number_of(p);
	u32 parent = number_of(p->real_parent);
	struct node *n = node(number), *up = node(parent);

	if (!number)
		return 0;
	leave(number);
	if (parent) {
		if (n->first_slice && n->slice_ns > 0) {
			up->slice_ns += n->slice_ns;
			if (up->slice_ns > (s64)SLICE_MAX_NS)
				up->slice_ns = SLICE_MAX_NS;
		}
		/* A parent answers for children that sleep less than it does. */
		if (n->sleep_ns < up->sleep_ns)
			up->sleep_ns = (up->sleep_ns * 3 + n->sleep_ns) >> 2;
	}
	give_back(p, number);
	return 0;
}

SEC("struct_ops.s/init")
s32 init(u64 *ctx)
{
	u32 cpu;

	for (cpu = FROM(0); cpu < CPUS && may_go_on(); cpu++)
		queue(cpu)->best_expired = PRIORITIES;
	return fits();
}

SEC(".struct_ops.link")
struct sched_ext_ops o_1 = {
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
	.name = "o_1",
};
