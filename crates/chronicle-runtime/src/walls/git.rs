//! Where a project has its repository. What a worker wrote into the project is not believed: a `.git` file that leads elsewhere could
//! open any folder.

use std::fs;
use std::path::{Path, PathBuf};

use crate::process::wall::ProjectGit;
use crate::regular::{self, Links};

/// Longest content of git's small files.
const SMALL: u64 = 64 * 1024;

/// A repository, as [`ProjectGit`] has it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct FoundGit {
    /// Folder of the work tree and of the repository; `None` if the project has its own or none.
    elsewhere: Option<(PathBuf, PathBuf)>,
}

impl FoundGit {
    pub(super) fn as_plan(&self) -> ProjectGit<'_> {
        match &self.elsewhere {
            Some((folder, common)) => ProjectGit::Elsewhere { folder, common },
            None => ProjectGit::Own,
        }
    }

    /// The repository, if it lies elsewhere than in the project.
    pub(super) fn common(&self) -> Option<&Path> {
        self.elsewhere.as_ref().map(|(_, common)| common.as_path())
    }

    /// The folder with its settings and hooks. `None` where a link stands in its place, which stays closed.
    pub(super) fn folder(&self, project: &Path) -> Option<PathBuf> {
        let own = || Some(project.join(".git")).filter(|git| !git.is_symlink());
        self.elsewhere.as_ref().map(|(_, common)| common.clone()).or_else(own)
    }
}

/// The repository of a work folder: its own, or none. One that lies above all of them, such as that of a home, is not the project's.
pub(super) fn of_copy() -> FoundGit {
    FoundGit { elsewhere: None }
}

/// The repository of a project. One whose place cannot be proven is left closed: git then says that it cannot write.
pub(super) fn of(project: &Path) -> FoundGit {
    let elsewhere = project.ancestors().find_map(|folder| {
        let git = folder.join(".git");
        let found = fs::symlink_metadata(&git).ok()?;
        Some(match (found.is_dir(), folder == project) {
            (true, true) => None,
            // No worker can write above its project.
            (true, false) => Some((git.clone(), git)),
            (false, _) => linked(&git).filter(|(own, _)| leads_back(own, &git)),
        })
    });
    FoundGit { elsewhere: elsewhere.flatten() }
}

/// What a `.git` file names: the folder of the work tree, and the repository that it belongs to.
fn linked(git: &Path) -> Option<(PathBuf, PathBuf)> {
    let named = small(git)?;
    let own = git.parent()?.join(named.strip_prefix("gitdir:")?.trim()).canonicalize().ok()?;
    let common = match small(&own.join("commondir")) {
        Some(common) => own.join(common.trim()).canonicalize().ok()?,
        None => own.clone(),
    };
    let is_repository = common.join("objects").is_dir() && common.join("HEAD").is_file();
    // A work tree lies in its repository.
    (is_repository && own.starts_with(&common)).then_some((own, common))
}

/// Whether git itself says there that it belongs to that file: a work tree has the path of it, a submodule the one of its folder.
fn leads_back(own: &Path, git: &Path) -> bool {
    let is = |path: PathBuf, other: &Path| {
        path.canonicalize().ok().is_some_and(|path| other.canonicalize().ok() == Some(path))
    };
    let of_tree = small(&own.join("gitdir")).is_some_and(|path| is(own.join(path.trim()), git));
    let folder = git.parent();
    let of_module = small(&own.join("config")).is_some_and(|config| {
        let named = config.lines().filter_map(|line| {
            let (name, value) = line.split_once('=')?;
            (name.trim() == "worktree").then(|| value.trim().to_owned())
        });
        named.into_iter().any(|path| folder.is_some_and(|folder| is(own.join(path), folder)))
    });
    of_tree || of_module
}

fn small(path: &Path) -> Option<String> {
    let bytes = regular::read(path, SMALL, Links::Refused).ok()?;
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(path: &Path, text: &str) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// A repository with a work tree beside it.
    fn yard() -> (tempfile::TempDir, PathBuf, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let (common, tree) = (root.join("main/.git"), root.join("tree"));
        fs::create_dir_all(common.join("objects")).unwrap();
        write(&common.join("HEAD"), "ref: refs/heads/main\n");
        let own = common.join("worktrees/tree");
        write(&own.join("commondir"), "../..\n");
        write(&own.join("gitdir"), &format!("{}\n", tree.join(".git").display()));
        write(&tree.join(".git"), &format!("gitdir: {}\n", own.display()));
        (folder, common, tree)
    }

    #[test]
    fn a_work_tree_is_known_by_both_ends() {
        let (_folder, common, tree) = yard();
        let own = common.join("worktrees/tree");
        assert_eq!(of(&tree).elsewhere, Some((own, common.clone())));
        assert_eq!(of(common.parent().unwrap()).elsewhere, None);
        // In a folder of a project, its repository is above.
        let below = common.parent().unwrap().join("crates");
        fs::create_dir_all(&below).unwrap();
        assert_eq!(of(&below).elsewhere, Some((common.clone(), common)));
    }

    #[test]
    fn a_file_that_only_claims_to_be_of_a_repository_opens_nothing() {
        let (folder, common, tree) = yard();
        let other = folder.path().join("other");
        let own = common.join("worktrees/tree");
        write(&other.join(".git"), &format!("gitdir: {}\n", own.display()));
        assert_eq!(of(&other).elsewhere, None);
        write(&tree.join(".git"), &format!("gitdir: {}\n", folder.path().display()));
        assert_eq!(of(&tree).elsewhere, None);
        // Nor does a fake that lies in the project and leads out of it.
        let fake = tree.join("fake");
        write(&fake.join("gitdir"), &tree.join(".git").display().to_string());
        write(&fake.join("commondir"), &folder.path().display().to_string());
        write(&tree.join(".git"), "gitdir: fake\n");
        assert_eq!(of(&tree).elsewhere, None);
    }

    #[test]
    fn a_submodule_is_known_by_its_settings() {
        let (folder, common, _tree) = yard();
        let module = common.join("modules/lib");
        fs::create_dir_all(module.join("objects")).unwrap();
        write(&module.join("HEAD"), "ref: refs/heads/main\n");
        write(&module.join("config"), "[core]\n\tworktree = ../../../lib\n");
        let lib = folder.path().canonicalize().unwrap().join("main/lib");
        write(&lib.join(".git"), "gitdir: ../.git/modules/lib\n");
        assert_eq!(of(&lib).elsewhere, Some((module.clone(), module)));
    }
}
