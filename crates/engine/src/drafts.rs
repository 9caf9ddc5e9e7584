//! Definitions that people propose: a pipeline that is not there yet, as a file on a branch.
//!
//! Git is where drafts are kept, and nothing else remembers them. A draft of `NAMESPACE/NAME` is the branch
//! `weir/define/NAMESPACE/NAME` with one commit that adds one file. On a forge there is a pull request from it, which
//! is merged and closed there. On a plain Git server the branch is the proposal: it is open for as long as it is there,
//! merging puts its commit onto the base branch, and closing removes it.
//!
//! Everything may be cut off at any point and asked for again: what was done already is found done. A commit is Weir's
//! own if Weir would make the very same one, which it does of one sound Pipeline and nothing else. A branch with any
//! other is somebody's work: it is neither overwritten nor merged, and what is no Pipeline is not shown.

mod end;
mod propose;
mod words;

use jiff::Timestamp;
use thiserror::Error;
use weir_core::{BranchName, CommitId, ForgeKind, NameError, Namespace, Pipeline, PipelineKey, Repository};
use weir_ports::{
    Between, Change, Clock as _, ConfigRepos as _, Deed, FileChange, FilePath, FileQuery, Forge as _, ForgeAccess,
    ForgeError, Journal, PathGlob, PullRequest, RepoAccess, RepoError, Signature, StoreError,
};

use crate::{
    access::{NoAccess, access},
    people::{Act, Asked, write},
    ports::Ports,
    world::World,
};

/// What the branches of drafts are below.
const BRANCHES: &str = "weir/define";

/// Where definitions are kept.
#[derive(Debug, Clone)]
pub struct Definitions {
    /// The repository, the branch that definitions are taken from, and the Secret that opens it.
    pub repository: Repository,
    /// The namespace of the Secret.
    pub namespace: Namespace,
    /// The forge that reviews are on. `None`: on a plain Git server, Weir keeps them.
    pub forge: Option<ForgeKind>,
    /// The folder that they are in. `None`: the root.
    pub folder: Option<FilePath>,
    /// Who Weir's commits are by.
    pub author: Signature,
}

impl Definitions {
    /// The file that defines a pipeline, by its namespace and name. No two pipelines have the same.
    pub fn file_of(&self, namespace: &str, name: &str) -> String {
        let folder = self.folder.as_ref().map(|folder| format!("{folder}/")).unwrap_or_default();
        format!("{folder}{namespace}/{name}.yaml")
    }

    /// The branch of the draft of a pipeline, by its namespace and name. No two pipelines have the same.
    pub fn branch_of(namespace: &str, name: &str) -> String {
        format!("{BRANCHES}/{namespace}/{name}")
    }

    fn file(&self, key: &PipelineKey) -> Result<FilePath, NameError> {
        FilePath::new(self.file_of(key.namespace.as_str(), key.name.as_str()))
    }

    /// Not every name can be that of a branch.
    fn branch(key: &PipelineKey) -> Result<BranchName, NameError> {
        BranchName::new(Self::branch_of(key.namespace.as_str(), key.name.as_str()))
    }
}

/// A definition that somebody proposed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Draft {
    /// The pipeline that it would define.
    pub key: PipelineKey,
    /// The branch that it is on.
    pub branch: BranchName,
    /// The file that it adds.
    pub file: FilePath,
    /// The commit that is proposed.
    pub head: CommitId,
    /// Who asked for it.
    pub by: String,
    /// Why, in their words.
    pub why: Option<String>,
    /// When.
    pub at: Timestamp,
}

/// All of a draft.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WholeDraft {
    /// What it is.
    pub draft: Draft,
    /// The file. `None`: the commit does not have it, or it is not the one pipeline and nothing else.
    pub text: Option<String>,
    /// Whether the commit is Weir's own. Somebody else's is theirs to merge.
    pub is_ours: bool,
    /// The pull request, whatever became of it. `None`: it is on a plain Git server, or has none yet.
    pub pull_request: Option<PullRequest>,
}

/// Why it is not done.
#[derive(Debug, Clone, Error)]
pub enum DraftError {
    /// Not everything that is defined is known yet.
    #[error("the definitions are still being read; try again in a moment")]
    NotReady,
    /// There is one already.
    #[error("there is a pipeline `{0}` already; change its definition where it is, or choose another name")]
    Exists(PipelineKey),
    /// Its file is there already.
    #[error("`{file}` is on `{base}` already; change it there, or choose another name")]
    OnBase {
        /// The file.
        file: FilePath,
        /// The branch.
        base: BranchName,
    },
    /// Somebody else wrote to the branch.
    #[error(
        "branch `{0}` holds a commit that is not Weir's; it is left alone: merge it with Git, or close the draft and \
         propose anew"
    )]
    Foreign(BranchName),
    /// There is no such draft.
    #[error("there is no draft of pipeline `{0}`")]
    NoDraft(PipelineKey),
    /// The draft was changed since they looked at it.
    #[error("the draft of pipeline `{key}` is at `{now}` by now; look at it again")]
    Changed {
        /// Which.
        key: PipelineKey,
        /// Where it is.
        now: CommitId,
    },
    /// The base branch is moved by others all the time.
    #[error("branch `{0}` is moved by others all the time; try again")]
    Busy(BranchName),
    /// A forge decides about it.
    #[error("it is reviewed on the forge: merge or close its pull request there{}", address(.0.as_deref()))]
    OnForge(Option<String>),
    /// A name that no branch can have.
    #[error("{0}; choose another name for the pipeline")]
    Name(#[from] NameError),
    /// What opens the repository.
    #[error(transparent)]
    Access(#[from] NoAccess),
    /// The repository.
    #[error(transparent)]
    Repository(#[from] RepoError),
    /// The forge.
    #[error(transparent)]
    Forge(#[from] ForgeError),
    /// The journal.
    #[error(transparent)]
    Store(#[from] StoreError),
}

fn address(url: Option<&str>) -> String {
    url.map(|url| format!(", at {url}")).unwrap_or_default()
}

/// The one way to propose definitions, and to decide about them.
#[derive(Debug)]
pub struct Drafts<'a, P, J> {
    /// Where definitions are kept.
    pub definitions: &'a Definitions,
    /// What is known.
    pub world: &'a World,
    /// Repositories, forges and Secrets.
    pub ports: &'a P,
    /// Where it is written down who did it.
    pub journal: &'a J,
    /// The pipeline that a text defines, if it defines one and holds nothing else.
    pub defined: fn(&str) -> Option<Pipeline>,
}

/// Where the base branch and the branch of a draft are.
struct Place {
    access: RepoAccess,
    base: CommitId,
    tip: Option<CommitId>,
}

impl<P: Ports, J: Journal> Drafts<'_, P, J> {
    /// The drafts that wait, by name: those whose file the base branch does not have. Whether a pull request was closed
    /// is not asked here.
    pub async fn list(&self) -> Result<Vec<Draft>, DraftError> {
        let access = self.access().await?;
        let below = self.ports.repos().below(&access, &BranchName::new(BRANCHES)?).await?;
        let key = |branch: &BranchName| branch.as_str().strip_prefix(BRANCHES)?.strip_prefix('/')?.parse().ok();
        let named = below.into_iter().filter_map(|(branch, head)| Some((key(&branch)?, head)));
        let named: Vec<(PipelineKey, CommitId)> = named.collect();
        if named.is_empty() {
            return Ok(Vec::new());
        }
        let base = self.base(&access).await?;
        let mut waiting = Vec::new();
        for (key, head) in named {
            if self.text(&access, &base, &self.definitions.file(&key)?).await?.is_some() {
                continue;
            }
            match self.glance(&access, &key, head).await {
                // It was decided about since the branches were listed.
                Err(DraftError::Repository(RepoError::NoCommit { .. })) => {}
                found => waiting.push(found?.0),
            }
        }
        Ok(waiting)
    }

    /// All of the draft of a pipeline.
    pub async fn show(&self, key: &PipelineKey) -> Result<WholeDraft, DraftError> {
        let access = self.access().await?;
        let branch = Definitions::branch(key)?;
        let tip = self.ports.repos().look(&access, std::slice::from_ref(&branch)).await?.pop().flatten();
        let tip = tip.ok_or_else(|| DraftError::NoDraft(key.clone()))?;
        let mut whole = self.read(&access, key, tip).await?;
        whole.pull_request = self.pull_request(&access, key).await?;
        Ok(whole)
    }

    async fn access(&self) -> Result<RepoAccess, DraftError> {
        let Definitions { namespace, repository, .. } = self.definitions;
        Ok(access(self.ports, namespace, repository).await?)
    }

    /// Where the base branch is now.
    async fn base(&self, access: &RepoAccess) -> Result<CommitId, DraftError> {
        let branch = self.definitions.repository.base.clone();
        let found = self.ports.repos().look(access, std::slice::from_ref(&branch)).await?.pop().flatten();
        let missing = || RepoError::NoBranch { repository: access.url.clone(), branch };
        Ok(found.ok_or_else(missing)?)
    }

    /// Where everything is now.
    async fn place(&self, key: &PipelineKey) -> Result<Place, DraftError> {
        let access = self.access().await?;
        let branches = [self.definitions.repository.base.clone(), Definitions::branch(key)?];
        let mut heads = self.ports.repos().look(&access, &branches).await?.into_iter();
        let (base, tip) = (heads.next().flatten(), heads.next().flatten());
        let [branch, _] = branches;
        let base = base.ok_or_else(|| RepoError::NoBranch { repository: access.url.clone(), branch })?;
        Ok(Place { access, base, tip })
    }

    /// Refuses what is defined already, be it that its definition cannot be read.
    fn is_free(&self, key: &PipelineKey) -> Result<(), DraftError> {
        if !self.world.is_ready() {
            return Err(DraftError::NotReady);
        }
        let defined = self.world.look(key, |known| known.definition().is_some()).unwrap_or_default();
        if defined || !self.world.unread(key).is_empty() { Err(DraftError::Exists(key.clone())) } else { Ok(()) }
    }

    /// The text of a file in a commit.
    async fn text(&self, access: &RepoAccess, at: &CommitId, file: &FilePath) -> Result<Option<String>, DraftError> {
        // A pattern that happens to fit more files than the one is sorted out below.
        let query = FileQuery { contains: None, within: vec![PathGlob::new(file.as_str())?] };
        let found = self.ports.repos().files(access, at, &query).await?;
        let found = found.into_iter().find(|found| found.path == *file);
        Ok(found.map(|found| String::from_utf8_lossy(&found.content).into_owned()))
    }

    /// What the commit of a draft says, and whether it has the form of Weir's own.
    async fn glance(
        &self,
        access: &RepoAccess,
        key: &PipelineKey,
        head: CommitId,
    ) -> Result<(Draft, Option<weir_ports::Commit>), DraftError> {
        let commit = self.ports.repos().commit(access, &head).await?;
        let told = words::read(key, &commit.message);
        let (branch, file, at) = (Definitions::branch(key)?, self.definitions.file(key)?, commit.at);
        let (by, why, commit) = match told {
            Some((by, why)) => (by, why, Some(commit)),
            None => (commit.author, None, None),
        };
        Ok((Draft { key: key.clone(), branch, file, head, by, why, at }, commit))
    }

    /// All of a draft, but for its pull request.
    async fn read(&self, access: &RepoAccess, key: &PipelineKey, head: CommitId) -> Result<WholeDraft, DraftError> {
        let (draft, commit) = self.glance(access, key, head).await?;
        let text = self.text(access, &draft.head, &draft.file).await?;
        // Whatever else somebody put there, above all a Secret, is not for those who look at pipelines.
        let text = text.filter(|text| (self.defined)(text).is_some_and(|pipeline| pipeline.key == *key));
        let is_ours = match (&commit, &text) {
            (Some(weir_ports::Commit { parent: Some(parent), at, message, .. }), Some(text)) => {
                let again = Commit { parent: parent.clone(), text, message: message.clone(), at: *at };
                self.commit(access, &draft.file, again).await? == draft.head
            }
            _ => false,
        };
        Ok(WholeDraft { draft, text, is_ours, pull_request: None })
    }

    /// Makes the commit of a draft, without pushing it. The same parts always make the same commit.
    async fn commit(&self, access: &RepoAccess, file: &FilePath, it: Commit<'_>) -> Result<CommitId, DraftError> {
        let Commit { parent, text, message, at } = it;
        let files = [(file.clone(), FileChange::Write(text.as_bytes().to_vec()))].into();
        let change = Change { parent, files, message, author: self.definitions.author.clone(), at };
        Ok(self.ports.repos().prepare(access, &change).await?)
    }

    fn forge(&self, access: &RepoAccess) -> Option<ForgeAccess> {
        let RepoAccess { url, credentials } = access.clone();
        self.definitions.forge.map(|kind| ForgeAccess { kind, url, credentials })
    }

    /// The pull request from the branch of a draft, whatever became of it.
    async fn pull_request(&self, access: &RepoAccess, key: &PipelineKey) -> Result<Option<PullRequest>, DraftError> {
        let Some(forge) = self.forge(access) else { return Ok(None) };
        Ok(self.ports.forge().find(&forge, &self.between(key)?).await?)
    }

    fn between(&self, key: &PipelineKey) -> Result<Between, DraftError> {
        let (head, base) = (Definitions::branch(key)?, self.definitions.repository.base.clone());
        Ok(Between { head, base, mark: words::sign(key) })
    }

    /// Does what somebody asked for, once it is written down. If it comes to nothing, that is written down, too.
    async fn doing<T>(
        &self,
        asked: &Asked,
        (verb, draft): (&str, &Draft),
        work: impl Future<Output = Result<T, DraftError>>,
    ) -> Result<T, DraftError> {
        let act = Act::on(&draft.key, verb, format!("draft/{}", draft.key)).about(&draft.head);
        let deed = act.by(asked, self.ports.clock().now());
        write(self.journal, &deed).await?;
        let done = work.await;
        if let Err(error) = &done {
            write(self.journal, &Deed { detail: Some(format!("not done: {error}")), ..deed }).await?;
        }
        done
    }
}

/// What the commit of a draft is made of.
struct Commit<'a> {
    parent: CommitId,
    text: &'a str,
    message: String,
    at: Timestamp,
}
