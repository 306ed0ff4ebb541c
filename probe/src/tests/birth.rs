use crate::{birth, raw, sys};
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

static SEEN: AtomicU32 = AtomicU32::new(0);

extern "C" fn tell(number: &'static u32) -> ! {
    SEEN.store(*number, SeqCst);
    // SAFETY: leaves, and touches nothing.
    while unsafe { raw::call(libc::SYS_exit_group, [0]) }.is_err() {}
    unreachable!()
}

#[test]
fn memory_is_shared_by_one_way_of_birth_and_copied_by_the_other() {
    let pid = birth::fork(None).unwrap();
    if pid == 0 {
        tell(&7);
    }
    sys::exit_code(pid).unwrap();
    assert_eq!(SEEN.load(SeqCst), 0);
    // SAFETY: `tell` stores one atomic number and leaves.
    let pid = unsafe { birth::sharing(None, tell, &8) }.unwrap();
    sys::exit_code(pid).unwrap();
    assert_eq!(SEEN.load(SeqCst), 8);
}

#[test]
fn a_raw_call_gives_the_errno_and_leaves_that_of_the_process() {
    // SAFETY: a descriptor that does not exist; then a read of errno.
    unsafe {
        assert_eq!(libc::close(-1), -1);
        assert_eq!(sys::errno(), libc::EBADF);
        assert_eq!(raw::call(libc::SYS_chdir, [c"/no/such".as_ptr() as usize]), Err(libc::ENOENT));
        assert_eq!(sys::errno(), libc::EBADF);
    }
    // SAFETY: reads a number.
    assert_eq!(unsafe { raw::call(libc::SYS_getpid, []) }, Ok(std::process::id() as usize));
}

#[test]
fn a_peak_that_shared_memory_may_have_set_is_not_told() {
    assert_eq!(crate::copies::peak(2_000, 1_000), Some(2_000));
    assert_eq!(crate::copies::peak(1_000, 1_000), None);
    assert_eq!(crate::copies::peak(1_000, 0), Some(1_000), "nothing was shared");
}
