//! A block of a document and the output of the command that it is from: a table with some of the output's columns, or some of
//! its lines.

/// The block with what the output has now; an error if the output no longer has one of its lines.
pub fn renewed(block: &str, output: &str) -> Result<String, String> {
    let first = block.lines().next().unwrap_or_default();
    match output.lines().position(|line| has_columns(line, first)) {
        Some(at) => table(block, &output.lines().skip(at).collect::<Vec<_>>()),
        None => lines(block, output).or_else(|why| whole(block, output).ok_or(why)),
    }
}

/// The words of a table's line, with where each begins and ends; two spaces stand between two columns.
fn cells(line: &str) -> Vec<(usize, usize, &str)> {
    let mut cells = Vec::new();
    let mut at = 0;
    for cell in line.split("  ") {
        let text = cell.trim();
        if !text.is_empty() {
            let before = cell.chars().take_while(|c| *c == ' ').count();
            let begin = at + before;
            cells.push((begin, begin + text.chars().count(), text));
        }
        at += cell.chars().count() + 2;
    }
    cells
}

/// Whether a line has all cells of a table's header, and others.
fn has_columns(line: &str, header: &str) -> bool {
    let (all, some) = (cells(line), cells(header));
    let names: Vec<&str> = all.iter().map(|(.., name)| *name).collect();
    some.len() > 2 && some.len() < all.len() && some.iter().all(|(.., name)| names.contains(name))
}

/// The columns that the block has, of as many rows; `output` begins with the header.
fn table(block: &str, output: &[&str]) -> Result<String, String> {
    let columns = cells(output[0]);
    let header = cells(block.lines().next().unwrap_or_default());
    let rows: Vec<Vec<&str>> = output[..block.lines().count().min(output.len())]
        .iter()
        .map(|line| {
            let cells = cells(line);
            let in_column = |(begin, end, _): &(usize, usize, &str)| {
                let overlaps = |(from, to, _): &&(usize, usize, &str)| from < end && begin < to;
                cells.iter().find(overlaps).map_or("", |(.., text)| *text)
            };
            let chosen = header
                .iter()
                .filter_map(|(.., name)| columns.iter().find(|column| column.2 == *name));
            chosen.map(in_column).collect()
        })
        .collect();
    if rows.iter().any(|row| row.iter().all(|cell| cell.is_empty())) {
        return Err("the output's table has fewer rows".into());
    }
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    // The first row of figures tells which side a column stands on.
    let is_number = |column: usize| rows[1..].iter().all(|row| !row[column].contains(char::is_alphabetic));
    let aligned = |row: &Vec<&str>| {
        let cell = |(column, text): (usize, &&str)| match is_number(column) {
            true => format!("{text:>0$}", width(column)),
            false => format!("{text:<0$}", width(column)),
        };
        let cells: Vec<String> = row.iter().enumerate().map(cell).collect();
        cells.join("  ").trim_end().to_string()
    };
    Ok(rows.iter().map(aligned).collect::<Vec<_>>().join("\n"))
}

/// A line without its figures and bars.
fn shape(line: &str) -> String {
    let is_bar = |c: char| ('\u{2580}'..='\u{259f}').contains(&c);
    let mut shape = String::new();
    for c in line.chars().filter(|c| !is_bar(*c)) {
        match c {
            '0'..='9' | '-' if shape.ends_with('#') => (),
            // A figure that there is none of is a '-'.
            '0'..='9' | '-' => shape.push('#'),
            '.' | ',' if shape.ends_with('#') => (),
            ' ' if shape.is_empty() || shape.ends_with(' ') => (),
            c => shape.push(c),
        }
    }
    shape.trim_end().into()
}

/// All of the output, if the block begins and ends as it does.
fn whole(block: &str, output: &str) -> Option<String> {
    let ends = |text: &str| Some((shape(text.lines().next()?), shape(text.trim_end().lines().last()?)));
    (ends(block) == ends(output)).then(|| output.trim_end().to_string())
}

/// Each line of the block as the output has it, in the same order.
fn lines(block: &str, output: &str) -> Result<String, String> {
    let mut ahead = output.lines();
    let renewed = |line: &str| {
        if line.is_empty() || line == "..." {
            return Ok(line.to_string());
        }
        let wanted = shape(line);
        let found = ahead.find(|candidate| shape(candidate) == wanted);
        found
            .map(str::to_string)
            .ok_or_else(|| format!("the output has no such line (any more, or not behind the one above it): {line}"))
    };
    Ok(block.lines().map(renewed).collect::<Result<Vec<_>, _>>()?.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::renewed;

    const OUTPUT: &str = "\
woken by another thread
subject  load  woken by   min  median
6.1      idle  futex     4.17       -
6.1      idle  pipe      12.2    5.35

sum 12.5 \u{2588} us: f (17), in 2 parts
rest 1";

    #[test]
    fn columns_are_chosen_by_name() {
        let block = "load  woken by  median\nidle  futex        1.0\nidle  pipe         1.1";
        let now = "load  woken by  median\nidle  futex          -\nidle  pipe        5.35";
        assert_eq!(renewed(block, OUTPUT).unwrap(), now);
    }

    #[test]
    fn lines_are_found_by_their_words() {
        let block = "sum 9 us: f (3), in 12 parts\n...\nrest 1";
        assert_eq!(
            renewed(block, OUTPUT).unwrap(),
            "sum 12.5 \u{2588} us: f (17), in 2 parts\n...\nrest 1"
        );
        assert!(renewed("rest 1\nsum 9 us: f (3), in 12 parts", OUTPUT).is_err());
        assert!(renewed("sum 9 us: g (3), in 12 parts", OUTPUT).is_err());
    }

    #[test]
    fn what_begins_and_ends_as_the_output_is_all_of_it() {
        let block = "woken by another thread\nas it was once\nrest 9";
        assert_eq!(renewed(block, OUTPUT).unwrap(), OUTPUT);
        assert!(renewed("woken by another thread\nas it was once", OUTPUT).is_err());
    }
}
