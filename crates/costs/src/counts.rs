//! How many of each event there were.

use crate::CostEvent;
use serde::de::Error;
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::BTreeMap;
use std::ops::{Add, AddAssign, Index, IndexMut, Sub};

/// Events by kind. In files those of which there were none are left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EventCounts([u64; CostEvent::ALL.len()]);

impl EventCounts {
    /// Those of which there were some, in the order of [`CostEvent::ALL`].
    pub fn some(&self) -> impl Iterator<Item = (CostEvent, u64)> {
        let all = CostEvent::ALL.iter().zip(self.0);
        all.filter(|(_, n)| *n > 0).map(|(event, n)| (*event, n))
    }

    /// Of these events together.
    pub fn of(&self, events: &[CostEvent]) -> u64 {
        events.iter().map(|event| self[*event]).sum()
    }

    /// The lab's instructions.
    pub fn lab_instructions(&self) -> u64 {
        self.of(&[CostEvent::Instruction, CostEvent::StringRound])
    }
}

impl Index<CostEvent> for EventCounts {
    type Output = u64;

    fn index(&self, event: CostEvent) -> &u64 {
        &self.0[event as usize]
    }
}

impl IndexMut<CostEvent> for EventCounts {
    fn index_mut(&mut self, event: CostEvent) -> &mut u64 {
        &mut self.0[event as usize]
    }
}

impl AddAssign for EventCounts {
    fn add_assign(&mut self, more: EventCounts) {
        self.0.iter_mut().zip(more.0).for_each(|(n, more)| *n += more);
    }
}

impl Add for EventCounts {
    type Output = EventCounts;

    fn add(mut self, more: EventCounts) -> EventCounts {
        self += more;
        self
    }
}

impl Sub for EventCounts {
    type Output = EventCounts;

    /// What came since `before`.
    fn sub(mut self, before: EventCounts) -> EventCounts {
        self.0.iter_mut().zip(before.0).for_each(|(n, before)| *n -= before);
        self
    }
}

impl FromIterator<(CostEvent, u64)> for EventCounts {
    fn from_iter<I: IntoIterator<Item = (CostEvent, u64)>>(events: I) -> EventCounts {
        let mut counts = EventCounts::default();
        for (event, n) in events {
            counts[event] += n;
        }
        counts
    }
}

impl Serialize for EventCounts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.some().count()))?;
        for (event, n) in self.some() {
            map.serialize_entry(event.name(), &n)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for EventCounts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<EventCounts, D::Error> {
        let map = BTreeMap::<String, u64>::deserialize(deserializer)?;
        let event = |(name, n): (String, u64)| match CostEvent::named(&name) {
            Some(event) => Ok((event, n)),
            None => Err(D::Error::custom(format!("'{name}' is no event"))),
        };
        map.into_iter().map(event).collect()
    }
}
