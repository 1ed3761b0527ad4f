//! Values of the kernel's enumerations, by name.

use libbpf_rs::btf::Btf;
use libbpf_rs::btf::types::{Enum, Enum64};
use std::collections::HashMap;
use std::ffi::OsStr;

/// The values of those `names` that the kernel has. A name that it lacks is left out: to a scheduler that is a 0, as
/// everywhere where this convention is used.
pub(crate) fn values<'n>(kernel: &Btf, names: &[&'n str]) -> HashMap<&'n str, u64> {
    let mut found = HashMap::new();
    let mut note = |name: Option<&OsStr>, value: u64| {
        if let Some(name) = names.iter().find(|wanted| name == Some(OsStr::new(wanted))) {
            found.entry(*name).or_insert(value);
        }
    };
    for list in kernel.type_by_kind::<Enum<'_>>() {
        list.iter().for_each(|member| note(member.name, member.value as u64));
    }
    for list in kernel.type_by_kind::<Enum64<'_>>() {
        list.iter().for_each(|member| note(member.name, member.value as u64));
    }
    found
}
