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
    /// As which it was chosen.
    named: Named,
    pub(super) runner: Arc<dyn Runner>,
    pub(super) model: Option<String>,
}

pub(super) struct Staff<'a> {
    runners: &'a Runners,
    command: Option<&'a str>,
    flag: Option<Named>,
    model: Option<String>,
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
        let named = chosen.ok_or_else(|| {
            let message = "nothing says which program is to work on the tasks; set `runners.default`, or give \
                           `--runner`";
            Error::new(Code::Usage, message).fix("cleo doctor")
        })?;
        if let Some(place) = self.workers.iter().position(|worker| worker.named == named) {
            return Ok((place, Some(decision.chosen.skill)));
        }
        let runner = self.runners.named(&named.runner, self.command)?;
        check_program(&*runner, self.runners.program(&named.runner))?;
        self.workers.push(Worker {
            runner: runner.into(),
            model: self.model.clone().or(named.model.clone()),
            named,
        });
        Ok((self.workers.len() - 1, Some(decision.chosen.skill)))
    }

    /// Returns how many agents of each worker may work at a time, by its place.
    pub(super) fn limits(&self) -> BTreeMap<usize, usize> {
        let workers = self.workers.iter().enumerate();
        let limit = |worker: &Worker| self.runners.jobs.get(&worker.named.runner);
        let limits = workers.filter_map(|(place, worker)| Some((place, *limit(worker)?)));
        crate::build_map(limits)
    }
}

fn check_program(runner: &dyn Runner, elsewhere: Option<&str>) -> Result<()> {
    let example = Job {
        prompt_file: PathBuf::from("prompt"),
        output_file: PathBuf::from("output"),
        folder: PathBuf::from("."),
        ..Job::default()
    };
    let words = runner.invocation(&example).words;
    let Some(program) = elsewhere.or(words.first().map(String::as_str)) else {
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
