//! How a process comes into being: with a copy of our memory, or sharing it until exec.
//!
//! A copied address space is torn down inside exec, after the gate: where times are taken from
//! outside, that would be counted as the workload's. Shared memory has a price of its own: the
//! kernel hands its peak size on to the new program's rusage (`summary::peak`).

use crate::sys;
use std::io;

/// Runs in the new process, and must not return.
pub type Entry<T> = extern "C" fn(&'static T) -> !;

/// struct clone_args: flags first; the fifth, sixth and seventh are exit signal, stack and its size.
fn arguments(flags: i32, cgroup: Option<i32>) -> [u64; 11] {
    const INTO_CGROUP: u64 = 0x2_0000_0000;
    let mut args = [0; 11];
    (args[0], args[4]) = (flags as u64, libc::SIGCHLD as u64);
    if let Some(folder) = cgroup {
        (args[0], args[10]) = (args[0] | INTO_CGROUP, folder as u64);
    }
    args
}

/// Zero in the new process; born into the cgroup of this folder, if one is given.
pub fn fork(cgroup: Option<i32>) -> io::Result<i32> {
    // SAFETY: the probe has one thread, and the child keeps to system calls.
    let pid = unsafe {
        match cgroup {
            None => libc::fork().into(),
            Some(_) => libc::syscall(libc::SYS_clone3, &arguments(0, cgroup), size_of::<[u64; 11]>()),
        }
    };
    sys::check(pid).map(|pid| pid as i32)
}

/// A process that shares our memory until its exec, on a stack of its own.
///
/// # Safety
/// `entry` may do nothing but system calls by `raw` and writes to memory that is its own or
/// atomic: no allocation, no lock, no `errno`. What it reads must never change.
pub unsafe fn sharing<T>(cgroup: Option<i32>, entry: Entry<T>, of: &'static T) -> io::Result<i32> {
    let mut args = arguments(libc::CLONE_VM, cgroup);
    let stack = stack()?;
    (args[5], args[6]) = (stack as u64, STACK as u64);
    // SAFETY: the stack is used by nobody else; the rest by the caller.
    let result = unsafe { clone_onto(&args, entry as *const (), (of as *const T).cast()) };
    match result {
        0.. => Ok(result as i32),
        _ => {
            // SAFETY: nobody was born to use it.
            unsafe { libc::munmap(stack.sub(GUARD).cast(), GUARD + STACK) };
            Err(io::Error::from_raw_os_error(-result as i32))
        }
    }
}

/// The frames up to exec take about 2 KiB, unoptimized ones more.
const STACK: usize = 32 << 10;
/// As large as the largest page, so that no page is cut.
const GUARD: usize = 64 << 10;

/// Never unmapped: a copy that is killed late may still stand on it.
fn stack() -> io::Result<*mut u8> {
    let kind = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_STACK;
    // SAFETY: a fresh mapping, of which all but the guard is opened.
    unsafe {
        let base = libc::mmap(std::ptr::null_mut(), GUARD + STACK, libc::PROT_NONE, kind, -1, 0);
        if base == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let stack = base.cast::<u8>().add(GUARD);
        sys::check(libc::mprotect(stack.cast(), STACK, libc::PROT_READ | libc::PROT_WRITE).into())?;
        Ok(stack)
    }
}

/// clone3; the child begins at the top of its stack with `entry(of)`. Result as the kernel's.
#[cfg(target_arch = "x86_64")]
unsafe fn clone_onto(args: &[u64; 11], entry: *const (), of: *const ()) -> isize {
    let result;
    // SAFETY: by the caller; the child never comes back from the call.
    unsafe {
        std::arch::asm!(
            "syscall",
            "test rax, rax",
            "jnz 2f",
            "xor ebp, ebp",
            "mov rdi, r9",
            "call r8",
            "ud2",
            "2:",
            inlateout("rax") libc::SYS_clone3 as isize => result,
            in("rdi") args.as_ptr(), in("rsi") size_of_val(args), in("r8") entry, in("r9") of,
            lateout("rcx") _, lateout("r11") _,
        );
    }
    result
}

#[cfg(target_arch = "aarch64")]
unsafe fn clone_onto(args: &[u64; 11], entry: *const (), of: *const ()) -> isize {
    let result;
    // SAFETY: by the caller; the child never comes back from the call.
    unsafe {
        std::arch::asm!(
            "svc 0",
            "cbnz x0, 2f",
            "mov x29, xzr",
            "mov x0, x10",
            "blr x9",
            "brk 1",
            "2:",
            in("x8") libc::SYS_clone3, inlateout("x0") args.as_ptr() => result,
            in("x1") size_of_val(args), in("x9") entry, in("x10") of,
        );
    }
    result
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
unsafe fn clone_onto(_: &[u64; 11], _: *const (), _: *const ()) -> isize {
    -(libc::ENOSYS as isize)
}
