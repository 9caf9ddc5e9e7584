//! Which pull request is meant.

use weir_ports::{Between, ForgeError};

use super::{
    Gitea,
    form::{Issue, Pull},
    pages::Pages,
};

/// How often a list that changed while it was read is read again.
const ATTEMPTS: u32 = 4;

/// What the forge tells of the pull requests between two branches.
enum Any {
    /// That there was never any.
    None,
    /// One of them.
    One(Box<Pull>),
    /// It cannot tell.
    Unknown,
}

impl Gitea<'_> {
    /// The open pull request between two branches, whatever it says; or else the newest one that is over and contains a
    /// text.
    ///
    /// Gitea cannot be asked for that. It tells of any one between two branches, the oldest as a rule; if there is none,
    /// the search is over. Otherwise all open ones are looked through, as a page of them costs the forge much, only if
    /// the one that was open last no longer is; and then those that are over, newest first.
    pub(super) async fn lookup(
        &self,
        doing: &'static str,
        between: &Between,
        text: &str,
    ) -> Result<Option<Pull>, ForgeError> {
        let ours = |pull: &Pull| pull.is_open() && pull.is_between(between);
        if let Some(number) = self.memory.open(self.repository(), between)
            && let Some(pull) = self.pull(doing, number).await?.filter(ours)
        {
            return Ok(Some(pull));
        }
        match self.any(doing, between).await? {
            Any::One(pull) if ours(&pull) => return Ok(Some(*pull)),
            Any::None => return Ok(None),
            Any::One(_) | Any::Unknown => {}
        }
        match self.open(doing, between).await? {
            Some(pull) => Ok(Some(pull)),
            None => self.over(doing, between, text).await,
        }
    }

    /// Any pull request between two branches.
    async fn any(&self, doing: &'static str, between: &Between) -> Result<Any, ForgeError> {
        // A base with a slash is no single part of a path, and not every proxy leaves it one.
        if between.base.as_str().contains('/') {
            return Ok(Any::Unknown);
        }
        let mut path = vec!["pulls", between.base.as_str()];
        path.extend(between.head.as_str().split('/'));
        let answer = self.get(doing, &path, &[]).await?;
        if answer.status == 404 {
            // A version that does not know this path says so in other words.
            let known = answer.is_of_the_forge();
            self.check_repository(doing).await?;
            return Ok(if known { Any::None } else { Any::Unknown });
        }
        let pull: Pull = self.read(doing, &answer).await?;
        self.memory.see(self.repository(), &pull);
        Ok(Any::One(pull.into()))
    }

    /// The open pull request between two branches. Gitea lets two open one at the same moment; the older one is it.
    pub(super) async fn open(&self, doing: &'static str, between: &Between) -> Result<Option<Pull>, ForgeError> {
        let query = [("state", "open"), ("base_branch", between.base.as_str())];
        for _ in 0..ATTEMPTS {
            let mut pages = Pages::new(self, doing, &["pulls"], &query);
            let mut found: Option<Pull> = None;
            while let Some(page) = pages.next::<Pull>().await? {
                for pull in page {
                    self.memory.see(self.repository(), &pull);
                    let older = found.as_ref().is_none_or(|found| pull.number < found.number);
                    if older && pull.is_open() && pull.is_between(between) {
                        found = Some(pull);
                    }
                }
            }
            if found.is_some() || !pages.changed() {
                return Ok(found);
            }
        }
        Err(self.client.unreachable(doing, "the list of pull requests changes faster than it can be read".to_owned()))
    }

    /// The newest pull request between two branches that is over and contains a text.
    async fn over(&self, doing: &'static str, between: &Between, text: &str) -> Result<Option<Pull>, ForgeError> {
        let from = self.memory.searched(self.repository(), between, text);
        let query = [("type", "pulls"), ("state", "closed")];
        let mut pages = Pages::new(self, doing, &["issues"], &query);
        let mut newest = from;
        'pages: while let Some(page) = pages.next::<Issue>().await? {
            for issue in page {
                newest = newest.max(issue.number);
                if issue.number <= from {
                    break 'pages;
                }
                if issue.body.contains(text)
                    && let Some(pull) = self.pull(doing, issue.number).await?.filter(|pull| pull.is_between(between))
                {
                    return Ok(Some(pull));
                }
            }
        }
        self.memory.found_nothing(self.repository(), between, text, newest);
        Ok(None)
    }

    /// A pull request by its number. `None`: there is none.
    pub(super) async fn pull(&self, doing: &'static str, number: u64) -> Result<Option<Pull>, ForgeError> {
        let answer = self.get(doing, &["pulls", &number.to_string()], &[]).await?;
        if answer.status == 404 {
            self.check_repository(doing).await?;
            return Ok(None);
        }
        let pull: Pull = self.read(doing, &answer).await?;
        self.memory.see(self.repository(), &pull);
        Ok(Some(pull))
    }
}
