/* marked LOOPS: each loop calls a function, writes a line into trace_marker where that is mounted, and sleeps. */

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

__attribute__((noinline)) static void step(int loop) { __asm__ volatile("" ::"r"(loop)); }

int main(int count, char **arguments) {
    int loops = count > 1 ? atoi(arguments[1]) : 0;
    int marker = open("/sys/kernel/tracing/trace_marker", O_WRONLY);
    for (int loop = 0; loop < loops; loop++) {
        step(loop);
        if (marker >= 0 && dprintf(marker, "cycle %d\n", loop) < 0)
            return 1;
        usleep(2000);
    }
    return 0;
}
