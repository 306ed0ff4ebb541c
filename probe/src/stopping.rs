//! Close the window, then stop services in reverse order, each by its signal and after its grace time by SIGKILL.

use crate::conditions::Conditions;
use crate::copies::Usage;
use crate::host;
use crate::readings;
use crate::sentinel::Sentinel;
use crate::watch::{Watch, GIVE_UP_NS, KILL_AGAIN_NS};
use std::path::Path;

impl Watch<'_> {
    /// Read all values at the end of the last driver, before anything else happens; then stop services.
    pub fn close_window(&mut self, at_ns: u64) {
        self.mains_end_ns = Some(at_ns);
        self.observer_end_ns = self.observer_ns();
        self.sentinel.iter_mut().for_each(Sentinel::stop);
        self.machine_end = host::machine_time(&self.cpus);
        self.conditions_end = self.conditions();
        self.hidden_rss_bytes = if self.shares_memory { Usage::own().max_rss_bytes } else { 0 };
        if self.spec.is_divided() {
            self.used.1 = readings::read(self.spec, self.contain, &self.copies);
            let (gate, contain) = (self.gate_ns, self.contain);
            self.records.iter_mut().for_each(|r| r.close(at_ns, gate, contain));
            self.check_ports_are_shared_with_nobody();
        } else {
            self.leaf_ns = self.contain.leaf().and_then(|leaf| leaf.usage_ns());
            let contain = self.contain;
            self.records.iter_mut().for_each(|r| r.hold(at_ns, contain));
        }
        if self.spec.is_asked {
            self.announce("end");
        }
        self.stop_services(at_ns);
    }

    pub fn conditions(&self) -> Conditions {
        Conditions::read(Path::new("/"), &self.cpus, self.contain.leaf())
    }

    /// Signal the last service that still runs, or kill it once its grace time is over.
    pub fn stop_services(&mut self, now: u64) {
        let Some(index) = self.last_service() else {
            self.ended_ns = self.ended_ns.or(Some(now));
            return self.contain.close();
        };
        if self.holds_services() {
            return;
        }
        let (killed, part) = (self.killed_ns, self.contain.part(index));
        let Some((service, copy)) = self.service(index).zip(self.copies.get_mut(index)) else { return };
        let Some(served) = &mut copy.service else { return };
        let since = *served.stop_ns.get_or_insert(killed.unwrap_or(now));
        let signal = match served.stopped_by {
            _ if killed.is_some() => ("KILL", 0),
            None => service.stop_signal,
            Some(_) if now >= since.saturating_add(service.stop_grace_ns) => ("KILL", libc::SIGKILL),
            Some(_) => return,
        };
        served.stopped_by = Some(signal.0);
        // SAFETY: a signal to a child of ours that was not waited for; zero sends none.
        unsafe { libc::kill(copy.pid, signal.1) };
        if signal.1 == libc::SIGKILL {
            part.into_iter().for_each(|leaf| leaf.kill());
            if now >= since.saturating_add(service.stop_grace_ns).saturating_add(GIVE_UP_NS) {
                self.kill();
            }
        }
    }

    fn last_service(&self) -> Option<usize> {
        self.copies.iter().rposition(|c| c.service.is_some() && c.end.is_none())
    }

    pub fn stop_limit(&self, now: u64) -> u64 {
        let Some(index) = self.last_service() else { return now };
        let since = self.copies[index].service.as_ref().and_then(|s| s.stop_ns).unwrap_or(now);
        let limit = since.saturating_add(self.service(index).map_or(0, |s| s.stop_grace_ns));
        if limit > now {
            limit
        } else {
            now + KILL_AGAIN_NS
        }
    }
}
