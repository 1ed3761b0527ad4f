//! One load, as the machine that runs it needs to know it.

use super::kind::LoadKind;
use serde::{Deserialize, Serialize};
use worstcase_instruments::loads::LoadRequest;

/// A load with its parameters.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct LoadOrder {
    /// Which load.
    pub kind: LoadKind,
    /// What it is asked for.
    pub request: LoadRequest,
}
