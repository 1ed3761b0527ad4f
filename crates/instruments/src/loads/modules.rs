//! Parameters of the kernel modules that loads need.

/// How a module that a load names is loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModuleInfo {
    /// What it is loaded with.
    pub parameters: &'static str,
    /// Whether some kernels do without it.
    pub optional: bool,
}

impl ModuleInfo {
    /// Of the module of this name.
    pub fn of(name: &str) -> ModuleInfo {
        let (parameters, optional) = match name {
            "brd" => ("rd_nr=1 rd_size=65536", false),
            "nbd" => ("nbds_max=1 max_part=0", false),
            "dummy" => ("numdummies=0", false),
            // The CPU fetches the data itself.
            "libata" => ("dma=0", false),
            // ext4 asks for it by what it does, not by its name. In newer kernels it is no module.
            "crc32c_generic" => ("", true),
            _ => ("", false),
        };
        ModuleInfo { parameters, optional }
    }
}
