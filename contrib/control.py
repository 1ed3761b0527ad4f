# SPDX-License-Identifier: GPL-2.0-or-later
# A control loop of priority 50 in Python, which shares the interpreter's lock with a thread that logs.
#
#     control.py [PERIOD_US]                                                                       1000

import os
import sys
import threading
import time


def keep_log():
    while True:
        sum(range(20_000))
        time.sleep(0.0073)


period = int(sys.argv[1] if len(sys.argv) > 1 else 1000) / 1e6
threading.Thread(target=keep_log, daemon=True).start()
os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(50))
due = time.monotonic()
while True:
    due += period
    time.sleep(max(0, due - time.monotonic()))
    sum(range(2_000))
