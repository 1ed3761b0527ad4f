//! The loads of a bisection, for people who have neither worstcase nor the user's programs.

use worstcase_base::format::plain;

/// A load.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToldLoad {
    /// As it was typed.
    pub name: String,
    /// What it does.
    pub about: String,
    /// The user's own program that it is.
    pub own: Option<OwnProgram>,
}

/// A program of the user's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnProgram {
    /// Its path in the machine.
    pub path: String,
    /// Its source, if it was found.
    pub source: Option<ProgramSource>,
}

/// The source of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramSource {
    /// The file's name.
    pub file: String,
    /// The file's text.
    pub text: String,
}

impl ToldLoad {
    /// What the load is, in a sentence.
    pub(super) fn sentence(&self) -> String {
        let name = plain(&self.name);
        match &self.own {
            None => format!("Load {name}: {}.", self.about),
            Some(OwnProgram { path, source: None }) => {
                format!(
                    "Load {name}: a program of the sender's, {}, whose source is to be attached.",
                    plain(path)
                )
            }
            Some(OwnProgram {
                path,
                source: Some(source),
            }) => format!(
                "Load {name}: a program of the sender's, {}. Its source, {}, is below.",
                plain(path),
                plain(&source.file)
            ),
        }
    }

    /// The user's program, if its source was not found.
    pub fn lacks_source(&self) -> Option<&OwnProgram> {
        self.own.as_ref().filter(|own| own.source.is_none())
    }

    /// Its source.
    pub(super) fn source(&self) -> Option<&ProgramSource> {
        self.own.as_ref()?.source.as_ref()
    }
}
