//! The checks of single values of a study file. An error has its place in the text.

use std::ops::Range;
use toml::Spanned;
use worstcase_base::duration;
use worstcase_contract::Nanos;

/// Something wrong, and where in the text.
pub(super) struct Wrong(pub Range<usize>, pub String);

pub(super) type Checked<T> = Result<T, Wrong>;

/// A length of time.
pub(super) fn time(raw: &Spanned<String>) -> Checked<Nanos> {
    duration::parse(raw.get_ref()).map_err(|e| Wrong(raw.span(), e.to_string()))
}

/// A text that has to be there.
pub(super) fn required_text(
    value: Option<String>,
    at: &Range<usize>,
    section: &str,
    key: &str,
    remedy: &str,
) -> Checked<String> {
    let absent = || Wrong(at.clone(), format!("{section} has no '{key}': {remedy}"));
    value.filter(|text| !text.trim().is_empty()).ok_or_else(absent)
}

/// One of a few words.
pub(super) fn one_of<T: Copy, const N: usize>(
    word: &Spanned<String>,
    key: &str,
    all: [T; N],
    name: fn(T) -> &'static str,
) -> Checked<T> {
    let unknown = || {
        let what = format!(
            "'{key}' is {}, not '{}'",
            all.map(name).join(", "),
            word.get_ref().escape_debug()
        );
        Wrong(word.span(), what)
    };
    all.into_iter()
        .find(|one| name(*one) == word.get_ref())
        .ok_or_else(unknown)
}
