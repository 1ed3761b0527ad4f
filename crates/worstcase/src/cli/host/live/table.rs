//! The CPUs: a row each, the worst where there is no room for all, and one of all together.

use super::draw::{BOLD, Looks};
use super::model::Model;
use crate::report::format::{grouped, micros};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::Line;
use ratatui::widgets::Widget;
use worstcase_host::message::CpuStats;
use worstcase_probe::Nanos;

/// Columns of numbers are at least this wide, so that they stay where they are.
const WIDTH: usize = 8;

/// Draws it.
pub fn draw(model: &Model, looks: Looks, area: Rect, buffer: &mut Buffer) {
    let all = model.all();
    let room = usize::from(area.height.saturating_sub(3));
    let mut cpus: Vec<&CpuStats> = model.cpus.iter().collect();
    let hidden = match cpus.len() {
        0 | 1 => 0,
        // A row of the room says how many are not shown.
        many if many > room => many - room.saturating_sub(1),
        _ => 0,
    };
    if hidden > 0 {
        cpus.sort_by_key(|c| (std::cmp::Reverse(c.max_ns), c.cpu));
        cpus.truncate(model.cpus.len() - hidden);
    }
    let mut rows = vec![(columns(model), Style::new())];
    for cpu in cpus {
        let worst = all.taken > 0 && model.cpus.len() > 1 && cpu.cpu == all.cpu;
        let style = if worst { BOLD } else { Style::new() };
        rows.push((
            row(model, &format!("CPU {}", cpu.cpu), cpu),
            style.patch(mark(model, looks, cpu)),
        ));
    }
    let mut lines = vec![Line::styled(title(model), BOLD)];
    let mut fitted = fit(&mut rows, &row(model, "all", &all), model, looks, &all, area.width);
    if hidden > 0 {
        let text = format!("{hidden} more with lower maxima");
        fitted.insert(fitted.len() - 1, Line::raw(text));
    }
    // What all CPUs come to is shown in any case: where there is no room, instead of the title.
    let fitted_rows = fitted.len();
    lines.extend(fitted);
    let height = usize::from(area.height);
    if lines.len() > height {
        let last = lines.remove(fitted_rows);
        lines.truncate(height.saturating_sub(1));
        if height > 0 {
            lines.push(last);
        }
    }
    for (y, line) in lines.into_iter().enumerate() {
        let area = Rect {
            y: area.y + y as u16,
            height: 1,
            ..area
        };
        line.render(area, buffer);
    }
}

fn title(model: &Model) -> &'static str {
    match model.is_noise() {
        true => "gaps (us)",
        false => "latency (us)",
    }
}

fn columns(model: &Model) -> Vec<String> {
    let names: [&str; 7] = match model.is_noise() {
        true => ["", "min", "avg", "max", "gaps", "lost", "worst no."],
        false => ["", "min", "avg", "max", "missed", "worst no.", "samples"],
    };
    names.map(String::from).into()
}

fn mark(model: &Model, looks: Looks, cpu: &CpuStats) -> Style {
    match is_above(model, cpu) {
        true => looks.above(),
        false => Style::new(),
    }
}

fn is_above(model: &Model, cpu: &CpuStats) -> bool {
    model.criterion.is_some_and(|limit| cpu.max_ns > limit.0)
}

fn row(model: &Model, name: &str, cpu: &CpuStats) -> Vec<String> {
    if cpu.taken == 0 {
        let mut row = vec!["-".to_string(); columns(model).len()];
        row[0] = name.to_string();
        return row;
    }
    let us = |ns: u64| micros(Nanos(ns));
    let max = match is_above(model, cpu) {
        true => format!("!{}", us(cpu.max_ns)),
        false => us(cpu.max_ns),
    };
    let worst = cpu.max_index.to_string();
    let mut row = vec![name.to_string(), us(cpu.min_ns), us(cpu.sum_ns / cpu.taken), max];
    row.extend(match model.is_noise() {
        true => {
            let spun = model.elapsed.0 as f64 * if name == "all" { model.cpus.len() as f64 } else { 1.0 };
            let lost = cpu.sum_ns as f64 * 100.0 / spun.max(1.0);
            [grouped(cpu.taken), format!("{lost:.3} %"), worst]
        }
        false => [grouped(cpu.missed), worst, grouped(cpu.taken)],
    });
    row
}

/// The rows as lines, the columns on the right left out where there is no room for them.
fn fit(
    rows: &mut Vec<(Vec<String>, Style)>,
    all: &[String],
    model: &Model,
    looks: Looks,
    stats: &CpuStats,
    width: u16,
) -> Vec<Line<'static>> {
    if model.cpus.len() == 1 {
        rows.truncate(2);
    } else {
        rows.push((all.to_vec(), BOLD.patch(mark(model, looks, stats))));
    }
    let widest = |column: usize| rows.iter().map(|(cells, _)| cells[column].len()).max().unwrap_or(0);
    let columns = rows.first().map_or(0, |(cells, _)| cells.len());
    let mut widths: Vec<usize> = Vec::new();
    for column in 0..columns {
        let wide = if column == 0 {
            widest(0).max(3)
        } else {
            (widest(column) + 1).max(WIDTH)
        };
        if widths.iter().sum::<usize>() + wide > usize::from(width) {
            break;
        }
        widths.push(wide);
    }
    let line = |(cells, style): &(Vec<String>, Style)| {
        let mut text = String::new();
        for (column, (cell, wide)) in cells.iter().zip(&widths).enumerate() {
            text += &match column {
                0 => format!("{cell:<wide$}"),
                _ => format!("{cell:>wide$}"),
            };
        }
        Line::styled(text, *style)
    };
    rows.iter().map(line).collect()
}
