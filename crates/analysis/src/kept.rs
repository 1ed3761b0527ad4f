//! The findings of a replay, kept in the cache by content.

use serde::Serialize;
use serde::de::DeserializeOwned;
use worstcase_base::cache::{Cache, CacheError};
use worstcase_base::digest::Digest;
use worstcase_lab::LabError;

/// Digest of the code that makes the findings, from the build script: other code may find something else.
const CODE: &str = env!("WORSTCASE_ANALYSIS");

/// The remedy for a damaged file.
const AGAIN: &str = "the cell is replayed again";

/// Gives the kept findings of a replay, or else calls `find` and keeps its result. `asked` names the replay and everything
/// else on which the result depends.
pub(crate) fn kept<T, E>(cache: &Cache, area: &str, asked: &[&str], find: impl FnOnce() -> Result<T, E>) -> Result<T, E>
where
    T: Serialize + DeserializeOwned,
    E: From<CacheError> + From<LabError>,
{
    let mut key = Digest::new(&format!("worstcase-{area}"));
    key.text(CODE);
    for part in asked {
        key.text(part);
    }
    let folder = cache.keep(area, &key.hex(), AGAIN, |building| {
        let path = building.join("found.json");
        let json = serde_json::to_vec(&find()?).expect("what was found is plain data");
        Ok::<_, E>(std::fs::write(&path, json).map_err(LabError::io(&path))?)
    })?;
    let path = folder.join("found.json");
    let json = worstcase_base::files::read(&path).map_err(LabError::io(&path))?;
    let found = serde_json::from_slice(&json).map_err(|e| LabError::Damaged {
        folder,
        reason: e.to_string(),
        again: AGAIN,
    })?;
    Ok(found)
}
