//! The folder of `--output`.

use crate::cli::error::Error;
use std::path::Path;
use worstcase_host::HostError;
use worstcase_host::follow::{FollowSession, SessionRequest};

/// Keeps what was measured as a run.
pub(super) fn keep(folder: &Path, _request: &SessionRequest, _session: &FollowSession) -> Result<(), Error> {
    let not_yet = format!(
        "{} is not written: no run is made of a followed program yet",
        folder.display()
    );
    Err(HostError::Argument(not_yet).into())
}
