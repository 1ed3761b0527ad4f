//! Pictures of a small page: drawings instead of data and the library that draws it.

use crate::picture::Picture;
use crate::picture::svg::{Theme, draw};
use serde::Serialize;
use serde_json::{Value, json};

/// A picture as the page has it.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(super) enum ShownPicture {
    /// The page draws it.
    Live(Box<Picture>),
    /// It is a drawing already.
    Drawn(DrawnPicture),
}

/// A drawing with its heading.
#[derive(Debug, Serialize)]
pub(super) struct DrawnPicture {
    kind: &'static str,
    id: String,
    title: String,
    about: String,
    svg: String,
    /// Their probes alone: they tell the question that the picture is of.
    panels: Vec<Value>,
}

impl ShownPicture {
    /// For a page of this size. A heat map is a table of the page, in any.
    pub(super) fn new(picture: Picture, is_small: bool) -> ShownPicture {
        if !is_small || matches!(picture, Picture::Heat(_)) {
            return ShownPicture::Live(Box::new(picture));
        }
        let head = picture.head();
        let data = serde_json::to_value(&picture).expect("a picture is plain data");
        let panels = data["panels"].as_array().into_iter().flatten();
        ShownPicture::Drawn(DrawnPicture {
            kind: "drawn",
            id: head.id.clone(),
            title: head.title.clone(),
            about: head.about.clone(),
            // In a page's data no text has several lines.
            svg: draw(&picture, Theme::Light).replace('\n', " "),
            panels: panels.map(|panel| json!({ "probe": panel["probe"] })).collect(),
        })
    }

    /// Whether the page needs the library for it.
    pub(super) fn needs_library(&self) -> bool {
        match self {
            ShownPicture::Live(picture) => !matches!(**picture, Picture::Heat(_)),
            ShownPicture::Drawn(_) => false,
        }
    }
}
