//! What a part does on its own; the built program is tested in `tests/`.

mod birth;
mod conditions;
mod golden;
mod host;
mod others;
mod record;
mod replay;
mod sentinel;
mod services;
mod speech;
mod timeline;
mod tree;
