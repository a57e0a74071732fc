//! Says how the programs are linked.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let os = std::env::var("CARGO_CFG_TARGET_OS");
    // Addresses that the loader fills in take a tenth of the room, and of the time, when they are packed.
    if os.is_ok_and(|os| os == "linux") {
        println!("cargo::rustc-link-arg-bins=-Wl,-z,pack-relative-relocs");
    }
}
