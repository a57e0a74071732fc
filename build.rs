//! Links the program at a fixed place, as Go does: the 50,000 addresses that the loader would fill in at another one
//! take a fifth of the time that `cleo --version` does. A static program, as in the archives of a release, goes to
//! any place, and its addresses are packed to a tenth. Links the unwinder of gcc into the program: as a library it
//! takes a twelfth of that time.
//! Compresses the files of `src/embedded.rs`.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

use flate2::{Compression, GzBuilder};

const EMBEDDED: [&str; 3] = ["docs/openapi.json", "docs/schemas", "web/dist"];

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=build.rs");
    if env::var("CARGO_CFG_TARGET_OS").is_ok_and(|system| system == "linux") {
        let features = env::var("CARGO_CFG_TARGET_FEATURE").unwrap_or_default();
        let addresses = match features.contains("crt-static") {
            true => "-Wl,-z,pack-relative-relocs",
            false => "-no-pie",
        };
        println!("cargo::rustc-link-arg-bins={addresses}");
        println!("cargo::rustc-link-arg-bins=-Wl,-O2");
        if env::var("CARGO_CFG_TARGET_ENV").is_ok_and(|library| library == "gnu") {
            println!("cargo::rustc-link-lib=static:-bundle=gcc_eh");
        }
    }
    let mut files = Vec::new();
    for place in EMBEDDED {
        println!("cargo::rerun-if-changed={place}");
        list(place.to_string(), &mut files)?;
    }
    files.sort();
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or(io::ErrorKind::NotFound)?);
    let mut table = String::from("&[\n");
    for (n, file) in files.iter().enumerate() {
        let compressed = out.join(format!("{n}.gz"));
        // No name and no time: the same files give the same program.
        let mut writer =
            GzBuilder::new().write(fs::File::create(&compressed)?, Compression::best());
        writer.write_all(&fs::read(file)?)?;
        writer.finish()?;
        table += &format!("({file:?}, include_bytes!({compressed:?})),\n");
    }
    fs::write(out.join("embedded.rs"), table + "]")
}

fn list(place: String, files: &mut Vec<String>) -> io::Result<()> {
    if Path::new(&place).is_dir() {
        for entry in fs::read_dir(&place)? {
            list(format!("{place}/{}", entry?.file_name().display()), files)?;
        }
    } else if Path::new(&place).exists() {
        files.push(place);
    }
    Ok(())
}
