//! Secrets out of texts: rules in the form of gitleaks, in one piece and in streams.

mod literals;
mod machine;
mod re2;
mod rule;
mod search;
mod sieve;
mod stream;

pub use rule::{AllowSpec, RuleError, RuleSpec, Target};
pub use search::{RuleSet, Secret};
pub use stream::{LEAST_WINDOW, StreamRedactor};
