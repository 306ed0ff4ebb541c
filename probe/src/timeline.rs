//! Time per bin, in bounded memory: bins double in width until the run fits.

const FIRST_BIN_NS: u64 = 1_000_000;

#[derive(Debug)]
pub struct Bins {
    pub bin_ns: u64,
    pub rows: Vec<Vec<u64>>,
    max_bins: usize,
}

impl Bins {
    pub fn new(n_rows: usize, max_bins: usize) -> Bins {
        Bins { bin_ns: FIRST_BIN_NS, rows: vec![Vec::new(); n_rows], max_bins }
    }

    /// Adds the interval from `from` to `to`, both since the gate.
    pub fn add(&mut self, row: usize, from: u64, to: u64) {
        self.add_weighted(row, from, to, 1.0);
    }

    /// The same where only a share of the interval, or several at once, were busy.
    pub fn add_weighted(&mut self, row: usize, from: u64, to: u64, weight: f64) {
        if to <= from {
            return;
        }
        while (to - 1) / self.bin_ns >= self.max_bins as u64 {
            self.double();
        }
        let cells = &mut self.rows[row];
        let last = ((to - 1) / self.bin_ns) as usize;
        if cells.len() <= last {
            cells.resize(last + 1, 0);
        }
        let first = (from / self.bin_ns) as usize;
        for (bin, cell) in cells[first..=last].iter_mut().enumerate() {
            let start = (first + bin) as u64 * self.bin_ns;
            let part = to.min(start + self.bin_ns) - from.max(start);
            *cell += (part as f64 * weight) as u64;
        }
    }

    pub fn double(&mut self) {
        self.bin_ns *= 2;
        for row in &mut self.rows {
            *row = row.chunks(2).map(|pair| pair.iter().sum()).collect();
        }
    }

    pub fn n_bins(&self) -> usize {
        self.rows.iter().map(Vec::len).max().unwrap_or(0)
    }

    /// All rows get `n` bins.
    pub fn pad(&mut self, n: usize) {
        self.rows.iter_mut().for_each(|row| row.resize(n, 0));
    }
}
