//! `worstcase plot`: the pictures of a run as SVG files.

use super::output::{OutputError, print};
use crate::cli::words;
use clap::Args;
use std::io;
use std::path::PathBuf;
use worstcase_base::format::plain;
use worstcase_base::output::{BegunFolder, OutputFolder};
use worstcase_contract::Nanos;
use worstcase_report::picture::svg::{Theme, draw};
use worstcase_report::picture::{Picture, PictureOptions, of_run, some_of_run};
use worstcase_results::record::{Run, RunError};

/// Draw a run: each picture as an SVG file, for papers
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  worstcase plot RUN
  worstcase plot RUN --list
  worstcase plot RUN -o figures --picture heat-wakeup-latency
  worstcase plot RUN -o figures --picture dots --dark

Which pictures there are depends on what was measured; docs/pictures.md tells how to read each. A file is as wide as a
column (88 mm, more for many panels), has no title page, script or font of its own, and is the same for the same run.")]
pub struct PlotArgs {
    /// The run's folder
    run: PathBuf,
    /// Folder for the files; what is there under the same names is replaced
    #[arg(short, long, value_name = "DIR", default_value = "pictures")]
    output: PathBuf,
    /// Only pictures of this name, or whose name begins so (`dots`, `heat-wakeup`)
    #[arg(long, value_name = "ID", value_delimiter = ',')]
    picture: Vec<String>,
    /// Print the pictures' names, titles and how to read them; write nothing
    #[arg(long, conflicts_with = "dark")]
    list: bool,
    /// Light on dark, for slides
    #[arg(long)]
    dark: bool,
    /// Mark this limit on latency, e.g. 100us (default: the run's own criterion)
    #[arg(long, value_name = "DURATION", value_parser = words::limit)]
    criterion: Option<Nanos>,
}

worstcase_base::errors! {
    /// Why nothing can be drawn.
    #[derive(Debug, thiserror::Error)]
    pub enum PlotError {
        /// The run cannot be read.
        #[error(transparent)]
        Run(#[from] RunError) => within,
        /// There is no cell.
        #[error("{}: no cell was measured yet, so there is nothing to draw; give the run's command again: {command}", dir.display())]
        Nothing {
            /// The run's folder.
            dir: PathBuf,
            /// The command of the run.
            command: String,
        } => Usage,
        /// There is no picture of that name.
        #[error("this run has no picture '{0}'; see worstcase plot RUN --list")]
        Unknown(String) => Usage,
        /// A file cannot be written.
        #[error("cannot write {}: {source}; choose another folder with -o", path.display())]
        Write {
            /// The file or folder.
            path: PathBuf,
            /// The system's answer.
            source: io::Error,
        } => Storage,
        /// The output failed.
        #[error(transparent)]
        Output(#[from] OutputError) => Storage,
    }
}

/// Runs the command.
pub fn run(args: &PlotArgs) -> Result<(), PlotError> {
    let run = Run::open(&args.run)?;
    let records = run.records()?;
    if records.is_empty() {
        return Err(PlotError::Nothing {
            dir: args.run.clone(),
            command: worstcase_base::format::shell(&run.command()),
        });
    }
    let options = PictureOptions {
        limit: args.criterion,
        ..PictureOptions::default()
    };
    let chosen =
        |id: &str, wanted: &str| id == wanted || id.strip_prefix(wanted).is_some_and(|rest| rest.starts_with('-'));
    let pictures = match args.picture.is_empty() {
        true => of_run(&run, &records, options)?,
        false => some_of_run(&run, &records, options, |id| args.picture.iter().any(|w| chosen(id, w)))?,
    };
    if let Some(unknown) = args
        .picture
        .iter()
        .find(|w| !pictures.iter().any(|p| chosen(&p.head().id, w)))
    {
        return Err(PlotError::Unknown(plain(unknown)));
    }
    if args.list {
        return Ok(print(&listed(&pictures))?);
    }
    let theme = if args.dark { Theme::Dark } else { Theme::Light };
    let _begun = BegunFolder::at(&args.output);
    let folder = OutputFolder::create(&args.output).map_err(|source| PlotError::Write {
        path: args.output.clone(),
        source,
    })?;
    let mut said = String::new();
    for picture in &pictures {
        let name = format!("{}.svg", picture.head().id);
        let path = args.output.join(&name);
        let written = folder.write(&name, draw(picture, theme).as_bytes());
        written.map_err(|source| PlotError::Write {
            path: path.clone(),
            source,
        })?;
        said += &format!("{}\n", plain(&path.display().to_string()));
    }
    Ok(print(&said)?)
}

fn listed(pictures: &[Picture]) -> String {
    let of = |picture: &Picture| {
        let head = picture.head();
        format!(
            "{}\n  {}\n  {}\n",
            plain(&head.id),
            plain(&head.title),
            plain(&head.about)
        )
    };
    pictures.iter().map(of).collect()
}
