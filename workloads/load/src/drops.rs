//! Connections that the kernel dropped because the queue of a listening socket was full.

use std::fs;

/// The kernel's count since it started, in this network namespace; None where it does not tell.
pub fn listen_drops() -> Option<u64> {
    named(&fs::read_to_string("/proc/self/net/netstat").ok()?, "ListenDrops")
}

/// A counter of a file that has names in one line and numbers, in the same order, in the next.
fn named(text: &str, name: &str) -> Option<u64> {
    let lines: Vec<&str> = text.lines().collect();
    lines.chunks_exact(2).find_map(|pair| {
        let place = pair[0].split_whitespace().position(|word| word == name)?;
        pair[1].split_whitespace().nth(place)?.parse().ok()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_counter_stands_below_its_name() {
        let text = "TcpExt: SyncookiesSent ListenOverflows ListenDrops\nTcpExt: 1 2 3\nIpExt: InNoRoutes\nIpExt: 4\n";
        assert_eq!([named(text, "ListenDrops"), named(text, "InNoRoutes")], [Some(3), Some(4)]);
        assert_eq!([named(text, "Other"), named("TcpExt: ListenDrops\nTcpExt: x\n", "ListenDrops")], [None, None]);
        assert_eq!(named("ListenDrops", "ListenDrops"), None);
    }

    #[test]
    fn this_kernel_counts() {
        assert!(listen_drops().is_some());
    }
}
