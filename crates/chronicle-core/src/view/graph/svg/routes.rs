//! Routes of edges: straight to the next layer, otherwise beside the boxes: on the left if they skip layers, on the right if they
//! go back. Edges to the same node share a lane. Each part of it is drawn once, since dashes over dashes look solid.

use std::cmp::Ordering;
use std::fmt::Write as _;

use super::super::{Edge, EdgeWay, Graph};
use super::layout::{Spot, text_width};

/// Distance between two lanes.
const LANE: f64 = 18.0;
/// Clear space between boxes and the first lane.
const CLEAR: f64 = 22.0;
const LABEL_SIZE: f64 = 12.0;
/// Radius of a corner.
const CORNER: f64 = 8.0;

/// A position on the page: right, down.
type Point = (f64, f64);

/// How one edge is drawn.
#[derive(Debug)]
pub(super) struct Route {
    pub way: EdgeWay,
    points: Vec<Point>,
    is_curve: bool,
    /// Value of the `d` attribute.
    pub path: String,
    /// Whether it reaches its node. Else it joins another one that does.
    pub has_tip: bool,
    /// End point and direction of the arrow.
    pub tip: Point,
    pub heading: (f64, f64),
    pub label: String,
    pub label_at: Point,
    /// Value of the label's `text-anchor`.
    pub anchor: &'static str,
}

impl Route {
    fn new(edge: &Edge, points: Vec<Point>, is_curve: bool) -> Self {
        let last = points.last().copied().unwrap_or((0.0, 0.0));
        let before = points.iter().rev().nth(1).copied().unwrap_or(last);
        let heading = match (is_curve, last.0 - before.0) {
            (true, _) => (0.0, 1.0),
            // Not compared with zero: positions are sums of fractions, and may miss each other by a little.
            (false, dx) if dx.abs() < 0.5 => (0.0, (last.1 - before.1).signum()),
            (false, dx) => (dx.signum(), 0.0),
        };
        let mut route = Self {
            way: edge.way,
            points,
            is_curve,
            path: String::new(),
            has_tip: true,
            tip: last,
            heading,
            label: edge.label.clone(),
            label_at: (0.0, 0.0),
            anchor: "start",
        };
        route.write();
        route
    }

    fn labelled(self, label_at: Point, anchor: &'static str) -> Self {
        Self { label_at, anchor, ..self }
    }

    /// Ends it where it meets another one on the same lane, after so many points.
    fn joining(mut self, after: usize) -> Self {
        self.points.truncate(after);
        self.has_tip = false;
        self.write();
        self
    }

    pub(super) fn shift(&mut self, by: f64) {
        self.points.iter_mut().for_each(|point| point.0 += by);
        self.tip.0 += by;
        self.label_at.0 += by;
        self.write();
    }

    fn write(&mut self) {
        self.path = if self.is_curve { curve(&self.points) } else { corners(&self.points) };
    }

    /// Horizontal extent, including its label.
    fn span(&self) -> (f64, f64) {
        let xs = self.points.iter().map(|point| point.0);
        let (mut low, mut high) =
            xs.fold((f64::MAX, f64::MIN), |(low, high), x| (low.min(x), high.max(x)));
        if !self.label.is_empty() {
            let width = text_width(&self.label, LABEL_SIZE);
            let (before, after) = match self.anchor {
                "start" => (0.0, width),
                "end" => (width, 0.0),
                _ => (width / 2.0, width / 2.0),
            };
            low = low.min(self.label_at.0 - before);
            high = high.max(self.label_at.0 + after);
        }
        (low, high)
    }
}

/// Horizontal extent of everything.
pub(super) fn extent(spots: &[Spot], routes: &[Route]) -> (f64, f64) {
    let boxes = spots.iter().map(|spot| (spot.left(), spot.right()));
    let all = boxes.chain(routes.iter().map(Route::span));
    all.fold((0.0, 0.0), |(low, high): (f64, f64), (from, to)| (low.min(from), high.max(to)))
}

/// A direct edge, with room at both ends for its bend.
fn curve(points: &[Point]) -> String {
    let [(x1, y1), .., (x2, y2)] = points else { return String::new() };
    let bend = (y2 - y1) / 2.0;
    // Ends before the box, where the arrow begins: a line under its point would make it look blunt.
    let y2 = y2 - 6.0;
    format!("M{x1:.1} {y1:.1}C{x1:.1} {:.1} {x2:.1} {:.1} {x2:.1} {y2:.1}", y1 + bend, y2 - bend)
}

/// Straight lines with rounded corners.
fn corners(points: &[Point]) -> String {
    let Some((first, rest)) = points.split_first() else { return String::new() };
    let mut path = format!("M{:.1} {:.1}", first.0, first.1);
    let mut from = *first;
    for pair in rest.windows(2) {
        let [corner, next] = pair else { continue };
        let enter = toward(*corner, from);
        let leave = toward(*corner, *next);
        let _ = write!(
            path,
            "L{:.1} {:.1}Q{:.1} {:.1} {:.1} {:.1}",
            enter.0, enter.1, corner.0, corner.1, leave.0, leave.1
        );
        from = *corner;
    }
    if let Some(last) = rest.last() {
        let _ = write!(path, "L{:.1} {:.1}", last.0, last.1);
    }
    path
}

/// A point near a corner, towards another one.
fn toward(corner: Point, other: Point) -> Point {
    let (dx, dy) = (other.0 - corner.0, other.1 - corner.1);
    // Two points may fall together. Divided by nothing, the path would have no numbers in it.
    let length = dx.hypot(dy).max(0.01);
    // At most half of a piece, so that two corners next to each other do not overlap.
    let step = CORNER.min(length / 2.0);
    (corner.0 + dx / length * step, corner.1 + dy / length * step)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Left,
    Right,
}

/// Routes every edge of a placed graph.
pub(super) fn routes(graph: &Graph, layers: &[Vec<usize>], spots: &[Spot]) -> Vec<Route> {
    let yard = Yard { graph, layers, spots };
    let mut routes: Vec<Route> = Vec::new();
    for (index, edge) in graph.edges.iter().enumerate() {
        if yard.side(edge).is_none() {
            routes.push(yard.straight(index, edge));
        }
    }
    // Each side by itself: its lanes begin beyond its own boxes and labels, whatever the other side needs.
    for side in [Side::Left, Side::Right] {
        let edges: Vec<&Edge> =
            graph.edges.iter().filter(|edge| yard.side(edge) == Some(side)).collect();
        let lanes = yard.lanes(&edges);
        let begin = yard.first_lane(side, &edges);
        let mut beside: Vec<(usize, Beside)> = Vec::new();
        for edge in &edges {
            let lane = lanes.iter().find(|(to, _)| *to == edge.to).map_or(0, |(_, lane)| *lane);
            #[expect(clippy::cast_precision_loss, reason = "there are fewer lanes than phases")]
            let away = begin + LANE * lane as f64;
            beside.push((edge.to, yard.beside(edge, side, away)));
        }
        routes.extend(joined(beside));
    }
    routes
}

/// A way in a lane.
struct Beside {
    route: Route,
    /// How many points it has until it is on the lane, and until it leaves it.
    on: usize,
    off: usize,
    /// The heights at which it comes to the lane and leaves it.
    from: f64,
    to: f64,
}

/// Of those to the same node only the farthest is drawn up to it, and along the lane only the farthest from each direction. The
/// others end where they meet it.
fn joined(all: Vec<(usize, Beside)>) -> Vec<Route> {
    let length = |it: &Beside| (it.from - it.to).abs();
    let is_down = |it: &Beside| it.from < it.to;
    let ends: Vec<Option<usize>> = (0..all.len())
        .map(|index| {
            let (to, it) = &all[index];
            let farther: Vec<&Beside> = (0..all.len())
                .filter(|other| all[*other].0 == *to)
                .filter(|other| match length(&all[*other].1).total_cmp(&length(it)) {
                    Ordering::Greater => true,
                    // Of two that are equally far, one must be drawn whole, and it must be the same one each time.
                    Ordering::Equal => *other < index,
                    Ordering::Less => false,
                })
                .map(|other| &all[other].1)
                .collect();
            if farther.iter().any(|other| is_down(other) == is_down(it)) {
                return Some(it.on);
            }
            (!farther.is_empty()).then_some(it.off)
        })
        .collect();
    let cut = |((_, it), end): ((usize, Beside), Option<usize>)| match end {
        Some(after) => it.route.joining(after),
        None => it.route,
    };
    all.into_iter().zip(ends).map(cut).collect()
}

struct Yard<'g> {
    graph: &'g Graph,
    layers: &'g [Vec<usize>],
    spots: &'g [Spot],
}

impl Yard<'_> {
    /// The side of the boxes that an edge runs on; `None` if it leads to the next layer.
    fn side(&self, edge: &Edge) -> Option<Side> {
        let rank = |node: usize| self.graph.nodes[node].rank;
        match edge.way {
            EdgeWay::Back | EdgeWay::Itself => Some(Side::Right),
            EdgeWay::On if self.is_next(rank(edge.from), rank(edge.to)) => None,
            EdgeWay::On => Some(Side::Left),
        }
    }

    /// True if no layer with nodes is between them.
    fn is_next(&self, from: usize, to: usize) -> bool {
        self.layers.iter().take(to).skip(from + 1).all(Vec::is_empty)
    }

    fn straight(&self, index: usize, edge: &Edge) -> Route {
        let (from, to) = (&self.spots[edge.from], &self.spots[edge.to]);
        let out = self.share(edge, |it| it.from == edge.from, |it| self.spots[it.to].x);
        let into = self.share(edge, |it| it.to == edge.to, |it| self.spots[it.from].x);
        let begin = (from.x + out * (from.width - 60.0).max(0.0), from.bottom());
        let end = (to.x + into * (to.width - 60.0).max(0.0), to.y);
        let route = Route::new(edge, vec![begin, end], true);
        // Labels of neighbours stand at different heights, so that none covers another.
        let down = if index.is_multiple_of(2) { 0.5 } else { 0.42 };
        let middle = (f64::midpoint(begin.0, end.0), begin.1 + (end.1 - begin.1) * down + 4.0);
        if (begin.0 - end.0).abs() < 1.0 {
            return route.labelled((middle.0 + 8.0, middle.1), "start");
        }
        route.labelled(middle, "middle")
    }

    /// Its share of a box's width among similar edges, from -0.5 to 0.5.
    fn share(&self, edge: &Edge, is_like: impl Fn(&Edge) -> bool, x: impl Fn(&Edge) -> f64) -> f64 {
        let all = self.graph.edges.iter();
        let mut like: Vec<&Edge> =
            all.filter(|it| is_like(it) && self.side(it).is_none()).collect();
        like.sort_by(|a, b| x(a).total_cmp(&x(b)));
        let place = like.iter().position(|it| *it == edge).unwrap_or(0);
        part(place, like.len()) - 0.5
    }

    /// Lanes of the targets, short ones nearest to the boxes.
    fn lanes(&self, edges: &[&Edge]) -> Vec<(usize, usize)> {
        let mut spans: Vec<(usize, f64, f64)> = Vec::new();
        for edge in edges {
            let (a, b) = (&self.spots[edge.from], &self.spots[edge.to]);
            let (low, high) = (a.y.min(b.y), a.bottom().max(b.bottom()));
            match spans.iter_mut().find(|(to, ..)| *to == edge.to) {
                Some((_, from, to)) => (*from, *to) = (low.min(*from), high.max(*to)),
                None => spans.push((edge.to, low, high)),
            }
        }
        // Short lanes first get the inner places: long ones around them cross fewer lines.
        spans.sort_by(|a, b| (a.2 - a.1).total_cmp(&(b.2 - b.1)).then(a.0.cmp(&b.0)));
        let mut taken: Vec<(usize, usize, f64, f64)> = Vec::new();
        for (to, low, high) in spans {
            let is_free = |lane: &usize| {
                let mut same = taken.iter().filter(|(_, number, ..)| number == lane);
                same.all(|(_, _, from, to)| high < *from || low > *to)
            };
            // One is always free: there is one lane more than were given out.
            let lane = (0..=taken.len()).find(is_free).unwrap_or(0);
            taken.push((to, lane, low, high));
        }
        taken.into_iter().map(|(to, lane, ..)| (to, lane)).collect()
    }

    /// Position of the first lane: beside every box, with room for labels.
    fn first_lane(&self, side: Side, edges: &[&Edge]) -> f64 {
        let labels = edges.iter().map(|edge| text_width(&edge.label, LABEL_SIZE));
        let room = labels.fold(0.0, f64::max) + CLEAR;
        let boxes = self.spots.iter().map(|spot| match side {
            Side::Left => -spot.left(),
            Side::Right => spot.right(),
        });
        boxes.fold(0.0, f64::max) + room
    }

    fn beside(&self, edge: &Edge, side: Side, away: f64) -> Beside {
        let sign = if side == Side::Left { -1.0 } else { 1.0 };
        let lane = sign * away;
        let (from, to) = (&self.spots[edge.from], &self.spots[edge.to]);
        let mut points = Vec::new();
        let out = self.port(edge, side, End::Leaves);
        if self.is_outermost(edge.from, side) {
            points.push((from.x + sign * from.width / 2.0, out));
            points.push((lane, out));
        } else {
            // Below every box of the layer: a taller neighbour would be crossed. Each on a line of its own.
            let (number, count) = self.among(edge, side, End::Leaves);
            let y = self.layer_of(edge.from).1 + 10.0 + 20.0 * part(number, count);
            let x = from.x + sign * (14.0 + 6.0 * self.nth(edge, side));
            points.extend([(x, from.bottom()), (x, y), (lane, y)]);
        }
        let (on, leaves_at) = (points.len(), points[points.len() - 1].1);
        let label = (points[points.len() - 2].0 + sign * 9.0, points[points.len() - 1].1 - 5.0);
        let into = self.port(edge, side, End::Arrives);
        if self.is_outermost(edge.to, side) {
            points.extend([(lane, into), (to.x + sign * to.width / 2.0, into)]);
        } else {
            let (number, count) = self.among(edge, side, End::Arrives);
            let y = self.layer_of(edge.to).0 - 18.0 + 6.0 * part(number, count);
            points.extend([(lane, y), (to.x + sign * 14.0, y), (to.x + sign * 14.0, to.y)]);
        }
        let arrives_at = points[on].1;
        let anchor = if side == Side::Left { "end" } else { "start" };
        let route = Route::new(edge, points, false).labelled(label, anchor);
        Beside { route, on, off: on + 1, from: leaves_at, to: arrives_at }
    }

    /// Which one an edge is among those that leave, or arrive in, the inside of its layer on that side, and how many there are. Those
    /// that arrive at one node count once.
    fn among(&self, edge: &Edge, side: Side, end: End) -> (usize, usize) {
        let node = |it: &Edge| if end == End::Leaves { it.from } else { it.to };
        let rank = |it: &Edge| self.graph.nodes[node(it)].rank;
        let like = self.graph.edges.iter().filter(|it| {
            let is_inside = !self.is_outermost(node(it), side);
            self.side(it) == Some(side) && rank(it) == rank(edge) && is_inside
        });
        let mut like: Vec<&Edge> = like.collect();
        if end == End::Arrives {
            like.sort_by_key(|it| it.to);
            like.dedup_by_key(|it| it.to);
        }
        let is_same = |it: &&Edge| match end {
            End::Leaves => **it == *edge,
            End::Arrives => it.to == edge.to,
        };
        (like.iter().position(is_same).unwrap_or(0), like.len())
    }

    /// How many edges leave the same node on that side before this one.
    fn nth(&self, edge: &Edge, side: Side) -> f64 {
        let of_node = |it: &&Edge| it.from == edge.from && self.side(it) == Some(side);
        let place = self.graph.edges.iter().filter(of_node).position(|it| it == edge);
        #[expect(clippy::cast_precision_loss, reason = "a node has a few edges")]
        let place = place.unwrap_or(0) as f64;
        place
    }

    /// The upper and the lower edge of the layer that a node is in.
    fn layer_of(&self, node: usize) -> (f64, f64) {
        let layer = self.layers[self.graph.nodes[node].rank].iter().map(|node| &self.spots[*node]);
        layer.fold((f64::MAX, f64::MIN), |(top, bottom), spot| {
            (top.min(spot.y), bottom.max(spot.bottom()))
        })
    }

    fn is_outermost(&self, node: usize, side: Side) -> bool {
        let layer = &self.layers[self.graph.nodes[node].rank];
        let outer = match side {
            Side::Left => layer.first(),
            Side::Right => layer.last(),
        };
        outer == Some(&node)
    }

    /// The height at which an edge touches a box: incoming edges share one point above the outgoing ones.
    fn port(&self, edge: &Edge, side: Side, end: End) -> f64 {
        let node = if end == End::Leaves { edge.from } else { edge.to };
        let beside = || self.graph.edges.iter().filter(|it| self.side(it) == Some(side));
        let arriving = usize::from(beside().any(|it| it.to == node));
        let leaving: Vec<&Edge> = beside().filter(|it| it.from == node).collect();
        let place = match end {
            End::Arrives => 0,
            End::Leaves => arriving + leaving.iter().position(|it| *it == edge).unwrap_or(0),
        };
        let spot = &self.spots[node];
        spot.y + 8.0 + (spot.height - 16.0) * part(place, arriving + leaving.len())
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Leaves,
    Arrives,
}

/// The centre of the n-th of `count` equal parts, between 0 and 1.
fn part(place: usize, count: usize) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "a node has a few edges")]
    let (place, count) = (place as f64, count.max(1) as f64);
    (place + 0.5) / count
}
