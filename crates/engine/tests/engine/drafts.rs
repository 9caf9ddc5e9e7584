//! Definitions that people propose: kept in Git alone, cut off anywhere, and never over somebody else's work.

use std::sync::Arc;

use weir_core::{BranchName, ForgeKind, Pipeline, PipelineKey, RepoUrl, Repository};
use weir_engine::{Asked, Definitions, DraftError, Drafts, World};
use weir_ports::{CatalogNotice, Definition, Notice, Signature};
use weir_testkit::sim::{Fate, Sim, SimJournal, SimPorts, Weather};

use crate::{
    scene::ada,
    stage::{environment, main_branch, path, pipeline, pull_request},
};

const FILE: &str = "pipelines/team/app.yaml";
const TEXT: &str = "kind: Pipeline\n";

/// A world without pipelines, and a repository with a commit.
struct Desk {
    sim: Sim,
    world: Arc<World>,
    definitions: Definitions,
}

fn app() -> Pipeline {
    let dev = environment("dev", None, Vec::new());
    pipeline("team/app", vec![dev, environment("prod", Some(pull_request()), Vec::new())])
}

/// A text that defines the pipeline.
fn defined(text: &str) -> Option<Pipeline> {
    (text.contains("kind: Pipeline") && !text.contains("kind: Secret")).then(app)
}

fn key() -> PipelineKey {
    app().key
}

fn branch() -> BranchName {
    "weir/define/team/app".parse().unwrap()
}

impl Desk {
    fn new(forge: Option<ForgeKind>) -> Self {
        let sim = Sim::new(7);
        sim.repos.commit(&main_branch(), &path("README.md"), |_| "Definitions.\n".to_owned());
        let world = Arc::new(World::new(1));
        world.define(CatalogNotice::Listed);
        world.note(Notice::Listed);
        let repository = Repository {
            url: RepoUrl::new("https://example.org/definitions").unwrap(),
            base: main_branch(),
            secret: None,
        };
        let definitions = Definitions {
            repository,
            namespace: "weir-system".parse().unwrap(),
            forge,
            folder: Some(path("pipelines")),
            author: Signature::new("Weir", "weir@example.org").unwrap(),
        };
        Self { sim, world, definitions }
    }

    fn drafts<'a>(&'a self, ports: &'a SimPorts) -> Drafts<'a, SimPorts, SimJournal> {
        Drafts { definitions: &self.definitions, world: &self.world, ports, journal: &self.sim.journal, defined }
    }

    async fn propose(&self, text: &str) -> Result<weir_engine::WholeDraft, DraftError> {
        self.drafts(&self.sim.calm()).propose(&ada(), &app(), text).await
    }

    fn base(&self) -> std::collections::BTreeMap<String, String> {
        self.sim.repos.files_of(&main_branch())
    }

    /// What was written down, as `VERB OBJECT`.
    async fn deeds(&self) -> Vec<String> {
        let query = weir_ports::DeedQuery { limit: 99, ..Default::default() };
        let deeds = weir_ports::Journal::deeds(&self.sim.journal, &query).await.unwrap();
        deeds.into_iter().map(|it| format!("{} {}", it.deed.verb, it.deed.object)).collect()
    }
}

/// Time goes on when everybody waits.
fn play<T>(story: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap().block_on(story)
}

#[test]
fn a_draft_is_a_branch_with_one_file_until_it_is_merged() {
    play(async {
        let desk = Desk::new(None);
        let proposed = desk.propose(TEXT).await.unwrap();
        assert_eq!(desk.sim.repos.files_of(&branch())[FILE], TEXT);
        assert!(!desk.base().contains_key(FILE));
        let ports = desk.sim.calm();
        let drafts = desk.drafts(&ports);
        let listed = drafts.list().await.unwrap();
        assert_eq!(listed, std::slice::from_ref(&proposed.draft));
        let shown = drafts.show(&key()).await.unwrap();
        assert_eq!((shown.text.as_deref(), shown.is_ours), (Some(TEXT), true));
        assert_eq!((&*shown.draft.by, shown.draft.why.as_deref()), ("ada", Some("it is time")));
        let merged = drafts.merge(&ada(), &key(), &shown.draft.head).await.unwrap();
        assert_eq!(merged, shown.draft.head, "the base becomes the reviewed commit itself");
        assert_eq!(desk.base()[FILE], TEXT);
        assert_eq!(desk.sim.repos.branches(), [main_branch()]);
        assert!(drafts.list().await.unwrap().is_empty());
        assert!(matches!(drafts.show(&key()).await, Err(DraftError::NoDraft(_))));
        assert_eq!(desk.deeds().await, ["merge draft/team/app", "define draft/team/app"]);
    });
}

#[test]
fn proposing_again_changes_the_draft_and_the_same_text_changes_nothing() {
    play(async {
        let desk = Desk::new(None);
        let first = desk.propose(TEXT).await.unwrap().draft;
        assert_eq!(desk.propose(TEXT).await.unwrap().draft, first);
        let second = desk.propose("kind: Pipeline # better\n").await.unwrap().draft;
        assert_ne!(first.head, second.head);
        let ports = desk.sim.calm();
        let old = desk.drafts(&ports).merge(&ada(), &key(), &first.head).await;
        assert!(matches!(old, Err(DraftError::Changed { .. })), "{old:?}");
        let old = desk.drafts(&ports).close(&ada(), &key(), &first.head).await;
        assert!(matches!(old, Err(DraftError::Changed { .. })), "{old:?}");
        desk.drafts(&ports).close(&ada(), &key(), &second.head).await.unwrap();
        assert_eq!(desk.sim.repos.branches(), [main_branch()]);
        assert_eq!(desk.deeds().await, ["close draft/team/app", "define draft/team/app", "define draft/team/app"]);
    });
}

#[test]
fn a_draft_is_merged_onto_a_base_that_moved() {
    play(async {
        let desk = Desk::new(None);
        let draft = desk.propose(TEXT).await.unwrap().draft;
        desk.sim.repos.commit(&main_branch(), &path("README.md"), |_| "Changed.\n".to_owned());
        let ports = desk.sim.calm();
        let merged = desk.drafts(&ports).merge(&ada(), &key(), &draft.head).await.unwrap();
        assert_ne!(merged, draft.head);
        assert_eq!(desk.base()["README.md"], "Changed.\n");
        assert_eq!(desk.base()[FILE], TEXT);
    });
}

#[test]
fn what_somebody_else_wrote_is_neither_overwritten_nor_merged() {
    play(async {
        let desk = Desk::new(None);
        desk.propose(TEXT).await.unwrap();
        desk.sim.repos.commit(&branch(), &path(FILE), |text| format!("{text}# by hand\n"));
        let again = desk.propose("kind: Pipeline # better\n").await;
        assert!(matches!(again, Err(DraftError::Foreign(_))), "{again:?}");
        let ports = desk.sim.calm();
        let shown = desk.drafts(&ports).show(&key()).await.unwrap();
        assert!(!shown.is_ours);
        assert_eq!(shown.draft.by, "Somebody <somebody@example.org>");
        let merged = desk.drafts(&ports).merge(&ada(), &key(), &shown.draft.head).await;
        assert!(matches!(merged, Err(DraftError::Foreign(_))), "{merged:?}");
        assert!(!desk.base().contains_key(FILE));
        desk.sim.repos.commit(&branch(), &path(FILE), |text| format!("{text}---\nkind: Secret\n"));
        let shown = desk.drafts(&ports).show(&key()).await.unwrap();
        assert_eq!(shown.text, None, "what is no pipeline is not shown");
        // A person who has looked at it may close it all the same.
        desk.drafts(&ports).close(&ada(), &key(), &shown.draft.head).await.unwrap();
        desk.propose(TEXT).await.unwrap();
    });
}

#[test]
fn what_is_there_already_is_not_proposed() {
    play(async {
        let desk = Desk::new(None);
        let draft = desk.propose(TEXT).await.unwrap().draft;
        desk.sim.repos.commit(&main_branch(), &path(FILE), |_| "kind: Pipeline # theirs\n".to_owned());
        let there = desk.propose(TEXT).await;
        assert!(matches!(there, Err(DraftError::OnBase { .. })), "{there:?}");
        let ports = desk.sim.calm();
        let merged = desk.drafts(&ports).merge(&ada(), &key(), &draft.head).await;
        assert!(matches!(merged, Err(DraftError::OnBase { .. })), "{merged:?}");
        assert_eq!(desk.base()[FILE], "kind: Pipeline # theirs\n");

        let desk = Desk::new(None);
        let draft = desk.propose(TEXT).await.unwrap().draft;
        let (pipeline, signed_with) = (app(), std::collections::BTreeMap::default());
        let definition = Definition { pipeline, version: None, signed_with };
        desk.world.define(CatalogNotice::Defined(Arc::new(definition)));
        assert!(matches!(desk.propose(TEXT).await, Err(DraftError::Exists(_))));
        let ports = desk.sim.calm();
        let merged = desk.drafts(&ports).merge(&ada(), &key(), &draft.head).await;
        assert!(matches!(merged, Err(DraftError::Exists(_))), "{merged:?}");

        let mut early = Desk::new(None);
        early.world = Arc::new(World::new(2));
        assert!(matches!(early.propose(TEXT).await, Err(DraftError::NotReady)));
    });
}

#[test]
fn on_a_forge_there_is_one_pull_request_that_tells_reviewers_what_they_want_to_know() {
    play(async {
        let desk = Desk::new(Some(ForgeKind::Gitea));
        desk.propose(TEXT).await.unwrap();
        let proposed = desk.propose("kind: Pipeline # better\n").await.unwrap();
        let all = desk.sim.forge.all();
        assert_eq!(all.len(), 1, "{all:?}");
        let seen = &all[0].seen;
        assert_eq!((&*seen.title, &seen.head), ("Define pipeline team/app", &proposed.draft.head));
        for words in ["ada", "> it is time", FILE, "| 1 | dev | `dev` |", "| 2 | prod | `prod` | a proposal for"] {
            assert!(seen.body.contains(words), "{words}: {}", seen.body);
        }
        let ports = desk.sim.calm();
        for ended in [
            desk.drafts(&ports).merge(&ada(), &key(), &proposed.draft.head).await.map(drop),
            desk.drafts(&ports).close(&ada(), &key(), &proposed.draft.head).await,
        ] {
            let told = ended.unwrap_err().to_string();
            assert!(told.contains("there, at https://forge.example.org/pulls/1"), "{told}");
        }
        // Whoever closed it is not overruled; whoever proposes it once more opens another.
        desk.sim.forge.close_by(&seen.id, "carla");
        let shown = desk.drafts(&ports).show(&key()).await.unwrap();
        assert!(!shown.pull_request.unwrap().is_open());
        desk.propose("kind: Pipeline # better\n").await.unwrap();
        let open: Vec<_> = desk.sim.forge.all().into_iter().filter(|it| it.seen.is_open()).collect();
        assert_eq!(open.len(), 1);
        assert_ne!(open[0].seen.id, seen.id);
    });
}

#[test]
fn whatever_is_cut_off_can_be_asked_for_again() {
    for forge in [None, Some(ForgeKind::Gitea)] {
        for crash_at in 0..60 {
            play(async {
                let desk = Desk::new(forge);
                let cut = async |what: &str| {
                    let fate = Fate::new(desk.sim.chance.clone(), Weather::default(), Some(crash_at));
                    let ports = desk.sim.ports(&fate);
                    let drafts = desk.drafts(&ports);
                    let work = async {
                        let whole = drafts.propose(&ada(), &app(), TEXT).await?;
                        if what == "merge" {
                            drafts.merge(&ada(), &key(), &whole.draft.head).await?;
                        }
                        Ok::<_, DraftError>(())
                    };
                    tokio::select! {
                        done = work => drop(done),
                        () = fate.crashed() => {}
                    }
                };
                cut("propose").await;
                let again = desk.propose(TEXT).await.unwrap();
                assert_eq!(desk.sim.repos.files_of(&branch())[FILE], TEXT, "{crash_at}");
                assert_eq!(desk.sim.forge.all().len(), usize::from(forge.is_some()), "{crash_at}");
                if forge.is_some() {
                    return;
                }
                cut("merge").await;
                let ports = desk.sim.calm();
                match desk.drafts(&ports).merge(&ada(), &key(), &again.draft.head).await {
                    Ok(_) | Err(DraftError::NoDraft(_)) => {}
                    Err(error) => panic!("{crash_at}: {error}"),
                }
                assert_eq!(desk.base()[FILE], TEXT, "{crash_at}");
                assert_eq!(desk.sim.repos.branches(), [main_branch()], "{crash_at}");
            });
        }
    }
}

#[test]
fn a_name_that_no_branch_can_have_is_told() {
    play(async {
        let desk = Desk::new(None);
        let odd = pipeline("team/app.lock", vec![environment("dev", None, Vec::new())]);
        let ports = desk.sim.calm();
        let told = desk.drafts(&ports).propose(&ada(), &odd, TEXT).await.unwrap_err().to_string();
        assert!(told.contains("choose another name for the pipeline"), "{told}");
        let nobody = Asked { why: None, ..ada() };
        let whole = desk.drafts(&ports).propose(&nobody, &app(), TEXT).await.unwrap();
        assert_eq!(desk.drafts(&ports).show(&key()).await.unwrap().draft.why, whole.draft.why);
    });
}
