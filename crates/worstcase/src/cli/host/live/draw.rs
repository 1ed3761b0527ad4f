//! From the model to the screen: a pure function.

use super::looks::{BOLD, TerminalLooks};
use super::model::{LiveModel, Phase};
use super::{histogram, table};
use crate::cli::host::words;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Modifier;
use ratatui::text::Line;
use ratatui::widgets::Widget;
use worstcase_base::duration;
use worstcase_base::format::{micros, plain};
use worstcase_contract::Nanos;

/// Rows that a histogram needs to say anything.
const HISTOGRAM: u16 = 5;
/// Its title, the names of the columns, all CPUs together.
const TABLE: u16 = 3;
/// Fewer rows than this: no empty ones.
const ROOMY: u16 = 20;

/// Draws it; `ending`: the user wants an end.
pub fn draw(model: &LiveModel, ending: bool, looks: TerminalLooks, area: Rect, buffer: &mut Buffer) {
    let mut lines = vec![heading(model), bar(model, looks, area.width)];
    lines.extend(model.criterion.map(|limit| criterion(model, limit, looks)));
    let load = load(model);
    if area.height >= ROOMY {
        lines.insert(1, words::method(&model.spec).into());
        lines.extend([load, Line::default()]);
    } else {
        lines.push(load);
    }
    let mut rest = area;
    for line in lines {
        line.render(take(&mut rest, 1), buffer);
    }
    keys(model, ending).render(take_last(&mut rest), buffer);
    let rows = match model.cpus.len() {
        0 | 1 => 0,
        // One row is left empty.
        cpus => cpus + 1,
    };
    let wanted = TABLE.saturating_add(u16::try_from(rows).unwrap_or(u16::MAX));
    let shown = match rest.height {
        height if height < TABLE + HISTOGRAM => height,
        // The histogram gets at least as much room as the CPUs.
        height => wanted.min((height / 2).max(TABLE)),
    };
    table::draw(model, looks, take(&mut rest, shown), buffer);
    if rest.height >= HISTOGRAM {
        histogram::draw(model, looks, rest, buffer);
    }
}

/// Takes the first `height` rows of the remaining area.
fn take(rest: &mut Rect, height: u16) -> Rect {
    let height = height.min(rest.height);
    let taken = Rect { height, ..*rest };
    rest.y += height;
    rest.height -= height;
    taken
}

fn take_last(rest: &mut Rect) -> Rect {
    let height = rest.height.min(1);
    rest.height -= height;
    Rect {
        y: rest.y + rest.height,
        height,
        ..*rest
    }
}

fn heading(model: &LiveModel) -> Line<'static> {
    let (nth, of) = (model.nth, model.of);
    Line::styled(format!("{nth}/{of} {}", words::title(&model.spec)), BOLD)
}

fn bar(model: &LiveModel, looks: TerminalLooks, width: u16) -> Line<'static> {
    let length = model.spec.length();
    let elapsed = Nanos(model.elapsed.0.min(length.0));
    let left = words::clock(length.saturating_sub(elapsed));
    let text = match model.phase {
        Phase::Starting => "the load starts".to_string(),
        Phase::WarmUp(time) => format!("the load runs alone for {}", duration::show(time)),
        Phase::Measuring if length.0 == 0 => {
            let taken: u64 = model.cpus.iter().map(|c| c.taken).sum();
            format!("{taken} of {}", words::amount(&model.spec))
        }
        Phase::Measuring => format!("{} of {}, {left} left", words::clock(elapsed), words::clock(length)),
        Phase::Keeping => "measured; the record is written".to_string(),
    };
    let room = usize::from(width).saturating_sub(text.len() + 3).min(60);
    let full = (model.share() * room as f64) as usize;
    let (done, open) = if looks.unicode { ("█", "░") } else { ("#", ".") };
    let drawn = format!("[{}{}] ", done.repeat(full), open.repeat(room - full));
    Line::default().spans([
        ratatui::text::Span::styled(drawn, looks.bar()),
        ratatui::text::Span::raw(text),
    ])
}

fn criterion(model: &LiveModel, limit: Nanos, looks: TerminalLooks) -> Line<'static> {
    let all = model.all();
    let max = Nanos(all.max_ns);
    let of = format!("criterion {}", duration::show(limit));
    if let Some((earlier, title)) = &model.failed_already {
        let now = if all.taken == 0 {
            "none yet".into()
        } else {
            format!("{} us", micros(max))
        };
        let text = format!(
            "FAILED already: {of}, max {} us in {title}; now max {now}",
            micros(*earlier)
        );
        return Line::styled(
            plain(&text),
            looks.above().add_modifier(Modifier::BOLD | Modifier::REVERSED),
        );
    }
    if all.taken == 0 {
        return format!("{of}: no sample yet").into();
    }
    match max.0.checked_sub(limit.0) {
        Some(above) if above > 0 => {
            let text = format!("EXCEEDED by {} us: {of}, max {} us", micros(Nanos(above)), micros(max));
            Line::styled(text, looks.above().add_modifier(Modifier::BOLD | Modifier::REVERSED))
        }
        _ => format!("met so far by {} us: {of}, max {} us", micros(limit - max), micros(max)).into(),
    }
}

fn load(model: &LiveModel) -> Line<'static> {
    let rates: Vec<String> = model
        .rates()
        .into_iter()
        .map(|(unit, n)| words::rate(unit, n))
        .collect();
    plain(&match rates.is_empty() {
        true => format!("load: {}", model.spec.load),
        false => format!("load: {}", rates.join(", ")),
    })
    .into()
}

fn keys(model: &LiveModel, ending: bool) -> Line<'static> {
    match (ending, model.phase) {
        (true, _) => Line::styled("ending; what was taken is kept", BOLD),
        (false, Phase::Keeping) => Line::default(),
        (false, _) => "q or Ctrl-C: end now and keep what was taken".into(),
    }
}
