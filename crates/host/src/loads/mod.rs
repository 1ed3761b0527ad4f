//! Loads of the host: for now those of the lab.
use std::path::PathBuf;
use std::str::FromStr;
use worstcase_probe::loads::*;
use worstcase_probe::record::Work;
/// l
pub struct HostLoad(LoadSpec);
/// p
pub struct LoadPlace {
    /// w
    pub work_dir: PathBuf,
    /// c
    pub cgroup: Option<PathBuf>,
}
/// r
pub struct RunningHostLoad(RunningLoad);
impl FromStr for HostLoad {
    type Err = LoadError;
    fn from_str(s: &str) -> Result<Self, LoadError> {
        Ok(HostLoad(s.parse().map_err(|_| LoadError::NotAvailable {
            load: "x",
            reason: "bad".into(),
        })?))
    }
}
#[allow(missing_docs)]
impl HostLoad {
    pub fn start(&self, seed: u64, place: &LoadPlace) -> Result<RunningHostLoad, LoadError> {
        Ok(RunningHostLoad(RunningLoad::start(
            &self.0,
            seed,
            &LoadEnvironment {
                work_dir: place.work_dir.clone(),
                venue: Venue::Host,
            },
        )?))
    }
}
#[allow(missing_docs)]
impl RunningHostLoad {
    pub fn wait_for_work(&mut self) -> Result<(), LoadError> {
        self.0.wait_for_work()
    }
    pub fn check(&mut self) -> Result<(), LoadError> {
        self.0.check()
    }
    pub fn work(&self) -> Vec<Work> {
        self.0.work()
    }
    pub fn stop(self) -> Result<(), LoadError> {
        self.0.stop()
    }
}
