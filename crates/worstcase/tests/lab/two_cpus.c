// A loop of priority 50 on CPU 1 that has a thread on CPU 0 compute a part of each cycle.

#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <sys/mman.h>
#include <time.h>

static sem_t asked, done;
static volatile long sum;

static void begin(int cpu, int priority)
{
	struct sched_param param = { .sched_priority = priority };
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(cpu, &cpus);
	pthread_setaffinity_np(pthread_self(), sizeof cpus, &cpus);
	pthread_setschedparam(pthread_self(), SCHED_FIFO, &param);
}

__attribute__((noinline)) static void filter(void)
{
	for (long i = 0; i < 20000; i++)
		sum += i;
}

static void *help(void *unused)
{
	begin(0, 40);
	for (;;) {
		sem_wait(&asked);
		filter();
		sem_post(&done);
	}
	return unused;
}

int main(void)
{
	struct timespec due;
	pthread_t helper;

	mlockall(MCL_CURRENT | MCL_FUTURE);
	sem_init(&asked, 0, 0);
	sem_init(&done, 0, 0);
	pthread_create(&helper, NULL, help, NULL);
	pthread_setname_np(helper, "helper");
	begin(1, 50);
	clock_gettime(CLOCK_MONOTONIC, &due);
	for (;;) {
		due.tv_nsec += 1000000;
		if (due.tv_nsec >= 1000000000) {
			due.tv_nsec -= 1000000000;
			due.tv_sec++;
		}
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL);
		sem_post(&asked);
		sem_wait(&done);
	}
}
