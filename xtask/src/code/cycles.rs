//! Cycles in a directed graph.

use std::collections::BTreeSet;

/// Every group of more than one node that can all reach each other, the largest first. Nodes are numbered from 0.
pub(crate) fn cycles(nodes: usize, edges: &BTreeSet<(usize, usize)>) -> Vec<Vec<usize>> {
    let reached: Vec<BTreeSet<usize>> = (0..nodes).map(|node| reachable(node, edges)).collect();
    let mut found: Vec<Vec<usize>> = Vec::new();
    for node in 0..nodes {
        if found.iter().any(|group| group.contains(&node)) {
            continue;
        }
        let is_mutual =
            |other: &usize| reached[node].contains(other) && reached[*other].contains(&node);
        let group: Vec<usize> = (node..nodes).filter(is_mutual).collect();
        if group.len() > 1 {
            found.push(group);
        }
    }
    found.sort_by_key(|group| std::cmp::Reverse(group.len()));
    found
}

fn reachable(from: usize, edges: &BTreeSet<(usize, usize)>) -> BTreeSet<usize> {
    let mut reached = BTreeSet::new();
    let mut open = vec![from];
    while let Some(node) = open.pop() {
        for (_, next) in edges.range((node, 0)..=(node, usize::MAX)) {
            if reached.insert(*next) {
                open.push(*next);
            }
        }
    }
    reached
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_that_reach_each_other_are_one_cycle() {
        let edges =
            BTreeSet::from([(0, 1), (1, 2), (2, 1), (3, 4), (4, 5), (5, 3), (2, 3), (6, 6)]);
        assert_eq!(cycles(7, &edges), [vec![3, 4, 5], vec![1, 2]]);
        assert!(cycles(3, &BTreeSet::from([(0, 1), (1, 2), (0, 2)])).is_empty());
    }
}
