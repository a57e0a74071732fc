//! Packs the addresses that the loader fills in: they take a tenth of the room, and of the time. Folds functions with
//! the same code, where nothing compares their addresses: only the linker that rustc brings for x86_64 can.
//! Compresses the files of `src/embedded.rs`.

use std::path::{Path, PathBuf};
use std::{env, fs, io};

use flate2::{Compression, GzBuilder};

const EMBEDDED: [&str; 3] = ["docs/openapi.json", "docs/schemas", "web/dist"];

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=build.rs");
    if env::var("CARGO_CFG_TARGET_OS").is_ok_and(|system| system == "linux") {
        println!("cargo::rustc-link-arg-bins=-Wl,-z,pack-relative-relocs");
        let target = env::var("TARGET").unwrap_or_default();
        if target == "x86_64-unknown-linux-gnu" {
            println!("cargo::rustc-link-arg-bins=-Wl,--icf=safe,-O2");
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
        io::copy(&mut fs::File::open(file)?, &mut writer)?;
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
