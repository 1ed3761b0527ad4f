/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One queue for all CPUs, a millisecond for each task. */
typedef unsigned long long u64;
typedef int s32;
#define SEC(name) __attribute__((section(name), used))
#define KFUNC extern __attribute__((section(".ksyms")))
/* Found by its name in the running kernel, so that one object fits all. */
#define KERNEL __attribute__((preserve_access_index))

struct task_struct {
	s32 pid;
} KERNEL;

typedef s32 callback(u64 *ctx);
struct sched_ext_ops {
	callback *enqueue, *dispatch, *init;
	char name[128];
};

KFUNC s32 scx_bpf_create_dsq(u64 queue, s32 node);
KFUNC void scx_bpf_dsq_insert(struct task_struct *p, u64 queue, u64 slice_ns, u64 flags);
KFUNC _Bool scx_bpf_dsq_move_to_local(u64 queue);

char _license[] SEC("license") = "GPL";
/* Its sums are in the record. */
struct {
	u64 queued;
} counters[1];

enum { QUEUE = 7, SLICE_NS = 1000000 };

SEC("struct_ops/enqueue")
s32 enqueue(u64 *ctx)
{
	__sync_fetch_and_add(&counters[0].queued, 1);
	scx_bpf_dsq_insert((struct task_struct *)ctx[0], QUEUE, SLICE_NS, ctx[1]);
	return 0;
}

SEC("struct_ops/dispatch")
s32 dispatch(u64 *ctx)
{
	scx_bpf_dsq_move_to_local(QUEUE);
	return 0;
}

SEC("struct_ops.s/init")
s32 init(u64 *ctx)
{
	return scx_bpf_create_dsq(QUEUE, -1);
}

SEC(".struct_ops.link")
struct sched_ext_ops turns = {
	.enqueue = enqueue,
	.dispatch = dispatch,
	.init = init,
	.name = "turns",
};
