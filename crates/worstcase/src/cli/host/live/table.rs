//! The CPUs: a row each, the worst where there is no room for all, and one of all together.

use super::looks::{BOLD, TerminalLooks};
use super::model::LiveModel;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::Line;
use ratatui::widgets::Widget;
use worstcase_base::format::{grouped, micros};
use worstcase_contract::Nanos;
use worstcase_host::message::CpuStats;

/// Columns of numbers are at least this wide, so that they stay where they are.
const WIDTH: usize = 8;

/// Draws the table. The row of all CPUs is at the bottom, and shown even if there is no room for anything else.
pub fn draw(model: &LiveModel, looks: TerminalLooks, area: Rect, buffer: &mut Buffer) {
    let all = model.all();
    let (cpus, hidden) = chosen(model, usize::from(area.height.saturating_sub(3)));
    let mut rows = vec![(columns(model), Style::new())];
    for cpu in cpus {
        let worst = all.taken > 0 && model.cpus.len() > 1 && cpu.cpu == all.cpu;
        let style = if worst { BOLD } else { Style::new() };
        let name = format!("CPU {}", cpu.cpu);
        rows.push((row(model, &name, cpu), style.patch(mark(model, looks, cpu))));
    }
    if model.cpus.len() > 1 {
        rows.push((row(model, "all", &all), BOLD.patch(mark(model, looks, &all))));
    }
    let mut lines = fit(&rows, usize::from(area.width));
    if hidden > 0 {
        lines.insert(lines.len() - 1, Line::raw(format!("{hidden} more with lower maxima")));
    }
    lines.insert(0, Line::styled(title(model), BOLD));
    let above = lines.len().saturating_sub(usize::from(area.height));
    for (line, row) in lines.into_iter().skip(above).zip(area.rows()) {
        line.render(row, buffer);
    }
}

/// The CPUs that have room, the worst where that is not all, and how many a row says are not shown.
fn chosen(model: &LiveModel, room: usize) -> (Vec<&CpuStats>, usize) {
    let mut cpus: Vec<&CpuStats> = model.cpus.iter().collect();
    if cpus.len() <= room.max(1) {
        return (cpus, 0);
    }
    cpus.sort_by_key(|c| (std::cmp::Reverse(c.max_ns), c.cpu));
    let shown = if room < 2 { room } else { room - 1 };
    cpus.truncate(shown);
    (cpus, if room < 2 { 0 } else { model.cpus.len() - shown })
}

fn title(model: &LiveModel) -> &'static str {
    match model.is_noise() {
        true => "gaps (us)",
        false => "latency (us)",
    }
}

fn columns(model: &LiveModel) -> Vec<String> {
    let names: [&str; 8] = match model.is_noise() {
        true => ["", "min", "avg", "max", "gaps", "noise", "worst no.", "lost"],
        false => ["", "min", "avg", "max", "missed", "worst no.", "samples", "lost"],
    };
    names.map(String::from).into()
}

fn mark(model: &LiveModel, looks: TerminalLooks, cpu: &CpuStats) -> Style {
    match is_above(model, cpu) {
        true => looks.above(),
        false => Style::new(),
    }
}

fn is_above(model: &LiveModel, cpu: &CpuStats) -> bool {
    model.criterion.is_some_and(|limit| cpu.max_ns > limit.0)
}

fn row(model: &LiveModel, name: &str, cpu: &CpuStats) -> Vec<String> {
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
            let noise = cpu.sum_ns as f64 * 100.0 / spun.max(1.0);
            [grouped(cpu.taken), format!("{noise:.3} %"), worst]
        }
        false => [grouped(cpu.missed), worst, grouped(cpu.taken)],
    });
    row.push(grouped(cpu.lost));
    row
}

/// The rows as lines, the columns on the right left out where there is no room for them.
fn fit(rows: &[(Vec<String>, Style)], width: usize) -> Vec<Line<'static>> {
    let widest = |column: usize| rows.iter().map(|(cells, _)| cells[column].len()).max().unwrap_or(0);
    let columns = rows.first().map_or(0, |(cells, _)| cells.len());
    let mut widths: Vec<usize> = Vec::new();
    for column in 0..columns {
        let wide = match column {
            0 => widest(0),
            _ => (widest(column) + 1).max(WIDTH),
        };
        if widths.iter().sum::<usize>() + wide > width {
            break;
        }
        widths.push(wide);
    }
    let line = |(cells, style): &(Vec<String>, Style)| {
        let pad = |(column, (cell, wide)): (usize, (&String, &usize))| match column {
            0 => format!("{cell:<wide$}"),
            _ => format!("{cell:>wide$}"),
        };
        let text: String = cells.iter().zip(&widths).enumerate().map(pad).collect();
        Line::styled(text, *style)
    };
    rows.iter().map(line).collect()
}
