//! The figures of each crate.

use crate::code::functions::functions;
use crate::code::modules::Modules;
use crate::code::repo::{File, Repo};

/// The crates that are measured; one that is not there is left out.
pub(super) const CRATES: [(&str, &str); 4] = [
    ("chronicle-core", "crates/chronicle-core/src/"),
    ("chronicle-runtime", "crates/chronicle-runtime/src/"),
    ("chronicle", "crates/chronicle/src/"),
    ("chronicle-testkit", "crates/chronicle-testkit/src/"),
];
/// What may follow `pub` in an item that is counted: neither fields nor `pub(crate)`.
const ITEMS: [&str; 12] = [
    "fn", "struct", "enum", "trait", "type", "const", "static", "mod", "use", "unsafe", "async",
    "macro",
];

/// What is known of one crate, without its tests.
#[derive(Debug, Default)]
pub(super) struct Figures {
    pub(super) top_modules: usize,
    /// Names of top modules that import each other, the largest group first.
    pub(super) top_cycles: Vec<Vec<String>>,
    /// The same of files, as paths below `src/`.
    pub(super) file_cycles: Vec<Vec<String>>,
    pub(super) public_items: usize,
    /// Lines of each function.
    pub(super) functions: Vec<usize>,
    /// Lines of each file.
    pub(super) files: Vec<usize>,
}

/// Every crate that there is.
pub(super) fn crates(repo: &Repo) -> Vec<(&'static str, Figures)> {
    let all = CRATES.into_iter().map(|(name, src)| (name, figures(repo, src)));
    all.filter(|(_, figures)| !figures.files.is_empty()).collect()
}

fn figures(repo: &Repo, src: &str) -> Figures {
    let modules = Modules::read(repo, src);
    let short = |file: usize| modules.files[file].path[src.len()..].to_owned();
    let names = |group: Vec<&str>| group.into_iter().map(str::to_owned).collect();
    Figures {
        top_modules: modules.tops().len(),
        top_cycles: modules.top_cycles().into_iter().map(names).collect(),
        file_cycles: modules
            .file_cycles()
            .into_iter()
            .map(|group| group.into_iter().map(short).collect())
            .collect(),
        public_items: modules.files.iter().map(|file| public_items(&file.product_code())).sum(),
        functions: modules.files.iter().flat_map(|file| function_lines(file)).collect(),
        files: modules.files.iter().map(|file| file.product_lines()).collect(),
    }
}

fn public_items(code: &str) -> usize {
    let public = code.lines().filter_map(|line| line.trim_start().strip_prefix("pub "));
    public
        .filter(|rest| rest.split_whitespace().next().is_some_and(|word| ITEMS.contains(&word)))
        .count()
}

fn function_lines(file: &File) -> Vec<usize> {
    functions(&file.product_code()).iter().map(|function| function.lines(&file.source)).collect()
}

/// The middle value, or the mean of the two in the middle, rounded up; and the one that nine of ten do not exceed.
pub(super) fn median_and_p90(values: &[usize]) -> (usize, usize) {
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    let Some(last) = sorted.len().checked_sub(1) else { return (0, 0) };
    let middle = sorted[last / 2] + sorted[last.div_ceil(2)];
    (middle.div_ceil(2), sorted[(sorted.len() * 9).div_ceil(10) - 1])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_that_others_can_see_are_counted() {
        let code = "pub fn a() {}\npub(crate) fn b() {}\npub struct C {\n    pub d: E,\n}\nimpl C {\n    pub const fn f() {}\n}\n\
            pub use g::{H, I};\nfn k() {}\n";
        assert_eq!(public_items(code), 4);
    }

    #[test]
    fn tests_are_not_measured() {
        let text = "pub fn a() {\n}\n#[cfg(test)]\nmod tests {\n    pub fn b() {}\n}\n";
        let repo = Repo::of(&[("crates/chronicle-core/src/lib.rs", text)]);
        let crates = crates(&repo);
        assert_eq!(crates.len(), 1);
        let figures = &crates[0].1;
        assert_eq!((figures.public_items, figures.functions.as_slice()), (1, &[2][..]));
        assert_eq!(figures.files, [2]);
    }

    #[test]
    fn half_lie_below_the_median_and_nine_of_ten_up_to_p90() {
        assert_eq!(median_and_p90(&[]), (0, 0));
        assert_eq!(median_and_p90(&[7]), (7, 7));
        assert_eq!(median_and_p90(&[10, 9, 8, 7, 6, 5, 4, 3, 2, 1]), (6, 9));
        assert_eq!(median_and_p90(&[1, 2, 9]), (2, 9));
    }
}
