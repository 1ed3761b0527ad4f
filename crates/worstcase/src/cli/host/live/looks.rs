//! Colours and characters.

use crate::cli::output::is_utf8;
use ratatui::style::{Color, Modifier, Style};

/// The abilities of the terminal. There are two colours that everybody can tell apart; a colour never says anything
/// alone.
#[derive(Clone, Copy, Debug)]
pub struct TerminalLooks {
    /// Colours are wanted.
    pub(crate) colour: bool,
    /// More than ASCII.
    pub(crate) unicode: bool,
}

impl TerminalLooks {
    /// The abilities by the environment: `NO_COLOR` (no-color.org), and the locale.
    pub(crate) fn of_environment() -> TerminalLooks {
        let set = |name: &str| std::env::var(name).ok().filter(|v| !v.is_empty());
        TerminalLooks {
            colour: set("NO_COLOR").is_none(),
            unicode: is_utf8(),
        }
    }

    /// The style of samples.
    pub(crate) fn bar(self) -> Style {
        self.style(Color::Cyan)
    }

    /// The style of samples above the criterion.
    pub(crate) fn above(self) -> Style {
        self.style(Color::Yellow)
    }

    fn style(self, colour: Color) -> Style {
        match self.colour {
            true => Style::new().fg(colour),
            false => Style::new(),
        }
    }
}

/// Headings.
pub(crate) const BOLD: Style = Style::new().add_modifier(Modifier::BOLD);
