use super::*;
use std::cell::Cell;

/// What a CPU of the model does after so many ns of work.
#[derive(Clone, Copy)]
enum Act {
    /// Sleeps until a timer that it sets, so many ns from now.
    Sleep(Time),
    /// Sets a timer that is due already.
    Late,
    /// Wakes another CPU.
    Send(usize),
    /// Waits a little for others.
    Pause,
}

/// A machine whose guest is a fixed program, and whose host interferes at random.
struct Model {
    programs: Vec<Vec<(Time, Act)>>,
    /// Of each CPU: where in its program it is, and how far within that piece of work.
    at: Vec<(usize, Time)>,
    halted: Vec<bool>,
    /// The least that the clock of each CPU can show.
    times: Vec<Time>,
    timers: Vec<(Time, usize)>,
    clock: Time,
    /// All that the guest could see: which CPU did what, when by its own clock.
    seen: Vec<(usize, usize, Time)>,
    /// Chance of interference in 256.
    chance: u32,
    random: Cell<u32>,
    left: usize,
}

impl Model {
    fn new(programs: Vec<Vec<(Time, Act)>>, chance: u32, seed: u32) -> Model {
        let cpus = programs.len();
        Model {
            programs,
            at: vec![(0, 0); cpus],
            halted: vec![false; cpus],
            times: vec![0; cpus],
            timers: Vec::new(),
            clock: 0,
            seen: Vec::new(),
            chance,
            random: Cell::new(seed),
            left: 4_000,
        }
    }

    fn wake(&mut self, cpu: usize, now: Time) {
        if std::mem::take(&mut self.halted[cpu]) {
            self.times[cpu] = self.times[cpu].max(now);
        }
    }

    fn interferes(&self) -> bool {
        let next = self.random.get().wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        self.random.set(next);
        next >> 24 < self.chance
    }
}

impl Machine for Model {
    fn cpus(&self) -> usize {
        self.programs.len()
    }

    fn interrupted(&self) -> bool {
        self.left == 0 || self.interferes()
    }

    fn is_idle(&self, cpu: usize) -> bool {
        self.halted[cpu]
    }

    fn set_clock(&mut self, now: Time) {
        self.clock = now;
    }

    fn deadline(&self) -> Option<Time> {
        self.timers.iter().map(|(due, _)| (due - self.clock).max(0)).min()
    }

    fn run_timers(&mut self) {
        let awake = self.times.iter().zip(&self.halted).filter(|(_, halted)| !**halted);
        let slowest = awake.map(|(time, _)| *time).min();
        assert!(
            slowest.is_none_or(|time| self.clock <= time),
            "at {} while a CPU is at {slowest:?}",
            self.clock
        );
        let (due, later) = self.timers.iter().partition(|(due, _)| *due <= self.clock);
        self.timers = later;
        for (_, cpu) in due {
            self.seen.push((cpu, usize::MAX, self.clock));
            self.wake(cpu, self.clock);
        }
    }

    fn run(&mut self, cpu: usize, most: Time) -> Ran {
        assert!(most > 0 && !self.halted[cpu]);
        let (step, done) = self.at[cpu];
        let (work, act) = self.programs[cpu][step % self.programs[cpu].len()];
        let mut time = (work - done).min(most);
        if self.interferes() {
            time = Time::from(self.random.get() >> 8) % (time + 1);
        }
        self.at[cpu].1 += time;
        let (mut yields, mut more) = (false, 0);
        if self.at[cpu].1 == work {
            let now = self.clock + time;
            self.seen.push((cpu, step, now));
            self.left = self.left.saturating_sub(1);
            self.at[cpu] = (step + 1, 0);
            match act {
                Act::Sleep(ns) => {
                    self.timers.push((now + ns, cpu));
                    self.halted[cpu] = true;
                }
                Act::Late => self.timers.push((now - 700, cpu)),
                Act::Send(other) => {
                    self.wake(other, now);
                    yields = true;
                }
                Act::Pause => (yields, more) = (true, 50),
            }
        }
        self.times[cpu] = self.clock + time + more;
        Ran {
            time: time + more,
            yields,
            exit: Exit::Any,
        }
    }
}

fn programs(cpus: usize) -> Vec<Vec<(Time, Act)>> {
    let all = vec![
        vec![
            (1_300, Act::Send(1)),
            (90, Act::Pause),
            (5_000, Act::Sleep(3_333)),
            (40, Act::Late),
        ],
        vec![
            (700, Act::Sleep(100_000)),
            (12, Act::Pause),
            (12, Act::Pause),
            (2_500, Act::Late),
        ],
        vec![(100_000, Act::Send(0)), (10, Act::Sleep(777))],
        vec![(333, Act::Send(2)), (333, Act::Sleep(1)), (20_000, Act::Pause)],
    ];
    all.into_iter().take(cpus).collect()
}

/// What the guest sees when the host interferes so often.
fn seen(cpus: usize, quantum: Time, chance: u32, seed: u32) -> Vec<(usize, usize, Time)> {
    let mut programs = programs(cpus);
    if cpus == 1 {
        programs[0][0].1 = Act::Pause;
    }
    let mut model = Model::new(programs, chance, seed);
    let mut slices = Slices::new(quantum, 0, &model);
    while model.left > 0 {
        assert_eq!(slices.run(&mut model), Back::Again);
    }
    model.seen
}

#[test]
fn the_guest_sees_the_same_however_the_host_interferes() {
    for cpus in 1..=4 {
        for quantum in [50, 1_000, 10_000] {
            let calm = seen(cpus, quantum, 0, 1);
            for seed in 1..20 {
                let disturbed = seen(cpus, quantum, 90, seed);
                let differs = calm.iter().zip(&disturbed).position(|(a, b)| a != b);
                assert_eq!(differs, None, "{cpus} CPUs, quantum {quantum}, seed {seed}");
            }
        }
    }
}

#[test]
fn clocks_stay_within_a_quantum_of_each_other() {
    let busy = |cpus: usize| vec![vec![(100, Act::Late)]; cpus];
    for quantum in [100, 1_000] {
        let mut model = Model::new(busy(3), 0, 1);
        let mut slices = Slices::new(quantum, 0, &model);
        while model.left > 0 {
            let turn = model.left - 1;
            model.left = 1;
            slices.run(&mut model);
            let clocks = slices.clocks.iter();
            let apart = clocks.clone().max().unwrap() - clocks.min().unwrap();
            assert!(apart <= quantum + 100, "{apart} ns apart");
            model.left = turn;
        }
    }
}

#[test]
fn while_all_sleep_time_goes_to_the_next_timer() {
    let mut model = Model::new(vec![vec![(10, Act::Sleep(1_000_000))]], 0, 1);
    model.left = 3;
    let mut slices = Slices::new(1_000, 0, &model);
    slices.run(&mut model);
    let woken: Vec<Time> = model.seen.iter().filter(|s| s.1 == usize::MAX).map(|s| s.2).collect();
    assert_eq!(woken, [1_000_010, 2_000_020]);
}

#[test]
fn without_a_timer_a_sleeping_machine_waits_for_qemu() {
    let mut model = Model::new(vec![vec![(10, Act::Pause)]], 0, 1);
    model.halted[0] = true;
    let mut slices = Slices::new(1_000, 0, &model);
    assert_eq!(slices.run(&mut model), Back::Again);
    assert!(model.seen.is_empty());
}
