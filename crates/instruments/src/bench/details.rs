//! What a probe tells beside its samples. The controller keeps these values as they are, so that everything that is said of
//! them can be computed again.

use serde::{Deserialize, Serialize};
use worstcase_logs::Nanos;

/// What a ring of processes gave. A sample is `total / hops`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SwitchDetails {
    /// Tokens passed in each repetition, each of them one switch.
    pub hops: u64,
    /// Each repetition: a ring of its own.
    pub repetitions: Vec<SwitchRepetition>,
    /// Those that were measured again, in order.
    #[serde(default)]
    pub again: Vec<SwitchAgain>,
}

/// A repetition that was too far off, measured again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SwitchAgain {
    /// Which one.
    pub index: u32,
    /// How often it was measured again.
    pub tries: u32,
    /// The last of these is still too far off.
    pub still_off: bool,
    /// The last of these.
    pub repetition: SwitchRepetition,
}

impl SwitchDetails {
    /// The repetitions, with those that were measured again in place of the first ones.
    pub fn settled(&self) -> Vec<SwitchRepetition> {
        let mut settled = self.repetitions.clone();
        for again in &self.again {
            if let Some(first) = settled.get_mut(again.index as usize) {
                first.clone_from(&again.repetition);
            }
        }
        settled
    }
}

/// One ring of fresh processes with fresh memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SwitchRepetition {
    /// Time of all hops.
    #[serde(rename = "total_ns")]
    pub total: Nanos,
    /// The same passing and touching by one process alone, always the same working set.
    #[serde(rename = "hot_ns")]
    pub hot: Nanos,
    /// The same passing and touching by one process alone, each member's working set in turn.
    #[serde(rename = "cold_ns")]
    pub cold: Nanos,
    /// Switches because a member waited, of all members.
    pub voluntary: u64,
    /// Switches because something else got the CPU, of all members.
    pub involuntary: u64,
    /// Moves of a member to another CPU, where the kernel tells them.
    pub migrations: Option<u64>,
}

/// What message passing gave. A sample is the time of one run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HackbenchDetails {
    /// Senders and receivers.
    pub processes: u32,
    /// Messages of each run.
    pub messages: u64,
    /// Each run: all senders and receivers anew.
    pub runs: Vec<HackbenchRun>,
    /// If asked for: how long each message took from before it was sent until after it was received, of all runs, as
    /// value in ns and how often, in ascending order; three digits, the largest exact.
    pub message_latency: Option<Vec<(u64, u64)>>,
}

/// One run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HackbenchRun {
    /// From the moment that all were told to begin until all had ended.
    #[serde(rename = "total_ns")]
    pub total: Nanos,
    /// CPU time of all senders and receivers.
    #[serde(rename = "cpu_ns")]
    pub cpu: Nanos,
    /// Switches because one waited.
    pub voluntary: u64,
    /// Switches because something else got the CPU.
    pub involuntary: u64,
    /// How often a sender or receiver was on another CPU at a message than at the one before; a move back in between is
    /// not seen. Records of before have none.
    #[serde(default)]
    pub moves: Option<u64>,
}

/// What the mutex gave. A sample is how long the most urgent thread waited: from the moment that it was made ready until
/// it owned the mutex.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InversionDetails {
    /// CPU time that the owner needs before it gives the mutex away.
    #[serde(rename = "section_ns")]
    pub section: Nanos,
    /// CPU time that the middle thread takes as soon as it may run.
    #[serde(rename = "middle_ns")]
    pub middle: Nanos,
    /// Rounds in which the most urgent thread was made ready while the mutex was owned.
    pub contended: u32,
    /// Rounds in which the middle thread ran while the most urgent one waited: the inversion.
    pub inverted: u32,
}

/// What waking on another CPU gave. A sample is the time from before the waking until the woken thread ran.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RemoteDetails {
    /// What the waking cost the thread that did it, of all samples; none without a sample.
    pub send: Option<SendTimes>,
    /// Rounds in which the thread did not sleep when it was woken.
    pub awake: u32,
    /// From the pulse until the kernel saw it, where it tells.
    #[serde(default)]
    pub seen: Option<SendTimes>,
}

impl RemoteDetails {
    /// Whether they can be those of so many samples.
    pub fn fit(&self, taken: u64) -> bool {
        let in_order = self.send.is_none_or(|s| s.min <= s.median && s.median <= s.max);
        self.send.is_some() == (taken > 0) && in_order && u64::from(self.awake) <= taken
    }
}

/// How long the calls took that woke the other thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SendTimes {
    /// The shortest.
    #[serde(rename = "min_ns")]
    pub min: Nanos,
    /// The nearest-rank median.
    #[serde(rename = "median_ns")]
    pub median: Nanos,
    /// The longest.
    #[serde(rename = "max_ns")]
    pub max: Nanos,
}

impl SendTimes {
    /// Of all these.
    pub fn of(mut times: Vec<Nanos>) -> Option<SendTimes> {
        times.sort_unstable();
        Some(SendTimes {
            min: *times.first()?,
            median: times[(times.len() - 1) / 2],
            max: *times.last()?,
        })
    }
}

/// What choices among tasks gave. A sample is one choice.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PickDetails {
    /// Tasks that could run.
    pub tasks: u64,
    /// Turns that they had while choices were measured, all together.
    pub turns: u64,
    /// Samples in which the task that had given the CPU away was chosen again.
    pub same: u64,
    /// Turns of the task that had the fewest.
    pub fewest: u64,
    /// Turns of the task that had the most.
    pub most: u64,
}

/// What making processes gave. A sample is the time of one, until its end was waited for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SpawnDetails {
    /// What was executed, if something was.
    pub program: Option<String>,
}

/// What unmapping gave. A sample is the time of one munmap.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShootdownDetails {
    /// Threads of the process that computed on other CPUs.
    pub threads: u32,
    /// Pages of each mapping.
    pub pages: u32,
    /// Rounds in which every one of these threads was seen running right before.
    pub all_ran: u32,
}
