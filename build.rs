//! Says how the programs are linked.

use std::path::PathBuf;
use std::{env, fs, io};

/// Leaves out the tables by which a panic unwinds: in a release it ends the process. They are a
/// twelfth of a program, and every start pays for its size.
const WITHOUT_UNWINDING: &str = "\
SECTIONS { /DISCARD/ : { *(.eh_frame) *(.eh_frame_hdr) *(.gcc_except_table .gcc_except_table.*) } }
INSERT BEFORE .text;
";

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=build.rs");
    if !is("CARGO_CFG_TARGET_OS", "linux") {
        return Ok(());
    }
    // Addresses that the loader fills in take a tenth of the room, and of the time, when they are packed.
    println!("cargo::rustc-link-arg-bins=-Wl,-z,pack-relative-relocs");
    if is("PROFILE", "release") && takes_scripts() {
        leave_out_unwinding()?;
    }
    Ok(())
}

fn is(variable: &str, wanted: &str) -> bool {
    env::var(variable).is_ok_and(|value| value == wanted)
}

/// Whether the linker is the usual one. Not all that somebody may have chosen know scripts.
fn takes_scripts() -> bool {
    let flags = env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    env::var_os("RUSTC_LINKER").is_none() && !flags.contains("link")
}

fn leave_out_unwinding() -> io::Result<()> {
    let script = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default()).join("sections.ld");
    fs::write(&script, WITHOUT_UNWINDING)?;
    println!("cargo::rustc-link-arg-bins=-Wl,--no-eh-frame-hdr");
    println!("cargo::rustc-link-arg-bins=-T{}", script.display());
    Ok(())
}
