//! Links the program at a fixed place, as Go does: the 50,000 addresses that the loader would fill in at another one
//! take a fifth of the time that `cleo --version` does. A static program, as in the archives of a release, goes to
//! any place, and its addresses are packed to a tenth. Links the unwinder of gcc into the program: as a library it
//! takes a twelfth of that time.
//! Compresses the files of `src/embedded.rs`, and reads the front matter of `src/skill/fields.rs`.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

use flate2::{Compression, GzBuilder};

const EMBEDDED: [&str; 3] = ["docs/openapi.json", "docs/schemas", "web/dist"];
const FRONT_MATTER: [&str; 2] = ["protocols", "skills"];

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
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or(io::ErrorKind::NotFound)?);
    fs::write(out.join("front_matter.rs"), read_front_matter()?)?;
    let mut table = String::from("&[\n");
    for (n, file) in list_all(&EMBEDDED)?.iter().enumerate() {
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

/// Returns the front matter of each skill and protocol, as YAML and as values: to read it takes a third of `spawn`.
fn read_front_matter() -> io::Result<String> {
    let mut known = Vec::new();
    for file in list_all(&FRONT_MATTER)? {
        let text = fs::read_to_string(file)?;
        let parts = text
            .strip_prefix("---")
            .and_then(|text| text.split_once("\n---\n"));
        if let Some((yaml, _)) = parts {
            let value = serde_yaml::from_str(yaml).map_err(io::Error::other)?;
            known.push(format!(
                "({:?}, {})",
                format!("{yaml}\n"),
                write_value(&value)
            ));
        }
    }
    known.sort();
    Ok(format!("&[{}]", known.join(",\n")))
}

/// Writes a value as Rust. Lists do not occur, and a test would find one.
fn write_value(value: &serde_yaml::Value) -> String {
    let Some(fields) = value.as_mapping() else {
        let text = value.as_str().map(str::to_string);
        let text = text.or_else(|| Some(serde_yaml::to_string(value).ok()?.trim().to_string()));
        return format!("Known::Text({:?})", text.unwrap_or_default());
    };
    let fields = fields.iter().map(|(name, value)| {
        let name = name.as_str().unwrap_or_default();
        format!("({name:?}, {}),", write_value(value))
    });
    format!("Known::Mapping(&[{}])", fields.collect::<String>())
}

fn list_all(places: &[&str]) -> io::Result<Vec<String>> {
    let mut files = Vec::new();
    for place in places {
        println!("cargo::rerun-if-changed={place}");
        list((*place).to_string(), &mut files)?;
    }
    files.sort();
    Ok(files)
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
