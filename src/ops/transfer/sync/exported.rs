//! An export into a file: a merge with a copy that says what is here. So what both sides have is known from then
//! on, and lines that the file has held before name the versions that they come from.

use std::fs;
use std::path::Path;

use super::ahead::Horizon;
use super::changes::Touched;
use super::copy::Copy;
use super::merged::Merge;
use super::turn::Turn;
use super::{gone, name_of};
use crate::error::{Code, Error, Result};
use crate::ops::Context;
use crate::ops::claims::Caller;
use crate::ops::transfer::export::lines;

/// Writes all tasks into a file, whatever it held, and keeps what a later merge with it has to know. Returns
/// how many tasks there are.
pub(in crate::ops::transfer) fn write_out(context: &mut Context, file: &Path) -> Result<usize> {
    // The name that a merge knows the file by is that of its folder, too, which has to be there. Whoever writes
    // the file tells why it cannot be.
    let _ = file.parent().map(fs::create_dir_all);
    let name = name_of(file, &context.workspace.root);
    let horizon = Horizon::of(context.surroundings.clock);
    let caller = Caller::unbound(context);
    let _turn = Turn::wait(file)?;
    context.write(|transaction| {
        let (text, total) = lines(transaction)?;
        if !file.exists() {
            gone::forget(transaction, &name)?;
        }
        let copy = Copy::read(text.into_bytes(), file)?;
        let merge = Merge::run(transaction, copy, &name, horizon, &caller)?;
        refuse_changes(&merge)?;
        crate::file::write_whole(file, &merge.text())?;
        Ok(total)
    })
}

/// Refuses a merge that would change tasks here: an export only reads them.
fn refuse_changes(merge: &Merge) -> Result<()> {
    if merge.here == Touched::default() && merge.renumbered.is_empty() {
        return Ok(());
    }
    let message = "the tasks do not come out of their own lines as they are";
    Err(Error::new(Code::Internal, message))
}
