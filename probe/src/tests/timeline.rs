use crate::timeline::Bins;

const MS: u64 = 1_000_000;

#[test]
fn an_interval_is_shared_among_its_bins() {
    let mut bins = Bins::new(1, 8);
    bins.add(0, MS / 2, 3 * MS + MS / 4);
    assert_eq!(bins.rows[0], [MS / 2, MS, MS, MS / 4]);
}

#[test]
fn bins_double_until_the_run_fits_and_nothing_is_lost() {
    let mut bins = Bins::new(2, 8);
    for i in 0..100 {
        bins.add(0, i * MS, i * MS + MS / 4);
    }
    bins.add(1, 0, 1);
    assert_eq!((bins.bin_ns, bins.n_bins()), (16 * MS, 7));
    assert_eq!(bins.rows[0].iter().sum::<u64>(), 25 * MS);
    bins.pad(bins.n_bins());
    assert_eq!(bins.rows[1], [1, 0, 0, 0, 0, 0, 0]);
}

#[test]
fn an_end_on_a_border_opens_no_bin() {
    let mut bins = Bins::new(1, 8);
    bins.add(0, 0, 8 * MS);
    bins.add(0, 5, 5);
    bins.add(0, 9, 4);
    assert_eq!((bins.bin_ns, bins.rows[0].len()), (MS, 8));
}

#[test]
fn days_take_no_more_memory() {
    let mut bins = Bins::new(1, 512);
    bins.add(0, 0, 86_400_000 * MS);
    assert!(bins.n_bins() <= 512 && bins.rows[0].iter().sum::<u64>() == 86_400_000 * MS);
}

#[test]
fn a_share_of_an_interval_counts_as_that_share() {
    let mut bins = Bins::new(1, 8);
    bins.add_weighted(0, 0, 2 * MS, 0.5);
    assert_eq!(bins.rows[0], [MS / 2, MS / 2]);
}
