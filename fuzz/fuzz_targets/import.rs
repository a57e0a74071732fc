//! Any bytes as a file of tasks, for each reader: nothing panics, and every task has an id and a
//! title, which everything after the readers relies on.
#![no_main]

use cleo::error::Result;
use cleo::transfer::formats::{backlog, beads, cleo as own, taskmaster, taskwarrior, todo};
use cleo::transfer::{Item, Setting, detect};
use libfuzzer_sys::fuzz_target;

fn take(item: Item) -> Result<()> {
    if let Item::Record(record) = item {
        assert!(!record.id.is_empty(), "a task without an id");
        assert!(!record.task.title.trim().is_empty(), "a task without a title");
    }
    Ok(())
}

fuzz_target!(|bytes: &[u8]| {
    let setting = Setting::at("2026-01-26T09:00:00.000Z");
    let config = backlog::Config::read(bytes);
    let _ = detect::of_lines(bytes);
    let _ = own::read(bytes, &setting, &mut take);
    let _ = beads::read(bytes, &setting, &mut take);
    let _ = todo::read(bytes, &setting, &mut take);
    let _ = taskmaster::read(bytes, &setting, &mut take);
    let _ = taskwarrior::read(bytes, &setting, &mut take);
    let _ = backlog::read(bytes, backlog::Area::Tasks, &config, &setting, &mut take);
});
