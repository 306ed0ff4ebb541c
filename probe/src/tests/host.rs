use crate::gate::spinners;
use crate::host::*;
use crate::{cgroup, copies::Usage, descendants};
use std::path::Path;

#[test]
fn cpu_lists_read_and_write_alike() {
    for (text, cpus) in [("0-3,8", vec![0, 1, 2, 3, 8]), ("5", vec![5]), ("0,2-3", vec![0, 2, 3])] {
        assert_eq!(parse_cpu_list(text), cpus);
        assert_eq!(format_cpu_list(&cpus), text);
    }
    assert_eq!(parse_cpu_list("\n"), Vec::<usize>::new());
}

#[test]
fn machine_time_counts_the_named_cpus_only() {
    let text = "cpu  9 9 9 9 9 9 9 9 9 9\ncpu0 10 1 20 500 7 2 3 4 6 0\ncpu1 100 0 0 0 0 0 0 50 0 0\ncpu10 1 1 1 1 1 1 1 1 1 1\nintr 1\n";
    let first = MachineTime { busy_ns: 36 * 10, steal_ns: vec![40] };
    assert_eq!(parse_stat(text, &[0], 10), first);
    let both = parse_stat(text, &[0, 1], 10);
    assert_eq!(both, MachineTime { busy_ns: 136 * 10, steal_ns: vec![40, 500] });
    let before = MachineTime { busy_ns: 0, steal_ns: vec![10, 490] };
    assert_eq!(both.stolen_since(&before), (40, 30));
}

#[test]
fn siblings_have_a_rank_each() {
    let root = std::env::temp_dir().join(format!("scalograph-cores-{}", std::process::id()));
    for (cpu, siblings) in [(0, "0,4\n"), (4, "0,4\n"), (7, "7\n")] {
        let folder = root.join(format!("sys/devices/system/cpu/cpu{cpu}/topology"));
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("thread_siblings_list"), siblings).unwrap();
    }
    let ranks = [0, 4, 7, 9].map(|cpu| rank_in_core(&root, cpu));
    std::fs::remove_dir_all(&root).unwrap();
    assert_eq!(ranks, [0, 1, 7, 9]); // of the last two nothing is known but their numbers
}

#[test]
fn users_are_found_by_name_and_number() {
    let passwd = "root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65533::/:/bin/false\n";
    assert_eq!(find_user(passwd, "nobody"), Some((65534, 65533)));
    assert_eq!(find_user(passwd, "65534"), Some((65534, 65533)));
    assert_eq!(find_user(passwd, "x"), None);
}

#[test]
fn programs_are_found_on_the_commands_path() {
    assert_eq!(find_program("sh", "/", Some("/nowhere:/bin")).unwrap(), Path::new("/bin/sh"));
    assert_eq!(find_program("./sh", "/bin", None).unwrap(), Path::new("/bin/./sh"));
    assert!(find_program("sh", "/", None).unwrap_err().contains("no PATH"));
    assert!(find_program("no-such-program", "/", Some("/bin")).unwrap_err().contains("ENOENT"));
    assert!(find_program("/bin", "/", None).unwrap_err().contains("EACCES"));
}

#[test]
fn the_own_cgroup_is_found_below_its_mount() {
    let line = |root: &str, point: &str| {
        format!("31 23 0:28 / /sys rw - sysfs sysfs rw\n41 31 0:38 {root} {point} rw - cgroup2 cgroup2 rw\n")
    };
    let folder = |root, point, own: &str| cgroup::own_folder(&line(root, point), &format!("5:cpu:/x\n0::{own}\n"));
    assert_eq!(folder("/", "/sys/fs/cgroup", "/a/b"), Some("/sys/fs/cgroup/a/b".into()));
    assert_eq!(folder("/", "/sys/fs/cgroup/unified", "/"), Some("/sys/fs/cgroup/unified".into()));
    assert_eq!(folder("/a", "/mnt/my\\040cgroup", "/a/b"), Some("/mnt/my cgroup/b".into()));
    assert_eq!(folder("/other", "/sys/fs/cgroup", "/a"), None);
    assert_eq!(cgroup::own_folder("", "0::/\n"), None);
    assert_eq!(cgroup::parse_usage("usage_usec 1500\nuser_usec 9\n"), Some(1_500_000));
}

#[test]
fn a_process_name_may_hold_brackets() {
    assert_eq!(descendants::parse_stat("12 (a) b) S 7 12"), Some((7, 'S')));
    assert_eq!(descendants::parse_stat("12 (a"), None);
}

#[test]
fn descendants_of_descendants_count_and_zombies_do_not() {
    let proc = std::env::temp_dir().join(format!("scalograph-proc-{}", std::process::id()));
    for (pid, parent, state) in [(10, 1, 'S'), (11, 10, 'Z'), (12, 11, 'R'), (13, 1, 'S')] {
        let folder = proc.join(pid.to_string());
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("stat"), format!("{pid} (x) {state} {parent} 0")).unwrap();
    }
    let mut found = descendants::of(&proc, 10);
    found.sort_unstable();
    std::fs::remove_dir_all(&proc).unwrap();
    assert_eq!(found, [12]);
}

#[test]
fn never_more_spinners_than_cpus() {
    assert_eq!(spinners(&[vec![0], vec![1], vec![0]]), [true, true, false]);
    assert_eq!(spinners(&vec![vec![0, 1]; 5]), [true, true, false, false, false]);
    assert_eq!(spinners(&[vec![3]]), [true]);
}

#[test]
fn time_before_the_gate_is_taken_off_in_proportion() {
    let usage = Usage { user_ns: 300, system_ns: 100, ..Usage::default() };
    let left = usage.without(200);
    assert_eq!((left.user_ns, left.system_ns), (150, 50));
    assert_eq!(usage.without(500).user_ns, 0);
    assert_eq!(Usage::default().without(5).system_ns, 0);
}
