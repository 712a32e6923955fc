//! duroxide doing durable steps: `bench-duroxide version | steps FOLDER COUNT | crash FOLDER | again FOLDER`.
//!
//! A step adds one line to a file, as an agent's work would change the world; `crash` dies by SIGKILL inside its second step,
//! `again` lets the system go on from there.

use std::error::Error;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use duroxide::providers::sqlite::SqliteProvider;
use duroxide::runtime::registry::ActivityRegistry;
use duroxide::runtime::{Runtime, RuntimeOptions};
use duroxide::{
    ActivityContext, Client, OrchestrationContext, OrchestrationRegistry, OrchestrationStatus,
};

/// How long all of it may take.
const PATIENCE: Duration = Duration::from_secs(300);
/// As short as it may be: with its own 100 ms it would mostly sleep.
const POLL: Duration = Duration::from_millis(1);
/// After so long the step of a process that died is begun again; its own 30 s would only be waited for.
const LOCK: Duration = Duration::from_secs(2);

/// What SQLite calls a sync at each commit.
const FULL: i64 = 2;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let folder = words.get(1).map(PathBuf::from).unwrap_or_default();
    let count = words.get(2).map_or(Ok(3), |count| count.parse())?;
    match words.first().map(String::as_str) {
        Some("version") => println!("{}", version()),
        Some(verb) => println!("{}", steps(verb.to_owned(), &folder, count).await?.as_secs_f64()),
        None => return Err("what?".into()),
    }
    Ok(())
}

fn version() -> String {
    let named = include_str!("../Cargo.toml").split_once("duroxide = { version = \"=");
    let version = named.and_then(|(_, rest)| rest.split_once('"')).map_or("?", |(it, _)| it);
    format!("duroxide {version}")
}

async fn steps(verb: String, folder: &Path, count: u32) -> Result<Duration, Box<dyn Error>> {
    std::fs::create_dir_all(folder)?;
    let file = folder.join("duroxide.sqlite");
    if !file.exists() {
        std::fs::File::create(&file)?;
    }
    let store = SqliteProvider::new(&format!("sqlite:{}", file.display()), None).await?;
    sync_every_commit(&store).await?;
    let store = Arc::new(store);
    let (goes_on, effects) = (verb == "again", folder.join("effects"));
    let step = move |_: ActivityContext, number: String| {
        let done = work(&verb, &effects, &number);
        async move { done.map(|()| number) }
    };
    let activities = ActivityRegistry::builder().register("step", step).build();
    let orchestrations = OrchestrationRegistry::builder().register("steps", all).build();
    let options = RuntimeOptions {
        dispatcher_min_poll_interval: POLL,
        // One workflow keeps one of each busy; more of them wait for each other's locks.
        orchestration_concurrency: 1,
        worker_concurrency: 1,
        worker_lock_timeout: LOCK,
        orchestrator_lock_timeout: LOCK,
        ..RuntimeOptions::default()
    };
    let client = Client::new(store.clone());
    let runtime = Runtime::start_with_options(store, activities, orchestrations, options).await;
    let begin = Instant::now();
    if !goes_on {
        client.start_orchestration("one", "steps", count.to_string()).await?;
    }
    let ended = client.wait_for_orchestration("one", PATIENCE).await;
    let elapsed = begin.elapsed();
    runtime.shutdown(None).await;
    match ended {
        Ok(OrchestrationStatus::Completed { .. }) => Ok(elapsed),
        other => Err(format!("{other:?}").into()),
    }
}

/// Its own `PRAGMA synchronous = WAL` is no word that SQLite knows: it stands for `NORMAL`, which syncs at checkpoints only.
/// The setting is one of each connection, so all that the pool may have are asked for at once.
async fn sync_every_commit(store: &SqliteProvider) -> Result<(), Box<dyn Error>> {
    let pool = store.get_pool();
    let mut held = Vec::new();
    for _ in 0..pool.options().get_max_connections() {
        let mut one = pool.acquire().await?;
        sqlx::query("PRAGMA synchronous = FULL").execute(&mut *one).await?;
        let level: i64 = sqlx::query_scalar("PRAGMA synchronous").fetch_one(&mut *one).await?;
        if level != FULL {
            return Err(format!("SQLite syncs at level {level}").into());
        }
        held.push(one);
    }
    Ok(())
}

async fn all(context: OrchestrationContext, count: String) -> Result<String, String> {
    let count: u32 = count.parse().map_err(|error| format!("{error}"))?;
    for number in 1..=count {
        context.schedule_activity("step", number.to_string()).await?;
    }
    Ok(String::new())
}

/// One step with an effect; half done when it dies.
fn work(verb: &str, effects: &Path, number: &str) -> Result<(), String> {
    if verb == "steps" {
        return Ok(());
    }
    let file = std::fs::File::options().create(true).append(true).open(effects);
    file.and_then(|mut file| write!(file, "{number} ")).map_err(|error| error.to_string())?;
    if verb == "crash" && number == "2" {
        let own = rustix::process::getpid();
        rustix::process::kill_process(own, rustix::process::Signal::KILL)
            .map_err(|error| error.to_string())?;
    }
    Ok(())
}
