//! A compiled scheduler: opened, fitted to the running kernel, loaded and attached.

use crate::counters::Counters;
use crate::{LoaderError, enums, kernel, log};
use libbpf_rs::btf::types::{DataSec, Int, Struct, Var};
use libbpf_rs::btf::{Btf, BtfType};
use libbpf_rs::{Link, Object, ObjectBuilder, OpenObject, ReferencesType};
use std::path::Path;

const OPS_SECTIONS: &[&str] = &[".struct_ops", ".struct_ops.link"];
const OPS_TYPE: &str = "sched_ext_ops";
const CONSTANTS: &str = ".rodata";
/// A constant of this name holds the kernel's enumeration value of the name without `__`.
const ENUM_PREFIX: &str = "__SCX_";
const CPU_COUNT: &str = "nr_cpu_ids";

/// The scheduler that decides, until this is dropped.
pub(crate) struct Scheduler {
    /// The kernel's name for it.
    pub(crate) name: String,
    counters: Option<Counters>,
    object: Object,
    _link: Link,
}

impl Scheduler {
    /// Its counters' sums by name; none if the object keeps none.
    pub(crate) fn counters(&self) -> Result<Vec<(String, u64)>, LoaderError> {
        match &self.counters {
            Some(counters) => counters.read(&self.object),
            None => Ok(Vec::new()),
        }
    }
}

/// Makes the object of that file the scheduler of this machine.
pub(crate) fn attach(path: &Path) -> Result<Scheduler, LoaderError> {
    log::keep();
    let name = path.display();
    let bytes = std::fs::read(path).map_err(|error| LoaderError::new(format!("{name}: {error}")))?;
    let no_object = |why: &str| {
        LoaderError::new(format!(
            "{name} is no compiled BPF program (clang -target bpf -g): {why}"
        ))
    };
    let btf = Btf::from_raw("object", &bytes)
        .map_err(|error| no_object(&log::reason(&error)))?
        .ok_or_else(|| no_object("it describes no types (BTF)"))?;
    let ops = the_ops(&btf).map_err(|why| LoaderError::new(format!("{name}: {why}")))?;
    let counters = Counters::find(&btf);
    let refused = |error: &libbpf_rs::Error| LoaderError::new(log::reason(error));

    let mut open = ObjectBuilder::default()
        .open_memory(&bytes)
        .map_err(|error| refused(&error))?;
    set_constants(&mut open, &btf)?;
    let mut object = open.load().map_err(|error| refused(&error))?;
    let link = object
        .maps_mut()
        .find(|map| libbpf_rs::MapCore::name(map) == ops.as_str())
        .ok_or_else(|| LoaderError::new(format!("{name}: {ops} was not loaded")))?
        .attach_struct_ops()
        .map_err(|error| LoaderError::new(not_kept(&format!("the kernel did not take {ops}: {error}"))))?;
    let attached = kernel::attached();
    let name = attached.ok_or_else(|| LoaderError::new(not_kept(&format!("the kernel threw {ops} out at once"))))?;
    Ok(Scheduler {
        name,
        counters,
        object,
        _link: link,
    })
}

fn not_kept(what: &str) -> String {
    match kernel::last_words() {
        Some(words) => format!("{what} ({words})"),
        None => what.to_string(),
    }
}

/// The name of the one scheduler in the object.
fn the_ops(btf: &Btf) -> Result<String, String> {
    let found: Vec<String> = sections(btf, OPS_SECTIONS)
        .filter(|(_, variable)| {
            let of = Struct::try_from(variable.referenced_type().skip_mods_and_typedefs());
            let name = of
                .ok()
                .and_then(|of| of.name().map(|name| name.to_string_lossy().into_owned()));
            // What follows "___" tells apart versions of one type.
            name.is_some_and(|name| name.split("___").next() == Some(OPS_TYPE))
        })
        .filter_map(|(_, variable)| variable.name().map(|name| name.to_string_lossy().into_owned()))
        .collect();
    match found.as_slice() {
        [one] => Ok(one.clone()),
        [] => Err(format!(
            "there is no scheduler in it (no {OPS_TYPE} in its sections {})",
            OPS_SECTIONS.join(" or ")
        )),
        several => Err(format!(
            "there are several schedulers in it ({}); give one alone",
            several.join(", ")
        )),
    }
}

/// The variables of those sections, each with its offset.
fn sections<'b>(btf: &'b Btf, names: &'b [&str]) -> impl Iterator<Item = (usize, Var<'b>)> {
    btf.type_by_kind::<DataSec<'b>>()
        .filter(|section| section.name().is_some_and(|name| names.iter().any(|one| name == *one)))
        .flat_map(|section| {
            let entries: Vec<_> = (0..section.len()).filter_map(|index| section.get(index)).collect();
            entries
        })
        .filter_map(|entry| Some((entry.offset as usize, btf.type_by_id::<Var<'b>>(entry.ty)?)))
}

/// Sets the constants that depend on the running kernel and machine.
fn set_constants(open: &mut OpenObject, btf: &Btf) -> Result<(), LoaderError> {
    let constants: Vec<(usize, usize, String)> = sections(btf, &[CONSTANTS])
        .filter_map(|(offset, variable)| {
            let name = variable.name()?.to_str()?.to_string();
            let size = size_of_number(&variable.referenced_type())?;
            (name.starts_with(ENUM_PREFIX) || name == CPU_COUNT).then_some((offset, size, name))
        })
        .collect();
    if constants.is_empty() {
        return Ok(());
    }
    let kernel = Btf::from_vmlinux()
        .map_err(|error| LoaderError::new(format!("this kernel's types cannot be read: {error}")))?;
    let wanted: Vec<&str> = constants
        .iter()
        .filter_map(|(_, _, name)| name.strip_prefix("__"))
        .collect();
    let values = enums::values(&kernel, &wanted);
    let mut map = open
        .maps_mut()
        .find(|map| map.name().to_str().is_some_and(|name| name.ends_with(CONSTANTS)))
        .ok_or_else(|| LoaderError::new(format!("the object has no section {CONSTANTS}")))?;
    let data = map.initial_value_mut().unwrap_or_default();
    for (offset, size, name) in &constants {
        let value = match name.strip_prefix("__") {
            Some(name) => values.get(name).copied(),
            None => kernel::possible_cpus().map(u64::from),
        };
        if let (Some(value), Some(place)) = (value, data.get_mut(*offset..offset + size)) {
            place.copy_from_slice(&value.to_ne_bytes()[..*size]);
        }
    }
    Ok(())
}

/// How many bytes a number of that type has; `None`: it is no number.
fn size_of_number(of: &BtfType<'_>) -> Option<usize> {
    let number = Int::try_from(of.skip_mods_and_typedefs()).ok()?;
    let size = number.bits as usize / 8;
    (1..=8).contains(&size).then_some(size)
}
