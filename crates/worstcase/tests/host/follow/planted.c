/* A control loop with one fault: planted KIND SECONDS
 *
 * The thread "ctl" (SCHED_FIFO 50, on the last CPU) wakes every 2 ms and works for 100 us; in each FAULT_EVERY-th cycle it does
 * what the fault needs. What it waits for then takes at least LONG, so that its cause is told apart from what else is late.
 * Both CPUs always have something to run: kernels there are that report nothing of what an idle CPU does.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { MS = 1000000, PERIOD = 2 * MS, WORK = MS / 10, FAULT_EVERY = 40, LONG = 8 * MS, PAGES = 16 << 20 };
enum { HOG_EVERY = 10 };

static int last_cpu, other_cpu;
static pid_t ctl;
static pthread_mutex_t mutex;
static sem_t asked, passed, answered, world;
static int pipe_ends[2], file;
static volatile int sink;

static int64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void spin(int64_t ns)
{
	for (int64_t end = now() + ns; now() < end;)
		sink++;
}

static void pause_for(int64_t ns)
{
	struct timespec t = { ns / 1000000000, ns % 1000000000 };

	nanosleep(&t, NULL);
}

static void become(const char *name, int fifo, int cpu)
{
	struct sched_param priority = { .sched_priority = fifo };
	cpu_set_t set;

	prctl(PR_SET_NAME, name);
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof set, &set);
	if (fifo && sched_setscheduler(0, SCHED_FIFO, &priority)) {
		perror("SCHED_FIFO");
		_exit(3);
	}
}

static void *keep_awake(void *cpu)
{
	struct sched_param none = { 0 };

	become("awake", 0, *(int *)cpu);
	sched_setscheduler(0, SCHED_IDLE, &none);
	for (;;)
		sink++;
}

/* Threads of the faults. */

static void *hog(void *unused)
{
	become("hog", 20, last_cpu);
	for (;;) {
		sem_wait(&asked);
		spin(LONG);
	}
}

static void *above(void *unused)
{
	become("above", 60, last_cpu);
	for (;; pause_for(60 * MS))
		spin(LONG);
}

static void *logger(void *unused)
{
	become("logger", 0, last_cpu);
	for (long line = 0;; line++) {
		pthread_mutex_lock(&mutex);
		spin(MS);
		if (line % HOG_EVERY == 0)
			sem_post(&asked);
		pthread_mutex_unlock(&mutex);
		pause_for(3 * MS);
	}
}

static void *reader(void *unused)
{
	char bytes[4096];

	become("reader", 0, other_cpu);
	for (;; pause_for(100 * MS))
		if (read(pipe_ends[0], bytes, sizeof bytes) < 0)
			return NULL;
}

static void *helper(void *unused)
{
	become("helper", 0, other_cpu);
	for (;;) {
		sem_wait(&asked);
		spin(LONG);
		sem_post(&answered);
	}
}

static void *middle(void *unused)
{
	become("middle", 0, other_cpu);
	for (;;) {
		sem_wait(&asked);
		spin(LONG);
		sem_post(&passed);
	}
}

static void *end(void *unused)
{
	become("end", 49, other_cpu);
	for (;;) {
		sem_wait(&passed);
		spin(WORK);
		sem_post(&answered);
	}
}

static void *mapper(void *unused)
{
	become("mapper", 0, other_cpu);
	/* A round takes a tenth of a second of a CPU, which others may want, too. */
	setpriority(PRIO_PROCESS, 0, -15);
	for (;;) {
		char *all = mmap(NULL, 16 * PAGES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		madvise(all, 16 * PAGES, MADV_NOHUGEPAGE);
		for (size_t i = 0; i < 16 * PAGES; i += 4096)
			all[i] = 1;
		munmap(all, 16 * PAGES);
	}
}

static void *signaller(void *unused)
{
	become("signaller", 0, other_cpu);
	for (;; pause_for(80 * MS))
		syscall(SYS_tgkill, getpid(), ctl, SIGUSR1);
}

static void *collector(void *unused)
{
	become("collector", 0, other_cpu);
	for (;; pause_for(80 * MS)) {
		syscall(SYS_tgkill, getpid(), ctl, SIGUSR2);
		spin(LONG);
		sem_post(&world);
	}
}

static void slow_handler(int signal)
{
	spin(LONG);
}

static void stop_the_world(int signal)
{
	while (sem_wait(&world))
		;
}

/* What the loop does in a cycle with the fault. */

static void lock_mutex(void)
{
	pthread_mutex_lock(&mutex);
	spin(WORK / 10);
	pthread_mutex_unlock(&mutex);
}

static void touch(void)
{
	static char *fresh;

	if (!fresh)
		fresh = mmap(NULL, 64L * PAGES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	madvise(fresh, 64L * PAGES, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < PAGES; i += 4096)
		fresh[i] = 1;
	fresh += PAGES;
}

static void allocate(void)
{
	char *bytes = mmap(NULL, 2 * PAGES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	munmap(bytes, 2 * PAGES);
}

static void log_line(void)
{
	char line[2048] = "";

	if (write(pipe_ends[1], line, sizeof line) < 0)
		_exit(4);
}

static void ask(void)
{
	sem_post(&asked);
	sem_wait(&answered);
}

static void map_little(void)
{
	char *bytes = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	munmap(bytes, 65536);
}

static void save(void)
{
	static char bytes[1 << 20];

	if (pwrite(file, bytes, sizeof bytes, 0) < 0 || fsync(file))
		_exit(4);
}

struct fault {
	const char *name;
	void *(*threads[3])(void *);
	void (*in_cycle)(void);
	int every;
};

static const struct fault FAULTS[] = {
	{ "mutex", { logger, hog }, lock_mutex, 1 },
	{ "inherit", { logger, hog }, lock_mutex, 1 },
	{ "fault", { 0 }, touch, FAULT_EVERY },
	{ "allocation", { 0 }, allocate, FAULT_EVERY },
	{ "pipe", { reader }, log_line, 2 },
	{ "helper", { helper }, ask, FAULT_EVERY },
	{ "chain", { middle, end }, ask, FAULT_EVERY },
	{ "slack", { 0 }, 0, 1 },
	{ "affinity", { above }, 0, 1 },
	{ "fsync", { 0 }, save, FAULT_EVERY },
	{ "collector", { collector }, 0, 1 },
	{ "signal", { signaller }, 0, 1 },
	{ "map", { mapper }, map_little, 2 },
};

int main(int count, char **words)
{
	const struct fault *fault = FAULTS;
	const size_t faults = sizeof FAULTS / sizeof *FAULTS;
	pthread_mutexattr_t attributes;
	pthread_t thread;
	cpu_set_t allowed;

	if (count < 3)
		return 2;
	while (fault < FAULTS + faults && strcmp(fault->name, words[1]))
		fault++;
	if (fault == FAULTS + faults)
		return 2;
	sched_getaffinity(0, sizeof allowed, &allowed);
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &allowed)) {
			other_cpu = last_cpu;
			last_cpu = cpu;
		}
	if (strcmp(fault->name, "fault") && strcmp(fault->name, "allocation") && strcmp(fault->name, "map"))
		mlockall(MCL_CURRENT | MCL_FUTURE);
	pthread_mutexattr_init(&attributes);
	if (!strcmp(fault->name, "inherit"))
		pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT);
	pthread_mutex_init(&mutex, &attributes);
	sem_init(&asked, 0, 0);
	sem_init(&passed, 0, 0);
	sem_init(&answered, 0, 0);
	sem_init(&world, 0, 0);
	signal(SIGUSR1, slow_handler);
	signal(SIGUSR2, stop_the_world);
	if (pipe(pipe_ends) || fcntl(pipe_ends[1], F_SETPIPE_SZ, 4096) < 0)
		return 1;
	char name[] = "/var/tmp/planted-XXXXXX";

	file = mkstemp(name);
	unlink(name);
	ctl = syscall(SYS_gettid);
	pthread_create(&thread, NULL, keep_awake, &last_cpu);
	pthread_create(&thread, NULL, keep_awake, &other_cpu);
	for (int i = 0; i < 3 && fault->threads[i]; i++)
		pthread_create(&thread, NULL, fault->threads[i], NULL);
	if (!strcmp(fault->name, "slack")) {
		prctl(PR_SET_TIMERSLACK, LONG);
		become("ctl", 0, last_cpu);
	} else {
		become("ctl", 50, last_cpu);
	}
	int64_t due = now() + PERIOD, stop = now() + (int64_t)(atof(words[2]) * 1e9);

	for (long cycle = 0; now() < stop; cycle++) {
		struct timespec t = { due / 1000000000, due % 1000000000 };

		while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR)
			;
		spin(WORK);
		if (fault->in_cycle && cycle % fault->every == 0)
			fault->in_cycle();
		for (due += PERIOD; due < now();)
			due += PERIOD;
	}
	_exit(0);
}
