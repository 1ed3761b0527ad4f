//! A story as JSON, schema `worstcase-story/1`; times in ns.

use worstcase_analysis::story::spans::Story;

/// One story.
pub fn story(story: &Story) -> String {
    let mut text = serde_json::to_string_pretty(story).expect("a story is plain data");
    text.push('\n');
    text
}

/// Several, as a list.
pub fn stories(stories: &[&Story]) -> String {
    let mut text = serde_json::to_string_pretty(stories).expect("a story is plain data");
    text.push('\n');
    text
}
