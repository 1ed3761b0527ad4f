//! Types that files hold as users type them.

/// The conversions that `#[serde(into = "String", try_from = "String")]` asks for, of a type that implements
/// [`std::fmt::Display`] and [`std::str::FromStr`].
#[macro_export]
macro_rules! text_form {
    ($type:ty) => {
        impl From<$type> for String {
            fn from(value: $type) -> String {
                value.to_string()
            }
        }

        impl TryFrom<String> for $type {
            type Error = <$type as std::str::FromStr>::Err;

            fn try_from(text: String) -> Result<$type, Self::Error> {
                text.parse()
            }
        }
    };
}
