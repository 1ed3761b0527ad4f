/* Measures its own cycles: from the time at which its timer is due to the end of some system calls.
 *
 * own_time CALLS fails: prints the medians in ns to standard error, and ends with 1; otherwise to standard output, and stays. */
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { CYCLES = 100, PERIOD = 1000000 };

static long now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000L + t.tv_nsec;
}

static int by_size(const void *a, const void *b)
{
    long x = *(const long *)a, y = *(const long *)b;

    return (x > y) - (x < y);
}

int main(int words, char **word)
{
    static long woken[CYCLES], ended[CYCLES];
    struct sched_param priority = { .sched_priority = 50 };
    int calls = words > 1 ? atoi(word[1]) : 0;
    int fails = words > 2 && strcmp(word[2], "fails") == 0;
    long due;

    mlockall(MCL_CURRENT | MCL_FUTURE);
    sched_setscheduler(0, SCHED_FIFO, &priority);
    due = now();
    for (int cycle = 0; cycle < CYCLES; cycle++) {
        struct timespec at;

        due += PERIOD;
        at.tv_sec = due / 1000000000;
        at.tv_nsec = due % 1000000000;
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
        woken[cycle] = now() - due;
        for (int call = 0; call < calls; call++)
            syscall(SYS_getppid);
        ended[cycle] = now() - due;
    }
    qsort(woken, CYCLES, sizeof(long), by_size);
    qsort(ended, CYCLES, sizeof(long), by_size);
    fprintf(fails ? stderr : stdout, "OWN woken %ld ended %ld\n", woken[CYCLES / 2], ended[CYCLES / 2]);
    fflush(NULL);
    if (fails)
        return 1;
    for (;;)
        pause();
}
