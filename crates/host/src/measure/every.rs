//! The sink of a run: every sample, in a file for each CPU.

use super::MeasureError;
use super::collect::Collector;
use super::ring::ring;
use super::room::Room;
use super::session::{RunningMeasurement, SampleSink};
use super::thread::{Outlet, ThreadResult, ring_words};
use crate::message::{MeasurementEnd, Message};
use crate::spec::HostSpec;
use std::io;
use worstcase_contract::record::Work;
use worstcase_contract::{Nanos, Probe};

pub(super) struct EverySample {
    collectors: Vec<Collector>,
    room: Room,
}

impl EverySample {
    /// The sink, and an outlet for each CPU.
    pub(super) fn open(spec: &HostSpec) -> io::Result<(EverySample, Vec<Outlet>)> {
        let words = ring_words(spec);
        let (mut collectors, mut outlets) = (Vec::new(), Vec::new());
        for &cpu in &spec.cpus {
            let (writer, reader) = ring(words);
            collectors.push(Collector::new(cpu, spec.probe, reader, &spec.samples_file(cpu))?);
            outlets.push(Outlet {
                ring: writer,
                checkpoints: None,
            });
        }
        let room = Room::new(spec);
        Ok((EverySample { collectors, room }, outlets))
    }

    /// The largest sample, if it is above the limit that ends the measurement.
    fn above(&self, spec: &HostSpec) -> Option<Message> {
        let limit = spec.break_at?;
        let worst = self.collectors.iter().map(Collector::stats).max_by_key(|s| s.max_ns)?;
        (worst.max_ns > limit.0).then_some(Message::Broke {
            cpu: worst.cpu,
            index: worst.max_index,
            latency: Nanos(worst.max_ns),
        })
    }

    fn state(&self, running: &RunningMeasurement<'_>, work: Vec<Work>) -> Message {
        Message::Tick {
            elapsed: running.elapsed(),
            cpus: self.collectors.iter().map(|c| c.stats().clone()).collect(),
            work,
        }
    }
}

impl SampleSink for EverySample {
    fn collect(&mut self, running: &mut RunningMeasurement<'_>) -> Result<(), MeasureError> {
        for (place, collector) in self.collectors.iter_mut().enumerate() {
            collector.collect(running.traced.inbox(place))?;
        }
        running.traced.look(u64::MAX)?;
        if let Some(message) = self.above(running.spec).filter(|_| !running.done.broke) {
            running.done.broke = true;
            running.say(&message)?;
        }
        Ok(())
    }

    fn tick(&mut self, running: &mut RunningMeasurement<'_>) -> Result<(), MeasureError> {
        running.done.full |= self.room.is_short(running.elapsed());
        Ok(running.say(&self.state(running, running.work_so_far()))?)
    }

    fn end(
        self,
        mut running: RunningMeasurement<'_>,
        threads: &[ThreadResult],
    ) -> Result<MeasurementEnd, MeasureError> {
        running.load.check()?;
        let work = running.work()?;
        let max = self.collectors.iter().map(|c| c.stats().max_ns).max().unwrap_or(0);
        let mut done = running.ended(threads, Nanos(max), work.clone());
        // A last message, so that observers have seen every sample.
        running.say(&self.state(&running, work))?;
        self.collectors.into_iter().try_for_each(Collector::finish)?;
        let observed = running.traced.finish()?;
        for (cpu, captures) in done.cpus.iter_mut().zip(&observed.captures) {
            cpu.captures = captures.len();
            std::fs::write(
                running.spec.captures_file(cpu.cpu),
                serde_json::to_vec(captures).map_err(io::Error::from)?,
            )?;
        }
        for (cpu, causes) in done.cpus.iter_mut().zip(observed.causes) {
            cpu.causes = causes;
        }
        // The threads of timerlat write the parts themselves.
        let parts = observed.parts || running.spec.probe == Probe::Timerlat;
        done.cpus.iter_mut().for_each(|cpu| cpu.parts = parts);
        Ok(done)
    }
}
