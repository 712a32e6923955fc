//! Reads the repository's Rust text: files, functions, paths, modules and the imports between them.
//!
//! It is no parser: it knows just enough of Rust for the checks of `tidy` and the figures of `structure`, which both read
//! through it. Start at [`Repo`](repo::Repo), then [`Modules`](modules::Modules).

pub(crate) mod cycles;
pub(crate) mod functions;
pub(crate) mod modules;
pub(crate) mod paths;
pub(crate) mod product;
pub(crate) mod repo;
pub(crate) mod source;
pub(crate) mod variants;
