//! Steps of a pool behind walls: each has its own folder, the project to read, and nobody else's work.

use std::fs;

use chronicle_runtime::for_tests::process::wall::{WallLayers, WallPlan, usual};

use super::session::Session;
use super::walls_yard::{Site, Who, seen};

/// What a step tries. It prints what it should not have been able to do in capitals.
const TRIES: &str = r#"
project=$(cat project.txt); runs=$(dirname "$(dirname "$(dirname "$PWD")")")
name=$(basename "$(dirname "$PWD")")
tries() {
echo x > "of-$name" && echo writes
cat "$project/note.txt"
ls "$runs"/*; ls ..
git add -A . && git commit -q -m step && git log --format=%s
echo x > "$project/escaped" && echo PROJECT
echo x > "$project/.git/escaped" && echo REPOSITORY
echo x > ../escaped && echo BESIDE
echo x > "$runs/../trust.json" && echo STATE
git push -q "$project" HEAD:refs/heads/pushed && echo PUSH
echo x > .git/hooks/post-commit && echo HOOK
mkdir .chronicle/x && echo RECORD
cat secrets/key "$project/secrets/key" && echo SECRET
true
}
tries > "tried-$name" 2> "failed-$name"
"#;

fn with_pool(who: Who, phases: &str) -> Session {
    let session = Session::of(who);
    session
        .write(".chronicle/workflows/main.yaml", format!("{{name: Steps, phases: {{{phases}}}}}"));
    session.write("script.yaml", "");
    session
}

#[test]
fn needs_namespaces_needs_git_a_step_writes_its_own_folder_and_reads_the_project() {
    for who in Who::all() {
        let session = with_pool(
            who,
            "build: {run: pool, slots: 2, walls: {hide: [secrets]}, commands: ['sh ./tries.sh'], \
             steps: [{id: a}, {id: b}], next: [done]}",
        );
        session.write("tries.sh", TRIES);
        session.write("note.txt", "to be read\n");
        session.write("secrets/key", "k");
        session.write("project.txt", session.project().to_str().unwrap());
        let made = "git init -q . && git config user.name Ann && git config user.email ann@example.invalid \
                    && git add -A . && git commit -q -m first";
        session.shell(made).exits(0);
        // Its references, settings and hooks.
        let kept = || {
            session
                .shell("git for-each-ref; git rev-parse HEAD; cat .git/config; ls .git/hooks .git")
                .stdout
        };
        let before = kept();
        session.run().exits(0);
        assert_eq!(kept(), before, "the person's repository is as it was");
        for name in ["w1", "w2"] {
            let folder = session.project();
            let project = folder.file_name().unwrap().to_str().unwrap();
            let expected = format!("writes\nto be read\n{name}\n{project}\nstep\nfirst\n");
            let tried = session.read(&format!("tried-{name}"));
            let failed = session.read(&format!("failed-{name}"));
            assert_eq!(tried, expected, "{who:?}: {failed}");
            assert_eq!(session.read(&format!("of-{name}")), "x\n");
        }
        assert!(!session.has("escaped"));
    }
}

/// What a step leaves for agents to load stops the next agent there, and after the merge the one in the project.
#[test]
fn needs_namespaces_needs_git_what_a_step_plants_is_loaded_nowhere() {
    let session = with_pool(
        Who::all()[0],
        "build: {run: pool, slots: 2, commands: ['sh ./plant.sh'], steps: [{id: a}, {id: b}], next: [more]}, \
         more: {next: [done]}",
    );
    // Only one of them does: the other's folder must not make it look as if it was gone.
    session.write("plant.sh", "case \"$PWD\" in */w1/*) echo '{}' > .mcp.json;; esac; true");
    session.write("script.yaml", "more: [{shell: {command: touch loaded}}, {complete: {}}]");
    session.run().exits(4);
    let status = session.chronicle(&["status"]).stdout;
    assert!(status.contains("`.mcp.json` came or changed while a worker ran"), "{status}");
    assert!(session.has(".mcp.json") && !session.has("loaded"));
    session.chronicle(&["trust"]).exits(0).prints(".mcp.json");
    session.chronicle(&["retry"]).exits(0);
    session.chronicle(&["resume"]).exits(0);
    assert!(session.has("loaded"));
}

/// The lists of a wall around a step, by each layer alone.
#[test]
fn needs_namespaces_needs_landlock_each_layer_keeps_a_step_in_its_folder() {
    for who in Who::all() {
        for layers in [WallLayers::ALL, WallLayers::NAMESPACES, WallLayers::LANDLOCK] {
            let site = Site::new(who);
            for made in ["state/work/r/w1/p/.git/hooks", "state/work/r/w2/p"] {
                fs::create_dir_all(site.path(made)).unwrap();
            }
            fs::write(site.path("state/work/r/w2/p/note"), "of another\n").unwrap();
            site.give(&site.path("state"));
            let (work, project) = (site.path("state/work/r/w1/p"), site.path("project"));
            let (home, tmp, state) = (site.path("home"), site.path("tmp"), site.path("state"));
            let plan = WallPlan {
                origin: Some(&project),
                tmp: &[tmp],
                own: std::slice::from_ref(&state),
                hide: &["other".to_owned()],
                layers,
                ..WallPlan::plain(&work, &home)
            };
            let mut wall = usual(&plan).unwrap();
            wall.hidden.push(state.join("work"));
            wall.read_only.push(state);
            let before = seen(&project);
            let tries = "cd ../state/work/r/w1/p || exit 1; echo x > new && echo writes
                echo x > ../../../../../project/note && echo PROJECT
                echo x > ../../../../../project/new && echo PROJECT
                echo x > ../beside && echo BESIDE; echo x > ../../../../trust && echo STATE
                cat ../../../../../project/note; cat ../../w2/p/note
                cat ../../../../../project/other; true";
            let out = site.run(wall, &format!("({tries}) 2> /dev/null")).exits(0);
            // Landlock hides nothing: it only restricts changes.
            let more = if layers.namespaces { "" } else { "of another\nas it was\n" };
            assert_eq!(out, format!("writes\nas it was\n{more}"), "{who:?} {layers:?}");
            assert_eq!(seen(&project), before, "{who:?} {layers:?}");
        }
    }
}
