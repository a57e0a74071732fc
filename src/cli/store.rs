//! `cleo store …`

use clap::Args;

use super::screen::{Tone, count};
use crate::ops::transfer;

commands! {
    pub(super) (face, it)
    /// Copy everything into an empty database of a PostgreSQL server
    Copy(CopyArguments) => face.inside(
        "store.copy",
        |context| transfer::copy_store(context, &it.to),
        |screen, copied| {
            let rows = count(copied.rows, "row", "rows");
            screen.say(Tone::Good, "copied ").line(Tone::Plain, format!("{rows} to {}", copied.to));
        },
    );
}

#[derive(Args)]
#[command(after_help = "\
Examples:
  cleo store copy --to postgres://ada@db.example/work

The copy has all tasks, claims, proof, runs, agents and conversations as they are at one moment, and
is made whole or not at all. The workspace still uses its file afterwards. To use the server, end
everything that uses the workspace, copy, and then:

  mv .cleo/cleo.db .cleo/cleo.db-before
  cleo init --store postgres://ada@db.example/work

`cleo backup FILE` makes a file of what is on a server.")]
pub(super) struct CopyArguments {
    /// The address of the database: postgres://USER@HOST:PORT/DATABASE
    #[arg(long, value_name = "URL")]
    to: String,
}
