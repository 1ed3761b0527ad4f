//! Errors that know their exit code.

/// Declares an error enum in which each variant ends with `=> what a script needs to know of it`, and gives it
/// `fn exit(&self) -> ExitKind`:
///
/// ```
/// worstcase_base::errors! {
///     /// Why there is no report.
///     #[derive(Debug, thiserror::Error)]
///     pub enum ReportingError {
///         /// The disk.
///         #[error("cannot write {path}; is the disk full?")]
///         Write {
///             /// The file.
///             path: String,
///         } => Storage,
///         /// The command line.
///         #[error("{0}")]
///         Argument(String) => Usage,
///         /// The cache, whose error has an exit code of its own.
///         #[error(transparent)]
///         Cache(#[from] worstcase_base::cache::CacheError) => within,
///     }
/// }
/// assert_eq!(ReportingError::Argument("no".into()).exit(), worstcase_base::ExitKind::Usage);
/// ```
///
/// The word is one of [`ExitKind`](crate::ExitKind), `within` where the variant holds nothing but another error with an
/// exit code, or `exit` where it has a field of that name.
#[macro_export]
macro_rules! errors {
    (
        $(#[$attribute:meta])*
        $visible:vis enum $name:ident {
            $(
                $(#[$of_variant:meta])*
                $variant:ident $(( $($place:tt)* ))? $({ $($field:tt)* })? => $kind:ident
            ),+ $(,)?
        }
    ) => {
        $(#[$attribute])*
        $visible enum $name {
            $(
                $(#[$of_variant])*
                $variant $(( $($place)* ))? $({ $($field)* })?
            ),+
        }

        impl $name {
            /// The kind of exit code for scripts.
            $visible fn exit(&self) -> $crate::ExitKind {
                $crate::errors!(@arms self {} $($variant $kind)+)
            }
        }
    };
    (@arms $error:ident { $($arm:tt)* }) => {
        match $error { $($arm)* }
    };
    (@arms $error:ident { $($arm:tt)* } $variant:ident within $($rest:tt)*) => {
        $crate::errors!(@arms $error { $($arm)* Self::$variant(within) => within.exit(), } $($rest)*)
    };
    (@arms $error:ident { $($arm:tt)* } $variant:ident exit $($rest:tt)*) => {
        $crate::errors!(@arms $error { $($arm)* Self::$variant { exit, .. } => *exit, } $($rest)*)
    };
    (@arms $error:ident { $($arm:tt)* } $variant:ident $kind:ident $($rest:tt)*) => {
        $crate::errors!(@arms $error { $($arm)* Self::$variant { .. } => $crate::ExitKind::$kind, } $($rest)*)
    };
}

#[cfg(test)]
mod tests {
    use crate::ExitKind;

    errors! {
        #[derive(Debug, thiserror::Error)]
        enum InnerError {
            #[error("full")]
            Full => Storage,
        }
    }

    errors! {
        #[derive(Debug, thiserror::Error)]
        enum OuterError {
            #[error("{0}")]
            Typed(&'static str) => Usage,
            #[error(transparent)]
            Inner(#[from] InnerError) => within,
            #[error("{host} failed")]
            Elsewhere {
                exit: ExitKind,
                host: &'static str,
            } => exit,
        }
    }

    #[test]
    fn each_variant_has_the_exit_code_beside_it_or_within_it() {
        let elsewhere = OuterError::Elsewhere {
            exit: ExitKind::Measured,
            host: "one",
        };
        assert_eq!(OuterError::Typed("x").exit(), ExitKind::Usage);
        assert_eq!(OuterError::from(InnerError::Full).exit(), ExitKind::Storage);
        assert_eq!(elsewhere.exit(), ExitKind::Measured, "{elsewhere}");
    }
}
