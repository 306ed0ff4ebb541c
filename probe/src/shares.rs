//! What each command of a run with services did, summed from the records of its tasks.

use crate::timeline::Bins;

#[derive(Clone, Debug, Default)]
pub struct Share {
    pub wait_ns: u64,
    pub n_switches: u64,
    pub n_tasks: u64,
    /// By row of the tree.
    pub per_cpu_ns: Vec<u64>,
}

/// None of a run without services: nothing is summed then.
pub struct Shares {
    pub list: Vec<Share>,
    /// A row for each command.
    pub busy: Bins,
}

impl Shares {
    pub fn new(n_commands: usize, n_cpus: usize, max_bins: usize) -> Shares {
        let share = Share { per_cpu_ns: vec![0; n_cpus], ..Share::default() };
        Shares { list: vec![share; n_commands], busy: Bins::new(n_commands, max_bins) }
    }

    fn of(&mut self, command: Option<usize>) -> Option<&mut Share> {
        command.and_then(|i| self.list.get_mut(i))
    }

    /// From and to are since the gate.
    pub fn ran(&mut self, command: Option<usize>, row: usize, from: u64, to: u64) {
        if let Some(share) = self.of(command) {
            share.per_cpu_ns[row] += to.saturating_sub(from);
            self.busy.add(command.unwrap_or(0), from, to);
        }
    }

    pub fn waited(&mut self, command: Option<usize>, ns: u64) {
        self.of(command).into_iter().for_each(|share| share.wait_ns += ns);
    }

    pub fn switched(&mut self, command: Option<usize>) {
        self.of(command).into_iter().for_each(|share| share.n_switches += 1);
    }

    pub fn born(&mut self, command: Option<usize>) {
        self.of(command).into_iter().for_each(|share| share.n_tasks += 1);
    }

    /// Bins of a command, as wide as those of the tree's timeline and as many.
    pub fn bins(&self, command: usize, bin_ns: u64, n: usize) -> Option<Vec<u64>> {
        let merged = (bin_ns / self.busy.bin_ns).max(1) as usize;
        let row = self.busy.rows.get(command)?;
        let mut bins: Vec<u64> = row.chunks(merged).map(|part| part.iter().sum()).collect();
        bins.resize(n, 0);
        Some(bins)
    }
}
