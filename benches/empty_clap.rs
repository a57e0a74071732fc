//! Floor of a command line: a clap program that does nothing. `cleo --version` is compared with it.

use clap::{Parser, Subcommand};

/// Does nothing
#[derive(Parser)]
#[command(version)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    /// Show
    Show {
        /// Id
        id: String,
    },
    /// Add
    Add {
        /// Title
        title: String,
    },
    /// List
    List {
        /// Maximum number
        #[arg(long)]
        limit: Option<u32>,
    },
}

fn main() {
    let cli = Cli::parse();
    std::process::exit(i32::from(cli.command.is_some()));
}
