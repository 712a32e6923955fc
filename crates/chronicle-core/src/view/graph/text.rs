//! Terminal output: boxes below each other; edges that do not lead to the next box run beside them.
//!
//! Edges to the same box share a lane, so that forty phases that fail back to one need no more room than one does. If the
//! terminal is too narrow for lanes, a box names its targets in words.

use super::cells::{self, shorten, width};
use super::{Edge, EdgeWay, Graph, Node, NodeKind};

const LANE: usize = 3;
/// The narrowest readable box.
const BOX_MIN: usize = 24;
/// Longest label beside a box, in columns.
const LABEL_MAX: usize = 20;

/// Characters for drawing lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineStyle {
    /// Box-drawing characters of Unicode.
    Boxes,
    /// Characters that every terminal and font has.
    Ascii,
}

/// The picture in at most that many columns, with sub-workflows below it.
pub fn text(graph: &Graph, columns: usize, lines: LineStyle) -> String {
    let mut out = String::new();
    let mut waiting = vec![graph];
    let mut drawn: Vec<&str> = Vec::new();
    while !waiting.is_empty() {
        let graph = waiting.remove(0);
        // A workflow that several phases run is drawn once.
        if drawn.contains(&graph.key.as_str()) {
            continue;
        }
        drawn.push(&graph.key);
        let title = cells::one_line(&graph.title);
        let head = match (&graph.about, drawn.len()) {
            (Some(about), 1) => format!("{title}: {}", cells::one_line(about)),
            (None, 1) => title,
            _ => format!("\n{title} (workflow {})", cells::one_line(&graph.key)),
        };
        out.push_str(&head);
        out.push_str("\n\n");
        out.push_str(&one(graph, columns, lines));
        waiting.extend(graph.nodes.iter().filter_map(|node| node.inside.as_ref()));
    }
    out
}

fn one(graph: &Graph, columns: usize, signs: LineStyle) -> String {
    let aside: Vec<&Edge> = graph.edges.iter().filter(|edge| !is_straight(edge)).collect();
    let labels = aside.iter().map(|edge| width(&label(edge))).max().unwrap_or(0);
    let widest = graph.nodes.iter().flat_map(content).map(|line| width(&line)).max().unwrap_or(0);
    let lanes = Lanes::of(&aside);
    let beside = if aside.is_empty() { 0 } else { labels + 4 + lanes.count * LANE };
    let room = columns.saturating_sub(beside + 4);
    if !aside.is_empty() && room < BOX_MIN {
        let boxes = in_words(graph);
        let widest = boxes.iter().flatten().map(|line| width(line)).max().unwrap_or(0);
        let inner = widest.min(columns.saturating_sub(4).max(BOX_MIN));
        return CellGrid::draw(graph, &boxes, inner, None).show(signs);
    }
    let inner = widest.min(room.max(BOX_MIN));
    let boxes: Vec<Vec<String>> = graph.nodes.iter().map(content).collect();
    CellGrid::draw(graph, &boxes, inner, Some((&lanes, labels))).show(signs)
}

fn content(node: &Node) -> Vec<String> {
    let sign = if node.kind == NodeKind::Done { "■ " } else { "" };
    let mut lines = vec![format!("{sign}{}", node.title)];
    lines.extend(node.lines.iter().cloned());
    if !node.is_reached {
        lines.push("(no edge leads here)".to_owned());
    }
    lines
}

/// Boxes that name their targets, if there is no room for lanes.
fn in_words(graph: &Graph) -> Vec<Vec<String>> {
    let mut boxes: Vec<Vec<String>> = graph.nodes.iter().map(content).collect();
    for edge in graph.edges.iter().filter(|edge| !is_straight(edge)) {
        let sign = if edge.way == EdgeWay::On { '↓' } else { '↑' };
        let to = &graph.nodes[edge.to].title;
        let said = if edge.label.is_empty() { "or".to_owned() } else { label(edge) };
        boxes[edge.from].push(format!("{sign} {said}: {to}"));
    }
    boxes
}

/// True if an edge is drawn between a box and the next one.
fn is_straight(edge: &Edge) -> bool {
    edge.way == EdgeWay::On && edge.to == edge.from + 1
}

fn label(edge: &Edge) -> String {
    shorten(&cells::one_line(&edge.label), LABEL_MAX)
}

/// Assignment of lanes to target boxes.
struct Lanes {
    /// Target, first and last row that the lane touches, and its number.
    all: Vec<(usize, usize, usize, usize)>,
    count: usize,
}

impl Lanes {
    /// Short lanes are nearest to the boxes.
    fn of(aside: &[&Edge]) -> Self {
        let mut spans: Vec<(usize, usize, usize)> = Vec::new();
        for edge in aside {
            let (low, high) = (edge.from.min(edge.to), edge.from.max(edge.to));
            match spans.iter_mut().find(|(target, ..)| *target == edge.to) {
                Some((_, from, to)) => (*from, *to) = (low.min(*from), high.max(*to)),
                None => spans.push((edge.to, low, high)),
            }
        }
        spans.sort_by_key(|(target, low, high)| (high - low, *target));
        let mut all: Vec<(usize, usize, usize, usize)> = Vec::new();
        for (target, low, high) in spans {
            let is_free = |lane: &usize| {
                let taken = all.iter().filter(|(.., number)| number == lane);
                taken.clone().all(|(_, from, to, _)| high < *from || low > *to)
            };
            // One is always free: there is one lane more than were given out.
            let lane = (0..=all.len()).find(is_free).unwrap_or(0);
            all.push((target, low, high, lane));
        }
        let count = all.iter().map(|(.., lane)| lane + 1).max().unwrap_or(0);
        Self { all, count }
    }

    fn to(&self, target: usize) -> usize {
        self.all.iter().find(|(to, ..)| *to == target).map_or(0, |(.., lane)| *lane)
    }
}

const UP: u8 = 1;
const DOWN: u8 = 2;
const LEFT: u8 = 4;
const RIGHT: u8 = 8;

/// One cell: a character, or the directions of lines through it.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Cell {
    Lines(u8),
    Sign(char),
    /// The second half of a wide character.
    Taken,
}

/// A grid of cells to draw on.
struct CellGrid {
    rows: Vec<Vec<Cell>>,
}

impl CellGrid {
    fn draw(
        graph: &Graph,
        boxes: &[Vec<String>],
        inner: usize,
        lanes: Option<(&Lanes, usize)>,
    ) -> Self {
        let mut sheet = Self { rows: Vec::new() };
        let aside = |row: usize| {
            let ways = graph.edges.iter().filter(move |edge| edge.from == row);
            ways.filter(|edge| lanes.is_some() && !is_straight(edge))
        };
        let mut inputs = Vec::new();
        let mut outputs = Vec::new();
        let mut top = 0;
        for (row, (node, lines)) in graph.nodes.iter().zip(boxes).enumerate() {
            if row > 0 {
                top = sheet.join(graph, row, top, inner);
            }
            let ways: Vec<&Edge> = aside(row).collect();
            // Each edge leaves the box in a row of its own, and the first row is for those that arrive.
            let height = lines.len().max(ways.len() + 1);
            let is_dot = node.kind == NodeKind::Start;
            if is_dot {
                sheet.sign(top, middle(inner), '●');
                inputs.push(top);
                top += 1;
                continue;
            }
            sheet.frame(top, height, inner);
            for (index, line) in lines.iter().enumerate() {
                sheet.write(top + 1 + index, 2, &shorten(line, inner));
            }
            inputs.push(top + 1);
            for (index, edge) in ways.iter().enumerate() {
                outputs.push((*edge, top + 1 + height - ways.len() + index));
            }
            top += height + 2;
        }
        if let Some((lanes, labels)) = lanes {
            sheet.lanes(&inputs, &outputs, lanes, inner + 3, labels);
        }
        sheet
    }

    /// Draws the edge from the box above to this one; returns the row where this one begins.
    fn join(&mut self, graph: &Graph, row: usize, top: usize, inner: usize) -> usize {
        let straight = graph.edges.iter().find(|edge| edge.to == row && is_straight(edge));
        let Some(edge) = straight.filter(|edge| edge.from + 1 == row) else { return top + 1 };
        let middle = middle(inner);
        if top > 1 {
            self.line(top - 1, middle, DOWN);
        }
        self.line(top, middle, UP | DOWN);
        self.write(top, middle + 2, &label(edge));
        self.sign(top + 1, middle, '▼');
        top + 2
    }

    fn frame(&mut self, top: usize, height: usize, inner: usize) {
        let right = inner + 3;
        for column in 1..right {
            self.line(top, column, LEFT | RIGHT);
            self.line(top + height + 1, column, LEFT | RIGHT);
        }
        for row in top + 1..=top + height {
            self.line(row, 0, UP | DOWN);
            self.line(row, right, UP | DOWN);
        }
        self.line(top, 0, DOWN | RIGHT);
        self.line(top, right, DOWN | LEFT);
        self.line(top + height + 1, 0, UP | RIGHT);
        self.line(top + height + 1, right, UP | LEFT);
    }

    fn lanes(
        &mut self,
        inputs: &[usize],
        outputs: &[(&Edge, usize)],
        lanes: &Lanes,
        right: usize,
        labels: usize,
    ) {
        for (edge, row) in outputs {
            let lane = right + 2 + labels + 2 + lanes.to(edge.to) * LANE;
            let input = inputs.get(edge.to).copied().unwrap_or(0);
            self.line(*row, right, RIGHT);
            (right + 1..lane).for_each(|column| self.line(*row, column, LEFT | RIGHT));
            self.line(*row, lane, LEFT | if input < *row { UP } else { DOWN });
            let (low, high) = (input.min(*row), input.max(*row));
            (low + 1..high).for_each(|row| self.line(row, lane, UP | DOWN));
            self.line(input, lane, LEFT | if input < *row { DOWN } else { UP });
            (right + 2..lane).for_each(|column| self.line(input, column, LEFT | RIGHT));
        }
        // Signs last: no line may run over them.
        for (edge, row) in outputs {
            let input = inputs.get(edge.to).copied().unwrap_or(0);
            self.sign(input, right + 1, '◄');
            let said = label(edge);
            if !said.is_empty() {
                self.write(*row, right + 2, &format!(" {said} "));
            }
        }
    }

    fn cell(&mut self, row: usize, column: usize) -> &mut Cell {
        if self.rows.len() <= row {
            self.rows.resize_with(row + 1, Vec::new);
        }
        let cells = &mut self.rows[row];
        if cells.len() <= column {
            cells.resize(column + 1, Cell::Lines(0));
        }
        &mut cells[column]
    }

    fn line(&mut self, row: usize, column: usize, ways: u8) {
        // Lines that cross are joined into one sign. A letter in the way stays.
        if let Cell::Lines(before) = self.cell(row, column) {
            *before |= ways;
        }
    }

    fn sign(&mut self, row: usize, column: usize, sign: char) {
        *self.cell(row, column) = Cell::Sign(sign);
    }

    fn write(&mut self, row: usize, column: usize, text: &str) {
        let mut column = column;
        for letter in text.chars() {
            let wide = width(letter.encode_utf8(&mut [0; 4]));
            // Combining marks take no cell. Written into one, they would push the rest of the row to the right.
            if wide == 0 {
                continue;
            }
            self.sign(row, column, letter);
            (1..wide).for_each(|next| *self.cell(row, column + next) = Cell::Taken);
            column += wide;
        }
    }

    fn show(&self, lines: LineStyle) -> String {
        let mut out = String::new();
        for row in &self.rows {
            let line: String = row.iter().filter_map(|cell| shown(*cell, lines)).collect();
            out.push_str(line.trim_end());
            out.push('\n');
        }
        out
    }
}

fn middle(inner: usize) -> usize {
    (inner + 3).min(BOX_MIN) / 2
}

fn shown(cell: Cell, lines: LineStyle) -> Option<char> {
    match (cell, lines) {
        (Cell::Taken, _) => None,
        (Cell::Sign(sign), LineStyle::Boxes) => Some(sign),
        (Cell::Sign(sign), LineStyle::Ascii) => Some(match sign {
            '▼' | '↓' => 'v',
            '◄' => '<',
            '●' => 'o',
            '■' => '#',
            '⏸' => '!',
            '·' => '-',
            '…' => '~',
            '↑' => '^',
            sign if sign.is_ascii() => sign,
            _ => '?',
        }),
        (Cell::Lines(ways), LineStyle::Boxes) => Some(box_sign(ways)),
        (Cell::Lines(ways), LineStyle::Ascii) => Some(match ways {
            0 => ' ',
            ways if ways & (LEFT | RIGHT) == 0 => '|',
            ways if ways & (UP | DOWN) == 0 => '-',
            _ => '+',
        }),
    }
}

fn box_sign(ways: u8) -> char {
    let signs: [char; 16] =
        [' ', '│', '│', '│', '─', '╯', '╮', '┤', '─', '╰', '╭', '├', '─', '┴', '┬', '┼'];
    // Masked, so that the index cannot leave the table: it has a sign for each of the 16 combinations.
    signs[usize::from(ways & 15)]
}
