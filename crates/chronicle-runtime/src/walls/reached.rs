//! Links on the way to what a worker may not change or see. A link cannot be held by its name: where a worker could replace it, another
//! thing would take the place of what is protected, and what is hidden would have no name any more. So no attempt starts there.

use std::cell::LazyCell;
use std::fs::{self, DirBuilder};
use std::os::unix::fs::{DirBuilderExt as _, FileTypeExt as _};
use std::path::{Path, PathBuf};

use chronicle_core::base::shell::quoted;

use crate::process::wall::{PathWay, Wall, way_to};

/// Why no worker may start. `kept` is what it must not put anything in the place of, `listed` what agents load of their folders: of those the
/// link itself is a person's own, and only what it leads through counts.
pub(super) fn refusal(wall: &Wall, kept: &[PathBuf], listed: &[PathBuf]) -> Option<String> {
    // By where everything lies, which is looked up only if there is a link at all.
    let lies = LazyCell::new(|| as_it_lies(wall));
    let linked = |place: &Path| Some(way_to(place)).filter(|way| !way.links.is_empty());
    let of_kept = kept.iter().find_map(|place| {
        let way = linked(place)?;
        Judged { way: &way, wall: &lies, own: None }.kept(place)
    });
    let of_listed = || {
        listed.iter().filter(|place| place.is_symlink()).find_map(|place| {
            let own = place.parent()?.canonicalize().ok()?.join(place.file_name()?);
            let way = linked(place)?;
            Judged { way: &way, wall: &lies, own: Some(&own) }.kept(place)
        })
    };
    let of_hidden = || {
        wall.hidden.iter().find_map(|place| {
            let way = linked(place)?;
            Judged { way: &way, wall: &lies, own: None }.hidden(place, &wall.hidden)
        })
    };
    of_kept.or_else(of_listed).or_else(of_hidden)
}

/// Makes folders of agents that are missing where a worker could make them: those in a real folder that a link leads to, and those that a
/// variable names.
pub(super) fn make_ends(wall: &Wall, linked: &[PathBuf], named: &[PathBuf]) {
    let lies = LazyCell::new(|| as_it_lies(wall));
    let ways = linked.iter().map(|place| way_to(place)).filter(|way| !way.links.is_empty());
    for way in ways.chain(named.iter().map(|place| way_to(place))) {
        let leads_on = way.links.iter().all(|link| link.canonicalize().is_ok());
        if leads_on && !way.end.exists() && lies.lets_change(&way.end) {
            // One that cannot be made is told with what to type.
            let _ = DirBuilder::new().recursive(true).mode(0o700).create(&way.end);
        }
    }
}

/// A way with a link on it, and the wall by where everything lies.
struct Judged<'a> {
    way: &'a PathWay,
    wall: &'a Wall,
    /// A link that does not count.
    own: Option<&'a Path>,
}

impl Judged<'_> {
    fn lets_replace(&self, place: &Path) -> bool {
        self.own != Some(place) && self.wall.lets_change(place)
    }

    /// The first link that a worker could replace, or folder that it could put a link in the place of.
    fn replaceable(&self, way: &PathWay) -> Option<PathBuf> {
        way.links.iter().chain(&way.left).find(|it| self.lets_replace(it)).cloned()
    }

    fn kept(&self, place: &Path) -> Option<String> {
        let place = place.display();
        if let Some(link) = self.replaceable(self.way) {
            let by = link.display();
            let advice = self.straighten().unwrap_or_else(|| in_its_place(&link));
            return Some(format!(
                "`{place}` is reached by the link `{by}`, which a worker could replace: {advice}"
            ));
        }
        let end = &self.way.end;
        if end.exists() || !self.wall.lets_change(end) {
            return None;
        }
        let broken = self.way.links.iter().find(|link| link.canonicalize().is_err());
        let advice = match broken {
            Some(link) => remove(link),
            None => format!("make it by `mkdir -p {}`", word(end)),
        };
        let end = end.display();
        Some(format!(
            "`{place}` is reached by a link to `{end}`, which a worker could make: {advice}"
        ))
    }

    /// What is hidden is hidden where it lies, as long as something names it.
    fn hidden(&self, place: &Path, all: &[PathBuf]) -> Option<String> {
        let link = self.replaceable(self.way)?;
        let real = place.canonicalize().ok()?;
        // A history that is thrown away leads to a device.
        if fs::metadata(&real).is_ok_and(|about| about.file_type().is_char_device()) {
            return None;
        }
        let names_it = |other: &PathBuf| {
            let is_around = other.canonicalize().is_ok_and(|other| real.starts_with(other));
            is_around && self.replaceable(&way_to(other)).is_none()
        };
        if all.iter().any(names_it) {
            return None;
        }
        let by_name = || format!("name `{}` in `walls.hide` of your settings", real.display());
        let advice = self.straighten().unwrap_or_else(by_name);
        Some(format!(
            "`{}` is hidden, and reached by the link `{}`, which a worker could remove: {advice}",
            place.display(),
            link.display()
        ))
    }

    /// How to let the last link that is out of reach lead past those that are not; `None` if there is none before them.
    fn straighten(&self) -> Option<String> {
        let mut before = self.way.links.iter().take_while(|link| !self.lets_replace(link));
        let bent = before.find(|link| {
            let target = fs::read_link(link).ok().zip(link.parent());
            target.is_some_and(|(to, folder)| self.replaceable(&way_to(&folder.join(to))).is_some())
        })?;
        Some(match bent.canonicalize() {
            Ok(real) => {
                format!("let it lead straight there by `ln -sfn {} {}`", word(&real), word(bent))
            }
            Err(_) => remove(bent),
        })
    }
}

fn remove(link: &Path) -> String {
    format!("remove the link by `rm {}`", word(link))
}

fn in_its_place(link: &Path) -> String {
    match link.canonicalize() {
        Ok(real) => format!(
            "put what it leads to in its place by `rm {link} && cp -a {real} {link}`, or start with `--no-walls`",
            link = word(link),
            real = word(&real)
        ),
        Err(_) => remove(link),
    }
}

/// A path as one word of a command line.
fn word(path: &Path) -> String {
    quoted(&path.to_string_lossy())
}

/// A wall with every listed path where it lies on disk.
fn as_it_lies(wall: &Wall) -> Wall {
    let real =
        |paths: &[PathBuf]| paths.iter().filter_map(|path| path.canonicalize().ok()).collect();
    Wall {
        writable: real(&wall.writable),
        fresh: real(&wall.fresh),
        read_only: real(&wall.read_only),
        hidden: real(&wall.hidden),
        ..Wall::default()
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::super::own;
    use super::*;

    /// What is said of a link at a place in a home, with a project that workers may write.
    fn said(root: &Path, place: &str) -> Option<String> {
        let wall = Wall {
            writable: vec![root.join("project")],
            read_only: vec![root.join("project/.chronicle"), root.join(place)],
            ..Wall::default()
        };
        let settings = root.join("home/.config/chronicle");
        let mut kept = own::in_settings(&settings);
        kept.push(settings);
        let home = root.join("home");
        kept.extend(own::folders_of_agents(&home));
        let said = refusal(&wall, &kept, &own::listed_by_agents(&home));
        said.map(|said| said.replace(root.to_str().unwrap(), ""))
    }

    #[test]
    fn a_link_that_a_worker_could_replace_stops_it_and_others_do_not() {
        let tries = [
            // The place, where it leads, where that leads, and what is said.
            (
                "home/.config/chronicle",
                "project/cc",
                Some("elsewhere"),
                Some("the link `/project/cc`"),
            ),
            ("home/.config", "project/cc", Some("elsewhere"), Some("the link `/project/cc`")),
            ("home/.config/chronicle", "project/cc", None, Some("a link to `/project/cc`")),
            ("home/.claude", "project/cc", Some("elsewhere"), Some("the link `/project/cc`")),
            ("home/.claude", "project/cc", None, Some("a link to `/project/cc`")),
            ("home/.codex", "project/cc/deeper", None, Some("a link to `/project/cc/deeper`")),
            ("home/.config/chronicle", "elsewhere", None, None),
            ("home/.config/chronicle", "project/real", None, None),
            ("home/.claude", "project/real", None, None),
            ("home/.claude", "nowhere", None, None),
            ("home/.claude", "project/.chronicle/cc", Some("elsewhere"), None),
            ("home/other", "project/cc", Some("elsewhere"), None),
        ];
        for (place, first, second, expected) in tries {
            let folder = tempfile::tempdir().unwrap();
            let root = folder.path().canonicalize().unwrap();
            for made in ["home/.config", "elsewhere", "project/real", "project/.chronicle"] {
                fs::create_dir_all(root.join(made)).unwrap();
            }
            let _ = fs::remove_dir(root.join(place));
            symlink(root.join(first), root.join(place)).unwrap();
            if let Some(second) = second {
                symlink(root.join(second), root.join(first)).unwrap();
            }
            let said = said(&root, place);
            let as_expected = match (&said, expected) {
                (Some(said), Some(words)) => said.contains(words),
                (None, None) => true,
                _ => false,
            };
            assert!(as_expected, "{place} -> {first} -> {second:?}: {said:?}");
        }
    }

    #[test]
    fn links_in_settings_count_and_the_project_may_be_the_home() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for made in ["home/.config/chronicle", "project", "project/dotfiles"] {
            fs::create_dir_all(root.join(made)).unwrap();
        }
        fs::write(root.join("kept.toml"), "").unwrap();
        let config = root.join("home/.config/chronicle/config.toml");
        symlink(root.join("project/c.toml"), &config).unwrap();
        symlink(root.join("kept.toml"), root.join("project/c.toml")).unwrap();
        assert_eq!(
            said(&root, "home").as_deref(),
            Some(
                "`/home/.config/chronicle/config.toml` is reached by the link `/project/c.toml`, which a worker could replace: \
                 let it lead straight there by `ln -sfn /kept.toml /home/.config/chronicle/config.toml`"
            )
        );
        fs::remove_file(&config).unwrap();
        symlink("dotfiles", root.join("project/.claude")).unwrap();
        let wall = Wall {
            writable: vec![root.join("project")],
            read_only: vec![root.join("project/.claude")],
            ..Wall::default()
        };
        let said = refusal(&wall, &own::folders_of_agents(&root.join("project")), &[]);
        assert!(said.unwrap().contains("put what it leads to in its place"));
    }
}
