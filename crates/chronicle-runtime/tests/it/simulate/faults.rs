//! Everything that goes wrong with machines, disks and processes.

use chronicle_core::engine;
use chronicle_core::ids::SessionId;
use chronicle_core::input::Command;
use chronicle_runtime::driver::Run;
use chronicle_runtime::ledger::{self, Head, Holder, Ledger as _, LedgerError};

use super::oracle::{Checked, ensure};
use super::run::Sim;

/// What a disk writes at once.
const SECTOR: usize = 512;

impl Sim<'_> {
    pub(super) fn something_goes_wrong(&mut self) -> Checked {
        match self.rng.below(100) {
            0..=24 => self.kill(),
            25..=39 => self.cut_power(),
            40..=54 => self.disk_fails(),
            55..=74 => self.disk_recovers(),
            75..=82 => return self.take_over(),
            83..=88 => return self.launch(),
            89..=93 => self.write_late(),
            94..=96 => return self.damage(),
            _ => self.forget_session(),
        }
        Ok(())
    }

    fn kill(&mut self) {
        let index = self.rng.index(self.supervisors.len().max(1));
        if index < self.supervisors.len() {
            self.figures.kills += 1;
            let killed = self.supervisors.remove(index);
            self.tell(|| format!("supervisor of epoch {} is killed", killed.epoch));
        }
    }

    fn cut_power(&mut self) {
        self.figures.power_cuts += 1;
        let unsynced = self.ledger.unsynced();
        let tail = self.survivors(unsynced);
        self.tell(|| format!("the power fails; {} unsynced bytes are left", tail.len()));
        // The disk first: whoever drops its lock later finds it taken away.
        self.ledger.lose_power_leaving(&tail);
        self.supervisors.clear();
        self.agents.clear();
        if self.rng.chance(20) {
            self.sessions.clear();
        }
        // What was kept beside the ledger is whole or not there.
        if self.rng.chance(30) {
            self.cache = None;
        }
    }

    /// What a disk makes of bytes that were on their way: their beginning, or with sectors that never came.
    fn survivors(&mut self, mut bytes: Vec<u8>) -> Vec<u8> {
        match self.rng.below(10) {
            0..=1 => bytes.clear(),
            2..=3 => {}
            4..=8 => bytes.truncate(self.rng.index(bytes.len() + 1)),
            _ if bytes.is_empty() => {}
            _ => {
                let from = self.rng.index(bytes.len());
                let to = (from + SECTOR).min(bytes.len());
                bytes[from..to].fill(0);
                self.disk.garbled = true;
            }
        }
        bytes
    }

    fn disk_fails(&mut self) {
        self.figures.disk_faults += 1;
        self.disk.failing = true;
        let faults = self.ledger.faults().clone();
        faults.clear();
        let kind = self.rng.below(4);
        self.tell(|| format!("the disk fails (kind {kind})"));
        match kind {
            0 => faults.fill_disk_after(self.rng.below(900)),
            1 => faults.fail_syncs(),
            2 => {
                faults.fail_syncs_and_forget();
                self.disk.forgets = true;
            }
            _ => faults.make_read_only(),
        }
    }

    /// A system that forgets what the sync of an opening failed to write is beyond what a writer can know: one who opens
    /// cannot tell which lines were synced by the one before.
    pub(super) fn spare_opening(&mut self) {
        if std::mem::take(&mut self.disk.forgets) {
            self.ledger.faults().clear();
            self.ledger.faults().fail_syncs();
        }
    }

    pub(super) fn disk_recovers(&mut self) {
        self.ledger.faults().clear();
        (self.disk.failing, self.disk.forgets) = (false, false);
    }

    /// A person takes the lock away from one who lives, and starts another.
    fn take_over(&mut self) -> Checked {
        if let Some(supervisor) = self.supervisors.last_mut() {
            supervisor.overtaken = true;
            self.figures.takeovers += 1;
            self.ledger.force().map_err(|error| error.to_string())?;
            self.tell(|| "the lock is taken away".to_owned());
        }
        self.launch()
    }

    /// An overtaken one had looked at its lock before it was taken away, and writes only now.
    fn write_late(&mut self) {
        let Some(overtaken) = self.supervisors.iter().find(|one| one.overtaken) else { return };
        let (state, head) = (overtaken.run.state().clone(), overtaken.run.head());
        let input = self.asked(Command::Pause { reason: "late".to_owned() });
        let decision = engine::decide(&state, &input);
        let line = engine::line(&state, &input, &decision);
        let Some((bytes, _)) = line.and_then(|line| ledger::encode(&line, &head.sum).ok()) else {
            return;
        };
        self.ledger.append_late(&bytes);
        self.disk.garbled = true;
        self.tell(|| "an overtaken supervisor writes late".to_owned());
    }

    /// A byte of the synced lines changes: that must be found, and no line be lost for it.
    fn damage(&mut self) -> Checked {
        let good = self.ledger.bytes();
        let synced = usize::try_from(self.oracle.head.bytes).unwrap_or(0);
        if !self.supervisors.is_empty() || self.disk.failing || synced < 2 {
            return Ok(());
        }
        // A last line feed that changes looks like a line that was never whole.
        let at = self.rng.index(synced - 1);
        let mut bad = good.clone();
        bad[at] ^= 1 << self.rng.below(7);
        self.ledger.replace(bad);
        self.figures.damages += 1;
        let who = Holder {
            pid: 8,
            host: "here".to_owned(),
            started: 1,
            command: "damaged".to_owned(),
            since: self.at(),
        };
        let opened = Run::open(&self.ledger, who, None);
        let found = matches!(opened, Err(LedgerError::Damaged { .. }));
        ensure(found, || format!("byte {at} changed, and the ledger opens"))?;
        let read = self.ledger.read_from(Head::EMPTY).map_err(|error| error.to_string())?;
        ensure(read.into_iter().any(|line| line.is_err()), || {
            "the damage is read over".to_owned()
        })?;
        self.ledger.replace(good);
        Ok(())
    }

    /// A conversation that nobody is in is gone.
    fn forget_session(&mut self) {
        let is_used = |id: &SessionId| self.agents.values().any(|agent| agent.session == *id);
        if let Some(id) = self.sessions.keys().find(|id| !is_used(id)).cloned() {
            self.sessions.remove(&id);
        }
    }
}
