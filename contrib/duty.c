// SPDX-License-Identifier: GPL-2.0-or-later
// Two processes that are busy and sleep by turns: one of real-time priority 50, an ordinary one beside it.
//
//     cc -O2 -static -o duty contrib/duty.c
//     duty RT_BUSY RT_SLEEP BUSY SLEEP          times in us
//
// What an audio or control task with little time left over, and a writer that wakes now and then, are to the scheduler.
// docs/found.md uses it as a load.

#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static long since_us(const struct timespec *begin)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (now.tv_sec - begin->tv_sec) * 1000000 + (now.tv_nsec - begin->tv_nsec) / 1000;
}

static void take_turns(long busy_us, long sleep_us)
{
	for (;;) {
		struct timespec begin;

		clock_gettime(CLOCK_MONOTONIC, &begin);
		while (since_us(&begin) < busy_us)
			;
		usleep(sleep_us);
	}
}

int main(int argc, char **argv)
{
	struct sched_param param = { .sched_priority = 50 };

	if (argc != 5) {
		fprintf(stderr, "duty RT_BUSY RT_SLEEP BUSY SLEEP (us)\n");
		return 2;
	}
	switch (fork()) {
	case -1:
		perror("duty: fork");
		return 1;
	case 0:
		take_turns(atol(argv[3]), atol(argv[4]));
	}
	if (sched_setscheduler(0, SCHED_FIFO, &param)) {
		perror("duty: real-time priority");
		return 1;
	}
	take_turns(atol(argv[1]), atol(argv[2]));
}
