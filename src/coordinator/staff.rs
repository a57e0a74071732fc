//! Who works on the tasks of a run: the runners that its tasks ask for, each made once.

use std::collections::BTreeMap;
use std::env;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::options::Options;
use crate::catalogue::Catalogue;
use crate::dispatch::{Subject, dispatch};
use crate::error::{Code, Error, Result};
use crate::runner::agent::choice::{self, Named};
use crate::runner::agent::{Job, Runner, Runners};
use crate::task::Task;

pub(super) struct Worker {
    pub(super) runner: Arc<dyn Runner>,
    pub(super) model: Option<String>,
}

pub(super) struct Staff<'a> {
    runners: &'a Runners,
    command: Option<&'a str>,
    flag: Option<Named>,
    model: Option<String>,
    named: Vec<Named>,
    pub(super) workers: Vec<Worker>,
}

impl<'a> Staff<'a> {
    pub(super) fn new(runners: &'a Runners, options: &'a Options) -> Result<Staff<'a>> {
        let flag = options.runner.as_deref().map(choice::read).transpose()?;
        Ok(Staff {
            runners,
            command: options.command.as_deref(),
            flag,
            model: options.model.clone(),
            named: Vec::new(),
            workers: Vec::new(),
        })
    }

    pub(super) fn hire(
        &mut self,
        task: &Task,
        catalogue: &Catalogue,
    ) -> Result<(usize, Option<String>)> {
        let skills = &catalogue.skills;
        let decision = dispatch(&Subject::from(task), skills, &catalogue.matrix, None)?;
        let tier = catalogue.skill(&decision.chosen.skill)?.tier;
        let flag = self.flag.as_ref();
        let chosen = choice::choose(&self.runners.rules, flag, &decision.chosen.skill, tier);
        let (named, _) = chosen.ok_or_else(|| {
            let message = "nothing says which program is to work on the tasks; set `runners.default`, or give \
                           `--runner`";
            Error::new(Code::Usage, message).fix("cleo doctor")
        })?;
        if let Some(place) = self.named.iter().position(|one| *one == named) {
            return Ok((place, Some(decision.chosen.skill)));
        }
        let runner = self.runners.named(&named.runner, self.command)?;
        check_program(&*runner)?;
        self.workers.push(Worker {
            runner: runner.into(),
            model: self.model.clone().or(named.model.clone()),
        });
        self.named.push(named);
        Ok((self.workers.len() - 1, Some(decision.chosen.skill)))
    }

    /// Returns how many agents of each worker may work at a time, by its place. `most` says so of
    /// runners by their name.
    pub(super) fn limits(&self, most: &BTreeMap<String, usize>) -> BTreeMap<usize, usize> {
        let named = self.named.iter().enumerate();
        let limits = named.filter_map(|(place, named)| Some((place, *most.get(&named.runner)?)));
        crate::build_map(limits)
    }
}

fn check_program(runner: &dyn Runner) -> Result<()> {
    let example = Job {
        prompt_file: PathBuf::from("prompt"),
        output_file: PathBuf::from("output"),
        folder: PathBuf::from("."),
        ..Job::default()
    };
    let words = runner.invocation(&example).words;
    let Some(program) = words.first() else {
        return Err(Error::new(Code::Usage, "the command to run is empty"));
    };
    if is_there(Path::new(program)) {
        return Ok(());
    }
    let name = runner.name();
    let message = format!("the runner {name} needs the program `{program}`, which is not there");
    Err(Error::new(Code::ProgramMissing, message).fix("cleo doctor"))
}

fn is_there(program: &Path) -> bool {
    if program.components().count() > 1 {
        // A path that is not whole is looked for in a folder that may differ from task to task.
        return !program.is_absolute() || program.is_file();
    }
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path).any(|folder| folder.join(program).is_file())
}
