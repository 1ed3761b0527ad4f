//! A kernel module's information about itself: its name, the modules it needs, the kernel it was built for and its
//! parameters, from the ELF section `.modinfo`.

/// The information that the compiler and modpost wrote.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ModInfo {
    /// `name=`, if the kernel is new enough to write it.
    pub name: Option<String>,
    /// `depends=`: names of modules, complete but in no particular order.
    pub depends: Vec<String>,
    /// The first word of `vermagic=`: the `uname -r` of the kernel that the module was built for.
    pub release: Option<String>,
    /// `parmtype=`: names of its parameters.
    pub parameters: Vec<String>,
}

/// Reads `.modinfo` from the bytes of an uncompressed module; `None` if it is not a 64-bit little-endian ELF object
/// with such a section.
pub fn parse(elf: &[u8]) -> Option<ModInfo> {
    let section = section(elf, b".modinfo")?;
    let mut info = ModInfo::default();
    for entry in section.split(|b| *b == 0) {
        let Ok(entry) = std::str::from_utf8(entry) else {
            continue;
        };
        match entry.split_once('=') {
            Some(("name", name)) => info.name = Some(name.to_string()),
            Some(("depends", list)) => {
                info.depends = list.split(',').filter(|n| !n.is_empty()).map(Into::into).collect()
            }
            Some(("vermagic", words)) => info.release = words.split_whitespace().next().map(Into::into),
            Some(("parmtype", parameter)) => {
                let name = parameter.split_once(':').map_or(parameter, |(name, _)| name);
                info.parameters.push(name.to_string());
            }
            _ => {}
        }
    }
    Some(info)
}

// Offsets are those of Elf64_Ehdr and Elf64_Shdr in elf(5). Every access is checked: the file may be cut short.
fn section<'a>(elf: &'a [u8], wanted: &[u8]) -> Option<&'a [u8]> {
    const ELF64_LITTLE_ENDIAN: &[u8] = b"\x7fELF\x02\x01";
    if !elf.starts_with(ELF64_LITTLE_ENDIAN) {
        return None;
    }
    let headers = usize::try_from(u64_at(elf, 0x28)?).ok()?;
    let header_size = usize::from(u16_at(elf, 0x3a)?);
    let count = usize::from(u16_at(elf, 0x3c)?);
    let names_index = usize::from(u16_at(elf, 0x3e)?);
    let header = |i: usize| {
        let start = headers.checked_add(i.checked_mul(header_size)?)?;
        elf.get(start..start.checked_add(0x40)?)
    };
    let content = |header: &[u8]| {
        let start = usize::try_from(u64_at(header, 0x18)?).ok()?;
        let size = usize::try_from(u64_at(header, 0x20)?).ok()?;
        elf.get(start..start.checked_add(size)?)
    };
    let names = content(header(names_index)?)?;
    (0..count).filter_map(header).find_map(|h| {
        let name = names.get(u32_at(h, 0)? as usize..)?;
        let named = name.strip_prefix(wanted).is_some_and(|rest| rest.first() == Some(&0));
        if named { content(h) } else { None }
    })
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?))
}

/// The smallest ELF object with a `.modinfo` section, for tests.
#[cfg(test)]
pub fn sample(modinfo: &[u8]) -> Vec<u8> {
    let names = b"\0.modinfo\0.shstrtab\0";
    let mut elf = vec![0u8; 0x40];
    elf[..6].copy_from_slice(b"\x7fELF\x02\x01");
    let modinfo_at = elf.len() as u64;
    elf.extend_from_slice(modinfo);
    let names_at = elf.len() as u64;
    elf.extend_from_slice(names);
    let headers_at = elf.len() as u64;
    for (name, at, size) in [
        (0u32, 0u64, 0u64),
        (1, modinfo_at, modinfo.len() as u64),
        (10, names_at, names.len() as u64),
    ] {
        let mut header = [0u8; 0x40];
        header[..4].copy_from_slice(&name.to_le_bytes());
        header[0x18..0x20].copy_from_slice(&at.to_le_bytes());
        header[0x20..0x28].copy_from_slice(&size.to_le_bytes());
        elf.extend_from_slice(&header);
    }
    elf[0x28..0x30].copy_from_slice(&headers_at.to_le_bytes());
    elf[0x3a..0x3c].copy_from_slice(&0x40u16.to_le_bytes());
    elf[0x3c..0x3e].copy_from_slice(&3u16.to_le_bytes());
    elf[0x3e..0x40].copy_from_slice(&2u16.to_le_bytes());
    elf
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_and_dependencies_are_read() {
        let info = parse(&sample(b"license=GPL\0depends=configfs,dm-mod\0name=null_blk\0")).unwrap();
        assert_eq!(info.name.as_deref(), Some("null_blk"));
        assert_eq!(info.depends, ["configfs", "dm-mod"]);
        let info = parse(&sample(
            b"parmtype=work:charp\0parm=work:what\0vermagic=6.1.0-1-amd64 SMP \0",
        ))
        .unwrap();
        assert_eq!(info.release.as_deref(), Some("6.1.0-1-amd64"));
        assert_eq!(info.parameters, ["work"]);
        assert_eq!(parse(&sample(b"depends=\0")).unwrap().depends, Vec::<String>::new());
    }

    #[test]
    fn what_is_no_module_is_no_module() {
        assert_eq!(parse(b"text"), None);
        assert_eq!(parse(&[]), None);
    }

    proptest::proptest! {
        #[test]
        fn a_module_cut_short_or_damaged_never_panics(cut in 0usize..400, at in 0usize..400, value: u8) {
            let mut elf = sample(b"depends=configfs\0name=null_blk\0");
            let at = at % elf.len();
            elf[at] = value;
            elf.truncate(cut);
            let _ = parse(&elf);
        }
    }
}
