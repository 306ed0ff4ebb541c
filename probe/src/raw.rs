//! System calls that leave nothing behind in the memory of the process but their result.
//!
//! A copy shares the probe's memory until exec (`birth`), and with it libc's `errno`.

use std::ffi::c_long;

/// The result, or the errno. An array shorter than the call's arguments leaves the rest zero.
///
/// # Safety
/// As the system call: pointers among the arguments must be valid for what it does with them.
pub unsafe fn call<const N: usize>(number: c_long, arguments: [usize; N]) -> Result<usize, i32> {
    let mut all = [0; 6];
    all[..N].copy_from_slice(&arguments);
    // SAFETY: by the caller.
    let result = unsafe { enter(number, all) };
    // The kernel's convention: the last page of addresses stands for the errors.
    if (-4095..0).contains(&result) {
        Err(-result as i32)
    } else {
        Ok(result as usize)
    }
}

#[cfg(target_arch = "x86_64")]
unsafe fn enter(number: c_long, a: [usize; 6]) -> isize {
    let result;
    // SAFETY: by the caller; what the instruction changes is listed.
    unsafe {
        std::arch::asm!(
            "syscall",
            inlateout("rax") number as isize => result,
            in("rdi") a[0], in("rsi") a[1], in("rdx") a[2], in("r10") a[3], in("r8") a[4], in("r9") a[5],
            lateout("rcx") _, lateout("r11") _, options(nostack),
        );
    }
    result
}

#[cfg(target_arch = "aarch64")]
unsafe fn enter(number: c_long, a: [usize; 6]) -> isize {
    let result;
    // SAFETY: by the caller; what the instruction changes is listed.
    unsafe {
        std::arch::asm!(
            "svc 0",
            in("x8") number, inlateout("x0") a[0] as isize => result,
            in("x1") a[1], in("x2") a[2], in("x3") a[3], in("x4") a[4], in("x5") a[5], options(nostack),
        );
    }
    result
}

/// Elsewhere a copy has memory of its own (`birth::sharing`), and libc will do.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
unsafe fn enter(number: c_long, a: [usize; 6]) -> isize {
    // SAFETY: by the caller.
    match unsafe { libc::syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]) } {
        -1 => -(std::io::Error::last_os_error().raw_os_error().unwrap_or(0) as isize),
        result => result as isize,
    }
}
