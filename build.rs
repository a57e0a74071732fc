//! Packs the addresses that the loader fills in: they take a tenth of the room, and of the time. Links the unwinder
//! of gcc into the program: as a library it takes a twelfth of the time that `cleo --version` does.
//! Compresses the files of `src/embedded.rs`.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

use flate2::{Compression, GzBuilder};

const EMBEDDED: [&str; 2] = ["docs/openapi.json", "web/dist"];
const SCHEMAS: &str = "docs/schemas";

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=build.rs");
    if env::var("CARGO_CFG_TARGET_OS").is_ok_and(|system| system == "linux") {
        println!("cargo::rustc-link-arg-bins=-Wl,-z,pack-relative-relocs");
        println!("cargo::rustc-link-arg-bins=-Wl,-O2");
        if env::var("CARGO_CFG_TARGET_ENV").is_ok_and(|library| library == "gnu") {
            println!("cargo::rustc-link-lib=static:-bundle=gcc_eh");
        }
    }
    let mut contents = Vec::new();
    for place in EMBEDDED {
        println!("cargo::rerun-if-changed={place}");
        for file in list(place)? {
            let content = fs::read(&file)?;
            contents.push((file, content));
        }
    }
    println!("cargo::rerun-if-changed={SCHEMAS}");
    contents.push((SCHEMAS.to_string(), join_schemas()?));
    contents.sort();
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or(io::ErrorKind::NotFound)?);
    let mut table = String::from("&[\n");
    for (n, (name, content)) in contents.iter().enumerate() {
        let compressed = out.join(format!("{n}.gz"));
        // No name and no time: the same files give the same program.
        let mut writer =
            GzBuilder::new().write(fs::File::create(&compressed)?, Compression::best());
        writer.write_all(content)?;
        writer.finish()?;
        table += &format!("({name:?}, include_bytes!({compressed:?})),\n");
    }
    fs::write(out.join("embedded.rs"), table + "]")
}

/// Joins the schemas into one object, by the names of their files: compressed together they take a third of
/// the room.
fn join_schemas() -> io::Result<Vec<u8>> {
    let mut members = Vec::new();
    for file in list(SCHEMAS)? {
        let path = Path::new(&file);
        let name = path.file_stem().ok_or(io::ErrorKind::NotFound)?.display();
        let content = fs::read_to_string(path)?;
        members.push(format!("\"{name}\":{}", content.trim_end()));
    }
    Ok(format!("{{{}}}", members.join(",")).into_bytes())
}

/// Lists the files below a place, or the file that it is; none when there is none. Sorted.
fn list(place: &str) -> io::Result<Vec<String>> {
    let mut files = Vec::new();
    if Path::new(place).is_dir() {
        for entry in fs::read_dir(place)? {
            files.extend(list(&format!("{place}/{}", entry?.file_name().display()))?);
        }
    } else if Path::new(place).exists() {
        files.push(place.to_string());
    }
    files.sort();
    Ok(files)
}
