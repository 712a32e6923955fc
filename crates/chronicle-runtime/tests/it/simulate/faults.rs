//! Everything that goes wrong with machines, disks and processes.

use std::path::Path;

use chronicle_core::base::ids::SessionId;
use chronicle_core::engine;
use chronicle_core::event::input::Command;
use chronicle_runtime::for_tests::driver::Run;
use chronicle_runtime::for_tests::ledger::{self, ArtifactId, Head, Ledger as _, LedgerError};

use super::figures::Trouble;
use super::oracle::{Checked, ensure};
use super::run::{LEDGER, Sim};

impl Sim<'_> {
    pub(super) fn something_goes_wrong(&mut self) -> Checked {
        let number = self.some_wrong();
        match number {
            0..=24 => self.kill(),
            25..=39 => self.cut_power(),
            40..=54 => self.disk_fails(),
            55..=74 => self.disk_recovers(),
            75..=82 => return self.take_over(),
            83..=88 => return self.launch(),
            89..=90 => return self.keep_body(),
            91..=93 => self.write_late(),
            94..=96 => return self.damage(),
            _ => self.forget_session(),
        }
        Ok(())
    }

    /// One of the kinds that this world has, if one is found soon.
    fn some_wrong(&mut self) -> u64 {
        const TRIES: u32 = 6;
        let mut number = self.rng.below(100);
        for _ in 0..TRIES {
            // What goes wrong in a range of numbers bears the number of its sixth.
            if self.wrongs >> (number / 6) & 1 == 1 {
                break;
            }
            number = self.rng.below(100);
        }
        number
    }

    fn kill(&mut self) {
        let index = self.rng.index(self.supervisors.len().max(1));
        if index < self.supervisors.len() {
            self.figures.kills += 1;
            self.figures.meet(Trouble::Killed);
            let killed = self.supervisors.remove(index);
            killed.process.kill();
            self.tell(|| format!("supervisor of epoch {} is killed", killed.epoch));
        }
    }

    pub(super) fn cut_power(&mut self) {
        self.figures.power_cuts += 1;
        self.figures.meet(Trouble::PowerCut);
        let Self { platter, rng, .. } = self;
        self.disk.garbled |= platter.lose_power(Path::new(LEDGER), &mut |end| rng.index(end));
        self.tell(|| "the power fails".to_owned());
        self.stranger = self.on_new_process();
        self.supervisors.clear();
        self.agents.clear();
        if self.rng.chance(20) {
            self.sessions.clear();
        }
    }

    fn disk_fails(&mut self) {
        self.figures.disk_faults += 1;
        self.disk.failing = true;
        let faults = self.faults.clone();
        faults.clear();
        let kind = self.rng.below(4);
        self.tell(|| format!("the disk fails (kind {kind})"));
        match kind {
            0 => faults.fill_disk_after(self.rng.below(900)),
            1 => faults.fail_syncs(),
            2 => {
                faults.fail_syncs_and_forget();
                self.figures.meet(Trouble::SyncForgotten);
            }
            _ => faults.make_read_only(),
        }
    }

    pub(super) fn disk_recovers(&mut self) {
        self.faults.clear();
        self.disk.failing = false;
    }

    /// A person takes the lock away from one who lives, and starts another.
    fn take_over(&mut self) -> Checked {
        if let Some(supervisor) = self.supervisors.last_mut() {
            supervisor.overtaken = true;
            self.figures.meet(Trouble::Raced);
            self.stranger.force().map_err(|error| error.to_string())?;
            self.tell(|| "the lock is taken away".to_owned());
        }
        self.launch()?;
        if self.rng.chance(10) {
            self.write_late();
        }
        Ok(())
    }

    /// An overtaken one had looked at its lock before it was taken away, and writes only now.
    fn write_late(&mut self) {
        let Some(overtaken) = self.supervisors.iter().find(|one| one.overtaken) else { return };
        let (state, head) = (overtaken.run.state().clone(), overtaken.run.head());
        let input = self.asked(Command::Pause { reason: "late".to_owned() });
        let line = engine::step(&state, &input).line;
        let Some((bytes, _)) = line.and_then(|line| ledger::encode(&line, &head.sum).ok()) else {
            return;
        };
        self.platter.append_late(Path::new(LEDGER), &bytes);
        self.disk.garbled = true;
        self.figures.meet(Trouble::WroteLate);
        self.tell(|| "an overtaken supervisor writes late".to_owned());
    }

    /// A byte of the synced lines changes: that must be found, and no line be lost for it.
    fn damage(&mut self) -> Checked {
        let good = self.platter.bytes(Path::new(LEDGER)).unwrap_or_default();
        let synced = usize::try_from(self.oracle.head.at.for_backend()).unwrap_or(0);
        if !self.supervisors.is_empty() || self.disk.failing || synced < 2 {
            return Ok(());
        }
        // A last line feed that changes looks like a line that was never whole.
        let at = self.rng.index(synced - 1);
        let mut bad = good.clone();
        bad[at] ^= 1 << self.rng.below(7);
        self.platter.overwrite(Path::new(LEDGER), &bad);
        self.figures.meet(Trouble::Damaged);
        let who = self.holder("damaged");
        let opened = Run::open(&self.stranger, who, None);
        let found = matches!(opened, Err(LedgerError::Damaged { .. }));
        ensure(found, || format!("byte {at} changed, and the ledger opens"))?;
        let read = self.stranger.read(Head::EMPTY).map_err(|error| error.to_string())?;
        ensure(read.into_iter().any(|line| line.is_err()), || {
            "the damage is read over".to_owned()
        })?;
        self.platter.overwrite(Path::new(LEDGER), &good);
        Ok(())
    }

    /// Something large is kept beside the ledger: from then on it must be there.
    fn keep_body(&mut self) -> Checked {
        let (who, body) = (self.holder("keeps"), self.rng.next().to_le_bytes().repeat(3));
        let (process, folder) = self.process();
        let opened = ledger::open(&folder, who, Head::EMPTY, |_| {});
        let kept = opened.and_then(|mut writer| writer.put_artifact(&body));
        match kept {
            Ok(id) => {
                self.disk.garbled = false;
                self.artifacts.push((id, body));
                ensure(id == ArtifactId::of(&self.artifacts[self.artifacts.len() - 1].1), || {
                    "an artifact has another's name".to_owned()
                })
            }
            Err(error) => self.cannot_open(&process, &error),
        }
    }

    /// A conversation that nobody is in is gone.
    fn forget_session(&mut self) {
        let is_used = |id: &SessionId| self.agents.values().any(|agent| agent.session == *id);
        if let Some(id) = self.sessions.keys().find(|id| !is_used(id)).cloned() {
            self.sessions.remove(&id);
        }
    }
}
