/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a policy uses of the kernel: only the members and functions that it touches. libbpf finds each member by its
 * name in the running kernel's BTF, so one object fits all kernels.
 */
#pragma once

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef int s32;
typedef long long s64;
typedef _Bool bool;
#define true 1
#define false 0
#define NULL ((void *)0)

#define SEC(name) __attribute__((section(name), used))
#define ALWAYS_INLINE static inline __attribute__((always_inline))
#define KFUNC extern __attribute__((section(".ksyms")))
#define WEAK __attribute__((weak))
#define KERNEL_TYPE __attribute__((preserve_access_index))

/* A member of a map's definition, as libbpf reads it from BTF: a number is the length of an array. */
#define MAP_NUMBER(name, value) int(*name)[value]
#define MAP_TYPE(name, type) typeof(type) *name

enum { MAP_HASH = 1 };
enum { ENOMEM = 12, E2BIG = 7 };

/* Helpers have numbers, not names (include/uapi/linux/bpf.h). */
static void *(*const bpf_map_lookup_elem)(void *map, const void *key) = (void *)1;
static long (*const bpf_map_update_elem)(void *map, const void *key, const void *value, u64 flags) = (void *)2;
static long (*const bpf_map_delete_elem)(void *map, const void *key) = (void *)3;
static u64 (*const bpf_ktime_get_ns)(void) = (void *)5;
static u32 (*const bpf_get_smp_processor_id)(void) = (void *)8;
static void *(*const bpf_get_current_task_btf)(void) = (void *)158;

struct cpumask {
	unsigned long bits[1];
} KERNEL_TYPE;

struct mm_struct;

struct sched_ext_entity {
	u64 slice;
} KERNEL_TYPE;

struct task_struct {
	int static_prio;
	struct sched_ext_entity scx;
	const struct cpumask *cpus_ptr;
	struct mm_struct *mm;
	s32 pid;
	struct task_struct *real_parent;
} KERNEL_TYPE;

struct scx_init_task_args {
	bool fork;
} KERNEL_TYPE;

/* Each is called with its arguments in an array. */
typedef s32 callback(u64 *ctx);

/* Those callbacks that our policies have. */
struct sched_ext_ops {
	callback *select_cpu;
	callback *enqueue;
	callback *dequeue;
	callback *dispatch;
	callback *tick;
	callback *runnable;
	callback *running;
	callback *stopping;
	callback *quiescent;
	callback *yield;
	callback *update_idle;
	callback *init_task;
	callback *exit_task;
	callback *init;
	u64 flags;
	char name[128];
};

/* The loader sets these from the running kernel's enumerations. */
const volatile u64 __SCX_DSQ_LOCAL;
const volatile u64 __SCX_SLICE_INF;
const volatile u64 __SCX_KICK_IDLE;
const volatile u64 __SCX_KICK_PREEMPT;
const volatile u64 __SCX_WAKE_SYNC;
const volatile u64 __SCX_DEQ_SLEEP;
/* CPUs that the machine can have; set by the loader, too. */
const volatile u32 nr_cpu_ids;

KFUNC u64 scx_bpf_now(void);
KFUNC s32 scx_bpf_task_cpu(const struct task_struct *p);
KFUNC void scx_bpf_kick_cpu(s32 cpu, u64 flags);
KFUNC void scx_bpf_dispatch_cancel(void);
KFUNC bool scx_bpf_test_and_clear_cpu_idle(s32 cpu);
KFUNC void scx_bpf_error_bstr(char *format, u64 *data, u32 data__sz);
KFUNC struct task_struct *bpf_task_from_pid(s32 pid);
KFUNC void bpf_task_release(struct task_struct *p);

/*
 * 6.19 gave the insertion a result under a new name, and the slice a function. libbpf drops the last "___" and what
 * follows it before it looks for a name.
 */
KFUNC WEAK bool scx_bpf_dsq_insert___v2___from_6_19(struct task_struct *p, u64 queue, u64 slice, u64 flags);
KFUNC WEAK void scx_bpf_dsq_insert___to_6_18(struct task_struct *p, u64 queue, u64 slice, u64 flags);
KFUNC WEAK bool scx_bpf_task_set_slice(struct task_struct *p, u64 slice);

/* Hands `p` to this CPU's own queue: it is the next to run here. */
ALWAYS_INLINE void insert_here(struct task_struct *p)
{
	if (scx_bpf_dsq_insert___v2___from_6_19)
		scx_bpf_dsq_insert___v2___from_6_19(p, __SCX_DSQ_LOCAL, __SCX_SLICE_INF, 0);
	else
		scx_bpf_dsq_insert___to_6_18(p, __SCX_DSQ_LOCAL, __SCX_SLICE_INF, 0);
}

/* A slice of 0 makes the kernel ask for another task. The policies count time themselves. */
ALWAYS_INLINE void set_slice(struct task_struct *p, u64 slice)
{
	if (scx_bpf_task_set_slice)
		scx_bpf_task_set_slice(p, slice);
	else
		p->scx.slice = slice;
}

static volatile u32 zero;
#define FROM(number) ((number) + zero)

/*
 * True, some millions of times. A loop with it in its condition is known to end, so the verifier does not follow each
 * of its steps, if the loop's variable begins with a value that it does not know: FROM(0) instead of 0.
 */
#define may_go_on()                                       \
	({                                                \
		__label__ spent, done;                    \
		bool on = true;                           \
		asm volatile goto("may_goto %l[spent]" :: \
					  : : spent);     \
		goto done;                                \
	spent:                                            \
		on = false;                               \
	done:                                             \
		on;                                       \
	})
