//! An object's global variable `counters`, an array of a struct of 64-bit numbers: where it lies and what it holds.

use crate::LoaderError;
use libbpf_rs::btf::Btf;
use libbpf_rs::btf::types::{Array, DataSec, Int, Struct, Var};
use libbpf_rs::{MapCore, MapFlags, Object, ReferencesType};

const VARIABLE: &str = "counters";
const NUMBER: usize = size_of::<u64>();

/// Where the counters lie in the object's data.
pub(crate) struct Counters {
    section: String,
    offset: usize,
    elements: usize,
    names: Vec<String>,
}

impl Counters {
    /// Finds them; an object without such a variable, or with another of that name, has none.
    pub(crate) fn find(btf: &Btf) -> Option<Counters> {
        btf.type_by_kind::<DataSec<'_>>().find_map(|section| {
            section.iter().find_map(|entry| {
                let variable = btf.type_by_id::<Var<'_>>(entry.ty)?;
                if variable.name()? != VARIABLE {
                    return None;
                }
                let array = Array::try_from(variable.referenced_type().skip_mods_and_typedefs()).ok()?;
                let element = Struct::try_from(array.contained_type().skip_mods_and_typedefs()).ok()?;
                let names: Option<Vec<String>> = element
                    .iter()
                    .map(|member| {
                        let number = btf.type_by_id::<libbpf_rs::btf::BtfType<'_>>(member.ty)?;
                        let number = Int::try_from(number.skip_mods_and_typedefs()).ok()?;
                        let name = member.name?.to_str()?.to_string();
                        (number.bits as usize == NUMBER * 8).then_some(name)
                    })
                    .collect();
                Some(Counters {
                    section: section.name()?.to_str()?.to_string(),
                    offset: entry.offset as usize,
                    elements: array.capacity(),
                    names: names?,
                })
            })
        })
    }

    /// The sums over all elements, by name.
    pub(crate) fn read(&self, object: &Object) -> Result<Vec<(String, u64)>, LoaderError> {
        let map = object
            .maps()
            .find(|map| map.name().to_str().is_some_and(|name| name.ends_with(&self.section)))
            .ok_or_else(|| LoaderError::new(format!("the object's section {} is not loaded", self.section)))?;
        let data = map
            .lookup(&0u32.to_ne_bytes(), MapFlags::ANY)
            .map_err(|error| LoaderError::new(format!("the counters cannot be read: {error}")))?
            .unwrap_or_default();
        let numbers: Vec<u64> = data
            .get(self.offset..)
            .unwrap_or_default()
            .chunks_exact(NUMBER)
            .take(self.elements * self.names.len())
            .map(|bytes| u64::from_ne_bytes(bytes.try_into().expect("a chunk of its length")))
            .collect();
        Ok(sums(&self.names, &numbers))
    }
}

fn sums(names: &[String], numbers: &[u64]) -> Vec<(String, u64)> {
    let sum = |column| {
        numbers
            .iter()
            .skip(column)
            .step_by(names.len())
            .fold(0u64, |sum, number| sum.wrapping_add(*number))
    };
    names
        .iter()
        .enumerate()
        .map(|(column, name)| (name.clone(), sum(column)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_member_is_summed_over_the_elements() {
        let names = ["picks".to_string(), "pulled".to_string()];
        let expected = vec![("picks".to_string(), 111), ("pulled".to_string(), 6)];
        assert_eq!(sums(&names, &[1, 1, 10, 2, 100, 3]), expected);
    }
}
