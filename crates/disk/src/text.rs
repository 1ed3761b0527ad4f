//! A profile as one word, for a machine that reads no files.

use crate::Profile;

/// A word that is no profile.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is no profile of this version")]
pub struct NoProfile(String);

impl Profile {
    /// Hexadecimal digits, of all but the source: another word of it makes no other disk.
    pub fn encode(&self) -> String {
        let numbers = Profile {
            source: String::new(),
            ..self.clone()
        };
        let bytes = postcard::to_stdvec(&numbers).expect("plain values are serialised");
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// Reads them.
    pub fn decode(digits: &str) -> Result<Profile, NoProfile> {
        let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
        let bytes: Option<Vec<u8>> = digits.as_bytes().chunks(2).map(byte).collect();
        bytes
            .and_then(|bytes| postcard::from_bytes(&bytes).ok())
            .ok_or_else(|| NoProfile(digits.chars().take(32).collect()))
    }
}

#[cfg(all(test, feature = "profiles"))]
mod tests {
    use crate::{Profile, profiles};

    #[test]
    fn a_profile_is_one_word() {
        for name in profiles::NAMES {
            let profile = profiles::builtin(name).unwrap();
            let read = Profile::decode(&profile.encode()).unwrap();
            assert_eq!((&read.name, &read.kind), (&profile.name, &profile.kind));
            assert_eq!(read.encode(), profile.encode());
        }
        assert!(Profile::decode("xy").is_err() && Profile::decode("00").is_err());
    }
}
