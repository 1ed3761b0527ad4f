// SPDX-License-Identifier: GPL-2.0-or-later
// A control loop of priority 50 that shares a mutex with a thread that logs.
//
//     cc -O2 -static -pthread -o control contrib/control.c
//     control [PERIOD_US [LOG_US]]              1000 and 0: the logger holds the mutex for so long, now and then
//
// worstcase follows it: lab run --program ./control, or host follow -- ./control

#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

static pthread_mutex_t state = PTHREAD_MUTEX_INITIALIZER;
static volatile long position;

static void work(long turns)
{
	for (long i = 0; i < turns; i++)
		position += i;
}

static void sleep_for(long us)
{
	struct timespec time = { us / 1000000, us % 1000000 * 1000 };

	clock_nanosleep(CLOCK_MONOTONIC, 0, &time, NULL);
}

static void *keep_log(void *hold_us)
{
	struct timespec begin, now;

	for (;;) {
		pthread_mutex_lock(&state);
		clock_gettime(CLOCK_MONOTONIC, &begin);
		do {
			work(100);
			clock_gettime(CLOCK_MONOTONIC, &now);
		} while ((now.tv_sec - begin.tv_sec) * 1000000 + (now.tv_nsec - begin.tv_nsec) / 1000 < (long)hold_us);
		pthread_mutex_unlock(&state);
		sleep_for(7300);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	long period_us = argc > 1 ? atol(argv[1]) : 1000;
	long log_us = argc > 2 ? atol(argv[2]) : 0;
	struct sched_param param = { .sched_priority = 50 };
	struct timespec due;
	pthread_t logger;

	if (mlockall(MCL_CURRENT | MCL_FUTURE))
		perror("mlockall");
	if (pthread_create(&logger, NULL, keep_log, (void *)log_us))
		return 1;
	pthread_setname_np(logger, "logger");
	if (sched_setscheduler(0, SCHED_FIFO, &param)) {
		perror("sched_setscheduler");
		return 1;
	}
	clock_gettime(CLOCK_MONOTONIC, &due);
	for (;;) {
		due.tv_nsec += period_us * 1000;
		due.tv_sec += due.tv_nsec / 1000000000;
		due.tv_nsec %= 1000000000;
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL);
		pthread_mutex_lock(&state);
		work(10000);
		pthread_mutex_unlock(&state);
	}
}
