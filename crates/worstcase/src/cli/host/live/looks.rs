//! Colours and characters.

use ratatui::style::{Color, Modifier, Style};

/// What the terminal can show. Colours are two that everybody can tell apart, and never say anything alone.
#[derive(Clone, Copy, Debug)]
pub struct TerminalLooks {
    /// Colours are wanted.
    pub colour: bool,
    /// More than ASCII.
    pub unicode: bool,
}

impl TerminalLooks {
    /// As the environment says: `NO_COLOR` (no-color.org), and the locale.
    pub fn of_environment() -> TerminalLooks {
        let set = |name: &str| std::env::var(name).ok().filter(|v| !v.is_empty());
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(set);
        let is_utf8 = |l: String| ["utf-8", "utf8"].iter().any(|name| l.to_lowercase().ends_with(name));
        TerminalLooks {
            colour: set("NO_COLOR").is_none(),
            unicode: locale.is_some_and(is_utf8),
        }
    }

    /// What was measured.
    pub fn bar(self) -> Style {
        self.style(Color::Cyan)
    }

    /// What is above the criterion.
    pub fn above(self) -> Style {
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
pub const BOLD: Style = Style::new().add_modifier(Modifier::BOLD);
